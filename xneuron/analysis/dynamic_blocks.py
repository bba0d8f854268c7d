"""Which blocks run a number of times that only a register knows.

The reference's DynamicCFGBasicBlockCollectorSymbolic: a depth that goes up where a dynamic loop is entered
and down where it is left. What it does at a do-while loop is not public; here it does not count, since a
do-while has no trip register.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation, Region

from xneuron.dialects.bir.functions import FuncOp
from xneuron.dialects.bir.loops import DynamicForLoopOp


class DynamicBlockCollector:
    """The nesting depth of every block of a function: how many dynamic loops are around it."""

    def __init__(self, func: FuncOp):
        self.depths: dict[Block, int] = {}
        self._depth = 0
        self._region(func.body)

    def _region(self, region: Region) -> None:
        for block in region.blocks:
            self.depths[block] = self._depth
            for op in block.ops:
                if op.regions:
                    self._enter(op)

    def _enter(self, op: Operation) -> None:
        is_dynamic = isinstance(op, DynamicForLoopOp)
        self._depth += is_dynamic
        for region in op.regions:
            self._region(region)
        self._depth -= is_dynamic

    def is_dynamic(self, block: Block) -> bool:
        """Whether the block is inside a dynamic loop."""
        return self.depths[block] > 0

    def dynamic_blocks(self) -> Iterator[Block]:
        """The blocks inside dynamic loops, in program order."""
        return (block for block, depth in self.depths.items() if depth)
