"""Chapter: gather and scatter."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, region_def, traits_def, var_operand_def
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.attributes import ComputationAttr, Int, Ints, int_list, int_of
from xneuron.dialects.hlo.base import ComputationEffects, PureUnlessWaiting, ValueOp
from xneuron.dialects.hlo.index_rules import Addressing, expect_scattered, gathered
from xneuron.dialects.hlo.shape_rules import array, expect, expect_reducer, packed, same_dimensions, types_of
from xneuron.dialects.hlo.types import with_element


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
    traits = traits_def(PureUnlessWaiting())

    @property
    def addressing(self) -> Addressing:
        """The dimension numbers that gather and scatter share."""
        return Addressing(
            int_list(self.offset_dims),
            int_list(self.collapsed_slice_dims),
            int_list(self.start_index_map),
            int_list(self.operand_batching_dims),
            int_list(self.start_indices_batching_dims),
            int_of(self.index_vector_dim),
        )

    def shape_rule(self) -> Attribute:
        return gathered(self.addressing, int_list(self.slice_sizes), array(self.operand.type), self.start_indices.type)


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

    @property
    def addressing(self) -> Addressing:
        """The dimension numbers that gather and scatter share."""
        return Addressing(
            int_list(self.update_window_dims),
            int_list(self.inserted_window_dims),
            int_list(self.scatter_dims_to_operand_dims),
            int_list(self.input_batching_dims),
            int_list(self.scatter_indices_batching_dims),
            int_of(self.index_vector_dim),
        )

    def shape_rule(self) -> Attribute:
        count = len(self.args) // 2
        if not count or len(self.args) != 2 * count + 1:
            raise VerifyException(f"expected n inputs, indices, n updates, found {len(self.args)} operands")
        inputs, updates = types_of(self.args[:count]), types_of(self.args[count + 1 :])
        for what, types in (("inputs", inputs), ("updates", updates)):
            same_dimensions(types, what)
        expect_scattered(self.addressing, array(inputs[0]), self.args[count].type, array(updates[0]))
        elements = [array(type).element_type for type in inputs]
        for type, element in zip(updates, elements, strict=True):
            expect(with_element(array(type), element), type, "updates")
        expect_reducer(self.to_apply, elements)
        return packed(inputs)


OPS = [GatherOp, ScatterOp]
