"""Arithmetic of machine integers where numpy's differs from HLO's, for arrays and numpy scalars.

Rules: hlo_evaluator_typed_visitor.h. `bits` is the width of the HLO type. Values of types narrower than a byte
come as whole bytes; what overflows beyond `bits` is cut when the caller converts back.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xneuron.dialects.hlo.types import Element
from xneuron.interpreters.values import DType

Function = Callable[..., Any]


def choose(condition: Any, on_true: Any, on_false: Any) -> Any:
    """`np.where` that gives a scalar for scalars."""
    return np.where(condition, on_true, on_false)[()]


def through_bytes(function: Function, element: Element, dtype: DType) -> Function:
    """`function` of byte-wide integers as a function of a type that fills less than a byte."""
    byte = np.int8 if element.kind == "int" else np.uint8

    def narrow(*operands: Any) -> Any:
        return function(*[operand.astype(byte) for operand in operands]).astype(dtype)

    return narrow


def unsigned(dtype: DType) -> DType:
    """The unsigned integer type of the same width."""
    return np.dtype(f"u{dtype.itemsize}")


def signed(dtype: DType) -> DType:
    """The signed integer type of the same width."""
    return np.dtype(f"i{dtype.itemsize}")


def divide(a: Any, b: Any) -> Any:
    """The quotient truncated towards zero; all ones where `b` is 0; the lowest by -1 is the lowest."""
    if not b.all():
        return choose(b == 0, ~b.dtype.type(0), divide(a, choose(b == 0, b.dtype.type(1), b)))
    floor = a // b
    if a.dtype.kind == "u":
        return floor
    return floor + ((floor * b != a) & ((a < 0) != (b < 0)))


def divide_scalar(a: Any, b: Any) -> Any:
    """`divide` for two numpy scalars."""
    if not b:
        return ~b
    floor = a // b
    exact = floor * b == a or (a < 0) == (b < 0)
    return floor if exact else floor + 1


def remainder(a: Any, b: Any) -> Any:
    """What `divide` leaves, with the sign of `a`; `a` where `b` is 0."""
    if b.all():
        return np.fmod(a, b)
    return choose(b == 0, a, np.fmod(a, choose(b == 0, b.dtype.type(1), b)))


def remainder_scalar(a: Any, b: Any) -> Any:
    """`remainder` for two numpy scalars."""
    return np.fmod(a, b) if b else a


def power(a: Any, b: Any) -> Any:
    """`a` to the power `b`, wrapping; a negative power is 0 unless `a` is 1 or -1."""
    if b.dtype.kind == "u":
        return np.power(a, b)
    one = a.dtype.type(1)
    odd = choose((b & one) != 0, a, one)
    inverse = choose((a == one) | (a == -one), odd, a.dtype.type(0))
    return choose(b < 0, inverse, np.power(a, choose(b < 0, a.dtype.type(0), b)))


def shift_left(bits: int) -> Function:
    """Shift that gives 0 for amounts, read as unsigned, of `bits` and more."""
    return lambda a, b: choose(_beyond(b, bits), a.dtype.type(0), np.left_shift(a, b))


def shift_right_logical(bits: int) -> Function:
    """Shift that fills with zeros, as if `a` were unsigned and `bits` wide."""
    mask = (1 << bits) - 1

    def shift(a: Any, b: Any) -> Any:
        word = unsigned(a.dtype)
        shifted = np.right_shift(a.view(word) & word.type(mask), b.view(word))
        return choose(_beyond(b, bits), word.type(0), shifted).view(a.dtype)

    return shift


def shift_right_arithmetic(bits: int) -> Function:
    """Shift that copies the sign bit of `a`, read as signed, also for amounts of `bits` and more."""

    def shift(a: Any, b: Any) -> Any:
        word = signed(a.dtype)
        spare = word.type(8 * a.dtype.itemsize - bits)
        value = np.right_shift(np.left_shift(a.view(word), spare), spare)
        amount = choose(_beyond(b, bits), word.type(bits - 1), b.view(word))
        return np.right_shift(value, amount).view(a.dtype)

    return shift


def _beyond(amount: Any, bits: int) -> Any:
    word = unsigned(amount.dtype)
    return amount.view(word) >= word.type(bits)


def population_count(bits: int) -> Function:
    """Number of one bits among the low `bits`, in the operand's type."""

    def count(a: Any) -> Any:
        word = unsigned(a.dtype)
        return np.bitwise_count(a.view(word) & word.type((1 << bits) - 1)).astype(a.dtype)

    return count


def leading_zeros(bits: int) -> Function:
    """Number of zero bits in front of the first one bit, `bits` for 0, in the operand's type."""

    def count(a: Any) -> Any:
        word = unsigned(a.dtype)
        smeared = a.view(word) & word.type((1 << bits) - 1)
        for distance in (1, 2, 4, 8, 16, 32):
            if distance < bits:
                smeared = smeared | smeared >> word.type(distance)
        return (word.type(bits) - np.bitwise_count(smeared).astype(word)).astype(a.dtype)

    return count


def multiply_high(bits: int) -> Function:
    """The upper `bits` of the product of twice as many."""
    if bits <= 32:
        return lambda a, b: (_wide(a) * _wide(b) >> bits).astype(a.dtype)
    exact = np.frompyfunc(lambda a, b: int(a) * int(b) >> bits, 2, 1)
    return lambda a, b: np.asarray(exact(a, b)).astype(a.dtype)[()]


def _wide(a: Any) -> Any:
    return a.astype(np.int64 if a.dtype.kind == "i" else np.uint64)
