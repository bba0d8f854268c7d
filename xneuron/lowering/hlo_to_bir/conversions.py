"""Conversions of values to other element types, and to less precision. (`bits.py` has those of bits.)"""

from __future__ import annotations

import math

from xneuron.dialects.bir.enums import AluOpType, DType
from xneuron.dialects.hlo.attributes import int_of
from xneuron.dialects.hlo.elementwise import ConvertOp, ReducePrecisionOp
from xneuron.dialects.hlo.numbers import FORMATS, FloatFormat, pack, unpack
from xneuron.dialects.hlo.types import Element, element_of

from .aliases import keeps_type
from .computations import Lowering
from .elementwise import alu, apply, cast
from .elementwise_rounding import truncate
from .layout import DTYPES
from .rules import lowers
from .tiles import Chip, Operand, Steps, Tile
from .values import Splat, Tree

EXACT = 1 << 24
"""Up to here all integers are float32."""


@lowers(ConvertOp, in_place=None)
def convert(low: Lowering, op: ConvertOp) -> Tree:
    """The values: to pred, whether not 0; floats to integers truncate and saturate; integers wrap; floats round."""
    source, target, leaf = element_of(op.operand.type), element_of(op.result.type), low.leaf(op.operand)
    if keeps_type(op):
        return leaf
    if isinstance(leaf, Splat) and (value := _known(source, target, leaf.value)) is not None:
        return Splat(value, DTYPES[target.name], leaf.count)
    return apply(low, op, _converting(source, target))


def _converting(source: Element, target: Element) -> Steps:
    if target.kind == "pred":
        return alu(AluOpType.not_equal, 0)
    if source.kind == "float" and target.kind != "float":
        return truncate
    return cast


def _known(source: Element, target: Element, value: int | float) -> int | float | None:
    """The value converted now; None where that would round twice."""
    if target.kind == "pred":
        return int(value != 0)
    if isinstance(value, float) and target.kind != "float":
        return _saturated(value, target)
    if isinstance(value, int) and target.kind == "float" and abs(value) > EXACT:
        return None
    return unpack(target, pack(target, value))


def _saturated(value: float, target: Element) -> int:
    signed = target.kind == "int"
    low, high = (-(1 << target.bits - 1), (1 << target.bits - 1) - 1) if signed else (0, (1 << target.bits) - 1)
    if math.isnan(value):
        return 0
    return int(min(max(math.trunc(value), low), high)) if math.isfinite(value) else high if value > 0 else low


# Precision


def _narrow_format(op: ReducePrecisionOp) -> DType | None:
    """A dtype of which the wanted precision is the precision; None if there is none."""
    own, (exponent, mantissa) = FORMATS[element_of(op.operand.type).name], _wanted(op)
    for name, form in FORMATS.items():
        fine = form.mantissa == mantissa or mantissa >= own.mantissa <= form.mantissa
        if name in DTYPES and not form.finite and form.exponent == exponent and fine:
            return DTYPES[name]
    return None


def _wanted(op: ReducePrecisionOp) -> tuple[int, int]:
    """Bits of exponent and mantissa that are left."""
    own = FORMATS[element_of(op.operand.type).name]
    return min(int_of(op.exponent_bits), own.exponent), min(int_of(op.mantissa_bits), own.mantissa)


def _unlike_any(op: ReducePrecisionOp) -> str | None:
    element = element_of(op.operand.type)
    if FORMATS[element.name].finite:
        return f"HLO gives it no meaning on {element.name}"
    if _narrow_format(op) is not None:
        return None
    exponent, mantissa = _wanted(op)
    return f"BIR has no floats of {exponent} bits of exponent and {mantissa} of mantissa to round by"


@lowers(ReducePrecisionOp, check=_unlike_any, in_place=None)
def reduce_precision(low: Lowering, op: ReducePrecisionOp) -> Tree:
    """To the dtype of that precision and back; with fewer bits of exponent, what would be subnormal is zero."""
    own, (exponent, mantissa) = FORMATS[element_of(op.operand.type).name], _wanted(op)
    if (exponent, mantissa) == (own.exponent, own.mantissa):
        return apply(low, op, cast)
    dtype = _narrow_format(op)
    assert dtype is not None
    smallest = _smallest(own, exponent, mantissa) if exponent < own.exponent else 0.0

    def steps(tile: Tile, out: Chip, x: Operand) -> None:
        x = tile.chip(x)
        narrow = tile.copy(tile.temporary(dtype), x)
        if not smallest:
            tile.copy(out, narrow)
            return
        normal = tile.twice(tile.wide(x), x, (AluOpType.abs, 0.0), (AluOpType.is_ge, smallest))
        tile.alu(AluOpType.mult, out, narrow, normal)

    return apply(low, op, steps)


def _smallest(own: FloatFormat, exponent: int, mantissa: int) -> float:
    """What rounds to a normal number, if its mantissa is rounded before its exponent is looked at."""
    normal = 2.0 ** (2 - (1 << (exponent - 1)))
    return normal * (1 - 2.0 ** -(mantissa + 2)) if mantissa < own.mantissa else normal
