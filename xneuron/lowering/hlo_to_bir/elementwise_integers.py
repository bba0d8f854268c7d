"""Integers: shifts past the width, bits counted, high halves of products.

BIR's shift counts are modulo the width.
"""

from __future__ import annotations

from xneuron.dialects.bir.enums import AluOpType, DType
from xneuron.dialects.hlo import elementwise as hlo
from xneuron.dialects.hlo.types import element_of

from .elementwise import is_signed, stepwise
from .tiles import Chip, Operand, Tile
from .values import Splat

_WIDE = {True: DType.int64, False: DType.uint64}


def bits_of(dtype: DType) -> int:
    """The width of an element."""
    return 8 * dtype.nbytes


def lowest(dtype: DType) -> int:
    """The smallest signed integer."""
    return -(1 << (bits_of(dtype) - 1))


def all_ones(dtype: DType) -> int:
    """The number whose bits are all ones."""
    return -1 if is_signed(dtype) else (1 << bits_of(dtype)) - 1


# Shifts


def _shift(tile: Tile, out: Chip, op: AluOpType, x: Operand, count: Operand) -> None:
    """0 for counts, read as unsigned, of the width and more."""
    width = bits_of(out.dtype)
    if isinstance(count, Splat):
        if 0 <= count.value < width:
            tile.alu(op, out, x, count)
        else:
            tile.copy(out, Splat(0, out.dtype, 1))
        return
    within = tile.twice(tile.wide(count), count, (AluOpType.bitwise_and, -width), (AluOpType.is_equal, 0))
    shifted = tile.alu(op, tile.wide(count), x, count)
    tile.alu(AluOpType.mult, out, shifted, within)


@stepwise(hlo.ShiftLeftOp)
def shift_left(tile: Tile, out: Chip, x: Operand, count: Operand) -> None:
    """Fills with zeros."""
    _shift(tile, out, AluOpType.logical_shift_left, x, count)


@stepwise(hlo.ShiftRightLogicalOp)
def shift_right_logical(tile: Tile, out: Chip, x: Operand, count: Operand) -> None:
    """Fills with zeros."""
    _shift(tile, out, AluOpType.logical_shift_right, x, count)


@stepwise(hlo.ShiftRightArithmeticOp)
def shift_right_arithmetic(tile: Tile, out: Chip, x: Operand, count: Operand) -> None:
    """Copies the sign; counts of the width and more become `width - 1`, which -1 is modulo the width."""
    width = bits_of(out.dtype)
    if isinstance(count, Splat):
        number = int(count.value)
        tile.alu(AluOpType.arith_shift_right, out, x, number if 0 <= number < width else width - 1)
        return
    beyond = tile.alu(AluOpType.bitwise_and, tile.wide(count), count, -width)
    tile.twice(beyond, beyond, (AluOpType.not_equal, 0), (AluOpType.mult, -1))
    tile.alu(AluOpType.bitwise_or, beyond, count, beyond)
    tile.alu(AluOpType.arith_shift_right, out, x, beyond)


# Bits


def _repeated(pattern: int, dtype: DType) -> int:
    """A byte as often as it fits."""
    return int.from_bytes(bytes([pattern]) * dtype.nbytes, "little")


@stepwise(hlo.PopcntOp)
def population_count(tile: Tile, out: Chip, x: Operand) -> None:
    """The number of ones."""
    _count_ones(tile, out, x, tile.wide(x), tile.wide(x))


def _count_ones(tile: Tile, out: Chip, x: Operand, low: Chip, high: Chip) -> None:
    """Sums of neighbours: 2, 4, 8 bits wide; then all bytes at once, by a product whose top byte is their sum.

    `low`, which may be `x`, and `high` are overwritten.
    """
    dtype, right, both = out.dtype, AluOpType.logical_shift_right, AluOpType.bitwise_and
    tile.twice(high, x, (right, 1), (both, _repeated(0x55, dtype)))
    tile.alu(AluOpType.subtract, low, x, high)
    tile.twice(high, low, (right, 2), (both, _repeated(0x33, dtype)))
    tile.alu(both, low, low, _repeated(0x33, dtype))
    tile.alu(AluOpType.add, low, low, high)
    tile.alu(right, high, low, 4)
    tile.alu(AluOpType.add, low, low, high)
    tile.alu(both, low, low, _repeated(0x0F, dtype))
    tile.twice(out, low, (AluOpType.mult, _repeated(0x01, dtype)), (right, bits_of(dtype) - 8))


@stepwise(hlo.CountLeadingZerosOp)
def leading_zeros(tile: Tile, out: Chip, x: Operand) -> None:
    """Copies the first one to all places behind it, and counts the zeros."""
    smeared, shifted = tile.copy(tile.wide(x), x), tile.wide(x)
    distance = 1
    while distance < bits_of(out.dtype):
        tile.alu(AluOpType.logical_shift_right, shifted, smeared, distance)
        tile.alu(AluOpType.bitwise_or, smeared, smeared, shifted)
        distance *= 2
    tile.alu(AluOpType.bitwise_not, smeared, smeared)
    _count_ones(tile, out, smeared, smeared, shifted)


def _too_wide(op: hlo.MulhiOp) -> str | None:
    if (element := element_of(op.lhs.type)).bits < 64:
        return None
    return f"the product of two {element.name} is wider than BIR's integers"


@stepwise(hlo.MulhiOp, check=_too_wide)
def high_half(tile: Tile, out: Chip, x: Operand, y: Operand) -> None:
    """The product in 64 bits, shifted down."""
    wide = _WIDE[is_signed(out.dtype)]
    left, right = tile.copy(tile.temporary(wide), x), tile.copy(tile.temporary(wide), y)
    tile.alu(AluOpType.mult, left, left, right)
    tile.alu(AluOpType.arith_shift_right, out, left, bits_of(out.dtype))
