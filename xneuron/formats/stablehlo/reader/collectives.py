"""Translations of collectives."""

from __future__ import annotations

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute, SSAValue

from xneuron.dialects.hlo import collectives as hlo
from xneuron.dialects.hlo.attributes import integer, ints, pairs
from xneuron.dialects.hlo.data_movement import ReshapeOp, TransposeOp
from xneuron.dialects.hlo.replica_groups import ReplicaGroupsAttr
from xneuron.dialects.hlo.shape_rules import array
from xneuron.dialects.hlo.types import shape_of, with_shape
from xneuron.formats.stablehlo.reader.builder import Builder
from xneuron.formats.stablehlo.reader.reductions import applied
from xneuron.formats.stablehlo.reader.shardings import mesh_of
from xneuron.formats.stablehlo.reader.table import number, translates
from xneuron.formats.stablehlo.reader.values import numbers_of
from xneuron.formats.stablehlo.tree import Dense, Struct, list_of, of_kind


def channel_of(builder: Builder) -> dict[str, Attribute]:
    """The channel id; a handle of 0 is none."""
    channel = builder.op.attributes.get("channel_handle")
    handle = number(channel.fields["handle"]) if isinstance(channel, Struct) else 0
    return {"channel_id": integer(handle)} if handle > 0 else {}


def groups_of(builder: Builder) -> dict[str, Attribute]:
    """Channel, replica groups and how their ids are read."""
    properties = channel_of(builder)
    groups = builder.op.attributes.get("replica_groups")
    if isinstance(groups, Dense) and (rows := numbers_of(groups)) and any(rows):
        # Groups of different sizes are filled up with -1.
        properties["replica_groups"] = ReplicaGroupsAttr.of(tuple(tuple(id for id in row if id >= 0) for row in rows))
    elif isinstance(groups, Struct):
        properties["replica_groups"] = ReplicaGroupsAttr(_mesh_groups(builder, groups))
    if builder.op.attributes.get("use_global_device_ids"):
        properties["use_global_device_ids"] = UnitAttr()
    return properties


def _mesh_groups(builder: Builder, groups: Struct) -> str:
    """`mesh['x'=2,'y'=2] {'y'}`: the devices that differ in these axes only."""
    reference = groups.fields["mesh"]
    mesh = mesh_of(reference) if isinstance(reference, Struct) else builder.meshes.get(str(reference))
    if mesh is None:
        raise builder.untranslatable(f"expected a mesh of the module, found {reference}")
    axes = list_of(groups.fields["axes"], "axes")
    used = ",".join(_axis(axis) for axis in axes if isinstance(axis, Struct))
    sizes = ",".join(f"'{name}'={size}" for name, size in mesh.axes)
    ids = "" if mesh.devices == tuple(range(mesh.size)) else f", device_ids=({','.join(map(str, mesh.devices))})"
    return f"mesh[{sizes}]{ids} {{{used}}}"


def _axis(axis: Struct) -> str:
    sub = axis.fields.get("sub_axis_info")
    part = f":({sub.fields['pre_size']}){sub.fields['size']}" if isinstance(sub, Struct) else ""
    return f"'{axis.fields['name']}'{part}"


@translates("stablehlo.all_gather")
def all_gather(builder: Builder) -> None:
    """An all-gather; of several operands, with a tuple as result."""
    properties = {**groups_of(builder), "dimensions": ints((number(builder.op.attributes["all_gather_dim"]),))}
    builder.finish(builder.emit(hlo.AllGatherOp, builder.operands, properties=properties))


@translates("stablehlo.all_reduce")
def all_reduce(builder: Builder) -> None:
    """An all-reduce; of several operands, with a tuple as result."""
    applied(builder, hlo.AllReduceOp, groups_of(builder))


@translates("stablehlo.reduce_scatter")
def reduce_scatter(builder: Builder) -> None:
    """A reduce-scatter."""
    dimension = number(builder.op.attributes["scatter_dimension"])
    applied(builder, hlo.ReduceScatterOp, {**groups_of(builder), "dimensions": ints((dimension,))})


@translates("stablehlo.collective_broadcast")
def collective_broadcast(builder: Builder) -> None:
    """A broadcast from the first of each group."""
    builder.finish(builder.emit(hlo.CollectiveBroadcastOp, builder.operands, properties=groups_of(builder)))


@translates("stablehlo.collective_permute")
def collective_permute(builder: Builder) -> None:
    """A permutation of participants."""
    table = of_kind(Dense, builder.op.attributes["source_target_pairs"], "a table of pairs")
    properties = {**channel_of(builder), "source_target_pairs": pairs([row for row in numbers_of(table) if row])}
    builder.finish(builder.emit(hlo.CollectivePermuteOp, builder.operands, properties=properties))


@translates("stablehlo.all_to_all")
def all_to_all(builder: Builder) -> None:
    """An all-to-all along one dimension; parts that are joined along another are moved there (XlaBuilder's way)."""
    op, operands = builder.op, builder.operands
    if len(operands) != 1:
        raise builder.untranslatable(f"expected one operand, found {len(operands)}")
    split, concat = number(op.attributes["split_dimension"]), number(op.attributes["concat_dimension"])
    properties = {**groups_of(builder), "dimensions": ints((split,))}
    value = builder.emit(hlo.AllToAllOp, operands, operands[0].type, properties)
    if split != concat:
        value = _joined_along(builder, value, number(op.attributes["split_count"]), split, concat)
    builder.finish(value)


def _joined_along(builder: Builder, value: SSAValue, count: int, split: int, concat: int) -> SSAValue:
    type = array(value.type)
    shape = list(shape_of(type))
    parts = [*shape[:split], count, shape[split] // count, *shape[split + 1 :]]
    order: list[int] = []
    for dimension in range(len(shape)):
        order += [split] if dimension == concat else []
        order.append(dimension + 1 if dimension >= split else dimension)
    value = builder.helper(ReshapeOp, [value], with_shape(type, parts))
    moved = with_shape(type, [parts[at] for at in order])
    value = builder.helper(TransposeOp, [value], moved, {"dimensions": ints(order)})
    return builder.helper(ReshapeOp, [value], builder.types[0])
