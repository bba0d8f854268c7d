"""What will be known when loops are unrolled: elements of their state, in each iteration and behind the last.

An element is known in every copy of the body if it is known at first and if all that its update is made of is known in
the same way. Where that is the state or the result of another loop, that one must be unrolled too.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from xdsl.ir import BlockArgument, OpResult

from xneuron.analysis.slices import Opaque, Path, Slicer, Slot, postorder
from xneuron.dialects.hlo.control_flow import WhileOp


class AfterUnrolling:
    """Answers about one module: `counted` loops are going to be unrolled, `blocked` ones if what they need is known."""

    def __init__(self, slicer: Slicer, counted: Container[WhileOp], blocked: Mapping[WhileOp, Opaque | None]) -> None:
        self._slicer = slicer
        self._counted = counted
        self._blocked = blocked
        self._known: set[tuple[WhileOp, Path]] = set()
        self._unknown: set[tuple[WhileOp, Path]] = set()

    def knows(self, unknown: Opaque) -> bool:
        """True if what is not known now will be."""
        if (first := _element(unknown)) is None:
            return False
        waiting, seen = [first], set[tuple[WhileOp, Path]]()
        while waiting:
            element = waiting.pop()
            if element in seen or element in self._known:
                continue
            seen.add(element)
            needs = [_element(need) for need in self._needs(*element)]
            waiting += [need for need in needs if need is not None]
            if element in self._unknown or not self._may_unroll(element[0]) or None in needs:
                self._unknown.add(first)
                return False
        self._known |= seen
        return True

    def _may_unroll(self, loop: WhileOp) -> bool:
        return loop in self._counted or self._blocked.get(loop) is not None

    def _needs(self, loop: WhileOp, element: Path) -> list[Opaque]:
        """What is not known now of all that an element of the loop's state depends on, and of the loop's count."""
        needed = self._blocked.get(loop)
        needs = [needed] if needed is not None else []
        paths, seen = [element], {element}
        for path in paths:  # grows while we go
            for part in postorder(self._slicer.init(loop, path), self._slicer.update(loop, path)):
                if isinstance(part, Opaque):
                    needs.append(part)
                elif isinstance(part, Slot) and part.path not in seen:
                    seen.add(part.path)
                    paths.append(part.path)
        return needs


def _element(unknown: Opaque) -> tuple[WhileOp, Path] | None:
    """The element of a loop's state, or of its result, that is not known."""
    value = unknown.value
    owner = value.block.parent_op() if isinstance(value, BlockArgument) else None
    if isinstance(value, OpResult):
        owner = value.op
    return (owner, unknown.path) if isinstance(owner, WhileOp) else None
