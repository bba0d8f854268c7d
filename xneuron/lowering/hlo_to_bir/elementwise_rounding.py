"""Rounding floats to whole numbers.

Adding and subtracting 2^23 rounds what is smaller to the nearest whole number, ties to even, by the rounding of
float32 itself; what is not smaller is a whole number. All other directions are a step of one from there.
"""

from __future__ import annotations

from xneuron.dialects.bir.enums import AluOpType, DType
from xneuron.dialects.hlo import elementwise as hlo

from .elementwise import sign, stepwise
from .tiles import Chip, Operand, Tile

WHOLE = 2.0**23
"""From here on a float32 has no fraction."""


def nearest(tile: Tile, magnitude: Chip) -> Chip:
    """The nearest whole number of what is not negative, ties to even; infinity and NaN are themselves."""
    rounded = tile.temporary(DType.float32)
    with tile.inner() as inner:
        distance = inner.temporary(DType.float32)
        inner.twice(distance, magnitude, (AluOpType.is_lt, WHOLE), (AluOpType.mult, WHOLE))
        inner.alu(AluOpType.add, rounded, magnitude, distance)
        inner.alu(AluOpType.subtract, rounded, rounded, distance)
    return rounded


def magnitude_and_sign(tile: Tile, x: Operand) -> tuple[Chip, Chip]:
    """`|x|`, and -1 or 1; of zeros and NaN, themselves, so that their product is always `x`."""
    x = tile.chip(x)
    signs = tile.wide(x)
    sign(tile, signs, x)
    return tile.alu(AluOpType.abs, tile.wide(x), x), signs


@stepwise(hlo.RoundNearestEvenOp)
def round_to_even(tile: Tile, out: Chip, x: Operand) -> None:
    """To nearest, ties to even."""
    magnitude, signs = magnitude_and_sign(tile, x)
    tile.alu(AluOpType.mult, out, nearest(tile, magnitude), signs)


@stepwise(hlo.RoundNearestAfzOp)
def round_away(tile: Tile, out: Chip, x: Operand) -> None:
    """To nearest, ties away from zero: what was half a step above an even number goes up."""
    magnitude, signs = magnitude_and_sign(tile, x)
    rounded = nearest(tile, magnitude)
    tile.alu(AluOpType.subtract, magnitude, magnitude, rounded)
    tile.alu(AluOpType.is_ge, magnitude, magnitude, 0.5)
    tile.alu(AluOpType.add, rounded, rounded, magnitude)
    tile.alu(AluOpType.mult, out, rounded, signs)


def _to_even(tile: Tile, x: Chip) -> Chip:
    rounded = tile.wide(x)
    with tile.inner() as inner:
        round_to_even(inner, rounded, x)
    return rounded


@stepwise(hlo.FloorOp)
def floor(tile: Tile, out: Chip, x: Operand) -> None:
    """The nearest whole number, less one if that is above `x`."""
    x = tile.chip(x)
    rounded = _to_even(tile, x)
    above = tile.alu(AluOpType.is_gt, tile.wide(x), rounded, x)
    tile.alu(AluOpType.subtract, out, rounded, above)


@stepwise(hlo.CeilOp)
def ceil(tile: Tile, out: Chip, x: Operand) -> None:
    """`-floor(-x)`, which keeps the sign of a zero."""
    x = tile.chip(x)
    rounded = _to_even(tile, x)
    below = tile.alu(AluOpType.is_lt, tile.wide(x), rounded, x)
    tile.alu(AluOpType.mult, rounded, rounded, -1.0)
    tile.alu(AluOpType.subtract, rounded, rounded, below)
    tile.alu(AluOpType.mult, out, rounded, -1.0)


LARGEST = 2.0**64
"""Beyond all integers, and finite."""


def truncate(tile: Tile, out: Chip, x: Operand) -> None:
    """Floats to integers: towards zero, saturating; NaN gives 0, all as `out` converts whole numbers."""
    x = tile.chip(x)
    magnitude = tile.twice(tile.wide(x), x, (AluOpType.abs, 0.0), (AluOpType.min, LARGEST))
    fraction = tile.alu(AluOpType.mod, tile.wide(x), magnitude, 1.0)
    tile.alu(AluOpType.subtract, magnitude, magnitude, fraction)
    sign(tile, fraction, x)
    tile.alu(AluOpType.mult, out, magnitude, fraction)
