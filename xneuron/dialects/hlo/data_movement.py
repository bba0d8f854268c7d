"""Chapter: data movement. Constants, shapes, slices, gather and scatter, copies."""

from __future__ import annotations

from math import ceil, prod
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import ConstantLike
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.attributes import Int, Ints, int_list, int_of
from xneuron.dialects.hlo.base import PureUnlessWaiting, SimplifiesToValue, ValueOp
from xneuron.dialects.hlo.elementwise import UnaryOp
from xneuron.dialects.hlo.literal import type_of
from xneuron.dialects.hlo.shape_rules import (
    ARITHMETIC,
    array,
    array_of,
    expect,
    expect_count,
    expect_dimension,
    expect_dimensions,
    expect_same_elements,
    expect_start_indices,
    expect_started,
    expect_within,
    listed,
    one_dimension,
    same_array,
    unpacked,
)
from xneuron.dialects.hlo.types import (
    DYNAMIC,
    S32,
    U32,
    Tensor,
    element_of,
    shape_of,
    spelled,
    tensor,
    tuple_of,
    with_dynamic,
    with_shape,
)


def _sizes(type: Tensor) -> set[int]:
    """Bytes of an array, with narrow elements packed or not."""
    row, count = element_of(type), prod(shape_of(type))
    return {count * row.bytes, ceil(count * row.bits / 8)}


def _sliced(extent: int, start: int, limit: int, stride: int) -> int:
    if not 0 <= start <= limit or (limit > extent != DYNAMIC):
        raise VerifyException(f"expected 0 <= start <= limit <= {extent}, found {start} and {limit}")
    if stride <= 0:
        raise VerifyException(f"expected a positive stride, found {stride}")
    return -(-(limit - start) // stride)


def _padded(extent: int, low: int, high: int, interior: int) -> int:
    if interior < 0:
        raise VerifyException(f"expected interior padding of at least 0, found {interior}")
    if extent == DYNAMIC:
        return DYNAMIC
    padded = low + extent + max(extent - 1, 0) * interior + high
    if padded < 0:
        raise VerifyException(f"expected padding {low}_{high}_{interior} to leave elements of {extent}, found {padded}")
    return padded


def _with_extent(type: Tensor, dimension: int, extent: int) -> Tensor:
    shape = shape_of(type)
    return with_shape(type, (*shape[:dimension], extent, *shape[dimension + 1 :]))


@irdl_op_definition
class ConstantOp(ValueOp):
    """A literal: `LiteralAttr`, `TupleLiteralAttr`, or `ElidedAttr` where the text left it out."""

    name = "hlo.constant"
    value = prop_def()
    traits = traits_def(ConstantLike(), PureUnlessWaiting())

    def shape_rule(self) -> Attribute:
        return type_of(self.value)


@irdl_op_definition
class IotaOp(ValueOp):
    """0, 1, 2, … along one dimension."""

    name = "hlo.iota"
    iota_dimension = prop_def(Int)
    traits = traits_def(PureUnlessWaiting())

    def result_rule(self, expected: Attribute | None, actual: Attribute) -> None:
        rank = len(shape_of(array_of(ARITHMETIC, actual, "result")))
        expect_dimension(int_of(self.iota_dimension), rank, "iota_dimension")


@irdl_op_definition
class CopyOp(UnaryOp):
    """The operand, possibly in another layout."""

    name = "hlo.copy"
    traits = traits_def(PureUnlessWaiting(), SimplifiesToValue())

    def shape_rule(self) -> Attribute:
        return self.operand.type


@irdl_op_definition
class CopyStartOp(ValueOp):
    """Starts a copy; the result is (destination, source, context)."""

    name = "hlo.copy_start"
    operand = operand_def()
    cross_program_prefetch_index = opt_prop_def(Int)

    def shape_rule(self) -> Attribute:
        return tuple_of((self.operand.type, self.operand.type, tensor(U32)))


@irdl_op_definition
class CopyDoneOp(ValueOp):
    """Ends a copy; the result is the copied value."""

    name = "hlo.copy_done"
    CONTEXTUAL: ClassVar = True
    operand = operand_def()

    def shape_rule(self) -> Attribute:
        expect_started(self.operand, "hlo.copy_start")
        return unpacked(self.operand.type, 3, "operand")[0]


@irdl_op_definition
class BitcastOp(UnaryOp):
    """The same bytes under another shape; layouts decide the order."""

    name = "hlo.bitcast"
    traits = traits_def(PureUnlessWaiting(), SimplifiesToValue())

    def shape_rule(self) -> None:
        array(self.operand.type)

    def result_rule(self, expected: Attribute | None, actual: Attribute) -> None:
        old, new = array(self.operand.type), array(actual, "result")
        if DYNAMIC in (*shape_of(old), *shape_of(new)) or _sizes(old) & _sizes(new):
            return
        raise VerifyException(f"expected a result of the size of {spelled(old)}, found {spelled(new)}")


@irdl_op_definition
class BroadcastOp(ValueOp):
    """Operand dimension i becomes result dimension `dimensions[i]`; the others repeat it."""

    name = "hlo.broadcast"
    operand = operand_def()
    dimensions = prop_def(Ints)
    traits = traits_def(PureUnlessWaiting(), SimplifiesToValue())

    def shape_rule(self) -> Attribute | None:
        operand = array(self.operand.type)
        expect_count(len(shape_of(operand)), int_list(self.dimensions), "dimensions")
        return None if shape_of(operand) else operand

    def result_rule(self, expected: Attribute | None, actual: Attribute) -> None:
        operand, shape = array(self.operand.type), shape_of(array(actual, "result"))
        dimensions = expect_dimensions(int_list(self.dimensions), len(shape), "dimensions", ascending=True)
        extents = [shape[dimension] for dimension in dimensions]
        expect(operand, tensor(array(actual).element_type, tuple(extents)), "broadcast dimensions of the result to be")


@irdl_op_definition
class ReshapeOp(ValueOp):
    """The same elements in row-major order under another shape."""

    name = "hlo.reshape"
    operand = operand_def()
    inferred_dimension = opt_prop_def(Int)
    traits = traits_def(PureUnlessWaiting(), SimplifiesToValue())

    def result_rule(self, expected: Attribute | None, actual: Attribute) -> None:
        expect_same_elements(array(self.operand.type), array(actual, "result"))


@irdl_op_definition
class DynamicReshapeOp(ValueOp):
    """Reshape to extents given at run time, one scalar per result dimension."""

    name = "hlo.dynamic_reshape"
    operand = operand_def()
    dim_sizes = var_operand_def()
    traits = traits_def(PureUnlessWaiting())

    def shape_rule(self) -> None:
        array(self.operand.type)
        for size in self.dim_sizes:
            expect(tensor(S32), size.type, "dimension size")

    def result_rule(self, expected: Attribute | None, actual: Attribute) -> None:
        expect_same_elements(array(self.operand.type), array(actual, "result"))
        expect_count(len(shape_of(actual)), self.dim_sizes, "dimension sizes")


@irdl_op_definition
class TransposeOp(ValueOp):
    """Result dimension i is operand dimension `dimensions[i]`."""

    name = "hlo.transpose"
    operand = operand_def()
    dimensions = prop_def(Ints)
    traits = traits_def(PureUnlessWaiting(), SimplifiesToValue())

    def shape_rule(self) -> Attribute:
        operand, permutation = array(self.operand.type), int_list(self.dimensions)
        shape = shape_of(operand)
        if sorted(permutation) != list(range(len(shape))):
            raise VerifyException(
                f"expected dimensions to be a permutation for {spelled(operand)}, found {listed(permutation)}"
            )
        return with_shape(operand, [shape[dimension] for dimension in permutation])


@irdl_op_definition
class ReverseOp(ValueOp):
    """Reverses the order of elements along `dimensions`."""

    name = "hlo.reverse"
    operand = operand_def()
    dimensions = prop_def(Ints)
    traits = traits_def(PureUnlessWaiting())

    def shape_rule(self) -> Attribute:
        operand = array(self.operand.type)
        expect_dimensions(int_list(self.dimensions), len(shape_of(operand)), "dimensions")
        return operand


@irdl_op_definition
class SliceOp(ValueOp):
    """Elements `starts[d] : limits[d] : strides[d]` of each dimension d."""

    name = "hlo.slice"
    operand = operand_def()
    starts = prop_def(Ints)
    limits = prop_def(Ints)
    strides = prop_def(Ints)
    traits = traits_def(PureUnlessWaiting(), SimplifiesToValue())

    def shape_rule(self) -> Attribute:
        operand = array(self.operand.type)
        bounds = [int_list(self.starts), int_list(self.limits), int_list(self.strides)]
        for numbers in bounds:
            expect_count(len(shape_of(operand)), numbers, "slice dimensions")
        return with_shape(operand, [_sliced(*row) for row in zip(shape_of(operand), *bounds, strict=True)])


@irdl_op_definition
class DynamicSliceOp(ValueOp):
    """A window of `slice_sizes` at a start given at run time, clamped so that it fits.

    `start_indices`: one scalar per dimension, or one 1-D vector.
    """

    name = "hlo.dynamic_slice"
    operand = operand_def()
    start_indices = var_operand_def()
    slice_sizes = prop_def(Ints)
    traits = traits_def(PureUnlessWaiting())

    def shape_rule(self) -> Attribute:
        operand, sizes = array(self.operand.type), int_list(self.slice_sizes)
        expect_start_indices(self.start_indices, len(shape_of(operand)))
        expect_within(sizes, shape_of(operand), "dynamic_slice_sizes")
        return with_shape(operand, sizes)


@irdl_op_definition
class DynamicUpdateSliceOp(ValueOp):
    """The operand with the window at the (clamped) start replaced by `update`."""

    name = "hlo.dynamic_update_slice"
    operand = operand_def()
    update = operand_def()
    start_indices = var_operand_def()
    traits = traits_def(PureUnlessWaiting())

    def shape_rule(self) -> Attribute:
        operand, update = array(self.operand.type), array(self.update.type, "update")
        if operand.element_type != update.element_type:
            raise VerifyException(f"expected update of the elements of {spelled(operand)}, found {spelled(update)}")
        expect_start_indices(self.start_indices, len(shape_of(operand)))
        expect_within(shape_of(update), shape_of(operand), "update")
        return operand


@irdl_op_definition
class PadOp(ValueOp):
    """Adds `padding_value` at the edges and between elements; negative edges cut."""

    name = "hlo.pad"
    operand = operand_def()
    padding_value = operand_def()
    edge_padding_low = prop_def(Ints)
    edge_padding_high = prop_def(Ints)
    interior_padding = prop_def(Ints)
    traits = traits_def(PureUnlessWaiting())

    def shape_rule(self) -> Attribute:
        operand = array(self.operand.type)
        expect(tensor(operand.element_type), self.padding_value.type, "padding value")
        padding = [int_list(p) for p in (self.edge_padding_low, self.edge_padding_high, self.interior_padding)]
        for numbers in padding:
            expect_count(len(shape_of(operand)), numbers, "padded dimensions")
        return with_shape(operand, [_padded(*row) for row in zip(shape_of(operand), *padding, strict=True)])


@irdl_op_definition
class ConcatenateOp(ValueOp):
    """Operands after each other along one dimension (`dimensions` has one entry)."""

    name = "hlo.concatenate"
    inputs = var_operand_def()
    dimensions = prop_def(Ints)
    traits = traits_def(PureUnlessWaiting(), SimplifiesToValue())

    def shape_rule(self) -> Attribute:
        if not self.inputs:
            raise VerifyException("expected at least 1 operand, found 0")
        inputs = [array(value.type) for value in self.inputs]
        dimension = one_dimension(self.dimensions, len(shape_of(inputs[0])))
        extents = [shape_of(type)[dimension : dimension + 1] for type in inputs]
        total = DYNAMIC if (DYNAMIC,) in extents else sum(map(sum, extents))
        return same_array([_with_extent(type, dimension, total) for type in inputs])


@irdl_op_definition
class GetDimensionSizeOp(ValueOp):
    """Run-time extent of one dimension (s32; `dimensions` has one entry)."""

    name = "hlo.get_dimension_size"
    operand = operand_def()
    dimensions = prop_def(Ints)
    traits = traits_def(PureUnlessWaiting())

    def shape_rule(self) -> Attribute:
        one_dimension(self.dimensions, len(shape_of(array(self.operand.type))))
        return tensor(S32)


@irdl_op_definition
class SetDimensionSizeOp(ValueOp):
    """The operand with one dimension's run-time extent set."""

    name = "hlo.set_dimension_size"
    operand = operand_def()
    size = operand_def()
    dimensions = prop_def(Ints)
    traits = traits_def(PureUnlessWaiting())

    def shape_rule(self) -> Attribute:
        operand = array(self.operand.type)
        expect(tensor(S32), self.size.type, "size")
        return with_dynamic(operand, one_dimension(self.dimensions, len(shape_of(operand))))


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
    GetDimensionSizeOp,
    SetDimensionSizeOp,
]
