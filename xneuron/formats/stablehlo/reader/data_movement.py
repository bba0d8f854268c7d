"""Translations of elementwise ops and data movement that need more than a row."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, SSAValue

from xneuron.dialects.hlo import data_movement as hlo
from xneuron.dialects.hlo.attributes import integer, ints
from xneuron.dialects.hlo.elementwise import COMPARE_TYPES, CompareOp, ConvertOp, RealOp, real_part
from xneuron.dialects.hlo.indexing import GatherOp
from xneuron.dialects.hlo.random import RngOp
from xneuron.dialects.hlo.shape_rules import array
from xneuron.dialects.hlo.types import element_of, shape_of, with_shape
from xneuron.formats.stablehlo.reader.builder import Builder
from xneuron.formats.stablehlo.reader.table import (
    Property,
    converted,
    dims,
    flagged,
    integral,
    number,
    numbers,
    some_dims,
    translates,
)
from xneuron.formats.stablehlo.tree import Op, Struct, of_kind


@translates("stablehlo.constant", "mhlo.constant")
def constant(builder: Builder) -> None:
    """The constant; remembered, for the regions that use it from around them."""
    builder.constants[builder.op.results[0]] = builder.op
    builder.finish(builder.constant())


@translates("sdy.constant")
def shardy_constant(builder: Builder) -> None:
    """The same in Shardy's dialect."""
    constant(builder)


@translates("stablehlo.convert")
def convert(builder: Builder) -> None:
    """A convert; of a complex number to a real one, of its real part, as XLA's builder does."""
    (operand,) = builder.operands
    kinds = [element_of(type).kind for type in (operand.type, *builder.types)]
    if kinds[0] == "complex" != kinds[1]:
        operand = builder.helper(RealOp, [operand], real_part(array(operand.type)))
    builder.finish(builder.emit(ConvertOp, [operand]))


@translates("stablehlo.compare")
def compare(builder: Builder) -> None:
    """A compare. A compare type that the elements imply is left out."""
    operands = builder.operands
    properties: dict[str, Attribute] = {"direction": StringAttr(str(builder.op.attributes["comparison_direction"]))}
    given = str(builder.op.attributes.get("compare_type", "NOTYPE"))
    if given not in ("NOTYPE", COMPARE_TYPES[element_of(operands[0].type).kind][0]):
        properties["compare_type"] = StringAttr(given)
    builder.finish(builder.emit(CompareOp, operands, properties=properties))


@translates("stablehlo.broadcast_in_dim")
def broadcast_in_dim(builder: Builder) -> None:
    """A broadcast, whose dimensions ascend and whose extents agree: a transpose and a reshape see to it before."""
    (operand,) = builder.operands
    broadcast_to(builder, operand, numbers(builder.op.attributes["broadcast_dimensions"]))


def broadcast_to(builder: Builder, operand: SSAValue, dimensions: tuple[int, ...]) -> None:
    """The op's result: the operand, of which dimension i becomes `dimensions[i]`."""
    result = shape_of(builder.types[0])
    order = sorted(range(len(dimensions)), key=lambda at: dimensions[at])
    if list(order) != list(range(len(order))):
        shape = [shape_of(operand.type)[at] for at in order]
        type = with_shape(array(operand.type), shape)
        operand = builder.helper(hlo.TransposeOp, [operand], type, {"dimensions": ints(order)})
    kept = [
        (extent, dimension)
        for extent, dimension in zip(shape_of(operand.type), sorted(dimensions), strict=True)
        if extent == result[dimension]
    ]
    if len(kept) < len(dimensions):
        operand = builder.helper(hlo.ReshapeOp, [operand], with_shape(array(operand.type), [e for e, _ in kept]))
    properties: dict[str, Attribute] = {"dimensions": ints([dimension for _, dimension in kept])}
    builder.finish(builder.emit(hlo.BroadcastOp, [operand], properties=properties))


@translates("stablehlo.broadcast")
def broadcast(builder: Builder) -> None:
    """A broadcast that adds major dimensions."""
    (operand,) = builder.operands
    new = len(numbers(builder.op.attributes["broadcast_sizes"]))
    broadcast_to(builder, operand, tuple(range(new, new + len(shape_of(operand.type)))))


@translates("stablehlo.dynamic_reshape")
def dynamic_reshape(builder: Builder) -> None:
    """A reshape, where the result says its shape anyway."""
    expect_static(builder)
    builder.finish(builder.emit(hlo.ReshapeOp, builder.operands[:1]))


@translates("stablehlo.dynamic_broadcast_in_dim")
def dynamic_broadcast_in_dim(builder: Builder) -> None:
    """A broadcast, where the result says its shape anyway."""
    expect_static(builder)
    broadcast_to(builder, builder.operands[0], numbers(builder.op.attributes["broadcast_dimensions"]))


@translates("stablehlo.dynamic_iota")
def dynamic_iota(builder: Builder) -> None:
    """An iota, where the result says its shape anyway."""
    expect_static(builder)
    properties = converted(builder.op, (Property("iota_dimension", "iota_dimension", integral),))
    builder.finish(builder.emit(hlo.IotaOp, (), properties=properties))


def expect_static(builder: Builder) -> None:
    """Fails for a result whose extents are known at run time only."""
    if any(extent < 0 for type in builder.op.types for extent in type.shape):
        raise builder.untranslatable("expected a result of static shape; HLO cannot say this one")


_GATHER = (
    *(Property(key, key, dims) for key in ("offset_dims", "collapsed_slice_dims", "start_index_map")),
    *(Property(key, key, some_dims) for key in ("operand_batching_dims", "start_indices_batching_dims")),
    Property("index_vector_dim", "index_vector_dim", integral),
)


@translates("stablehlo.gather")
def gather(builder: Builder) -> None:
    """A gather."""
    own = (Property("slice_sizes", "slice_sizes", dims), Property("indices_are_sorted", "indices_are_sorted", flagged))
    properties = {**of_struct(builder.op, "dimension_numbers", _GATHER), **converted(builder.op, own)}
    builder.finish(builder.emit(GatherOp, builder.operands, properties=properties))


def of_struct(op: Op, attribute: str, properties: tuple[Property, ...]) -> dict[str, Attribute]:
    """The properties that the fields of one attribute say."""
    struct = of_kind(Struct, op.attributes[attribute], "dimension numbers")
    return converted(op._replace(attributes=struct.fields), properties)


@translates("stablehlo.rng")
def rng(builder: Builder) -> None:
    """Random numbers; the third operand only repeats the shape."""
    distribution = StringAttr(f"rng_{str(builder.op.attributes['rng_distribution']).lower()}")
    builder.finish(builder.emit(RngOp, builder.operands[:2], properties={"distribution": distribution}))


@translates("stablehlo.torch_index_select")
def torch_index_select(builder: Builder) -> None:
    """A gather of slices along one dimension. With batch dimensions it is an error: nothing makes those."""
    dimension, batch = number(builder.op.attributes["dim"]), number(builder.op.attributes["batch_dims"])
    if batch:
        raise builder.untranslatable(f"expected no batch dimensions, found {batch}")
    operand, indices = builder.operands
    shape, rank = shape_of(operand.type), len(shape_of(indices.type))
    kept = [at + (rank - 1 if at > dimension else 0) for at in range(len(shape)) if at != dimension]
    properties: dict[str, Attribute] = {
        "offset_dims": ints(kept),
        "collapsed_slice_dims": ints((dimension,)),
        "start_index_map": ints((dimension,)),
        "index_vector_dim": integer(rank),
        "slice_sizes": ints([1 if at == dimension else extent for at, extent in enumerate(shape)]),
    }
    builder.finish(builder.emit(GatherOp, [operand, indices], properties=properties))
