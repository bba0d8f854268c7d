"""What an integer in a loop's body is in each iteration, where that follows from constants alone."""

from __future__ import annotations

from typing import cast

from xdsl.ir import SSAValue

from xneuron.analysis.simulation import CannotEvaluate, Plan, array_of, fold, quiet
from xneuron.analysis.slices import STATE, Constant, Node, Opaque, Path, Point, Slicer, Slot, postorder
from xneuron.dialects.hlo.control_flow import WhileOp


def iteration_values(loop: WhileOp, value: SSAValue, count: int, slicer: Slicer) -> list[int] | str:
    """The integer `value` (an array of one element in the body) in each of `count` iterations, or why it is not known.

    Computed with the kernels, so wrap-around and everything else is as when the program runs.
    """
    try:
        return _Iterations(loop, slicer).values(slicer.node(Point(value, (), STATE)), count)
    except CannotEvaluate as problem:
        return str(problem)


class _Iterations:
    def __init__(self, loop: WhileOp, slicer: Slicer) -> None:
        self.loop = loop
        self.slicer = slicer
        self.inits: dict[Path, Constant] = {}
        self.updates: dict[Path, Node] = {}

    def values(self, root: Node, count: int) -> list[int]:
        waiting = [root]
        for node in waiting:  # grows while we go
            for slot in _slots(node):
                if slot.path not in self.inits:
                    waiting += self._collect(slot.path)
        fixed = {path: init for path, init in self.inits.items() if path not in self.updates}
        plan = Plan([fold(root, fixed), *(fold(update, fixed) for update in self.updates.values())])
        state = {path: array_of(self.inits[path]) for path in self.updates}
        found: list[int] = []
        with quiet():
            for _ in range(count):
                value, *after = plan.run(state)
                found.append(int(value.reshape(-1)[0]))
                state = dict(zip(state, after, strict=True))
        return found

    def _collect(self, slot: Path) -> list[Node]:
        """Notes how a slot begins; if it changes, also how, and gives the update to be looked through."""
        init = self.slicer.init(self.loop, slot)
        _slots(init)
        self.inits[slot] = cast(Constant, fold(init, {}))
        if self.slicer.unchanged(self.loop, slot):
            return []
        self.updates[slot] = self.slicer.update(self.loop, slot)
        return [self.updates[slot]]


def _slots(root: Node) -> list[Slot]:
    """The slots that a slice reads. Raises CannotEvaluate for a slice that cannot be computed."""
    found: list[Slot] = []
    for node in postorder(root):
        if isinstance(node, Opaque):
            raise CannotEvaluate(f"it depends on {node.why}")
        if isinstance(node, Slot):
            found.append(node)
    return found
