"""Chapter: collectives, at once or started and awaited."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute, Operation, Region, SSAValue

from xneuron.dialects.hlo import collectives as hlo
from xneuron.dialects.hlo.attributes import Ints, int_list, int_of, pair_list
from xneuron.dialects.hlo.channels import GroupedOp, PermuteOp, ReducingOp
from xneuron.dialects.hlo.control_flow import AsyncDoneOp, AsyncStartOp, AsyncUpdateOp
from xneuron.dialects.hlo.types import Tensor, elements_of, shape_of, with_shape
from xneuron.formats.stablehlo.writer.data_movement import slice_bounds
from xneuron.formats.stablehlo.writer.emitter import Inexpressible, Leaf, Tree
from xneuron.formats.stablehlo.writer.module import Rule, Writer, single
from xneuron.formats.stablehlo.writer.text import FutureType, i64, leaf_types, matrix

Write = Callable[..., list[Leaf]]


@dataclass(frozen=True)
class _Collective:
    """A collective on given operands. `write`: the writer's `emit`, or `help` where it stands inside a start."""

    writer: Writer
    op: Operation
    operands: Sequence[Leaf]
    results: Sequence[Attribute]
    write: Write

    def at_once(self, name: str, properties: dict[str, str], bodies: Sequence[Region] = ()) -> list[Leaf]:
        """One operation for all operands."""
        regions = [self.writer.computation(body) for body in bodies]
        return self.write(name, self.operands, self.results, properties, regions)

    def each(self, name: str, properties: dict[str, str], bodies: Sequence[Region] = ()) -> list[Leaf]:
        """An operation for each operand: HLO combines, StableHLO does not."""
        return [
            single(_Collective(self.writer, self.op, [operand], [result], self.write).at_once(name, properties, bodies))
            for operand, result in zip(self.operands, self.results, strict=True)
        ]


def _channel(channel_id: Attribute | None) -> dict[str, str]:
    if channel_id is None:
        return {}
    return {"channel_handle": f"#stablehlo.channel_handle<handle = {int_of(channel_id)}, type = 1>"}


def _meeting(op: GroupedOp) -> dict[str, str]:
    """Groups, padded with -1 to one size, channel and kind of ids."""
    groups = op.replica_groups.groups if op.replica_groups is not None else ()
    width = max(map(len, groups), default=0)
    properties = {"replica_groups": matrix([[*group, *[-1] * (width - len(group))] for group in groups])}
    properties |= _channel(op.channel_id)
    if op.use_global_device_ids is not None:
        properties["use_global_device_ids"] = "unit"
    return properties


def _all_gather(it: _Collective, op: hlo.AllGatherOp | hlo.AllGatherStartOp) -> list[Leaf]:
    return it.at_once("stablehlo.all_gather", {"all_gather_dim": i64(int_list(op.dimensions)[0]), **_meeting(op)})


def _all_reduce(it: _Collective, op: ReducingOp) -> list[Leaf]:
    return it.at_once("stablehlo.all_reduce", _meeting(op), [op.to_apply])


def _reduce_scatter(it: _Collective, op: hlo.ReduceScatterOp) -> list[Leaf]:
    properties = {"scatter_dimension": i64(int_list(op.dimensions)[0]), **_meeting(op)}
    return it.each("stablehlo.reduce_scatter", properties, [op.to_apply])


def _all_to_all(it: _Collective, op: hlo.AllToAllOp) -> list[Leaf]:
    if op.dimensions is None:
        return _exchanged(it, op)
    every = it.writer.partitions if op.channel_id is not None else it.writer.replicas
    return it.at_once("stablehlo.all_to_all", _split(op, int_list(op.dimensions)[0], op.group_size or every))


def _split(op: hlo.AllToAllOp, dimension: int, count: int) -> dict[str, str]:
    extent = {"split_dimension": i64(dimension), "concat_dimension": i64(dimension), "split_count": i64(count)}
    # MLIR divides by the size of the groups, which are all of them where none are named.
    every = {} if op.group_size else {"replica_groups": matrix([range(count)])}
    return extent | _meeting(op) | every


def _exchanged(it: _Collective, op: hlo.AllToAllOp) -> list[Leaf]:
    """Operand i goes to participant i: as parts of one array, since StableHLO's all-to-all splits each operand."""
    writer, count, shape = it.writer, len(it.operands), shape_of(it.operands[0].type)
    type = cast(Tensor, it.operands[0].type)
    one, all = with_shape(type, (1, *shape)), with_shape(type, (count, *shape))
    parts = [single(writer.help("stablehlo.reshape", [operand], [one])) for operand in it.operands]
    whole = writer.help("stablehlo.concatenate", parts, [all], {"dimension": i64(0)})
    received = it.write("stablehlo.all_to_all", whole, [all], _split(op, 0, count))
    found: list[Leaf] = []
    for at in range(count):
        bounds = slice_bounds([at, *[0] * len(shape)], [at + 1, *shape], [1] * (len(shape) + 1))
        found += writer.help("stablehlo.reshape", writer.help("stablehlo.slice", received, [one], bounds), [type])
    return found


def _broadcast(it: _Collective, op: hlo.CollectiveBroadcastOp) -> list[Leaf]:
    if op.has_dynamic_root is not None:
        raise Inexpressible(op, "its root is only known at run time")
    properties = _meeting(op)
    return it.each("stablehlo.collective_broadcast", properties)


def _permute(it: _Collective, op: PermuteOp) -> list[Leaf]:
    if op.slice_sizes is not None:
        raise Inexpressible(op, "it works in place")
    properties = {"source_target_pairs": _pairs(op.source_target_pairs), **_channel(op.channel_id)}
    return it.each("stablehlo.collective_permute", properties)


def _pairs(pairs: ArrayAttr[Ints]) -> str:
    return matrix(pair_list(pairs), 2)


_KINDS: dict[type[Operation], Callable[[_Collective, Operation], list[Leaf]]] = {
    hlo.AllGatherOp: _all_gather,
    hlo.AllReduceOp: _all_reduce,
    hlo.ReduceScatterOp: _reduce_scatter,
    hlo.AllToAllOp: _all_to_all,
    hlo.CollectiveBroadcastOp: _broadcast,
    hlo.CollectivePermuteOp: _permute,
    hlo.AllGatherStartOp: _all_gather,
    hlo.AllReduceStartOp: _all_reduce,
    hlo.CollectivePermuteStartOp: _permute,
}  # pyright: ignore[reportAssignmentType]
"""How each collective is written."""


def _collective(writer: Writer, op: GroupedOp | PermuteOp) -> Tree:
    it = _Collective(writer, op, writer.leaves(op.inputs), writer.flat(op), writer.emit)
    return writer.packed(op, _KINDS[type(op)](it, op))


def _started(writer: Writer, start: Operation, inner: Operation, result: Attribute) -> Leaf:
    """A start around one collective. StableHLO's has one result."""
    if len(leaf_types(result)) != 1:
        raise Inexpressible(start, "what is started has several results")
    operands = writer.leaves(start.operands)

    def written() -> None:
        inputs = writer.parameters([(leaf.type, writer.location) for leaf in operands])
        made = _KINDS[type(inner)](_Collective(writer, inner, inputs, [result], writer.help), inner)
        writer.help("stablehlo.return", made, ())

    return single(writer.emit("stablehlo.async_start", operands, [FutureType(result)], None, [written]))


def _start(part: int | None) -> Rule:
    """The rule of a start whose result holds that of the collective as this part, or is it."""

    def rule(writer: Writer, op: Operation) -> Tree:
        result = op.results[0].type
        future = _started(writer, op, op, result if part is None else elements_of(result)[part])
        return future if part is None else _under_way(writer, op.operands, future)

    return rule


def _under_way(writer: Writer, operands: Sequence[SSAValue], future: Leaf) -> Tree:
    return tuple([writer.trees[value] for value in operands]), future


def _done(part: int | None) -> Rule:
    """The rule of what awaits such a start."""

    def rule(writer: Writer, op: Operation) -> Tree:
        started = writer.trees[op.operands[0]]
        future = started if part is None else cast("tuple[Tree, ...]", started)[part]
        return single(writer.emit("stablehlo.async_done", [cast(Leaf, future)], op.result_types))

    return rule


def _async_start(writer: Writer, op: AsyncStartOp) -> Tree:
    block = op.calls.block
    inner = block.first_op
    alone = inner is not None and inner.next_op is block.last_op and tuple(inner.operands) == block.args
    if inner is None or not alone or type(inner) not in _KINDS or inner.results[0] is not block.last_op.operands[0]:  # pyright: ignore[reportOptionalMemberAccess]
        raise Inexpressible(op, "it starts only single collectives")
    future = _started(writer, op, inner, inner.results[0].type)
    return _under_way(writer, op.operands, future)


def _async_update(writer: Writer, op: AsyncUpdateOp) -> Tree:
    return writer.trees[op.operand]


def _ragged_all_to_all(writer: Writer, op: hlo.RaggedAllToAllOp) -> Tree:
    """A custom call that XLA reads as the instruction."""
    meeting = _meeting(op)
    channel = f", channel_id = {i64(int_of(op.channel_id))}" if op.channel_id is not None else ""
    properties = {
        "call_target_name": '"ragged_all_to_all"',
        "api_version": "4 : i32",
        "backend_config": f"{{replica_groups = {meeting['replica_groups']}{channel}}}",
    }
    return single(writer.emit("stablehlo.custom_call", writer.leaves(op.inputs), op.result_types, properties))


def _id(name: str) -> Rule:
    return lambda writer, op: single(writer.emit(name, (), op.result_types))


RULES: dict[type[Operation], Rule] = {
    hlo.AllGatherOp: _collective,
    hlo.AllReduceOp: _collective,
    hlo.ReduceScatterOp: _collective,
    hlo.AllToAllOp: _collective,
    hlo.CollectiveBroadcastOp: _collective,
    hlo.CollectivePermuteOp: _collective,
    hlo.RaggedAllToAllOp: _ragged_all_to_all,
    hlo.AllGatherStartOp: _start(1),
    hlo.AllGatherDoneOp: _done(1),
    hlo.AllReduceStartOp: _start(None),
    hlo.AllReduceDoneOp: _done(None),
    hlo.CollectivePermuteStartOp: _start(1),
    hlo.CollectivePermuteDoneOp: _done(1),
    AsyncStartOp: _async_start,
    AsyncUpdateOp: _async_update,
    AsyncDoneOp: _done(1),
    hlo.PartitionIdOp: _id("stablehlo.partition_id"),
    hlo.ReplicaIdOp: _id("stablehlo.replica_id"),
}
