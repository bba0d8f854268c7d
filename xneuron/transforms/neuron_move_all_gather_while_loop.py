"""Pass `neuron_move_all_gather_while_loop`: a loop that gathers the same tensor each time gets it gathered once."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from xneuron.analysis.computations import loops
from xneuron.analysis.control_dependencies import is_ordered
from xneuron.analysis.cost import bytes_of, spelled_bytes
from xneuron.analysis.gathers import Gather, gather_of, gather_ops
from xneuron.analysis.loop_facts import LoopFacts
from xneuron.analysis.slots import behind_copies, slot_of
from xneuron.analysis.trip_count import TripCount
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.dialects.hlo.elementwise import ConvertOp
from xneuron.fastir import build
from xneuron.remarks import declare, name_of, remark
from xneuron.transforms.collective_motion import (
    NO_STATE,
    ORDERED,
    SEVERAL,
    NoMatch,
    counted,
    expect,
    expect_size,
    in_layout,
    regather,
    replace_gather,
)
from xneuron.transforms.loop_state import append_slot, drop_unused_slots, initial, results_of, unfit
from xneuron.transforms.replacement import can_replace, erase_unused, replace

HOISTED = declare("gather-hoisted", "An all-gather in the loop now runs once, in front of it.")
NOT_OF_SLOT = declare("gather-not-of-slot", "The all-gather's operand is no element of the loop's state.")
SLOT_CHANGES = declare("slot-changes", "The loop writes the element of its state that the all-gather reads.")
NEVER_GATHERS = declare("gather-never-runs", "The loop runs zero times: in front of it, the all-gather would run.")
COUNTS_DIFFER = declare("counts-may-differ", "Participants of one group may run the loop a different number of times.")


@dataclass(frozen=True)
class NeuronMoveAllGatherWhileLoop(ModulePass):
    """Moves all-gathers of an unchanging element of a loop's state in front of the loop.

        %t = hlo.tuple(%i, %x)                          %g = hlo.all_gather(%x)
        %w = hlo.while(%t) body {                       %t = hlo.tuple(%i, %g)
          %e = hlo.get_tuple_element(%p) {index = 1}    %w = hlo.while(%t) body {
          %g = hlo.all_gather(%e) …                       %e = hlo.get_tuple_element(%p) {index = 1} …
        }                                               }

    The gathered tensor is a new element of the state, so other readers of the old one, in the loop and after it, keep
    it; it goes if there are none. Also gathers of a conversion, and gathers in two instructions. Equal gathers share
    one. Innermost loops first, so that a gather leaves a whole nest.

    Refuses: gather-of-several, state-cannot-change, gather-not-of-slot, slot-changes, ordered-collective,
    gather-never-runs, counts-may-differ (a count that is not known must at least be the same in each group),
    gathered-too-large.

    `max-gathered-bytes`: the largest tensor that may be made. `replicated-parameters`: numbers of the entry's
    parameters that are equal on all participants. Rules: neuron-hlo-passes.md §7.
    """

    name = "neuron_move_all_gather_while_loop"
    max_gathered_bytes: int | None = None
    replicated_parameters: tuple[int, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        move_all_gathers(op, LoopFacts(op, self.replicated_parameters), self.max_gathered_bytes)


def move_all_gathers(module: ModuleOp, facts: LoopFacts, limit: int | None = None) -> bool:
    """Hoists out of all loops; true if anything changed."""
    changed = False
    for loop in list(loops(module)):
        if _move(loop, facts, limit):
            facts.forget()
            changed = True
    return changed


@dataclass(frozen=True)
class _Candidate:
    gather: Gather
    slot: int
    convert: ConvertOp | None

    def key(self) -> Hashable:
        """Gathers with equal keys give the same; of the channel it counts only whether there is one."""
        op = self.gather.op
        other = {name: value for name, value in op.properties.items() if name not in ("channel_id", "replica_groups")}
        groups = op.replica_groups.groups if op.replica_groups is not None else ()
        types = (self.gather.operand.type, self.gather.result.type)
        return (self.slot, self.convert is None, types, groups, op.channel_id is None, frozenset(other.items()))


def _move(loop: WhileOp, facts: LoopFacts, limit: int | None) -> bool:
    movable = [candidate for candidate in _candidates(loop) if _is_movable(candidate, loop, facts, limit)]
    made: dict[Hashable, SSAValue] = {}
    for candidate in movable:
        key = candidate.key()
        _report(candidate, loop, facts, shared=key in made)
        if key not in made:
            made[key] = append_slot(loop, _hoisted(candidate, loop))
        operand = candidate.gather.operand
        replace_gather(candidate.gather, made[key])
        erase_unused(operand)
    slots = {candidate.slot for candidate in movable}
    for slot in slots:
        _read_before(loop, slot)
    drop_unused_slots(loop, slots)
    return bool(movable)


def _candidates(loop: WhileOp) -> Iterator[_Candidate]:
    body = loop.body.block
    for op in gather_ops(body):
        if (gather := gather_of(op)) is None:
            _missed(loop, SEVERAL, f"{name_of(op)} has several operands, or is started without a done of its own")
            continue
        if why := unfit(loop):
            _missed(loop, NO_STATE, why)
            continue
        operand = behind_copies(gather.operand)
        convert = operand.op if isinstance(operand, OpResult) and isinstance(operand.op, ConvertOp) else None
        slot = slot_of(convert.operand if convert else operand, body)
        if slot is None:
            _missed(loop, NOT_OF_SLOT, f"operand of {name_of(gather.op)} is no element of the loop's state")
        else:
            yield _Candidate(gather, slot, convert)


def _is_movable(candidate: _Candidate, loop: WhileOp, facts: LoopFacts, limit: int | None) -> bool:
    gather = candidate.gather
    try:
        expect_hoistable(facts, loop, gather, candidate.slot)
        expect_size(gather.op, gather.result.type, limit)
    except NoMatch as refusal:
        _missed(loop, refusal.code, refusal.why)
        return False
    return True


def expect_hoistable(facts: LoopFacts, loop: WhileOp, gather: Gather, slot: int) -> None:
    """Raises NoMatch for a gather of slot `slot` that cannot stand in front of the loop."""
    name = name_of(gather.op)
    if why := unfit(loop):
        raise NoMatch(NO_STATE, why)
    expect(not gather.is_ordered, ORDERED, f"{name} has control dependencies")
    unchanged = facts.is_unchanged(loop, slot)
    expect(unchanged, SLOT_CHANGES, f"{name} gathers tuple element {slot}, which the loop writes")
    count = facts.count(loop)
    if isinstance(count, TripCount):
        expect(count.count > 0, NEVER_GATHERS, f"{name} never runs")
    elif why := facts.leaving(loop, gather.op):
        text = f"{name} must run equally often in its groups, but the condition depends on {why}"
        raise NoMatch(COUNTS_DIFFER, text)


def _hoisted(candidate: _Candidate, loop: WhileOp) -> SSAValue:
    gather, convert, where = candidate.gather, candidate.convert, InsertPoint.before(loop)
    value = initial(loop, candidate.slot)
    if convert is not None:
        value = in_layout(value, convert.operand.type, where)
        copy = build(ConvertOp, [value], convert.result.type, {**convert.properties}, {**convert.attributes})
        Rewriter.insert_op(copy, where)
        value = copy.results[0]
    value = in_layout(value, gather.operand.type, where)
    return regather(gather, value, gather.result.type, gather.dimension, where)


def _read_before(loop: WhileOp, slot: int) -> None:
    """Readers of an unchanged element after the loop take what it was before."""
    before = initial(loop, slot)
    for element in results_of(loop, slot):
        if can_replace(element, before) and not is_ordered(element):
            replace(element, before)


def _report(candidate: _Candidate, loop: WhileOp, facts: LoopFacts, shared: bool) -> None:
    size, count = bytes_of(candidate.gather.result.type), facts.count(loop)
    trips = count.count if isinstance(count, TripCount) else f"trips({name_of(loop)})"
    become = "one that another became" if shared else "1"
    name = name_of(candidate.gather.op)
    text = f"moved {name} out of the loop: {counted(trips, 'all-gather')} of {spelled_bytes(size)} become {become}"
    remark(
        "passed",
        NeuronMoveAllGatherWhileLoop.name,
        HOISTED,
        loop,
        text,
        gathers_before=trips,
        gathers_after=0 if shared else 1,
        bytes_each=size,
        slot=candidate.slot,
    )


def _missed(loop: WhileOp, code: str, why: str) -> None:
    remark("missed", NeuronMoveAllGatherWhileLoop.name, code, loop, why)
