"""Quotients and remainders. HLO's truncate; BIR's round towards minus infinity, and are 0 for a zero divisor."""

from __future__ import annotations

from xneuron.dialects.bir.enums import AluOpType
from xneuron.dialects.hlo import elementwise as hlo

from .elementwise import is_signed, sign, stepwise
from .elementwise_integers import all_ones, lowest
from .tiles import Chip, Operand, Tile
from .values import Splat


@stepwise(hlo.DivideOp)
def divide(tile: Tile, out: Chip, x: Operand, y: Operand) -> None:
    """Floats: the ALU's own. Integers: truncated; by zero, all ones; of the lowest by -1, the lowest."""
    if not x.dtype.is_integer:
        tile.alu(AluOpType.divide, out, x, y)
    elif isinstance(y, Splat):
        _divide_by(tile, out, x, int(y.value))
    else:
        _quotient(tile, out, x, y)


def _divide_by(tile: Tile, out: Chip, x: Operand, divisor: int) -> None:
    """A known divisor: what is negative is moved up, so that rounding down is truncating."""
    if divisor == 0:
        tile.copy(out, Splat(all_ones(out.dtype), out.dtype, 1))
    elif not is_signed(out.dtype):
        tile.alu(AluOpType.divide, out, x, divisor)
    elif divisor == lowest(out.dtype):
        tile.alu(AluOpType.is_equal, out, x, divisor)
    elif abs(divisor) == 1:
        tile.alu(AluOpType.mult, out, x, divisor)
    elif divisor > 0:
        tile.alu(AluOpType.divide, out, _moved_up(tile, x, divisor)[1], divisor)
    else:
        tile.twice(out, _moved_up(tile, x, -divisor)[1], (AluOpType.divide, -divisor), (AluOpType.mult, -1))


def _moved_up(tile: Tile, x: Operand, divisor: int) -> tuple[Chip, Chip]:
    """`divisor - 1` where `x` is negative, else 0; and `x` plus that."""
    distance = tile.twice(tile.wide(x), x, (AluOpType.is_lt, 0), (AluOpType.mult, divisor - 1))
    return distance, tile.alu(AluOpType.add, tile.wide(x), x, distance)


def _quotient(tile: Tile, out: Chip, x: Operand, y: Chip) -> None:
    """Rounded down, and one more where that is not truncating; all ones where `y` is 0."""
    missing = _rounds_apart(tile, x, y) if is_signed(out.dtype) else tile.wide(y)
    quotient = tile.alu(AluOpType.divide, tile.wide(y), x, y)
    if is_signed(out.dtype):
        tile.alu(AluOpType.add, quotient, quotient, missing)
    by_zero = tile.twice(missing, y, (AluOpType.is_equal, 0), (AluOpType.mult, -1))
    tile.alu(AluOpType.bitwise_or, out, quotient, by_zero)


def _rounds_apart(tile: Tile, x: Operand, y: Chip) -> Chip:
    """1 where rounding the quotient down is not truncating it: signs differ, and something is left."""
    left = tile.alu(AluOpType.mod, tile.wide(y), x, y)
    with tile.inner() as inner:
        apart = inner.alu(AluOpType.bitwise_xor, inner.wide(y), x, y)
        inner.alu(AluOpType.is_lt, apart, apart, 0)
        return inner.alu(AluOpType.logical_and, left, left, apart)


@stepwise(hlo.RemainderOp)
def remainder(tile: Tile, out: Chip, x: Operand, y: Operand) -> None:
    """With the sign of `x`; of integers by zero, `x`."""
    if not x.dtype.is_integer:
        _remainder_of_floats(tile, out, x, y)
    elif isinstance(y, Splat):
        _remainder_by(tile, out, x, int(y.value))
    else:
        _remainder(tile, out, x, y)


def _remainder_of_floats(tile: Tile, out: Chip, x: Operand, y: Operand) -> None:
    """`mod(|x|, |y|) * sign(x)`: all exact, and zeros keep their sign."""
    x = tile.chip(x)
    left = tile.wide(x)
    if isinstance(y, Splat):
        tile.twice(left, x, (AluOpType.abs, 0.0), (AluOpType.mod, abs(y.value)))
    else:
        divisor = tile.alu(AluOpType.abs, tile.wide(y), y)
        tile.alu(AluOpType.mod, left, tile.alu(AluOpType.abs, left, x), divisor)
    signs = tile.wide(x)
    sign(tile, signs, x)
    tile.alu(AluOpType.mult, out, left, signs)


def _remainder_by(tile: Tile, out: Chip, x: Operand, divisor: int) -> None:
    """A known divisor, whose sign does not matter: moved up as for the quotient, and down again."""
    if divisor == 0:
        tile.copy(out, x)
    elif not is_signed(out.dtype):
        tile.alu(AluOpType.mod, out, x, divisor)
    elif divisor == lowest(out.dtype):
        others = tile.alu(AluOpType.not_equal, tile.wide(x), x, divisor)
        tile.alu(AluOpType.mult, out, x, others)
    else:
        distance, moved = _moved_up(tile, x, abs(divisor))
        tile.alu(AluOpType.mod, moved, moved, abs(divisor))
        tile.alu(AluOpType.subtract, out, moved, distance)


def _remainder(tile: Tile, out: Chip, x: Operand, y: Chip) -> None:
    """What rounding down leaves has the sign of `y`: less `y` where `x` has another."""
    missing = _rounds_apart(tile, x, y) if is_signed(out.dtype) else None
    left = tile.alu(AluOpType.mod, tile.wide(y), x, y)
    if missing is not None:
        tile.alu(AluOpType.mult, missing, missing, y)
        tile.alu(AluOpType.subtract, left, left, missing)
    tile.select(out, y, left, x)
