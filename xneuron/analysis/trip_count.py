"""How many times a loop runs, exactly, or why that cannot be told.

1. Slice the condition back to the loop's state, then the update of each slot that it reads, and so on (`slices`).
2. Slots that the body leaves alone are constants; what is then constant is computed with the kernels (`simulation`).
3. One integer slot that moves by a constant: closed form (`closed_form`), any number of iterations.
4. Everything else, of one slot or several: run the slices, and nothing else of the loop, up to a limit.

The counter is a machine integer of its own width and sign, as in HLO: it wraps. An annotation `known_trip_count` is
never read. Rules and known errors of others: xla-semantics.md (a).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import Literal, NoReturn, TypeAlias, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from xneuron.analysis.call_graph import CallGraph, module_of
from xneuron.analysis.closed_form import bound_of, integers_of, is_pred, leaving, step_of
from xneuron.analysis.simulation import CannotEvaluate, Plan, array_of, fold, number_of, quiet
from xneuron.analysis.slices import Constant, Node, Opaque, Path, Slicer, Slot, postorder
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.dialects.hlo.types import element_count, spelled
from xneuron.remarks import Fact, declare

CONDITION_OPAQUE = declare("condition-opaque", "The condition depends on something that is known only at run time.")
UPDATE_OPAQUE = declare("update-opaque", "The counter's update depends on something that is known only at run time.")
INIT_NOT_CONSTANT = declare("init-not-constant", "The counter's initial value is not a constant expression.")
BOUND_NOT_CONSTANT = declare("bound-not-constant", "The condition depends on a loop-invariant value known at run time.")
NOT_SCALAR = declare("not-scalar", "The condition depends on a part of the state that has more than one element.")
NEVER_EXITS = declare("never-exits", "The condition never becomes false.")
TOO_MANY_ITERATIONS = declare("too-many-iterations", "The loop has no closed form and simulation reached its limit.")
CANNOT_EVALUATE = declare("cannot-evaluate", "An instruction on the way to the condition could not be evaluated.")

REASONS = (
    CONDITION_OPAQUE,
    UPDATE_OPAQUE,
    INIT_NOT_CONSTANT,
    BOUND_NOT_CONSTANT,
    NOT_SCALAR,
    NEVER_EXITS,
    TOO_MANY_ITERATIONS,
    CANNOT_EVALUATE,
)
"""Every reason that `Unknown` can have."""

Number: TypeAlias = bool | int | float | complex


@dataclass(frozen=True)
class TripCount:
    """The body runs `count` times.

    `slot` is the index in the state's tuple of the one slot that changes the condition (None if there are several,
    or none, or it is nested deeper, or the state is no tuple), `init` its value at the beginning, `step` what each
    iteration adds to it (None if it is not that simple). `compare`, `bound`: the condition is `slot compare bound`.
    """

    count: int
    how: Literal["closed-form", "simulated"]
    slot: int | None = None
    init: Number | None = None
    step: int | None = None
    compare: str | None = None
    bound: Number | None = None


@dataclass(frozen=True)
class Unknown:
    """The number of iterations is not known; `reason` is a remark code (one of `REASONS`), `detail` says more.

    `on`: what would have to be known outside the loop, if that is the reason.
    """

    reason: str
    detail: str
    on: Opaque | None = field(default=None, compare=False, repr=False)


def facts_of(count: TripCount) -> dict[str, Fact]:
    """The count as facts of a remark."""
    return {
        "trips": count.count,
        "how": count.how,
        "slot": count.slot,
        "init": _fact(count.init),
        "step": count.step,
        "compare": count.compare,
        "bound": _fact(count.bound),
    }


def _fact(number: Number | None) -> Fact:
    """JSON has no infinities, NaN or complex numbers."""
    if isinstance(number, complex) or (isinstance(number, float) and not isfinite(number)):
        return str(number)
    return number


class _Refusal(Exception):
    def __init__(self, reason: str, detail: str, on: Opaque | None = None) -> None:
        self.unknown = Unknown(reason, detail, on)


def trip_count(loop: WhileOp, max_simulation: int = 128, slicer: Slicer | None = None) -> TripCount | Unknown:
    """The exact number of iterations of `loop`, or the reason why it is not known.

    `max_simulation` bounds the iterations of loops without a closed form; a loop that leaves after exactly so
    many is counted. For many loops of an unchanged module pass one `slicer`.
    """
    slicer = slicer or Slicer(CallGraph(module_of(loop)))
    try:
        return _Question(loop, slicer).answer(max_simulation)
    except _Refusal as refusal:
        return refusal.unknown
    except CannotEvaluate as problem:
        return Unknown(CANNOT_EVALUATE, str(problem))


def _refuse(reason: str, detail: str, on: Opaque | None = None) -> NoReturn:
    raise _Refusal(reason, detail, on)


class _Question:
    """One loop's count: the slots that matter, what they begin with and how they change."""

    def __init__(self, loop: WhileOp, slicer: Slicer) -> None:
        self.loop = loop
        self.slicer = slicer
        self.condition = slicer.condition(loop)
        self.inits: dict[Path, Constant] = {}
        self.updates: dict[Path, Node] = {}

    def answer(self, limit: int) -> TripCount | Unknown:
        slots = _slots(self.condition, CONDITION_OPAQUE)
        for slot in slots:
            self.inits[slot.path] = self._init(slot)
        try:
            self._collect(slots)
        except _Refusal:
            if self._holds_at_first():
                raise
            return TripCount(0, "simulated")
        fixed = {path: init for path, init in self.inits.items() if path not in self.updates}
        condition = fold(self.condition, fixed)
        if isinstance(condition, Constant):
            return self._decided(condition)
        self.updates = {path: fold(update, fixed) for path, update in self.updates.items()}
        return self._closed_form(condition) or self._simulated(condition, limit)

    def _init(self, slot: Slot) -> Constant:
        unchanged = self.slicer.unchanged(self.loop, slot.path)
        if not unchanged and not _is_single(slot.type):
            _refuse(NOT_SCALAR, f"the condition depends on {spelled(slot.type)}")
        node = self.slicer.init(self.loop, slot.path)
        if obstacle := self.slicer.obstacle(node):
            if unchanged:
                _refuse(BOUND_NOT_CONSTANT, f"the condition depends on {obstacle.why}", obstacle)
            _refuse(INIT_NOT_CONSTANT, f"the counter's initial value depends on {obstacle.why}", obstacle)
        return cast(Constant, fold(node, {}, self.slicer.folded))

    def _collect(self, slots: list[Slot]) -> None:
        """Follows the condition's slots to the slots that their updates read, and so on."""
        for slot in slots:  # grows while we go
            if self.slicer.unchanged(self.loop, slot.path):
                continue
            update = self.updates[slot.path] = self.slicer.update(self.loop, slot.path)
            for other in _slots(update, UPDATE_OPAQUE):
                if other.path not in self.inits:
                    self.inits[other.path] = self._init(other)
                    slots.append(other)

    def _holds_at_first(self) -> bool:
        return bool(number_of(cast(Constant, fold(self.condition, self.inits))))

    def _decided(self, condition: Constant) -> TripCount:
        if number_of(condition):
            _refuse(NEVER_EXITS, "its condition is always true")
        return TripCount(0, "closed-form")

    def _closed_form(self, condition: Node) -> TripCount | None:
        counter = _slots(condition, CONDITION_OPAQUE)[0]
        numbers = integers_of(counter.type)
        if len(self.updates) > 1 or numbers is None or is_pred(counter.type):
            return None
        step = step_of(self.updates[counter.path], counter)
        if step is None or (exits := leaving(condition, counter)) is None:
            return None
        count = exits.first_entry(number_of(self.inits[counter.path]), step)
        if count is None:
            _refuse(NEVER_EXITS, self._description(condition, counter, numbers.shortest(step)))
        return self._found(count, "closed-form", condition)

    def _simulated(self, condition: Node, limit: int) -> TripCount:
        plan = Plan([condition, *self.updates.values()])
        state = {path: array_of(self.inits[path]) for path in self.updates}
        seen: set[tuple[bytes, ...]] = set()
        with quiet():
            for count in range(limit + 1):
                holds, *values = plan.run(state)
                if not holds:
                    return self._found(count, "simulated", condition)
                seen.add(tuple(value.tobytes() for value in state.values()))
                state = dict(zip(state, values, strict=True))
                if tuple(value.tobytes() for value in values) in seen:
                    _refuse(NEVER_EXITS, f"its state repeats after {count + 1} iterations")
        _refuse(TOO_MANY_ITERATIONS, f"it has no closed form and runs more than {limit} times")

    def _found(self, count: int, how: Literal["closed-form", "simulated"], condition: Node) -> TripCount:
        if len(self.updates) != 1:
            return TripCount(count, how)
        ((path, update),) = self.updates.items()
        counter = _slots(condition, CONDITION_OPAQUE)[0]
        numbers = integers_of(counter.type)
        step = None if numbers is None or is_pred(counter.type) else step_of(update, counter)
        compare, bound = bound_of(condition, counter) or (None, None)
        return TripCount(
            count,
            how,
            path[0] if len(path) == 1 else None,
            number_of(self.inits[path]),
            None if step is None or numbers is None else numbers.shortest(step),
            compare,
            bound,
        )

    def _description(self, condition: Node, counter: Slot, step: int) -> str:
        init = number_of(self.inits[counter.path])
        found = bound_of(condition, counter)
        until = f" while {found.compare} {found.bound}" if found else ""
        return f"{spelled(counter.type)} from {init} by {step}{until} never fails its condition"


def _slots(root: Node, reason: str) -> list[Slot]:
    """The slots that a slice reads, each once. Refuses with `reason` a slice that cannot be computed."""
    found: dict[Path, Slot] = {}
    for node in postorder(root):
        if isinstance(node, Opaque):
            _refuse(reason, f"{DEPENDENT[reason]} depends on {node.why}")
        if isinstance(node, Slot):
            found.setdefault(node.path, node)
    return list(found.values())


DEPENDENT = {CONDITION_OPAQUE: "the condition", UPDATE_OPAQUE: "the counter's update"}


def _is_single(type: Attribute) -> bool:
    return isinstance(type, TensorType) and element_count(cast(Attribute, type)) == 1
