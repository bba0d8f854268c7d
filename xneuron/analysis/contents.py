"""Which computations hold an op of some kind, through regions and calls."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.func import CallOp
from xdsl.ir import Operation, Region

from xneuron.analysis.call_graph import CallGraph


class Contents:
    """Answers for one kind of op; each region and each function is looked into once.

    A rewrite that leaves the answers as they are (unrolling does) may go on asking.
    """

    def __init__(self, calls: CallGraph, kind: Callable[[Operation], bool]) -> None:
        self._calls = calls
        self._kind = kind
        self._known: dict[Region, bool] = {}

    def has(self, op: Operation) -> bool:
        """True if `op` is of the kind, or anything that runs inside it."""
        if self._kind(op):
            return True
        if isinstance(op, CallOp):
            return (callee := self._calls.callee(op)) is not None and self.inside(callee.body)
        return any(self.inside(region) for region in op.regions)

    def inside(self, region: Region) -> bool:
        """True if an op of the kind runs inside the computation."""
        if region not in self._known:
            self._known[region] = False  # until we know better, for functions that call themselves
            self._known[region] = any(self.has(op) for block in region.blocks for op in block.ops)
        return self._known[region]
