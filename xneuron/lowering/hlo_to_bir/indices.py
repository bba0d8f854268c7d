"""Start indices of slices: expressions of induction variables, where that is all that they are."""

from __future__ import annotations

from typing import TypeAlias

from xneuron.analysis.affine_index import AffineIndex, Axis, Term, constant
from xneuron.analysis.loop_form import DoWhile, Dynamic, LoopForm, Static
from xneuron.analysis.loop_forms import LoopForms
from xneuron.analysis.value_range import Interval
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.dialects.hlo.data_movement import DynamicSliceOp, DynamicUpdateSliceOp
from xneuron.dialects.hlo.types import is_tensor, shape_of
from xneuron.remarks import declare

Slicing: TypeAlias = DynamicSliceOp | DynamicUpdateSliceOp


LARGEST = 2**31 - 1
"""The largest bound of a loop axis."""
TOO_MANY = declare("trips-beyond-axis", "The trip count is known, but no bound of a loop axis is as large.")


class Indices:
    """Answers about one module; they do not depend on what has been lowered so far."""

    def __init__(self, forms: LoopForms) -> None:
        self.forms = forms
        self._known: dict[tuple[Slicing, int], AffineIndex | None] = {}

    def form(self, loop: WhileOp) -> LoopForm:
        """What a loop becomes: what the analysis says, as long as it fits on an axis."""
        form = self.forms.of(loop)
        if isinstance(form, Static) and form.count > LARGEST:
            return DoWhile(TOO_MANY, f"it runs {form.count} times, which is no bound of a loop axis")
        return form

    def start(self, op: Slicing, dimension: int) -> AffineIndex | None:
        """Where a window starts in a dimension, for sure inside; None if a register has to hold that, clamped."""
        if (op, dimension) not in self._known:
            self._known[op, dimension] = self._start(op, dimension)
        return self._known[op, dimension]

    def _start(self, op: Slicing, dimension: int) -> AffineIndex | None:
        index = op.start_indices[dimension] if len(op.start_indices) > dimension else None
        if index is None or (is_tensor(index.type) and shape_of(index.type)):
            return None  # one vector of all indices
        room = shape_of(op.operand.type)[dimension] - window_of(op)[dimension]
        found = self.forms.affine_of(index) if room else constant(0)  # clamped
        if found is None or not found.range.within(Interval(0, room)):
            return None
        return found if all(self._is_held(term) for term, _ in found.terms) else None

    def _is_held(self, term: Term) -> bool:
        """True if there is an induction variable, or a register that was loaded in front of a loop."""
        form = self.form(term.loop)
        if isinstance(term, Axis):
            return not isinstance(form, DoWhile)
        return isinstance(form, Dynamic) and term.path in (form.start, form.bound)


def window_of(op: Slicing) -> tuple[int, ...]:
    """The extents of the window."""
    return shape_of(op.results[0].type if isinstance(op, DynamicSliceOp) else op.update.type)
