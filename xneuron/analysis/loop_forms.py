"""The forms of a module's loops, and what integers in their bodies are: intervals, and affine in induction variables.

The three belong together. What an outer loop's counter is bounds the inner loop's start; what bounds a counter decides
whether an index may wrap. In the body of a `Dynamic` loop they hold where its guards let the program pass.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xneuron.analysis.affine_index import AffineIndex, AffineIndices, Axis, Entry, constant, single
from xneuron.analysis.call_graph import CallGraph
from xneuron.analysis.closed_form import integers_of
from xneuron.analysis.loop_counter import constant_step, loop_form
from xneuron.analysis.loop_form import Dynamic, LoopForm, Static
from xneuron.analysis.slices import STATE, Path, Point, Slicer, Slot
from xneuron.analysis.value_range import INT32, Interval, Ranges, type_range
from xneuron.dialects.hlo.base import body_of
from xneuron.dialects.hlo.control_flow import WhileOp


class LoopForms:
    """Answers about one module, as it is now: make another one when the module has changed."""

    def __init__(self, module: ModuleOp, max_simulation: int = 128) -> None:
        self.slicer = Slicer(CallGraph(module))
        self._max_simulation = max_simulation
        self._forms: dict[WhileOp, LoopForm] = {}
        self._slots: dict[tuple[WhileOp, Path, bool], tuple[AffineIndex | None, Interval | None]] = {}
        self._ranges = Ranges(lambda slot: self._slot(slot)[1])
        self._indices = AffineIndices(self._ranges, lambda slot: self._slot(slot)[0])

    def of(self, loop: WhileOp) -> LoopForm:
        """What the loop becomes on a register machine."""
        if loop not in self._forms:
            self._forms[loop] = loop_form(loop, self.slicer, self._ranges, self._max_simulation)
        return self._forms[loop]

    def value_range(self, value: SSAValue) -> Interval | None:
        """Between which numbers an integer (an array of one element) lies; None for any other type."""
        return self._ranges.of(self.slicer.node(Point(value, (), STATE)))

    def affine_of(self, value: SSAValue) -> AffineIndex | None:
        """An integer as an affine expression of induction variables and of runtime scalars that stay.

        None where it is none, or where some operation on the way to it may wrap.
        """
        return self._indices.of(self.slicer.node(Point(value, (), STATE)))

    def slot_of(self, value: SSAValue) -> tuple[WhileOp, Path] | None:
        """The loop and the element of its state that a value in the loop is, behind what only passes it on."""
        node = self.slicer.node(Point(value, (), STATE))
        return (_loop(node), node.path) if isinstance(node, Slot) else None

    def _slot(self, slot: Slot) -> tuple[AffineIndex | None, Interval | None]:
        loop = _loop(slot)
        key = loop, slot.path, slot.argument.block is body_of(loop.body)
        if key not in self._slots:
            self._slots[key] = self._staying(slot) if self.slicer.unchanged(loop, slot.path) else self._moving(slot)
        return self._slots[key]

    def _staying(self, slot: Slot) -> tuple[AffineIndex | None, Interval | None]:
        loop = _loop(slot)
        value = self.slicer.entry(loop, slot.path)
        range = self._ranges.of(value)
        return self._entry(loop, slot.path), range

    def _entry(self, loop: WhileOp, path: Path) -> AffineIndex | None:
        """What a slot holds when the loop is entered, by the loops around or as a runtime scalar of its own."""
        value = self.slicer.entry(loop, path)
        if (found := self._indices.of(value)) is not None:
            return found
        range = self._ranges.of(value)
        return single(Entry(loop, path), range) if range is not None and range.within(INT32) else None

    def _moving(self, slot: Slot) -> tuple[AffineIndex | None, Interval | None]:
        loop = _loop(slot)
        if slot.argument.block is not body_of(loop.body) or (numbers := integers_of(slot.type)) is None:
            return None, None
        if (step := constant_step(loop, slot, self.slicer)) is None:
            return None, None
        match self.of(loop):
            case Static(count=count):
                ticks = single(Axis(loop), Interval(0, max(count - 1, 0)))
                return self._counting(loop, slot.path, step, ticks, type_range(numbers))
            case Dynamic() as form if form.slot == slot.path:
                return self._counter(loop, form)
            case Dynamic() as form if step % form.stride == 0 and form.iv.within(INT32):
                return self._counting(loop, slot.path, step // form.stride, _ticks(loop, form), type_range(numbers))
            case _:
                return None, None

    def _counter(self, loop: WhileOp, form: Dynamic) -> tuple[AffineIndex | None, Interval | None]:
        if form.wraps or not form.iv.within(INT32):
            return None, form.counter
        start = self._entry(loop, form.slot)
        index = None if start is None else start.plus(_ticks(loop, form), form.counter_coeff).narrowed(form.counter)
        return index, form.counter

    def _counting(
        self, loop: WhileOp, path: Path, factor: int, ticks: AffineIndex, every: Interval
    ) -> tuple[AffineIndex | None, Interval | None]:
        """A slot that is `factor * ticks` away from its start, unless it may leave its type on the way."""
        start = cast(Interval, self._ranges.of(self.slicer.entry(loop, path)))
        range = start.plus(ticks.times(factor).range)
        if not range.within(every):
            return None, None
        entry = self._entry(loop, path)
        return None if entry is None else entry.plus(ticks, factor).narrowed(range), range


def _ticks(loop: WhileOp, form: Dynamic) -> AffineIndex:
    """How far the induction variable is from where it began."""
    return single(Axis(loop), form.iv).plus(constant(-form.lb))


def _loop(slot: Slot) -> WhileOp:
    return cast(WhileOp, slot.argument.block.parent_op())
