"""Chapter: reductions and orderings. Reduce, windows, scan, sort, top-k."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, UnitAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.attributes import ComputationAttr, Int, Ints, WindowAttr, int_list, int_of, ints
from xneuron.dialects.hlo.base import ComputationEffects, PureUnlessWaiting, ValueOp
from xneuron.dialects.hlo.shape_rules import (
    array,
    expect,
    expect_computation,
    expect_count,
    expect_dimension,
    expect_dimensions,
    expect_reducer,
    listed,
    one_dimension,
    packed,
    same_dimensions,
    types_of,
    windowed,
)
from xneuron.dialects.hlo.types import (
    DYNAMIC,
    PRED,
    S32,
    Tensor,
    elements_of,
    shape_of,
    spelled,
    tensor,
    tuple_of,
    with_shape,
)


def reducible(args: Sequence[SSAValue], reducer: Region) -> tuple[list[Tensor], tuple[int, ...]]:
    """The n inputs and their shape, for args that are n inputs and n initial scalars that `reducer` folds."""
    count = len(args) // 2
    if not count or len(args) % 2:
        raise VerifyException(f"expected n inputs and n initial values, found {len(args)} operands")
    inputs = [array(value.type, "input") for value in args[:count]]
    shape = same_dimensions(inputs, "inputs")
    for input, init in zip(inputs, args[count:], strict=True):
        expect(tensor(input.element_type), init.type, "initial value")
    expect_reducer(reducer, [input.element_type for input in inputs])
    return inputs, shape


def _extent_along(dimension: Sequence[int], input: Attribute) -> int:
    shape = shape_of(array(input, "input"))
    return shape[one_dimension(ints(dimension), len(shape))]


def _without(dimension: int, type: Tensor) -> Tensor:
    shape = shape_of(type)
    return with_shape(type, shape[:dimension] + shape[dimension + 1 :])


def _stacked(dimension: int, length: int, type: Tensor) -> Tensor:
    shape = shape_of(type)
    expect_dimension(dimension, len(shape) + 1, "dimension")
    return with_shape(type, (*shape[:dimension], length, *shape[dimension:]))


@irdl_op_definition
class ReduceOp(ValueOp):
    """Folds `dimensions` away. `args`: n inputs, n initial scalars; n > 1 gives a tuple."""

    name = "hlo.reduce"
    args = var_operand_def()
    dimensions = prop_def(Ints)
    computations = opt_prop_def(ArrayAttr[ComputationAttr])
    to_apply = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), ComputationEffects())

    def shape_rule(self) -> Attribute:
        inputs, shape = reducible(self.args, self.to_apply)
        dropped = expect_dimensions(int_list(self.dimensions), len(shape), "dimensions")
        kept = [extent for dimension, extent in enumerate(shape) if dimension not in dropped]
        return packed(with_shape(input, kept) for input in inputs)


@irdl_op_definition
class ReduceWindowOp(ValueOp):
    """Folds each position of a window. `args`: n inputs, n initial scalars."""

    name = "hlo.reduce_window"
    args = var_operand_def()
    window = opt_prop_def(WindowAttr)
    computations = opt_prop_def(ArrayAttr[ComputationAttr])
    to_apply = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), ComputationEffects())

    def shape_rule(self) -> Attribute:
        inputs, shape = reducible(self.args, self.to_apply)
        positions = windowed(shape, self.window)
        return packed(with_shape(input, positions) for input in inputs)


@irdl_op_definition
class SelectAndScatterOp(ValueOp):
    """In each window `select` picks an element, and `scatter` adds the source value there."""

    name = "hlo.select_and_scatter"
    operand = operand_def()
    source = operand_def()
    init_value = operand_def()
    window = opt_prop_def(WindowAttr)
    computations = opt_prop_def(ArrayAttr[ComputationAttr])
    select = region_def("single_block")
    scatter = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), ComputationEffects())

    def shape_rule(self) -> Attribute:
        operand = array(self.operand.type)
        scalar = tensor(operand.element_type)
        expect_computation(self.select, (scalar, scalar), tensor(PRED), "select")
        expect(scalar, self.init_value.type, "init value")
        expect_reducer(self.scatter, [operand.element_type], "scatter")
        expect(with_shape(operand, windowed(shape_of(operand), self.window)), self.source.type, "source")
        return operand


@irdl_op_definition
class ScanOp(ValueOp):
    """Runs a computation along one dimension, carrying `num_carries` values."""

    name = "hlo.scan"
    args = var_operand_def()
    dimensions = prop_def(Ints)
    num_carries = prop_def(Int)
    is_reverse = opt_prop_def(UnitAttr)
    is_associative = opt_prop_def(UnitAttr)
    computations = opt_prop_def(ArrayAttr[ComputationAttr])
    to_apply = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), ComputationEffects())

    def shape_rule(self) -> Attribute:
        carried = int_of(self.num_carries)
        if not 0 <= carried <= len(self.args):
            raise VerifyException(f"expected num_carries in [0, {len(self.args)}], found {carried}")
        inputs, carries = (
            types_of(self.args[: len(self.args) - carried]),
            types_of(self.args[len(self.args) - carried :]),
        )
        dimension = int_list(self.dimensions)
        expect_count(1, dimension, "dimensions")
        extents = {_extent_along(dimension, input) for input in inputs} - {DYNAMIC}
        if len(extents) > 1:
            raise VerifyException(f"expected inputs of one extent along {listed(dimension)}, found {sorted(extents)}")
        slices = [_without(dimension[0], array(input)) for input in inputs]
        root = elements_of(expect_computation(self.to_apply, (*slices, *carries), None, "to_apply"))
        outputs = root[: len(root) - carried]
        expect(tuple_of(carries), tuple_of(root[len(outputs) :]), "carried results")
        length = extents.pop() if extents else DYNAMIC
        return tuple_of((*(_stacked(dimension[0], length, array(output)) for output in outputs), *carries))


@irdl_op_definition
class SortOp(ValueOp):
    """Sorts along one dimension by a less-than computation; several operands move together, as a tuple."""

    name = "hlo.sort"
    inputs = var_operand_def()
    dimensions = prop_def(Ints)
    is_stable = opt_prop_def(UnitAttr)
    computations = opt_prop_def(ArrayAttr[ComputationAttr])
    to_apply = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), ComputationEffects())

    def shape_rule(self) -> Attribute:
        if not self.inputs:
            raise VerifyException("expected at least 1 operand, found 0")
        inputs = types_of(self.inputs)
        one_dimension(self.dimensions, len(same_dimensions(inputs, "operands")))
        compared = [tensor(array(input).element_type) for input in inputs for _ in range(2)]
        expect_computation(self.to_apply, compared, tensor(PRED), "to_apply")
        return packed(inputs)


@irdl_op_definition
class TopKOp(ValueOp):
    """The k largest (or smallest) of the last dimension and their s32 indices, as a tuple."""

    name = "hlo.topk"
    operand = operand_def()
    k = prop_def(Int)
    largest = opt_prop_def(UnitAttr)
    is_stable = opt_prop_def(UnitAttr)
    traits = traits_def(PureUnlessWaiting())

    def shape_rule(self) -> Attribute:
        operand, k = array(self.operand.type), int_of(self.k)
        shape = shape_of(operand)
        if not shape or not (0 <= k <= shape[-1] or shape[-1] == DYNAMIC):
            raise VerifyException(f"expected k within the last dimension of {spelled(operand)}, found {k}")
        best = (*shape[:-1], k)
        return tuple_of((with_shape(operand, best), tensor(S32, best)))


OPS = [ReduceOp, ReduceWindowOp, SelectAndScatterOp, ScanOp, SortOp, TopKOp]
