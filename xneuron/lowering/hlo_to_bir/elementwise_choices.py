"""Comparisons and choices."""

from __future__ import annotations

from xneuron.dialects.bir.enums import AluOpType, DType
from xneuron.dialects.hlo import elementwise as hlo

from .bits import single_bits
from .computations import Lowering
from .elementwise import alu, apply, kind_of, stepwise
from .rules import lowers
from .tiles import Chip, Operand, Tile, elementwise
from .values import Splat, Tree

_COMPARISONS = {
    "EQ": AluOpType.is_equal,
    "NE": AluOpType.not_equal,
    "GE": AluOpType.is_ge,
    "GT": AluOpType.is_gt,
    "LE": AluOpType.is_le,
    "LT": AluOpType.is_lt,
}


@lowers(hlo.CompareOp, in_place=None)
def compare(low: Lowering, op: hlo.CompareOp) -> Tree:
    """1 or 0; NaN is unequal to all and unordered, unless floats are compared by their bits (TOTALORDER)."""
    comparison = _COMPARISONS[op.direction.data]
    if op.compare_type is None or op.compare_type.data != "TOTALORDER" or kind_of(op) != "float":
        return apply(low, op, alu(comparison))
    bits = [single_bits(low, low.leaf(value)) for value in op.operands]

    def steps(tile: Tile, out: Chip, x: Operand, y: Operand) -> None:
        tile.alu(comparison, out, _rank(tile, x), _rank(tile, y))

    return elementwise(low, low.result(op.results[0]), bits, steps)


def _rank(tile: Tile, bits: Operand) -> Chip:
    """An integer that is ordered as the float is of which these are the bits: those of negative ones turned round."""
    magnitude = (1 << 31) - 1
    turned = tile.twice(
        tile.temporary(DType.int32), bits, (AluOpType.arith_shift_right, 31), (AluOpType.bitwise_and, magnitude)
    )
    return tile.alu(AluOpType.bitwise_xor, turned, bits, turned)


@stepwise(hlo.SelectOp)
def select(tile: Tile, out: Chip, mask: Operand, on_true: Operand, on_false: Operand) -> None:
    """One or the other; a mask that is known decides now."""
    if isinstance(mask, Splat):
        tile.copy(out, on_true if mask.value else on_false)
    else:
        tile.select(out, mask, on_true, on_false)


@stepwise(hlo.ClampOp)
def clamp(tile: Tile, out: Chip, low: Operand, x: Operand, high: Operand) -> None:
    """`min(max(x, low), high)`: NaN if any is; one instruction if both bounds are known."""
    if isinstance(low, Splat) and isinstance(high, Splat):
        tile.twice(out, x, (AluOpType.max, low.value), (AluOpType.min, high.value))
        return
    raised = tile.alu(AluOpType.max, tile.wide(out), x, low)
    tile.alu(AluOpType.min, out, raised, high)


@stepwise(hlo.IsFiniteOp)
def is_finite(tile: Tile, out: Chip, x: Operand) -> None:
    """The magnitude is below infinity, which NaN is not."""
    tile.twice(out, x, (AluOpType.abs, 0.0), (AluOpType.is_lt, float("inf")))
