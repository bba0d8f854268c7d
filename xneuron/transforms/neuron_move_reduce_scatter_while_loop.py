"""Pass `neuron_move_reduce_scatter_while_loop`: slabs that a loop reduces one by one are reduced at once behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from xneuron.analysis.boundary_markers import behind_markers
from xneuron.analysis.computations import loops
from xneuron.analysis.control_dependencies import is_ordered
from xneuron.analysis.cost import bytes_of, spelled_bytes
from xneuron.analysis.iteration_values import iteration_values
from xneuron.analysis.loop_facts import LoopFacts
from xneuron.analysis.slots import is_parameter
from xneuron.analysis.trip_count import Unknown
from xneuron.dialects.hlo.attributes import int_list, int_of, ints
from xneuron.dialects.hlo.base import opcode_of, root_of
from xneuron.dialects.hlo.collectives import AllReduceOp, ReduceScatterOp
from xneuron.dialects.hlo.control_flow import GetTupleElementOp, TupleOp, WhileOp
from xneuron.dialects.hlo.data_movement import BroadcastOp, ConstantOp, DynamicUpdateSliceOp, ReshapeOp
from xneuron.dialects.hlo.literal import LiteralAttr
from xneuron.dialects.hlo.shape_rules import array
from xneuron.dialects.hlo.types import Tensor, element_of, elements_of, shape_of, tensor, with_shape
from xneuron.fastir import build, retype
from xneuron.remarks import declare, name_of, remark
from xneuron.transforms.collective_motion import (
    NO_COUNT,
    NO_GROUPS,
    NO_STATE,
    ORDERED,
    NoMatch,
    counted,
    expect,
    expect_shapes_can_change,
    expect_size,
    expect_slab_per_trip,
    in_layout,
)
from xneuron.transforms.loop_state import (
    append_slot,
    drop_unused_slots,
    results_of,
    set_root,
    take,
    takers,
    unfit,
    whole_uses,
)
from xneuron.transforms.replacement import erase

SUNK = declare(
    "reduction-sunk", "A reduce-scatter or all-reduce of a slab per iteration now runs once, behind the loop."
)
NOT_STACKED = declare("reduction-not-stacked", "The reduced value does more than become a slab of the loop's state.")
SLAB_SHAPE = declare("slab-shape", "The slab is not one whole element of the stack's first dimension.")
SLOT_READ = declare("stack-is-read", "Something beside the update reads the stack while the loop runs.")
NOT_COVERED = declare("slabs-not-covered", "Iterations do not surely write each slab once, at a position known here.")
NEVER_REDUCES = declare("reduction-never-runs", "The loop runs zero times: behind it, the collective would run.")


@dataclass(frozen=True)
class NeuronMoveReduceScatterWhileLoop(ModulePass):
    """Moves reduce-scatters and all-reduces of one slab per iteration behind the loop that stacks the slabs.

        %w = hlo.while(%t) body {                                   %w = hlo.while(%t) body {
          %c = hlo.reduce_scatter(%q) {dimensions = d} : -> [D']      %u = hlo.reshape(%q) : -> [1, D]
          %u = hlo.reshape(%c) : -> [1, D']                           %b = hlo.dynamic_update_slice(%full, %u, %i, …)
          %b = hlo.dynamic_update_slice(%stack, %u, %i, …) }        }
        %r = hlo.get_tuple_element(%w) : [N, D']                    %f = hlo.get_tuple_element(%w) : [N, D]
                                                                    %r = hlo.reduce_scatter(%f) {dimensions = d + 1}

    Slabs are reduced separately as before, so any reduction will do and results are the same bits. The stack of what
    is not reduced yet is a new element of the state, larger by the size of the groups for a reduce-scatter. Its
    initial value does not matter, since all of it is written: the N values of the index are computed, and must be a
    permutation of 0..N-1. This also makes them the same on all participants.

    Refuses: state-cannot-change, no-trip-count, reduction-never-runs, ordered-collective, reduction-not-stacked,
    stack-is-read, slices-not-trips, slab-shape, slabs-not-covered, dynamic-shape, group-size, constrained-layout,
    gathered-too-large.

    `max-gathered-bytes`: the largest stack that may be made. Rules: neuron-hlo-passes.md §7.
    """

    name = "neuron_move_reduce_scatter_while_loop"
    max_gathered_bytes: int | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        facts = LoopFacts(op)
        for loop in list(loops(op)):
            for inner in list(loop.body.block.ops):
                if isinstance(inner, AllReduceOp | ReduceScatterOp):
                    _try(inner, loop, facts, self.max_gathered_bytes)


@dataclass(frozen=True)
class _Stacking:
    """dynamic-update-slice(get-tuple-element(parameter), reshape(collective)) at the root of a loop's body."""

    op: AllReduceOp | ReduceScatterOp
    reshape: ReshapeOp
    update: DynamicUpdateSliceOp
    slot: int

    @property
    def stack(self) -> Tensor:
        """The type of the stacked results."""
        return array(self.update.result.type)

    @property
    def operand(self) -> SSAValue:
        """What is reduced."""
        return self.op.inputs[0]

    @property
    def full(self) -> Tensor:
        """The type of the stacked operands."""
        return with_shape(self.stack, (shape_of(self.stack)[0], *shape_of(self.operand.type)))


def _try(op: AllReduceOp | ReduceScatterOp, loop: WhileOp, facts: LoopFacts, limit: int | None) -> None:
    try:
        stacking = _match(op, loop, facts)
        expect_size(op, stacking.full, limit)
    except NoMatch as refusal:
        remark("missed", _NAME, refusal.code, loop, f"{name_of(op)}: {refusal.why}")
        return
    _report(stacking, loop)
    _rewrite(stacking, loop)
    facts.forget()


_NAME = NeuronMoveReduceScatterWhileLoop.name


def _match(op: AllReduceOp | ReduceScatterOp, loop: WhileOp, facts: LoopFacts) -> _Stacking:
    if why := unfit(loop):
        raise NoMatch(NO_STATE, why)
    count = facts.count(loop)
    if isinstance(count, Unknown):
        raise NoMatch(NO_COUNT, f"While loop does not have a known trip count: {count.detail}")
    expect(count.count > 0, NEVER_REDUCES, "the loop runs zero times")
    stacking = _chain(op, loop)
    _expect_shapes(stacking, count.count)
    if isinstance(op, ReduceScatterOp):
        expect(facts.group_size(op) > 0, NO_GROUPS, "groups do not have the size that the shapes say")
    _expect_unread(stacking, loop)
    _expect_covered(stacking, loop, count.count, facts)
    return stacking


def _chain(op: AllReduceOp | ReduceScatterOp, loop: WhileOp) -> _Stacking:
    text = "its result does not just become a slab of the loop's state"
    reshape = _only_user(op)
    update = _only_user(reshape) if isinstance(reshape, ReshapeOp) else None
    if not (isinstance(reshape, ReshapeOp) and isinstance(update, DynamicUpdateSliceOp) and len(op.inputs) == 1):
        raise NoMatch(NOT_STACKED, text)
    expect(update.update is reshape.result, NOT_STACKED, text)
    element, root = update.operand.owner, behind_markers(root_of(loop.body)).owner
    if not (isinstance(element, GetTupleElementOp) and isinstance(root, TupleOp)):
        raise NoMatch(NOT_STACKED, text)
    expect(is_parameter(element.operand, loop.body.block), NOT_STACKED, text)
    slot = int_of(element.index)
    expect(_only_user(update) is root, NOT_STACKED, "its stack is used for more than the next iteration")
    expect(root.elements[slot] is update.result, NOT_STACKED, "its stack goes to another element of the state")
    return _Stacking(op, reshape, update, slot)


def _only_user(op: Operation) -> Operation | None:
    """The user of an op whose result is used once. A control dependency would be a use, but says why by itself."""
    expect(not is_ordered(op), ORDERED, f"{name_of(op)} has control dependencies")
    uses = list(op.results[0].uses)
    return uses[0].operation if len(uses) == 1 else None


def _expect_shapes(stacking: _Stacking, count: int) -> None:
    """One slab per iteration, full in all other dimensions."""
    whole, slab = shape_of(stacking.stack), shape_of(stacking.reshape.result.type)
    expect_slab_per_trip(stacking.stack, count)
    exact = slab == (1, *whole[1:]) and slab[1:] == shape_of(stacking.op.result.type)
    expect(exact, SLAB_SHAPE, f"a slab of {list(slab)} is not one of the {count} of {list(whole)}")
    expect_shapes_can_change(stacking.op, stacking.stack, array(stacking.operand.type), array(stacking.op.result.type))


def _expect_unread(stacking: _Stacking, loop: WhileOp) -> None:
    condition, body = loop.cond.block.args[0], loop.body.block.args[0]
    whole = whole_uses(condition) or whole_uses(body)
    expect(not whole, SLOT_READ, "the state is used as a whole")
    expect(not takers(condition, stacking.slot), SLOT_READ, "the condition reads the stack")
    readers = [use.operation for taker in takers(body, stacking.slot) for use in taker.results[0].uses]
    expect(readers == [stacking.update], SLOT_READ, "the body reads the stack")


def _expect_covered(stacking: _Stacking, loop: WhileOp, count: int, facts: LoopFacts) -> None:
    found = iteration_values(loop, stacking.update.start_indices[0], count, facts.slicer)
    if isinstance(found, str):
        raise NoMatch(NOT_COVERED, f"the index is not known: {found}")
    written = {min(max(index, 0), count - 1) for index in found}
    expect(len(written) == count, NOT_COVERED, f"only {len(written)} of {count} slabs are written")


def _rewrite(stacking: _Stacking, loop: WhileOp) -> None:
    full, old, where = stacking.full, stacking.update, InsertPoint.before(stacking.update)
    element = append_slot(loop, _zeros(full, InsertPoint.before(loop)))
    assert isinstance(element.owner, GetTupleElementOp)
    index = int_of(element.owner.index)
    reshape = _insert(ReshapeOp, [stacking.operand], with_shape(full, (1, *shape_of(full)[1:])), {}, where)
    update = _insert(DynamicUpdateSliceOp, [element, reshape, *old.start_indices], full, {}, where)
    set_root(loop, index, update)
    set_root(loop, stacking.slot, old.operand)
    stack = old.result.type
    erase(old)
    erase(stacking.reshape)
    _sink(stacking.op, loop, stacking.slot, index, stack)
    drop_unused_slots(loop, (stacking.slot,))


def _sink(op: AllReduceOp | ReduceScatterOp, loop: WhileOp, slot: int, index: int, stack: Attribute) -> None:
    """Puts the collective itself behind the loop, on slot `index`; readers of `slot` take its result."""
    readers = results_of(loop, slot)
    op.detach()
    op.attributes.pop("sharding", None)
    retype(op.result, stack)
    if isinstance(op, ReduceScatterOp):
        op.properties["dimensions"] = ints((int_list(op.dimensions)[0] + 1,))
    Rewriter.insert_op(op, InsertPoint.after(loop))
    op.operands = [take(loop.results[0], index, _type_of_slot(loop, index), InsertPoint.before(op))]
    for reader in readers:
        where = InsertPoint.before(reader)
        reader.results[0].replace_all_uses_with(in_layout(op.result, reader.results[0].type, where))
        erase(reader)


def _type_of_slot(loop: WhileOp, index: int) -> Attribute:
    return elements_of(loop.results[0].type)[index]


def _zeros(type: Tensor, where: InsertPoint) -> SSAValue:
    """All bits zero: whatever it means, it is overwritten."""
    element = element_of(type)
    zero = LiteralAttr.from_bytes(tensor(element.type), bytes(element.bytes))
    constant = _insert(ConstantOp, [], zero.type, {"value": zero}, where)
    return _insert(BroadcastOp, [constant], type, {"dimensions": ints(())}, where)


def _insert(
    cls: type[Operation],
    operands: Sequence[SSAValue],
    type: Attribute,
    properties: dict[str, Attribute],
    where: InsertPoint,
) -> SSAValue:
    op = build(cls, operands, type, properties, {})
    Rewriter.insert_op(op, where)
    return op.results[0]


def _report(stacking: _Stacking, loop: WhileOp) -> None:
    count = shape_of(stacking.stack)[0]
    each, whole = bytes_of(stacking.operand.type), bytes_of(stacking.full)
    text = f"moved {name_of(stacking.op)} behind the loop: {counted(count, opcode_of(stacking.op.name))} of"
    text += f" {spelled_bytes(each)} become 1 of {spelled_bytes(whole)}"
    facts = {"trips": count, "slot": stacking.slot, "bytes_each": each, "bytes_stacked": whole}
    remark("passed", _NAME, SUNK, loop, text, **facts)
