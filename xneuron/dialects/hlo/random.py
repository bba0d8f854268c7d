"""Chapter: random numbers."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, traits_def, var_operand_def
from xdsl.traits import Pure

from xneuron.dialects.hlo.attributes import Int
from xneuron.dialects.hlo.base import ValueOp


@irdl_op_definition
class RngOp(ValueOp):
    """Random elements. `distribution`: rng_uniform (low, high), rng_normal (mean, deviation). Has state."""

    name = "hlo.rng"
    inputs = var_operand_def()
    distribution = prop_def(StringAttr)


@irdl_op_definition
class RngBitGeneratorOp(ValueOp):
    """(new state, random bits) from a state. `algorithm`: rng_default, rng_three_fry, rng_philox."""

    name = "hlo.rng_bit_generator"
    operand = operand_def()
    algorithm = prop_def(StringAttr)
    traits = traits_def(Pure())


@irdl_op_definition
class RngGetAndUpdateStateOp(ValueOp):
    """The module's global generator state, then advanced by `delta`."""

    name = "hlo.rng_get_and_update_state"
    delta = prop_def(Int)


OPS = [RngOp, RngBitGeneratorOp, RngGetAndUpdateStateOp]
