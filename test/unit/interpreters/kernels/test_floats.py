"""Floats: zeros, infinities, NaN, rounding."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from oracle.programs import DTYPES, FLOATS, shape

INF, NAN = math.inf, math.nan
Run = Callable[..., Any]


def same(actual: Any, expected: list[float]) -> bool:
    """Equal elements; NaN equals NaN, -0 differs from 0."""
    values = [float(value) for value in np.asarray(actual).reshape(-1)]
    return list(map(repr, values)) == [repr(float(value)) for value in expected]


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize(
    ("opcode", "pairs"),
    {
        "maximum": [(0.0, -0.0, 0.0), (-0.0, 0.0, 0.0), (-0.0, -0.0, -0.0), (NAN, 1, NAN), (1, NAN, NAN), (-1, 2, 2)],
        "minimum": [(0.0, -0.0, -0.0), (-0.0, 0.0, -0.0), (0.0, 0.0, 0.0), (NAN, -INF, NAN), (-1, 2, -1)],
        "divide": [(1, 0.0, INF), (1, -0.0, -INF), (0.0, 0.0, NAN), (INF, INF, NAN), (7, 2, 3.5)],
        "remainder": [(5.5, 2, 1.5), (-5.5, 2, -1.5), (5.5, -2, 1.5), (1, 0, NAN), (-0.0, 1, -0.0), (3, INF, 3)],
        "power": [(0.0, 0.0, 1), (NAN, 0.0, 1), (1, NAN, 1), (-2, 3, -8), (-2, 0.5, NAN), (INF, -1, 0.0)],
        "atan2": [(0.0, -1, math.pi), (-0.0, -1, -math.pi), (NAN, 1, NAN), (0.0, 0.0, 0.0)],
    }.items(),
)
def test_binary_operations(run: Run, name: str, opcode: str, pairs: list[tuple[float, float, float]]):
    x, y, expected = (np.array(column).astype(DTYPES[name]) for column in zip(*pairs, strict=True))
    assert same(run(f"{shape(x)} {opcode}(p0, p1)", x, y), list(expected))
    for a, b, wanted in zip(x, y, expected, strict=True):
        result = run(f"{name}[] {opcode}(p0, p1)", a, b)
        assert result.dtype == DTYPES[name]
        assert same(result, [wanted])


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize(
    ("opcode", "pairs"),
    {
        "sign": [(-0.0, -0.0), (0.0, 0.0), (NAN, NAN), (-INF, -1), (3, 1)],
        "abs": [(-0.0, 0.0), (-INF, INF), (-2, 2)],
        "negate": [(0.0, -0.0), (INF, -INF), (2, -2)],
        "round-nearest-afz": [(0.5, 1), (-0.5, -1), (2.5, 3), (-2.5, -3), (-0.25, -0.0), (INF, INF), (NAN, NAN)],
        "round-nearest-even": [(0.5, 0.0), (-0.5, -0.0), (2.5, 2), (3.5, 4), (NAN, NAN)],
        "floor": [(-0.5, -1), (-0.0, -0.0), (2.75, 2)],
        "ceil": [(-0.5, -0.0), (2.25, 3), (-INF, -INF)],
        "sqrt": [(4, 2), (-0.0, -0.0), (-1, NAN)],
        "rsqrt": [(4, 0.5), (0.0, INF), (-0.0, -INF), (INF, 0.0)],
        "cbrt": [(-8, -2), (-0.0, -0.0)],
        "exponential": [(0.0, 1), (-INF, 0.0), (INF, INF)],
        "log": [(1, 0.0), (0.0, -INF), (-1, NAN)],
        "logistic": [(0.0, 0.5), (INF, 1), (-INF, 0.0), (NAN, NAN)],
        "erf": [(0.0, 0.0), (INF, 1), (-INF, -1)],
        "tanh": [(0.0, 0.0), (INF, 1)],
        "real": [(1.5, 1.5), (NAN, NAN)],
        "imag": [(1.5, 0.0), (NAN, 0.0)],
    }.items(),
)
def test_unary_operations(run: Run, name: str, opcode: str, pairs: list[tuple[float, float]]):
    x, expected = (np.array(column).astype(DTYPES[name]) for column in zip(*pairs, strict=True))
    assert same(run(f"{shape(x)} {opcode}(p0)", x), list(expected))
    for a, wanted in zip(x, expected, strict=True):
        assert same(run(f"{name}[] {opcode}(p0)", a), [wanted])


def test_is_finite(run: Run):
    x = np.array([0, -INF, NAN, 3e38], np.float32)
    assert run("pred[4] is-finite(p0)", x).tolist() == [True, False, False, True]


@pytest.mark.parametrize("name", FLOATS)
def test_total_order_is_the_order_of_a_sorted_list(run: Run, name: str):
    with np.errstate(all="ignore"):
        x = np.array([-INF, -2, -1, -0.0, 0.0, 1, 2, INF]).astype(DTYPES[name])
        x = x[np.isfinite(x)]
    values = [float(v) for v in x]
    less = [[repr(a) != repr(b) and i < j for j, b in enumerate(values)] for i, a in enumerate(values)]
    if name.endswith("fnuz"):
        less = [[a < b for b in values] for a in values]
    for i, a in enumerate(x):
        row = np.full(x.shape, a, x.dtype)
        result = run(f"pred[{len(x)}] compare(p0, p1), direction=LT, type=TOTALORDER", row, x)
        assert result.tolist() == less[i]


def test_total_order_of_nan(run: Run):
    x = np.array([-NAN, -INF, INF, NAN], np.float32)
    x.view(np.uint32)[0] |= 1 << 31
    less = "pred[3] compare(p0, p1), direction=LT, type=TOTALORDER"
    assert run(less, x[:-1], x[1:]).tolist() == [True] * 3
    assert run(less, x[1:], x[:-1]).tolist() == [False] * 3


def test_comparisons_with_nan(run: Run):
    x = np.array([NAN, NAN, 1], np.float32)
    y = np.array([NAN, 1, NAN], np.float32)
    for direction in ("EQ", "LT", "LE", "GT", "GE"):
        assert not run(f"pred[3] compare(p0, p1), direction={direction}", x, y).any()
    assert run("pred[3] compare(p0, p1), direction=NE", x, y).all()


def test_clamp_gives_nan_if_any_is(run: Run):
    for low, value, high in [(NAN, 1, 2), (1, NAN, 2), (1, 2, NAN)]:
        operands = [np.float32(x) for x in (value, low, high)]
        assert np.isnan(run("f32[] clamp(p1, p0, p2)", *operands))


def test_each_operation_on_bf16_rounds_once(run: Run):
    x = np.array([1.0, 256.0, 3.0], ml_dtypes.bfloat16)
    y = np.array([0.00390625, 1.0, 3.0], ml_dtypes.bfloat16)
    assert run("bf16[3] add(p0, p1)", x, y).astype(float).tolist() == [1.0, 256.0, 6.0]  # ties to even
    assert run("bf16[3] multiply(p0, p0)", x).astype(float).tolist() == [1.0, 65536.0, 9.0]
    assert float(run("bf16[] divide(p0, p1)", x[0], x[2])) == 0.333984375


@pytest.mark.parametrize(
    ("exponent", "mantissa", "value", "expected"),
    [
        (8, 7, 1.00390625, 1.0),
        (8, 7, 1.01171875, 1.015625),
        (5, 10, 65520, INF),
        (5, 10, 65504, 65504),
        (5, 10, -1e-30, -0.0),
        (5, 10, NAN, NAN),
        (8, 23, 0.1, 0.1),
        (2, 0, 1.5, 2.0),
        (2, 0, NAN, INF),
    ],
)
def test_reduced_precision(run: Run, exponent: int, mantissa: int, value: float, expected: float):
    line = f"f32[] reduce-precision(p0), exponent_bits={exponent}, mantissa_bits={mantissa}"
    assert same(run(line, np.float32(value)), [np.float32(expected)])


def test_complex_numbers(run: Run):
    z = np.array([3 + 4j, -1, 0], np.complex64)
    assert run("f32[3] abs(p0)", z).tolist() == [5, 1, 0]
    assert np.allclose(run("c64[3] sign(p0)", z), [0.6 + 0.8j, -1, 0])
    assert run("c64[3] power(p0, p0)", z)[2] == 1
    w = run("c64[2] complex(p0, p1)", np.array([INF, 1], np.float32), np.array([2, NAN], np.float32))
    assert same(w.real, [INF, 1])
    assert same(w.imag, [2, NAN])


def test_stochastic_conversion(run: Run):
    x = np.array([1.25, 1.25, -1.25, -1.25, 2, NAN, INF, -INF, 127.9], np.float32)
    quarter = 1 << 30
    bits = np.array([quarter - 1, quarter, quarter - 1, quarter, 0, 0, 0, 0, 0], np.uint32)
    assert run("s8[9] stochastic-convert(p0, p1)", x, bits).tolist() == [2, 1, -2, -1, 2, 0, 127, -128, 127]


@pytest.mark.parametrize("name", ["f32", "f64", "f16", "bf16"])
def test_subnormal_numbers_are_kept(run: Run, name: str):
    """As in HLO's evaluator and IEEE 754; XLA's CPU code takes them for zeros."""
    smallest = np.array([1], f"u{DTYPES[name].itemsize}").view(DTYPES[name])
    assert run(f"{name}[1] add(p0, p0)", smallest)[0] == smallest[0] * DTYPES[name].type(2) != 0
    assert run(f"{name}[1] sign(p0)", smallest)[0] == 1
    assert bool(run("pred[1] convert(p0)", smallest)[0])
    assert run(f"{name}[1] sqrt(p0)", smallest)[0] > 0
