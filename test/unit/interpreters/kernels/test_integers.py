"""Machine integers: every type against Python's unbounded ones, reduced to the width."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracle.programs import DTYPES, INTEGERS, edge_integers, pairs, shape


def wrapped(name: str, value: int) -> int:
    bits = int(name[1:])
    value %= 1 << bits
    return value - (1 << bits) if name[0] == "s" and value >> (bits - 1) else value


def pattern(name: str, value: int) -> int:
    """The bits of a number, as an unsigned one."""
    return value % (1 << int(name[1:]))


def divide(name: str, a: int, b: int) -> int:
    if b == 0:
        return -1
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def remainder(name: str, a: int, b: int) -> int:
    return a if b == 0 else a - b * divide(name, a, b)


def power(name: str, a: int, b: int) -> int:
    if b < 0:
        return {1: 1, -1: -1 if b % 2 else 1}.get(a, 0)
    return pow(a, b, 1 << int(name[1:]))


def shift_left(name: str, a: int, b: int) -> int:
    amount = pattern(name, b)
    return a << amount if amount < int(name[1:]) else 0


def shift_right_logical(name: str, a: int, b: int) -> int:
    return pattern(name, a) >> min(pattern(name, b), 64)


def shift_right_arithmetic(name: str, a: int, b: int) -> int:
    return wrapped("s" + name[1:], a) >> min(pattern(name, b), 64)


def multiply_high(name: str, a: int, b: int) -> int:
    return a * b >> int(name[1:])


BINARY: dict[str, Callable[[str, int, int], int]] = {
    "add": lambda name, a, b: a + b,
    "subtract": lambda name, a, b: a - b,
    "multiply": lambda name, a, b: a * b,
    "and": lambda name, a, b: a & b,
    "or": lambda name, a, b: a | b,
    "xor": lambda name, a, b: a ^ b,
    "maximum": lambda name, a, b: max(a, b),
    "minimum": lambda name, a, b: min(a, b),
    "divide": divide,
    "remainder": remainder,
    "power": power,
    "shift-left": shift_left,
    "shift-right-logical": shift_right_logical,
    "shift-right-arithmetic": shift_right_arithmetic,
    "mulhi": multiply_high,
}
UNARY: dict[str, Callable[[str, int], int]] = {
    "negate": lambda name, a: -a,
    "not": lambda name, a: ~a,
    "abs": lambda name, a: abs(a),
    "sign": lambda name, a: (a > 0) - (a < 0),
    "popcnt": lambda name, a: pattern(name, a).bit_count(),
    "count-leading-zeros": lambda name, a: int(name[1:]) - pattern(name, a).bit_length(),
}
SIGNED_ONLY = {"abs", "sign"}


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("opcode", BINARY)
def test_binary_operations(run: Callable[..., Any], name: str, opcode: str):
    x, y = pairs(edge_integers(name))
    expected = [wrapped(name, BINARY[opcode](name, int(a), int(b))) for a, b in zip(x, y, strict=True)]
    result = run(f"{shape(x)} {opcode}(p0, p1)", x, y)
    assert result.dtype == DTYPES[name]
    assert [int(value) for value in result] == expected


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("opcode", UNARY)
def test_unary_operations(run: Callable[..., Any], name: str, opcode: str):
    if opcode in SIGNED_ONLY and name[0] == "u":
        return
    x = edge_integers(name)
    expected = [wrapped(name, UNARY[opcode](name, int(a))) for a in x]
    assert [int(value) for value in run(f"{shape(x)} {opcode}(p0)", x)] == expected


@pytest.mark.parametrize("name", ["s4", "u4", "s8", "u8", "s32", "u64"])
@pytest.mark.parametrize("opcode", BINARY)
def test_scalars_compute_like_arrays(run: Callable[..., Any], name: str, opcode: str):
    values = edge_integers(name)
    for a, b in zip(values, np.roll(values, 3), strict=True):
        result = run(f"{name}[] {opcode}(p0, p1)", a, b)
        assert isinstance(result, np.generic)
        assert result.dtype == DTYPES[name]
        assert int(result) == wrapped(name, BINARY[opcode](name, int(a), int(b)))


@pytest.mark.parametrize("direction", ["EQ", "NE", "LT", "LE", "GT", "GE"])
@pytest.mark.parametrize("name", INTEGERS)
def test_comparisons(run: Callable[..., Any], name: str, direction: str):
    x, y = pairs(edge_integers(name))
    compare = {
        "EQ": int.__eq__,
        "NE": int.__ne__,
        "LT": int.__lt__,
        "LE": int.__le__,
        "GT": int.__gt__,
        "GE": int.__ge__,
    }[direction]
    result = run(f"pred[{len(x)}] compare(p0, p1), direction={direction}", x, y)
    assert result.tolist() == [compare(int(a), int(b)) for a, b in zip(x, y, strict=True)]


def test_preds(run: Callable[..., Any]):
    x, y = pairs(np.array([False, True]))
    expected = {
        "add": [0, 1, 1, 1],
        "multiply": [0, 0, 0, 1],
        "and": [0, 0, 0, 1],
        "or": [0, 1, 1, 1],
        "xor": [0, 1, 1, 0],
        "maximum": [0, 1, 1, 1],
        "minimum": [0, 0, 0, 1],
    }
    for opcode, values in expected.items():
        result = run(f"pred[4] {opcode}(p0, p1)", x, y)
        assert result.dtype == np.bool_
        assert result.tolist() == [bool(value) for value in values]
        assert [bool(run(f"pred[] {opcode}(p0, p1)", a, b)) for a, b in zip(x, y, strict=True)] == result.tolist()
    assert run("pred[4] not(p0)", x).tolist() == [True, True, False, False]


def test_clamp(run: Callable[..., Any]):
    x = np.array([-9, 0, 5, 9], np.int32)
    assert run("s32[4] clamp(p1, p0, p2)", x, np.int32(-3), np.int32(5)).tolist() == [-3, 0, 5, 5]
    assert run("s32[4] clamp(p1, p0, p2)", x, np.int32(7), np.int32(5)).tolist() == [5, 5, 5, 5]


def test_powers_wrap_however_large_the_exponent(run: Callable[..., Any]):
    """XLA's CPU code looks at the exponent's lowest bits only."""
    x, y = np.array([3, 5, 2], np.uint32), np.array([2**31 - 1, 64, 64], np.uint32)
    assert run("u32[3] power(p0, p1)", x, y).tolist() == [pow(int(a), int(b), 2**32) for a, b in zip(x, y, strict=True)]


def test_population_of_s4_counts_four_bits(run: Callable[..., Any]):
    """XLA's CPU code counts those of the byte around them."""
    x = np.array([-1, -8, 7], np.int8).astype(DTYPES["s4"])
    assert run("s4[3] popcnt(p0)", x).astype(int).tolist() == [4, 1, 3]
