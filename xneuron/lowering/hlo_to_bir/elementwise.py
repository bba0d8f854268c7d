"""Rules for elementwise instructions."""

from __future__ import annotations

from xneuron.dialects.bir.enums import AluOpType
from xneuron.dialects.hlo.elementwise import AddOp, BinaryOp, MultiplyOp

from .computations import Lowering
from .rules import lowers
from .tiles import Chip, Operand, Tile, elementwise
from .values import Tree

_SAME: dict[type[BinaryOp], AluOpType] = {AddOp: AluOpType.add, MultiplyOp: AluOpType.mult}
"""Instructions that are one ALU operation, for numbers of any type."""


@lowers(*_SAME, in_place=None)
def same(low: Lowering, op: BinaryOp) -> Tree:
    """The ALU's own operation."""
    alu = _SAME[type(op)]

    def steps(tile: Tile, out: Chip, x: Operand, y: Operand) -> None:
        tile.alu(alu, out, x, y)

    return elementwise(low, low.result(op.results[0]), [low.leaf(value) for value in op.operands], steps)
