"""Loops that can be counted only when others are unrolled, such as an inner loop whose bound is the outer counter.

Such a loop waits: it is marked, copied along with the body that it stands in, and each copy is asked again. A mark is
an attribute, so copies have it too; the number in it says which loop it was.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

from xdsl.ir import Operation

from xneuron.analysis.after_unrolling import AfterUnrolling
from xneuron.analysis.call_graph import CallGraph, function_of
from xneuron.analysis.computations import loops
from xneuron.analysis.slices import Opaque, Slicer
from xneuron.analysis.trip_count import TripCount, trip_count
from xneuron.dialects.hlo.attributes import int_of, integer
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.remarks import declare

WAITS = declare("waits", "The loop's count depends on a loop that may be unrolled: each copy will be asked again.")
MARK = "xneuron.waiting"


class WaitingLoops:
    """Loops of one module that wait, and their copies."""

    def __init__(self, slicer: Slicer, counted: Container[WhileOp], blocked: Mapping[WhileOp, Opaque | None]) -> None:
        """Marks those `blocked` loops for which what they need will be known when the `counted` loops are unrolled."""
        unrolled = AfterUnrolling(slicer, counted, blocked)
        self.originals = [loop for loop, needed in blocked.items() if needed and unrolled.knows(needed)]
        for number, loop in enumerate(self.originals):
            loop.attributes[MARK] = integer(number)

    def resume(self, loop: WhileOp) -> str:
        """Takes a loop's mark away, if it has one; where it stands (for a message), if it is a copy of one that had."""
        if not is_marked(loop):
            return ""
        original = self.originals[number_of(loop)]
        del loop.attributes[MARK]
        return "" if loop is original else f"in {function_of(loop)}: "

    def release(self, calls: CallGraph) -> Iterator[WhileOp]:
        """Takes all marks away; of each loop that was marked and still waits, the first copy."""
        seen: set[int] = set()
        for loop in marked(calls):
            number = number_of(loop)
            del loop.attributes[MARK]
            if number not in seen:
                seen.add(number)
                yield loop


def is_marked(op: Operation) -> bool:
    """True for a loop that waits."""
    return MARK in op.attributes


def number_of(loop: WhileOp) -> int:
    """Which of the loops that were marked this one is, or is a copy of."""
    return int_of(loop.attributes[MARK])


def marked(calls: CallGraph) -> list[WhileOp]:
    """Loops of a module that wait, callees first, innermost first."""
    return [loop for function in calls.callees_first() for loop in loops(function) if is_marked(loop)]


def through_loops(calls: CallGraph) -> Slicer:
    """A slicer that follows values through loops that run once, such as those around unrolled iterations."""
    known: dict[WhileOp, bool] = {}

    def runs_once(loop: WhileOp) -> bool:
        if loop not in known:
            known[loop] = False  # while the question is open
            count = trip_count(loop, 0, slicer)
            known[loop] = isinstance(count, TripCount) and count.count == 1
        return known[loop]

    slicer = Slicer(calls, runs_once)
    return slicer
