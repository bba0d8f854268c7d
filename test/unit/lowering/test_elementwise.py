"""Arithmetic, bits, comparisons and choices: bit by bit what the evaluator gives, on edge values of every type."""

import numpy as np
import pytest
from elementwise_cases import FLOATS, INTEGERS, differences, floats, integers
from lowered import agree, lowered
from oracle.programs import DTYPES, pairs, shape

from xneuron.lowering.hlo_to_bir.rules import NotLowerable

DIRECTIONS = ("EQ", "NE", "GE", "GT", "LE", "LT")
ARITHMETIC = ("add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "power")
BITS = ("and", "or", "xor", "shift-left", "shift-right-arithmetic", "shift-right-logical")


def comparisons(array: np.ndarray) -> dict[str, tuple[str, str]]:
    pred = f"pred[{array.size}]"
    return {order: (pred, f"compare(p0, p1), direction={order}") for order in DIRECTIONS}


@pytest.mark.parametrize("name", INTEGERS)
def test_integers(name: str) -> None:
    x, y = pairs(integers(name))
    opcodes = [*ARITHMETIC, *BITS, *(["mulhi"] if x.dtype.itemsize < 8 else [])]
    unary = ["negate", "not", "popcnt", "count-leading-zeros", "abs", "sign"]
    lines = {opcode: (shape(x), f"{opcode}(p0, p1)") for opcode in opcodes}
    lines |= {opcode: (shape(x), f"{opcode}(p0)") for opcode in unary}
    lines |= {"clamp": (shape(x), "clamp(p1, p0, p2)"), **comparisons(x)}
    assert not list(differences(lines, x, y, y[::-1].copy()))


@pytest.mark.parametrize("name", ["s8", "u8", "s32", "u64"])
def test_integers_and_a_constant(name: str) -> None:
    """Known divisors and counts have shorter ways; a known operand may stand on either side."""
    x, top = integers(name), 1 << (8 * DTYPES[name].itemsize - 1)
    signed = name[0] == "s"
    known = [0, 1, 2, 3, 7, 10, top.bit_length() - 1, top.bit_length(), top - 1]
    known += [-1, -2, -7, -top] if signed else [top, 2 * top - 1]
    lines = {}
    for number in dict.fromkeys(known):
        lines[f"k{number}"] = (f"{name}[]", f"constant({number})")
        lines[f"c{number}"] = (shape(x), f"broadcast(v{len(lines) - 1}), dimensions={{}}")
        at = len(lines) - 1
        for opcode in ("divide", "remainder", "power", *BITS[3:]):
            lines[f"{opcode} by {number}"] = (shape(x), f"{opcode}(p0, v{at})")
            lines[f"{opcode} of {number}"] = (shape(x), f"{opcode}(v{at}, p0)")
    assert not list(differences(lines, x))


@pytest.mark.parametrize("name", FLOATS)
def test_floats(name: str) -> None:
    x, y = pairs(floats(name, 6))
    lines = {opcode: (shape(x), f"{opcode}(p0, p1)") for opcode in ARITHMETIC}
    lines |= {opcode: (shape(x), f"{opcode}(p0)") for opcode in ("negate", "abs", "sign", "real")}
    lines |= {"clamp": (shape(x), "clamp(p1, p0, p2)"), **comparisons(x)}
    lines["is-finite"] = (f"pred[{x.size}]", "is-finite(p0)")
    assert not list(differences(lines, x, y, y[::-1].copy()))


@pytest.mark.parametrize("name", ["f32", "bf16"])
@pytest.mark.parametrize("number", ["0", "-0.0", "2.5", "-0.375", "inf", "-inf", "nan"])
def test_floats_and_a_constant(name: str, number: str) -> None:
    x = floats(name)
    lines = {"k": (f"{name}[]", f"constant({number})"), "c": (shape(x), "broadcast(v0), dimensions={}")}
    lines |= {opcode: (shape(x), f"{opcode}(p0, v1)") for opcode in ARITHMETIC}
    lines |= {f"{opcode}'": (shape(x), f"{opcode}(v1, p0)") for opcode in ARITHMETIC}
    lines |= {"above": (shape(x), "clamp(v0, p0, v1)"), "folded": (shape(x), "add(v1, v1)")}
    lines |= {"GT": (f"pred[{x.size}]", "compare(p0, v1), direction=GT")}
    lines |= {"of a constant": (shape(x), "floor(v1)"), "root": (shape(x), "sqrt(v1)")}
    assert not list(differences(lines, x))


@pytest.mark.parametrize("name", FLOATS)
def test_total_order(name: str) -> None:
    """Zeros and NaN have a sign, which the bits show."""
    with np.errstate(all="ignore"):
        some = np.array([0.0, -0.0, 1.5, -1.5, 2.0, np.inf, -np.inf, np.nan, -np.nan, 0.0078125], np.float32)
        x, y = pairs(some.astype(DTYPES[name]))
    order = {d: (f"pred[{x.size}]", f"compare(p0, p1), direction={d}, type=TOTALORDER") for d in DIRECTIONS}
    known = {"k": (f"{name}[]", "constant(1.5)"), "c": (shape(x), f"broadcast(v{len(order)}), dimensions={{}}")}
    above = {"above": (f"pred[{x.size}]", f"compare(v{len(order) + 1}, p1), direction=GT, type=TOTALORDER")}
    assert not list(differences({**order, **known, **above}, x, y))


def test_preds() -> None:
    x, y = pairs(np.array([False, True]))
    opcodes = ("and", "or", "xor", "add", "multiply", "maximum", "minimum")
    lines = {opcode: (shape(x), f"{opcode}(p0, p1)") for opcode in opcodes}
    lines |= {"not": (shape(x), "not(p0)"), "select": (shape(x), "select(p0, p1, p0)"), **comparisons(x)}
    assert not list(differences(lines, x, y))


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS])
def test_choices(name: str) -> None:
    x = integers(name) if name in INTEGERS else floats(name)
    y, mask = x[::-1].copy(), np.arange(x.size) % 3 == 1
    lines = {
        "select": (shape(x), "select(p2, p0, p1)"),
        "by a scalar": (shape(x), "select(p3, p0, p1)"),
        "bounds": (shape(x), "clamp(p4, p0, p5)"),
        "low": (shape(x), "clamp(p4, p0, p1)"),
        "high": (shape(x), "clamp(p1, p0, p5)"),
        "yes": ("pred[]", "constant(true)"),
        "known": (shape(x), "select(v5, p0, p1)"),
        "zero": (f"{name}[]", "constant(1)"),
        "zeros": (shape(x), "broadcast(v7), dimensions={}"),
        "or a constant": (shape(x), "select(p2, p0, v8)"),
        "a constant or": (shape(x), "select(p3, v8, p1)"),
        "above a constant": (shape(x), "clamp(v7, p0, p5)"),
        "between equals": (shape(x), "clamp(v7, p0, v7)"),
    }
    low, high = (np.asarray(value, x.dtype) for value in (1, 3))
    assert not list(differences(lines, x, y, mask, np.asarray(False), low, high))


@pytest.mark.parametrize("opcode", ["add", "divide", "maximum"])
def test_scalars(opcode: str) -> None:
    text = f"""HloModule m
      ENTRY e {{
        x = f32[] parameter(0)
        y = f32[] parameter(1)
        ROOT r = f32[] {opcode}(x, y)
      }}"""
    agree(text, np.float32(1.25), np.float32(-3))


def refusal(line: str, *arrays: np.ndarray) -> str:
    parameters = "\n".join(f"p{i} = {shape(array)} parameter({i})" for i, array in enumerate(arrays))
    with pytest.raises(NotLowerable) as caught:
        lowered(f"HloModule m\nENTRY e {{\n{parameters}\nROOT r = {line}\n}}")
    return str(caught.value)


def test_what_is_refused() -> None:
    x, long = np.zeros(4, np.float32), np.zeros(4, np.int64)
    reason = "the product of two s64 is wider than BIR's integers"
    assert refusal("s64[4] mulhi(p0, p0)", long) == f"cannot lower mulhi 'r' to BIR: {reason}"
    assert refusal("f32[4] asin(p0)", x) == "cannot lower asin 'r' to BIR: no instruction of BIR does this"
