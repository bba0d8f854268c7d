"""Chapter: reductions and orderings. Reduce, windows, scan, sort, top-k."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, UnitAttr
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import IsolatedFromAbove, Pure

from xneuron.dialects.hlo.attributes import ComputationAttr, Int, Ints, WindowAttr
from xneuron.dialects.hlo.base import ComputationEffects, ValueOp


@irdl_op_definition
class ReduceOp(ValueOp):
    """Folds `dimensions` away. `args`: n inputs, n initial scalars; n > 1 gives a tuple."""

    name = "hlo.reduce"
    args = var_operand_def()
    dimensions = prop_def(Ints)
    computations = opt_prop_def(ArrayAttr[ComputationAttr])
    to_apply = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), ComputationEffects())


@irdl_op_definition
class ReduceWindowOp(ValueOp):
    """Folds each position of a window. `args`: n inputs, n initial scalars."""

    name = "hlo.reduce_window"
    args = var_operand_def()
    window = opt_prop_def(WindowAttr)
    computations = opt_prop_def(ArrayAttr[ComputationAttr])
    to_apply = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), ComputationEffects())


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


@irdl_op_definition
class TopKOp(ValueOp):
    """The k largest (or smallest) of the last dimension and their s32 indices, as a tuple."""

    name = "hlo.topk"
    operand = operand_def()
    k = prop_def(Int)
    largest = opt_prop_def(UnitAttr)
    is_stable = opt_prop_def(UnitAttr)
    traits = traits_def(Pure())


OPS = [ReduceOp, ReduceWindowOp, SelectAndScatterOp, ScanOp, SortOp, TopKOp]
