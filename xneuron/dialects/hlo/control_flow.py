"""Chapter: control flow. Tuples, while, conditional, fusion, async pairs, ordering. A call is `func.call`."""

from __future__ import annotations

from typing import ClassVar

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
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.attributes import ComputationAttr, Int, int_of
from xneuron.dialects.hlo.base import (
    ComputationEffects,
    DropsSelfDependency,
    HloOp,
    PureUnlessWaiting,
    SimplifiesToValue,
    ValueOp,
    prefixed,
    root_of,
)
from xneuron.dialects.hlo.shape_rules import (
    expect,
    expect_computation,
    expect_count,
    expect_one_of,
    expect_returned,
    expect_started,
    is_pred,
    tuple_element,
    types_of,
)
from xneuron.dialects.hlo.types import PRED, S32, TOKEN, compatible, elements_of, spelled, tensor, tuple_of

FUSION_KINDS = ("kLoop", "kInput", "kOutput", "kCustom")
_STARTED = ("hlo.async_start", "hlo.async_update")


@irdl_op_definition
class ReturnOp(HloOp):
    """Ends a computation that is a region; its one operand is the root."""

    name = "hlo.return"
    values = var_operand_def()
    traits = traits_def(IsTerminator(), Pure())

    def verify_(self) -> None:
        """Nothing: the op that owns the region knows what it must return."""


@irdl_op_definition
class TupleOp(ValueOp):
    """Packs values into a tuple."""

    name = "hlo.tuple"
    elements = var_operand_def()
    traits = traits_def(PureUnlessWaiting(), SimplifiesToValue())

    def shape_rule(self) -> Attribute:
        return tuple_of(tuple(value.type for value in self.elements))


@irdl_op_definition
class GetTupleElementOp(ValueOp):
    """Element `index` of a tuple."""

    name = "hlo.get_tuple_element"
    operand = operand_def()
    index = prop_def(Int)
    traits = traits_def(PureUnlessWaiting(), SimplifiesToValue())

    def shape_rule(self) -> Attribute:
        return tuple_element(self.operand.type, int_of(self.index))


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

    def shape_rule(self) -> Attribute | None:
        state = types_of(self.inits)
        expect_computation(self.cond, state, tensor(PRED), "condition")
        expect_returned(self.body, state, state, "body")
        return state[0] if len(state) == 1 else None

    def verify_(self) -> None:
        """Compares each result with its init."""
        with prefixed(self.opcode):
            self.shape_rule()
            expect_count(len(self.inits), self.res, "results")
            for init, result in zip(self.inits, self.res, strict=True):
                expect(init.type, result.type, "result")


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

    def shape_rule(self) -> Attribute:
        if not self.branches:
            raise VerifyException("expected at least 1 branch, found 0")
        expect_count(len(self.branches) + 1, self.args, "operands")
        index = self.args[0].type
        if not is_pred(index) and not compatible(index, tensor(S32)):
            raise VerifyException(f"expected branch index pred[] or s32[], found {spelled(index)}")
        if is_pred(index):
            expect_count(2, self.branches, "branches for a pred")
        result: Attribute | None = None
        for number, (branch, value) in enumerate(zip(self.branches, self.args[1:], strict=True)):
            root = expect_computation(branch, (value.type,), result, f"branch {number}")
            result = result or root
        return root_of(self.branches[0]).type


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

    def shape_rule(self) -> Attribute:
        expect_one_of(self.kind.data, FUSION_KINDS, "kind")
        return expect_computation(self.calls, types_of(self.inputs), None, "calls")


@irdl_op_definition
class AsyncStartOp(ValueOp):
    """Starts the wrapped computation; the result is ((operands), result, state…)."""

    name = "hlo.async_start"
    inputs = var_operand_def()
    async_execution_thread = opt_prop_def(StringAttr)
    computations = opt_prop_def(ArrayAttr[ComputationAttr])
    calls = region_def("single_block")
    traits = traits_def(IsolatedFromAbove())

    def shape_rule(self) -> None:
        expect_computation(self.calls, types_of(self.inputs), None, "calls")

    def result_rule(self, expected: Attribute | None, actual: Attribute) -> None:
        parts = elements_of(actual)
        if len(parts) < 2:
            raise VerifyException(f"expected result ((operands), result, state…), found {spelled(actual)}")
        expect(tuple_of(types_of(self.inputs)), parts[0], "operands in the result")
        expect(root_of(self.calls).type, parts[1], "the computation's result in the result")


@irdl_op_definition
class AsyncUpdateOp(ValueOp):
    """Goes on with a started computation."""

    name = "hlo.async_update"
    CONTEXTUAL: ClassVar = True
    operand = operand_def()

    def shape_rule(self) -> Attribute:
        expect_started(self.operand, *_STARTED)
        return self.operand.type


@irdl_op_definition
class AsyncDoneOp(ValueOp):
    """Waits for a started computation; the result is the wrapped computation's."""

    name = "hlo.async_done"
    CONTEXTUAL: ClassVar = True
    operand = operand_def()

    def shape_rule(self) -> Attribute:
        expect_started(self.operand, *_STARTED)
        return tuple_element(self.operand.type, 1)


@irdl_op_definition
class AfterAllOp(ValueOp):
    """A token that comes after all operand tokens."""

    name = "hlo.after_all"
    inputs = var_operand_def()
    traits = traits_def(PureUnlessWaiting())

    def shape_rule(self) -> Attribute:
        for value in self.inputs:
            expect(TOKEN, value.type, "operand")
        return TOKEN


@irdl_op_definition
class AddDependencyOp(ValueOp):
    """The operand, ordered after the token."""

    name = "hlo.add_dependency"
    operand = operand_def()
    token = operand_def()

    def shape_rule(self) -> Attribute:
        expect(TOKEN, self.token.type, "second operand")
        return self.operand.type


@irdl_op_definition
class OptBarrierOp(ValueOp):
    """The operand; optimisations do not look through."""

    name = "hlo.opt_barrier"
    operand = operand_def()

    def shape_rule(self) -> Attribute:
        return self.operand.type


@irdl_op_definition
class DomainOp(ValueOp):
    """The operand; marks a border between sharding domains (`domain` is kept verbatim)."""

    name = "hlo.domain"
    operand = operand_def()
    domain = prop_def(StringAttr)

    def shape_rule(self) -> Attribute:
        return self.operand.type


@irdl_op_definition
class ControlDependencyOp(HloOp):
    """`successor` is scheduled after `predecessor`: HLO text's `control-predecessors`.

    A use, not an attribute, so that it follows both through every rewrite. Stands behind both.
    """

    name = "hlo.control_dependency"
    predecessor = operand_def()
    successor = operand_def()
    traits = traits_def(DropsSelfDependency())

    def verify_(self) -> None:
        """Nothing: any two values can be ordered."""


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
