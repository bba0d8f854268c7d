"""Functions of real floats that numpy lacks or defines differently, for arrays and numpy scalars.

Rules: hlo_evaluator_typed_visitor.h; ties of zeros as in XLA's CPU code (llvm.maximum, llvm.minimum). Functions made
of several steps are given f32 or f64; `through_single` lifts them to the narrower types: computed in f32, rounded once.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from xneuron.dialects.hlo.types import Element
from xneuron.interpreters.kernels.integers import choose, signed
from xneuron.interpreters.values import DType

Function = Callable[..., Any]


def through_single(function: Function, dtype: DType) -> Function:
    """`function` of f32 as a function of a narrower float type."""

    def narrow(*operands: Any) -> Any:
        return function(*[operand.astype(np.float32) for operand in operands]).astype(dtype)

    return narrow


def maximum(a: Any, b: Any) -> Any:
    """The larger; NaN if either is; +0 is larger than -0 (numpy takes either)."""
    result = np.maximum(a, b)
    if result.all():
        return result
    return choose((a == 0) & (b == 0), a + b, result)


def minimum(a: Any, b: Any) -> Any:
    """The smaller; NaN if either is; -0 is smaller than +0 (numpy takes either)."""
    result = np.minimum(a, b)
    if result.all():
        return result
    return choose((a == 0) & (b == 0), -(-a + -b), result)


def maximum_scalar(a: Any, b: Any) -> Any:
    """`maximum` for two numpy scalars."""
    if a > b:
        return a
    if a < b:
        return b
    return a if a == b and a else a + b  # two zeros, or a NaN


def minimum_scalar(a: Any, b: Any) -> Any:
    """`minimum` for two numpy scalars."""
    if a < b:
        return a
    if a > b:
        return b
    return a if a == b and a else -(-a + -b)


def sign(a: Any) -> Any:
    """-1 or 1; zeros and NaN are their own sign."""
    return choose(np.isnan(a), a, np.copysign((a != 0).astype(a.dtype), a))


def round_half_away(a: Any) -> Any:
    """Nearest integer, ties away from zero; keeps the sign of zero."""
    whole = np.trunc(a)
    up = (np.abs(a - whole) >= a.dtype.type(0.5)).astype(a.dtype)
    return choose(np.isfinite(a), whole + np.copysign(up, a), a)


def reciprocal_root(a: Any) -> Any:
    """1 / sqrt(a)."""
    return a.dtype.type(1) / np.sqrt(a)


def logistic(a: Any) -> Any:
    """1 / (1 + exp(-a))."""
    one = a.dtype.type(1)
    return one / (one + np.exp(-a))


_erf = np.frompyfunc(math.erf, 1, 1)


def error_function(a: Any) -> Any:
    """erf, computed in f64 (numpy has none)."""
    return np.asarray(_erf(a)).astype(a.dtype)[()]


def total_order(a: Any) -> Any:
    """Integers ordered as the floats are by totalOrder: -NaN < -inf < … < -0 < +0 < … < inf < NaN.

    One-byte formats are ordered as f32: not all of them have a sign bit, or their NaN at the end.
    """
    if a.dtype.itemsize == 1:
        a = a.astype(np.float32)
    word = signed(a.dtype)
    bits = a.view(word)
    return choose(bits < 0, bits ^ np.iinfo(word).max, bits)


def reduce_precision(exponent: int, mantissa: int, own_exponent: int, own_mantissa: int) -> Function:
    """Rounding of the bits of an IEEE-like format to fewer exponent and mantissa bits, to nearest even.

    What is too large becomes infinite, what would be subnormal becomes zero. NaN stays, or is infinite where no
    mantissa is left (HandleReducePrecision).
    """
    bias, new_bias = (1 << (own_exponent - 1)) - 1, (1 << (exponent - 1)) - 1
    infinity = ((1 << own_exponent) - 1) << own_mantissa
    largest, smallest = (bias + new_bias) << own_mantissa, (bias - new_bias) << own_mantissa

    def reduce(a: Any) -> Any:
        word = np.dtype(f"u{a.dtype.itemsize}")
        bits = a.view(word)
        if mantissa < own_mantissa:
            bits = _round_bits(bits, word, own_mantissa - mantissa)
        if exponent < own_exponent:
            sign_bit = bits & word.type(1 << (8 * word.itemsize - 1))
            size = bits & word.type(infinity)
            bits = choose(size > word.type(largest), sign_bit | word.type(infinity), bits)
            bits = choose(size <= word.type(smallest), sign_bit, bits)
        nan = a if mantissa else word.type(infinity).view(a.dtype)
        return choose(np.isnan(a), nan, bits.view(a.dtype))

    return reduce


def _round_bits(bits: Any, word: DType, dropped: int) -> Any:
    last = bits >> word.type(dropped) & word.type(1)
    half = word.type((1 << (dropped - 1)) - 1)
    return (bits + last + half) & ~word.type((1 << dropped) - 1)


def stochastic_rounder(target: Element, dtype: DType) -> Function:
    """Floats and random unsigned integers of the same width to integers (StochasticConvertOp).

    Saturates, NaN gives 0; the magnitude is rounded up where the random number is below fraction * 2^width.
    """
    low, high = -(1 << (target.bits - 1)), (1 << (target.bits - 1)) - 1

    def convert(a: Any, random: Any) -> Any:
        size = np.abs(a.astype(np.float64))
        inside = size < high + 1
        whole = np.floor(choose(inside, size, 0.0))
        share = np.ldexp(choose(inside, size, 0.0) - whole, 8 * random.dtype.itemsize)
        up = random.astype(np.float64) < np.floor(share)
        magnitude = whole.astype(np.int64) + up
        result = choose(np.signbit(a), -magnitude, magnitude)
        edge = choose(np.isnan(a), 0, choose(np.signbit(a), low, high))
        return choose(inside & (np.abs(result) <= high), result, edge).astype(dtype)

    return convert
