"""Pass `aws_neuron_rewrite_all_gather_trip_count`: a loop that gathers slice after slice gathers them all at once."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.rewriter import InsertPoint, Rewriter

from xneuron.analysis.cost import bytes_of, spelled_bytes
from xneuron.analysis.gathers import Gather, gather_of
from xneuron.analysis.loop_facts import LoopFacts
from xneuron.analysis.slots import behind_copies, is_parameter
from xneuron.analysis.trip_count import TripCount, Unknown
from xneuron.dialects.hlo.attributes import int_list, int_of, ints
from xneuron.dialects.hlo.collectives import AllGatherOp, AllGatherStartOp
from xneuron.dialects.hlo.control_flow import GetTupleElementOp, WhileOp
from xneuron.dialects.hlo.data_movement import DynamicSliceOp, ReshapeOp
from xneuron.dialects.hlo.shape_rules import array
from xneuron.dialects.hlo.types import Tensor, shape_of, with_shape
from xneuron.fastir import build
from xneuron.remarks import declare, name_of, remark
from xneuron.transforms.collective_motion import (
    NO_COUNT,
    NO_GROUPS,
    ORDERED,
    SEVERAL,
    NoMatch,
    counted,
    expect,
    expect_shapes_can_change,
    expect_size,
    expect_slab_per_trip,
    regather,
    replace_gather,
)
from xneuron.transforms.neuron_move_all_gather_while_loop import expect_hoistable
from xneuron.transforms.replacement import erase_unused

WIDENED = declare("gather-widened", "The all-gather takes the whole tensor, of which the loop takes its slice.")
OUTSIDE = declare("gather-outside-loop", "The all-gather stands in no loop's body.")
NO_RESHAPE = declare("gather-of-no-reshape", "The all-gather's operand is no reshape.")
NO_SLICE = declare("reshape-of-no-slice", "The reshape's operand is no dynamic-slice.")
NO_ELEMENT = declare("slice-of-no-element", "The dynamic-slice's operand is no element of a tuple.")
NO_PARAMETER = declare("element-of-no-parameter", "The sliced element is not one of the loop's state.")
RESHAPE_RANK = declare("reshape-rank", "The reshape does more than drop the leading dimension: another rank.")
RESHAPE_EXTENTS = declare("reshape-extents", "The reshape does more than drop the leading dimension: other extents.")
PARTIAL = declare("partial-slice", "The slice does not have the full extent of a dimension other than the first.")
INDEX_DIFFERS = declare("index-differs", "Participants of one group may slice at different positions.")
NOT_HOISTED = declare("gather-would-stay", "The wider all-gather could not leave the loop, so it would cost more.")


@dataclass(frozen=True)
class AwsNeuronRewriteAllGatherTripCount(ModulePass):
    """Turns an all-gather of slice i of a tensor that a loop carries into slice i of an all-gather of the tensor.

        %s = hlo.dynamic_slice(%x, %i, …) : [N, D] -> [1, D]     %y = hlo.all_gather(%x) {dimensions = g + 1}
        %r = hlo.reshape(%s) : -> [D]                            %s = hlo.dynamic_slice(%y, %i, …)
        %y = hlo.all_gather(%r) {dimensions = g}                 %r = hlo.reshape(%s)

    Groups, channel id, flags and metadata stay. Any index will do, clamped ones too, if it is equal within each group.

    Refuses: gather-outside-loop, gather-of-several, no-trip-count, gather-of-no-reshape, reshape-of-no-slice,
    slice-of-no-element, element-of-no-parameter, slices-not-trips, reshape-rank, reshape-extents, partial-slice,
    dynamic-shape, group-size, constrained-layout, index-differs, ordered-collective, gathered-too-large.

    By itself this makes each iteration gather all slices. So unless `always` is set it refuses (gather-would-stay) what
    `neuron_move_all_gather_while_loop` would not move out afterwards; `all-gather-trip-count` runs both.

    `max-gathered-bytes`, `replicated-parameters`: as for that pass. Rules: neuron-hlo-passes.md §6.
    """

    name = "aws_neuron_rewrite_all_gather_trip_count"
    always: bool = False
    max_gathered_bytes: int | None = None
    replicated_parameters: tuple[int, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        facts = LoopFacts(op, self.replicated_parameters)
        widen_all_gathers(op, facts, self.always, self.max_gathered_bytes)


def widen_all_gathers(module: ModuleOp, facts: LoopFacts, always: bool = False, limit: int | None = None) -> bool:
    """Widens all gathers that fit; true if there were any."""
    pattern, changed = WidenAllGather(facts, always, limit), False
    for op in [op for op in module.walk() if isinstance(op, AllGatherOp | AllGatherStartOp)]:
        rewriter = PatternRewriter(op)
        pattern.match_and_rewrite(op, rewriter)
        changed |= rewriter.has_done_action
    if changed:
        facts.forget()
    return changed


@dataclass(frozen=True)
class _Idiom:
    """all-gather(reshape(dynamic-slice(get-tuple-element(parameter)))) in the body of a loop."""

    loop: WhileOp
    gather: Gather
    reshape: ReshapeOp
    slice: DynamicSliceOp
    slot: int

    @property
    def whole(self) -> Tensor:
        """The tensor of all slices."""
        return array(self.slice.operand.type)

    @property
    def widened(self) -> Tensor:
        """The tensor of all gathered slices."""
        return with_shape(self.whole, (shape_of(self.whole)[0], *shape_of(self.gather.result.type)))


class WidenAllGather(RewritePattern):
    """The rewrite of one all-gather, or of an all-gather-start with its done."""

    def __init__(self, facts: LoopFacts, always: bool, limit: int | None) -> None:
        self.facts = facts
        self.always = always
        self.limit = limit

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if not isinstance(op, AllGatherOp | AllGatherStartOp):
            return
        try:
            idiom = self._match(op)
        except NoMatch as refusal:
            loop = _loop_around(op) or op
            remark("missed", _NAME, refusal.code, loop, f"{name_of(op)}: {refusal.why}")
            return
        self._report(idiom)
        _expand(idiom)
        rewriter.has_done_action = True

    def _match(self, op: AllGatherOp | AllGatherStartOp) -> _Idiom:
        loop, gather = _loop_around(op), gather_of(op)
        if loop is None:
            raise NoMatch(OUTSIDE, "AllGather is not inside a while loop body computation")
        if gather is None:
            raise NoMatch(SEVERAL, "AllGather of several operands, or started without a done of its own")
        count = self.facts.count(loop)
        if isinstance(count, Unknown):
            raise NoMatch(NO_COUNT, f"While loop does not have a known trip count: {count.detail}")
        idiom = _chain(loop, gather)
        _expect_shapes(idiom, count)
        self._expect_equal_slices(idiom)
        self._expect_worth(idiom)
        return idiom

    def _expect_equal_slices(self, idiom: _Idiom) -> None:
        """All of a group gather one and the same slice, and the larger gather is like theirs."""
        op = idiom.gather.op
        expect_shapes_can_change(op, idiom.whole, array(idiom.gather.operand.type), array(idiom.gather.result.type))
        expect(self.facts.group_size(op) > 0, NO_GROUPS, "groups do not have the size that the shapes say")
        index = idiom.slice.start_indices[0]
        if why := self.facts.replication(op).difference(index):
            raise NoMatch(INDEX_DIFFERS, f"the index may differ within a group: it depends on {why}")

    def _expect_worth(self, idiom: _Idiom) -> None:
        gather = idiom.gather
        expect(not gather.is_ordered, ORDERED, f"{name_of(gather.op)} has control dependencies")
        expect_size(gather.op, idiom.widened, self.limit)
        if self.always:
            return
        try:
            expect_hoistable(self.facts, idiom.loop, gather, idiom.slot)
        except NoMatch as refusal:
            raise NoMatch(NOT_HOISTED, f"the wider gather could not leave the loop: {refusal.why}") from None

    def _report(self, idiom: _Idiom) -> None:
        count = self.facts.count(idiom.loop)
        assert isinstance(count, TripCount)
        each, whole = bytes_of(idiom.gather.result.type), bytes_of(idiom.widened)
        text = f"{name_of(idiom.gather.op)}: I matched everything: in front of the loop,"
        text += f" {counted(count.count, 'all-gather')} of {spelled_bytes(each)} would be 1 of {spelled_bytes(whole)}"
        remark(
            "passed",
            _NAME,
            WIDENED,
            idiom.loop,
            text,
            trips=count.count,
            slot=idiom.slot,
            dimension=idiom.gather.dimension + 1,
            group_size=self.facts.group_size(idiom.gather.op),
            bytes_each=each,
            bytes_widened=whole,
        )


_NAME = AwsNeuronRewriteAllGatherTripCount.name


def _loop_around(op: Operation) -> WhileOp | None:
    """The loop in whose body an op stands, itself and not in a call."""
    owner = op.parent_op()
    return owner if isinstance(owner, WhileOp) and op.parent is owner.body.block else None


def _chain(loop: WhileOp, gather: Gather) -> _Idiom:
    reshape = _maker(gather.operand)
    if not isinstance(reshape, ReshapeOp):
        raise NoMatch(NO_RESHAPE, "First operand of AllGather is not a Reshape")
    slice = _maker(reshape.operand)
    if not isinstance(slice, DynamicSliceOp):
        raise NoMatch(NO_SLICE, "First operand of Reshape is not a DynamicSlice")
    element = _maker(slice.operand)
    if not isinstance(element, GetTupleElementOp):
        raise NoMatch(NO_ELEMENT, "First operand of DynamicSlice is not a GetTupleElement")
    found = is_parameter(element.operand, loop.body.block)
    expect(found, NO_PARAMETER, "First operand of GetTupleElement is not a Parameter")
    return _Idiom(loop, gather, reshape, slice, int_of(element.index))


def _maker(value: SSAValue) -> Operation | None:
    value = behind_copies(value)
    return value.op if isinstance(value, OpResult) else None


def _expect_shapes(idiom: _Idiom, count: TripCount) -> None:
    """One slice per iteration, full in all other dimensions. A reshape of equal extents drops a leading 1."""
    whole, sizes = shape_of(idiom.whole), int_list(idiom.slice.slice_sizes)
    kept = shape_of(idiom.reshape.result.type)
    expect_slab_per_trip(idiom.whole, count.count)
    text = f"Reshape rank ({len(kept)}) must be one less than the dynamic sliced rank ({len(sizes)})"
    expect(len(kept) == len(sizes) - 1, RESHAPE_RANK, text)
    for ours, theirs in zip(kept, sizes[1:], strict=True):
        text = f"Dimension mismatch following the leading dimension: reshape dim={ours}, slice dim={theirs}"
        expect(ours == theirs, RESHAPE_EXTENTS, text)
    text = f"the slice takes {list(sizes[1:])} of {list(whole[1:])} behind the leading dimension"
    expect(sizes[1:] == whole[1:], PARTIAL, text)


def _expand(idiom: _Idiom) -> None:
    gather, old = idiom.gather, idiom.slice
    where, result = InsertPoint.before(gather.last), array(gather.result.type)
    wide = regather(gather, old.operand, idiom.widened, gather.dimension + 1, where)
    sizes = (1, *shape_of(result))
    kept = {key: value for key, value in gather.op.attributes.items() if key == "metadata"}
    properties: dict[str, Attribute] = {"slice_sizes": ints(sizes)}
    slice = build(DynamicSliceOp, [wide, *old.start_indices], with_shape(result, sizes), properties, {**kept})
    sharding = {key: value for key, value in gather.last.attributes.items() if key == "sharding"}
    reshape = build(ReshapeOp, slice.results, result, {}, {**kept, **sharding})
    for op in (slice, reshape):
        Rewriter.insert_op(op, where)
    operand = gather.operand
    replace_gather(gather, reshape.results[0])
    erase_unused(operand)
