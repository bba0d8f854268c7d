"""Chapter: control flow. Tuples, while, conditional, fusion, async pairs, ordering. A call is `func.call`."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.traits import IsolatedFromAbove, IsTerminator, Pure

from xneuron.dialects.hlo.attributes import ComputationAttr, Int
from xneuron.dialects.hlo.base import ComputationEffects, HloOp, ValueOp
from xneuron.dialects.hlo.types import tuple_of


@irdl_op_definition
class ReturnOp(HloOp):
    """Ends a computation that is a region; its one operand is the root."""

    name = "hlo.return"
    values = var_operand_def()
    traits = traits_def(IsTerminator(), Pure())


@irdl_op_definition
class TupleOp(ValueOp):
    """Packs values into a tuple."""

    name = "hlo.tuple"
    elements = var_operand_def()
    traits = traits_def(Pure())

    def shape_rule(self) -> Attribute:
        return tuple_of(tuple(value.type for value in self.elements))


@irdl_op_definition
class GetTupleElementOp(ValueOp):
    """Element `index` of a tuple."""

    name = "hlo.get_tuple_element"
    operand = operand_def()
    index = prop_def(Int)
    traits = traits_def(Pure())


@irdl_op_definition
class WhileOp(HloOp):
    """Runs `body` on its state as long as `cond` of the state is true.

    Both regions are isolated: all a loop uses is in its operand. Normal form is HLO's, one operand (usually a tuple);
    more are representable, with as many block arguments and results. Effects are unknown on purpose: xDSL's
    `dce` and `cse` leave loops alone (they may not end).
    """

    name = "hlo.while"
    inits = var_operand_def()
    res = var_result_def()
    computations = opt_prop_def(ArrayAttr[ComputationAttr])
    cond = region_def("single_block")
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove())


@irdl_op_definition
class ConditionalOp(ValueOp):
    """Runs one branch on its operand: by a pred (true, false) or by an s32, the last one if out of range.

    `args`: the index, then one operand per branch.
    """

    name = "hlo.conditional"
    args = var_operand_def()
    computations = opt_prop_def(ArrayAttr[ComputationAttr])
    branches = var_region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), ComputationEffects())


@irdl_op_definition
class FusionOp(ValueOp):
    """Operations that run as one kernel. `kind`: kLoop, kInput, kOutput, kCustom."""

    name = "hlo.fusion"
    inputs = var_operand_def()
    kind = prop_def(StringAttr)
    output_to_operand_aliasing = opt_prop_def(StringAttr)
    computations = opt_prop_def(ArrayAttr[ComputationAttr])
    calls = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), ComputationEffects())


@irdl_op_definition
class AsyncStartOp(ValueOp):
    """Starts the wrapped computation; the result is ((operands), result, state…)."""

    name = "hlo.async_start"
    inputs = var_operand_def()
    async_execution_thread = opt_prop_def(StringAttr)
    computations = opt_prop_def(ArrayAttr[ComputationAttr])
    calls = region_def("single_block")
    traits = traits_def(IsolatedFromAbove())


@irdl_op_definition
class AsyncUpdateOp(ValueOp):
    """Goes on with a started computation."""

    name = "hlo.async_update"
    operand = operand_def()


@irdl_op_definition
class AsyncDoneOp(ValueOp):
    """Waits for a started computation; the result is the wrapped computation's."""

    name = "hlo.async_done"
    operand = operand_def()


@irdl_op_definition
class AfterAllOp(ValueOp):
    """A token that comes after all operand tokens."""

    name = "hlo.after_all"
    inputs = var_operand_def()
    traits = traits_def(Pure())


@irdl_op_definition
class AddDependencyOp(ValueOp):
    """The operand, ordered after the token."""

    name = "hlo.add_dependency"
    operand = operand_def()
    token = operand_def()


@irdl_op_definition
class OptBarrierOp(ValueOp):
    """The operand; optimisations do not look through."""

    name = "hlo.opt_barrier"
    operand = operand_def()


@irdl_op_definition
class DomainOp(ValueOp):
    """The operand; marks a border between sharding domains (`domain` is kept verbatim)."""

    name = "hlo.domain"
    operand = operand_def()
    domain = prop_def(StringAttr)


@irdl_op_definition
class ControlDependencyOp(HloOp):
    """`successor` is scheduled after `predecessor`: HLO text's `control-predecessors`.

    A use, not an attribute, so that it follows both through every rewrite. Stands behind both.
    """

    name = "hlo.control_dependency"
    predecessor = operand_def()
    successor = operand_def()


OPS = [
    ReturnOp,
    TupleOp,
    GetTupleElementOp,
    WhileOp,
    ConditionalOp,
    FusionOp,
    AsyncStartOp,
    AsyncUpdateOp,
    AsyncDoneOp,
    AfterAllOp,
    AddDependencyOp,
    OptBarrierOp,
    DomainOp,
    ControlDependencyOp,
]
