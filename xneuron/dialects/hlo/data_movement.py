"""Chapter: data movement. Constants, shapes, slices, gather and scatter, copies."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import ConstantLike, IsolatedFromAbove, Pure

from xneuron.dialects.hlo.attributes import ComputationAttr, Int, Ints
from xneuron.dialects.hlo.base import ComputationEffects, ValueOp
from xneuron.dialects.hlo.elementwise import UnaryOp
from xneuron.dialects.hlo.literal import type_of


@irdl_op_definition
class ConstantOp(ValueOp):
    """A literal: `LiteralAttr`, `TupleLiteralAttr`, or `ElidedAttr` where the text left it out."""

    name = "hlo.constant"
    value = prop_def()
    traits = traits_def(ConstantLike(), Pure())

    def shape_rule(self) -> Attribute:
        return type_of(self.value)


@irdl_op_definition
class IotaOp(ValueOp):
    """0, 1, 2, … along one dimension."""

    name = "hlo.iota"
    iota_dimension = prop_def(Int)
    traits = traits_def(Pure())


@irdl_op_definition
class CopyOp(UnaryOp):
    """The operand, possibly in another layout."""

    name = "hlo.copy"


@irdl_op_definition
class CopyStartOp(ValueOp):
    """Starts a copy; the result is (destination, source, context)."""

    name = "hlo.copy_start"
    operand = operand_def()
    cross_program_prefetch_index = opt_prop_def(Int)


@irdl_op_definition
class CopyDoneOp(ValueOp):
    """Ends a copy; the result is the copied value."""

    name = "hlo.copy_done"
    operand = operand_def()


@irdl_op_definition
class BitcastOp(UnaryOp):
    """The same bytes under another shape; layouts decide the order."""

    name = "hlo.bitcast"


@irdl_op_definition
class BroadcastOp(ValueOp):
    """Operand dimension i becomes result dimension `dimensions[i]`; the others repeat it."""

    name = "hlo.broadcast"
    operand = operand_def()
    dimensions = prop_def(Ints)
    traits = traits_def(Pure())


@irdl_op_definition
class ReshapeOp(ValueOp):
    """The same elements in row-major order under another shape."""

    name = "hlo.reshape"
    operand = operand_def()
    inferred_dimension = opt_prop_def(Int)
    traits = traits_def(Pure())


@irdl_op_definition
class DynamicReshapeOp(ValueOp):
    """Reshape to extents given at run time, one scalar per result dimension."""

    name = "hlo.dynamic_reshape"
    operand = operand_def()
    dim_sizes = var_operand_def()
    traits = traits_def(Pure())


@irdl_op_definition
class TransposeOp(ValueOp):
    """Result dimension i is operand dimension `dimensions[i]`."""

    name = "hlo.transpose"
    operand = operand_def()
    dimensions = prop_def(Ints)
    traits = traits_def(Pure())


@irdl_op_definition
class ReverseOp(ValueOp):
    """Reverses the order of elements along `dimensions`."""

    name = "hlo.reverse"
    operand = operand_def()
    dimensions = prop_def(Ints)
    traits = traits_def(Pure())


@irdl_op_definition
class SliceOp(ValueOp):
    """Elements `starts[d] : limits[d] : strides[d]` of each dimension d."""

    name = "hlo.slice"
    operand = operand_def()
    starts = prop_def(Ints)
    limits = prop_def(Ints)
    strides = prop_def(Ints)
    traits = traits_def(Pure())


@irdl_op_definition
class DynamicSliceOp(ValueOp):
    """A window of `slice_sizes` at a start given at run time, clamped so that it fits.

    `start_indices`: one scalar per dimension, or one 1-D vector.
    """

    name = "hlo.dynamic_slice"
    operand = operand_def()
    start_indices = var_operand_def()
    slice_sizes = prop_def(Ints)
    traits = traits_def(Pure())


@irdl_op_definition
class DynamicUpdateSliceOp(ValueOp):
    """The operand with the window at the (clamped) start replaced by `update`."""

    name = "hlo.dynamic_update_slice"
    operand = operand_def()
    update = operand_def()
    start_indices = var_operand_def()
    traits = traits_def(Pure())


@irdl_op_definition
class PadOp(ValueOp):
    """Adds `padding_value` at the edges and between elements; negative edges cut."""

    name = "hlo.pad"
    operand = operand_def()
    padding_value = operand_def()
    edge_padding_low = prop_def(Ints)
    edge_padding_high = prop_def(Ints)
    interior_padding = prop_def(Ints)
    traits = traits_def(Pure())


@irdl_op_definition
class ConcatenateOp(ValueOp):
    """Operands after each other along one dimension (`dimensions` has one entry)."""

    name = "hlo.concatenate"
    inputs = var_operand_def()
    dimensions = prop_def(Ints)
    traits = traits_def(Pure())


@irdl_op_definition
class GatherOp(ValueOp):
    """Slices of the operand at positions that `start_indices` lists, clamped."""

    name = "hlo.gather"
    operand = operand_def()
    start_indices = operand_def()
    offset_dims = prop_def(Ints)
    collapsed_slice_dims = prop_def(Ints)
    start_index_map = prop_def(Ints)
    operand_batching_dims = opt_prop_def(Ints)
    start_indices_batching_dims = opt_prop_def(Ints)
    index_vector_dim = prop_def(Int)
    slice_sizes = prop_def(Ints)
    indices_are_sorted = opt_prop_def(UnitAttr)
    traits = traits_def(Pure())


@irdl_op_definition
class ScatterOp(ValueOp):
    """Combines updates into the inputs at positions that the indices list; windows out of bounds are skipped.

    `args`: n inputs, the indices, n updates. `to_apply` takes the n old, then the n new scalars.
    """

    name = "hlo.scatter"
    args = var_operand_def()
    update_window_dims = prop_def(Ints)
    inserted_window_dims = prop_def(Ints)
    scatter_dims_to_operand_dims = prop_def(Ints)
    input_batching_dims = opt_prop_def(Ints)
    scatter_indices_batching_dims = opt_prop_def(Ints)
    index_vector_dim = prop_def(Int)
    indices_are_sorted = opt_prop_def(UnitAttr)
    unique_indices = opt_prop_def(UnitAttr)
    computations = opt_prop_def(ArrayAttr[ComputationAttr])
    to_apply = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), ComputationEffects())


@irdl_op_definition
class GetDimensionSizeOp(ValueOp):
    """Run-time extent of one dimension (s32; `dimensions` has one entry)."""

    name = "hlo.get_dimension_size"
    operand = operand_def()
    dimensions = prop_def(Ints)
    traits = traits_def(Pure())


@irdl_op_definition
class SetDimensionSizeOp(ValueOp):
    """The operand with one dimension's run-time extent set."""

    name = "hlo.set_dimension_size"
    operand = operand_def()
    size = operand_def()
    dimensions = prop_def(Ints)
    traits = traits_def(Pure())


OPS = [
    ConstantOp,
    IotaOp,
    CopyOp,
    CopyStartOp,
    CopyDoneOp,
    BitcastOp,
    BroadcastOp,
    ReshapeOp,
    DynamicReshapeOp,
    TransposeOp,
    ReverseOp,
    SliceOp,
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    PadOp,
    ConcatenateOp,
    GatherOp,
    ScatterOp,
    GetDimensionSizeOp,
    SetDimensionSizeOp,
]
