"""Cosine, tangent and the angle of a point, by the Activation engine's sine and arctangent."""

from __future__ import annotations

import math

from xneuron.dialects.bir.enums import ActivationFunctionType, AluOpType, DType
from xneuron.dialects.hlo import elementwise as hlo

from .elementwise import stepwise
from .tiles import Chip, Operand, Tile
from .values import Splat


def _sines(tile: Tile, x: Chip) -> tuple[Chip, Chip]:
    """`sin(x)` and `sin(2 * x)`."""
    single = tile.activation(ActivationFunctionType.Sin, tile.wide(x), x)
    return single, tile.activation(ActivationFunctionType.Sin, tile.wide(x), x, scale=2.0)


@stepwise(hlo.CosineOp)
def cosine(tile: Tile, out: Chip, x: Operand) -> None:
    """`sin(2 * x) / (2 * sin(x))`; 1 where `x` is 0."""
    x = tile.chip(x)
    single, double = _sines(tile, x)
    tile.alu(AluOpType.divide, double, double, single)
    tile.alu(AluOpType.mult, double, double, 0.5)
    tile.select(out, x, double, tile.full(1.0, x.dtype))


@stepwise(hlo.TanOp)
def tangent(tile: Tile, out: Chip, x: Operand) -> None:
    """`sin(x) * (2 * sin(x) / sin(2 * x))`; `x` where that is 0."""
    x = tile.chip(x)
    single, double = _sines(tile, x)
    tile.alu(AluOpType.divide, double, single, double)
    tile.alu(AluOpType.mult, double, double, 2.0)
    tile.alu(AluOpType.mult, double, double, single)
    tile.select(out, x, double, x)


@stepwise(hlo.Atan2Op)
def angle(tile: Tile, out: Chip, y: Operand, x: Operand) -> None:
    """The arctangent of the smaller by the larger coordinate, mirrored where `y` is the larger, where `x` is negative,
    and where `y` is; a zero has a sign, too."""
    y, x = tile.chip(y), tile.chip(x)
    result = tile.wide(x)
    with tile.inner() as inner:
        steep = inner.wide(x)
        inner.activation(ActivationFunctionType.Arctan, result, _slope(inner, result, steep, y, x))
        _mirrored(inner, result, steep, math.pi / 2)
        _mirrored(inner, result, _is_negative(inner, steep, x), math.pi)
        downward = _is_negative(inner, steep, y)
        inner.select(out, downward, inner.alu(AluOpType.mult, inner.wide(x), result, -1.0), result)


def _slope(tile: Tile, out: Chip, steep: Chip, y: Chip, x: Chip) -> Chip:
    """The smaller magnitude by the larger; of equal ones 1, also of infinities, but 0 of zeros.

    `steep` becomes 1 where that of `y` is the larger.
    """
    with tile.inner() as inner:
        rise = inner.alu(AluOpType.abs, inner.wide(y), y)
        run = inner.alu(AluOpType.abs, inner.wide(x), x)
        inner.alu(AluOpType.is_gt, steep, rise, run)
        smaller = inner.alu(AluOpType.min, inner.wide(x), rise, run)
        inner.alu(AluOpType.max, run, rise, run)
        inner.alu(AluOpType.is_equal, rise, smaller, run)
        inner.alu(AluOpType.divide, out, smaller, run)
        inner.activation(ActivationFunctionType.Sign, smaller, smaller)
        return inner.select(out, rise, smaller, out)


def _mirrored(tile: Tile, angle: Chip, mask: Chip, twice: float) -> None:
    """`twice - angle` where the mask is set."""
    with tile.inner() as inner:
        other = inner.twice(inner.temporary(DType.float32), angle, (AluOpType.mult, -1.0), (AluOpType.add, twice))
        inner.select(angle, mask, other, angle)


def _is_negative(tile: Tile, out: Chip, x: Chip) -> Chip:
    """1 where `x` or `1 / x` is below 0, as it is for -0."""
    tile.alu(AluOpType.divide, out, Splat(1.0, DType.float32, 1), x)
    tile.alu(AluOpType.min, out, out, x)
    return tile.alu(AluOpType.is_lt, out, out, 0.0)
