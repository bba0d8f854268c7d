"""Finds the counter of a loop, how it moves and what it is compared with; from that the loop's form."""

from __future__ import annotations

from typing import cast

from xneuron.analysis.closed_form import FLIPPED, SAME_VALUE, Integers, direction_of, integers_of, is_pred, step_of
from xneuron.analysis.loop_form import (
    BOUND_COMPUTED,
    CONDITION_FIXED,
    NO_COMPARISON,
    NO_INTEGER,
    SEVERAL_COUNTERS,
    STEP_NOT_CONSTANT,
    DoWhile,
    LoopForm,
    Refusal,
    Static,
    refuse,
    slot_text,
)
from xneuron.analysis.loop_range import CountedLoop, Side
from xneuron.analysis.simulation import CannotEvaluate, fold, number_of
from xneuron.analysis.slices import Apply, Constant, Node, Opaque, Path, Slicer, Slot, postorder
from xneuron.analysis.trip_count import (
    BOUND_NOT_CONSTANT,
    CANNOT_EVALUATE,
    CONDITION_OPAQUE,
    INIT_NOT_CONSTANT,
    UPDATE_OPAQUE,
    TripCount,
    trip_count,
)
from xneuron.analysis.value_range import Interval, Ranges
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.dialects.hlo.elementwise import CompareOp, NotOp
from xneuron.dialects.hlo.types import spelled

RUNTIME = (INIT_NOT_CONSTANT, BOUND_NOT_CONSTANT)
"""Reasons against a trip count that a register may help with."""

NEGATED = {"LT": "GE", "GE": "LT", "LE": "GT", "GT": "LE", "EQ": "NE", "NE": "EQ"}


def loop_form(loop: WhileOp, slicer: Slicer, ranges: Ranges, max_simulation: int = 128) -> LoopForm:
    """What the loop becomes. `max_simulation` as in `trip_count`; `loop_forms` makes slicers and ranges for modules."""
    count = trip_count(loop, max_simulation, slicer)
    if isinstance(count, TripCount):
        return Static(count.count, count.slot, count.init, count.step)
    if count.reason not in RUNTIME:
        return DoWhile(count.reason, count.detail)
    try:
        return _Question(loop, slicer, ranges).answer()
    except Refusal as refusal:
        return refusal.form
    except CannotEvaluate as problem:
        return DoWhile(CANNOT_EVALUATE, str(problem))


def constant_step(loop: WhileOp, slot: Slot, slicer: Slicer) -> int | None:
    """What each iteration adds to an integer slot, as the shortest signed number; None if that is not a constant."""
    numbers = integers_of(slot.type)
    if numbers is None or is_pred(slot.type):
        return None
    step = step_of(_folded(loop, slicer.update(loop, slot.path), slicer), slot)
    half = numbers.modulus >> 1
    return None if step is None else (step + half) % numbers.modulus - half


def _folded(loop: WhileOp, node: Node, slicer: Slicer) -> Node:
    """A slice with the slots put in that stay during the loop and are constants."""
    known: dict[Path, Constant] = {}
    for part in postorder(node):
        if isinstance(part, Slot) and part.path not in known and slicer.unchanged(loop, part.path):
            value = slicer.init(loop, part.path)
            if _is_closed(value):
                known[part.path] = cast(Constant, fold(value, {}))
    return fold(node, known)


def _is_closed(node: Node) -> bool:
    return not any(isinstance(part, Slot | Opaque) for part in postorder(node))


class _Question:
    """One loop's form: its counter and how that moves, its condition, then the arithmetic (`CountedLoop`)."""

    def __init__(self, loop: WhileOp, slicer: Slicer, ranges: Ranges) -> None:
        self.loop = loop
        self.slicer = slicer
        self.ranges = ranges

    def answer(self) -> LoopForm:
        condition = _folded(self.loop, self.slicer.condition(self.loop), self.slicer)
        counter = self._counter(condition)
        step = self._step(counter)
        compare, bound = self._comparison(condition, counter)
        start = self._entry(counter)
        numbers = cast(Integers, integers_of(counter.type))
        return CountedLoop(counter, numbers, start, bound, compare, step).form()

    def _counter(self, condition: Node) -> Slot:
        """The one slot that changes the condition."""
        changing: dict[Path, Slot] = {}
        for part in postorder(condition):
            if isinstance(part, Opaque):
                refuse(CONDITION_OPAQUE, f"the condition depends on {part.why}")
            if isinstance(part, Slot) and not self.slicer.unchanged(self.loop, part.path):
                changing.setdefault(part.path, part)
        if not changing:
            refuse(CONDITION_FIXED, "nothing that the condition reads changes in the loop")
        if len(changing) > 1:
            refuse(SEVERAL_COUNTERS, f"the condition reads {len(changing)} slots that change: {_listed(changing)}")
        ((path, counter),) = changing.items()
        if integers_of(counter.type) is None or is_pred(counter.type):
            refuse(NO_INTEGER, f"the condition depends on slot {slot_text(path)}, which is {spelled(counter.type)}")
        return counter

    def _step(self, counter: Slot) -> int:
        name = f"slot {slot_text(counter.path)}"
        for part in postorder(self.slicer.update(self.loop, counter.path)):
            if isinstance(part, Opaque):
                refuse(UPDATE_OPAQUE, f"the update of {name} depends on {part.why}")
        step = constant_step(self.loop, counter, self.slicer)
        if step is None:
            refuse(STEP_NOT_CONSTANT, f"{name} does not move by a constant")
        if step == 0:
            refuse(CONDITION_FIXED, f"{name}, on which the condition depends, moves by 0")
        return step

    def _comparison(self, condition: Node, counter: Slot) -> tuple[str, Side]:
        """The condition as `counter compare bound`."""
        negated = False
        while isinstance(condition, Apply) and isinstance(condition.op, (NotOp, *SAME_VALUE)):
            negated ^= isinstance(condition.op, NotOp)
            condition = condition.args[0]
        if not isinstance(condition, Apply) or not isinstance(condition.op, CompareOp):
            refuse(NO_COMPARISON, "the condition is not one comparison")
        numbers = integers_of(condition.args[0].type)
        direction = None if numbers is None else direction_of(condition.op, numbers)
        left, right = (self._unconverted(arg) for arg in condition.args)
        if _is(right, counter):
            left, right, direction = right, left, direction and FLIPPED[direction]
        if direction is None or not _is(left, counter) or _reads(right, counter):
            what = f"slot {slot_text(counter.path)} with a value that stays"
            refuse(NO_COMPARISON, f"the condition is a comparison, but not one of {what}")
        return NEGATED[direction] if negated else direction, self._bound(right)

    def _unconverted(self, node: Node) -> Node:
        while self.ranges.keeps_value(node):
            node = cast(Apply, node).args[0]
        return node

    def _bound(self, node: Node) -> Side:
        if isinstance(node, Slot):
            return self._entry(node)
        range = cast(Interval, self.ranges.of(node))
        if range.point is None:
            refuse(BOUND_COMPUTED, "the bound is computed in the condition from values known only at run time")
        return Side(range.point, range)

    def _entry(self, slot: Slot) -> Side:
        """What a slot holds when the loop is entered."""
        value = self.slicer.init(self.loop, slot.path)
        if _is_closed(value):
            number = number_of(cast(Constant, fold(value, {})))
            return Side(number, Interval(number, number))
        range = cast(Interval, self.ranges.of(self.slicer.entry(self.loop, slot.path)))
        return Side(slot.path if range.point is None else range.point, range)


def _is(node: Node, counter: Slot) -> bool:
    return isinstance(node, Slot) and node.path == counter.path


def _reads(node: Node, counter: Slot) -> bool:
    return any(_is(part, counter) for part in postorder(node))


def _listed(paths: dict[Path, Slot]) -> str:
    return ", ".join(slot_text(path) for path in sorted(paths))
