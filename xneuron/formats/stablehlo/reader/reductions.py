"""Translations of ops with scalar computations: reductions, windows, sort, scatter, map."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation

from xneuron.dialects.hlo.attributes import WindowAttr, WindowDimension, integer, ints
from xneuron.dialects.hlo.elementwise import MapOp
from xneuron.dialects.hlo.indexing import ScatterOp
from xneuron.dialects.hlo.reductions import ReduceOp, ReduceWindowOp, ScanOp, SelectAndScatterOp, SortOp, TopKOp
from xneuron.dialects.hlo.types import tuple_of
from xneuron.formats.stablehlo.reader.builder import Builder
from xneuron.formats.stablehlo.reader.data_movement import of_struct
from xneuron.formats.stablehlo.reader.regions import region_of
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
from xneuron.formats.stablehlo.reader.values import numbers_of
from xneuron.formats.stablehlo.tree import Dense, Op


def applied(builder: Builder, cls: type[Operation], properties: dict[str, Attribute]) -> None:
    """An op with the same operands, and each region as a computation."""
    operands = builder.operands
    regions = [region_of(builder, blocks) for blocks in builder.op.regions]
    builder.finish(builder.emit(cls, operands, properties=properties, regions=regions))


@translates("stablehlo.reduce")
def reduce(builder: Builder) -> None:
    """A reduction; of several inputs, with a tuple as result."""
    applied(builder, ReduceOp, {"dimensions": dims(builder.op.attributes["dimensions"])})


@translates("mhlo.scan")
def scan(builder: Builder) -> None:
    """A scan along one dimension; always with a tuple as result."""
    op = builder.op
    flags = tuple(Property(key, key, flagged) for key in ("is_reverse", "is_associative"))
    _, carried = numbers(op.attributes["operandSegmentSizes"])
    properties = {"dimensions": ints((number(op.attributes["dimension"]),)), "num_carries": integer(carried)}
    region = region_of(builder, op.regions[0])
    made = builder.emit(
        ScanOp, builder.operands, tuple_of(tuple(builder.types)), properties | converted(op, flags), [region]
    )
    builder.scope.values.update(zip(op.results, builder.elements(made), strict=True))


@translates("stablehlo.map")
def map_(builder: Builder) -> None:
    """A scalar computation on each element."""
    applied(builder, MapOp, {"dimensions": dims(builder.op.attributes["dimensions"])})


@translates("stablehlo.sort")
def sort(builder: Builder) -> None:
    """A sort; StableHLO counts its dimension from the end where it is negative."""
    rank = len(builder.op.types[0].shape)
    properties = converted(builder.op, (Property("is_stable", "is_stable", flagged),))
    properties["dimensions"] = ints((number(builder.op.attributes.get("dimension", -1)) % max(rank, 1),))
    applied(builder, SortOp, properties)


_SCATTER = (
    *(Property(key, key, dims) for key in ("update_window_dims", "inserted_window_dims")),
    Property("scatter_dims_to_operand_dims", "scattered_dims_to_operand_dims", dims),
    *(Property(key, key, some_dims) for key in ("input_batching_dims", "scatter_indices_batching_dims")),
    Property("index_vector_dim", "index_vector_dim", integral),
)


@translates("stablehlo.scatter")
def scatter(builder: Builder) -> None:
    """A scatter; of several inputs, with a tuple as result."""
    own = tuple(Property(key, key, flagged) for key in ("indices_are_sorted", "unique_indices"))
    properties = {**of_struct(builder.op, "scatter_dimension_numbers", _SCATTER), **converted(builder.op, own)}
    applied(builder, ScatterOp, properties)


@translates("stablehlo.reduce_window")
def reduce_window(builder: Builder) -> None:
    """A reduction of each position of a window."""
    window = window_of(builder.op, "window_dimensions", dilations=("base_dilations", "window_dilations"))
    applied(builder, ReduceWindowOp, {} if window is None else {"window": window})


@translates("stablehlo.select_and_scatter")
def select_and_scatter(builder: Builder) -> None:
    """The gradient of a reduction of windows that picks an element."""
    window = window_of(builder.op, "window_dimensions")
    applied(builder, SelectAndScatterOp, {} if window is None else {"window": window})


@translates("mhlo.topk")
def topk(builder: Builder) -> None:
    """The k largest, unless it says otherwise."""
    op = builder.op
    properties = converted(op._replace(attributes={"largest": True, **op.attributes}), _TOPK)
    builder.finish(builder.emit(TopKOp, builder.operands, properties=properties))


_TOPK = (Property("k", "k", integral), Property("largest", "largest", flagged))


def window_of(op: Op, size: str | Sequence[int], dilations: tuple[str, str] = ("", "")) -> WindowAttr | None:
    """The window that an op's attributes describe; None where it has no dimensions.

    `size` is the attribute with the sizes, or the sizes. `dilations` are the attributes with those of the base and of
    the window.
    """
    sizes = numbers(op.attributes[size]) if isinstance(size, str) else tuple(size)
    padding = op.attributes.get("padding")
    pads = numbers_of(padding) if isinstance(padding, Dense) else ((0, 0),) * len(sizes)

    def column(attribute: str, default: int) -> tuple[int, ...]:
        given = op.attributes.get(attribute)
        return (default,) * len(sizes) if given is None else numbers(given)

    rows = zip(
        sizes,
        column("window_strides", 1),
        pads,
        column(dilations[0], 1),
        column(dilations[1], 1),
        column("window_reversal", 0),
        strict=True,
    )
    dimensions = [
        WindowDimension(extent, stride, low, high, base, window, bool(reversal))
        for extent, stride, (low, high), base, window, reversal in rows
    ]
    return WindowAttr.of(dimensions) if dimensions else None
