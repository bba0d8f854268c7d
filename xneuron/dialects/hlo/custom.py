"""Chapter: custom calls, and opcodes without a meaning here."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from xdsl.dialects.builtin import ArrayAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
    var_region_def,
)
from xdsl.traits import EffectInstance, IsolatedFromAbove, MemoryEffect

from xneuron.dialects.hlo.attributes import ComputationAttr, DimLabelsAttr, Int, WindowAttr, text_of
from xneuron.dialects.hlo.base import ComputationEffects, ValueOp
from xneuron.dialects.hlo.contraction_rules import expect_precision
from xneuron.dialects.hlo.shape_rules import expect, expect_count, expect_one_of

SCHEDULES = ("SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST")
API_VERSIONS = (
    "API_VERSION_ORIGINAL",
    "API_VERSION_STATUS_RETURNING",
    "API_VERSION_STATUS_RETURNING_UNIFIED",
    "API_VERSION_TYPED_FFI",
)
PADDINGS = ("PADDING_INVALID", "PADDING_VALID", "PADDING_SAME")


class DeclaredEffects(MemoryEffect):
    """None, unless `custom_call_has_side_effect` says so."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance] | None:
        if "custom_call_has_side_effect" in op.properties:
            return None
        return ComputationEffects.get_effects(op)


@irdl_op_definition
class CustomCallOp(ValueOp):
    """Calls what `custom_call_target` names. Called computations are regions."""

    name = "hlo.custom_call"
    inputs = var_operand_def()
    custom_call_target = prop_def(StringAttr)
    window = opt_prop_def(WindowAttr)
    dim_labels = opt_prop_def(DimLabelsAttr)
    feature_group_count = opt_prop_def(Int)
    batch_group_count = opt_prop_def(Int)
    operand_layout_constraints = opt_prop_def(ArrayAttr[Attribute])
    custom_call_has_side_effect = opt_prop_def(UnitAttr)
    output_to_operand_aliasing = opt_prop_def(StringAttr)
    padding_type = opt_prop_def(StringAttr)
    literal = opt_prop_def()
    operand_precision = opt_prop_def(ArrayAttr[StringAttr])
    schedule = opt_prop_def(StringAttr)
    api_version = opt_prop_def(StringAttr)
    single_computation = opt_prop_def(UnitAttr)
    """Present where the text says `to_apply=` rather than `called_computations={…}`."""
    computations = opt_prop_def(ArrayAttr[ComputationAttr])
    called_computations = var_region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), DeclaredEffects())

    def shape_rule(self) -> None:
        expect_one_of(text_of(self.schedule, "SCHEDULE_NONE"), SCHEDULES, "schedule")
        expect_one_of(text_of(self.api_version, "API_VERSION_ORIGINAL"), API_VERSIONS, "api_version")
        expect_one_of(text_of(self.padding_type, "PADDING_INVALID"), PADDINGS, "padding_type")
        expect_precision(self.operand_precision, None)
        if self.operand_layout_constraints is not None:
            constraints = self.operand_layout_constraints.data
            expect_count(len(self.inputs), constraints, "operand_layout_constraints")
            for constraint, value in zip(constraints, self.inputs, strict=True):
                expect(constraint, value.type, "operand to be as constrained,")


@irdl_op_definition
class OpaqueOp(ValueOp):
    """An instruction whose opcode has no op here: kept, printed back, not evaluated, assumed to have effects.

    `attributes_text`: its attributes as HLO text has them, without those that every instruction may have.
    """

    name = "hlo.opaque"
    inputs = var_operand_def()
    opcode_name = prop_def(StringAttr)
    attributes_text = opt_prop_def(StringAttr)


OPS = [CustomCallOp, OpaqueOp]
