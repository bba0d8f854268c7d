"""Chapter: random numbers."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, traits_def, var_operand_def

from xneuron.dialects.hlo.attributes import Int
from xneuron.dialects.hlo.base import PureUnlessWaiting, ValueOp
from xneuron.dialects.hlo.shape_rules import (
    FLOATING,
    INTEGRAL,
    UNSIGNED,
    Kinds,
    array_of,
    expect,
    expect_count,
    expect_one_of,
    unpacked,
)
from xneuron.dialects.hlo.types import BY_NAME, tensor

ALGORITHMS = ("rng_default", "rng_three_fry", "rng_philox")
_ELEMENTS = {
    "rng_uniform": Kinds("pred, integral or floating", frozenset({"pred", "int", "uint", "float"})),
    "rng_normal": FLOATING,
}
"""Distributions, and the elements they make."""


@irdl_op_definition
class RngOp(ValueOp):
    """Random elements. `distribution`: rng_uniform (low, high), rng_normal (mean, deviation). Has state."""

    name = "hlo.rng"
    inputs = var_operand_def()
    distribution = prop_def(StringAttr)

    def shape_rule(self) -> None:
        expect_one_of(self.distribution.data, tuple(_ELEMENTS), "distribution")
        expect_count(2, self.inputs, "operands")

    def result_rule(self, expected: Attribute | None, actual: Attribute) -> None:
        result = array_of(_ELEMENTS[self.distribution.data], actual, "result")
        for value in self.inputs:
            expect(tensor(result.element_type), value.type, "operand")


@irdl_op_definition
class RngBitGeneratorOp(ValueOp):
    """(new state, random bits) from a state. `algorithm`: rng_default, rng_three_fry, rng_philox."""

    name = "hlo.rng_bit_generator"
    operand = operand_def()
    algorithm = prop_def(StringAttr)
    traits = traits_def(PureUnlessWaiting())

    def shape_rule(self) -> None:
        expect_one_of(self.algorithm.data, ALGORITHMS, "algorithm")
        array_of(UNSIGNED, self.operand.type, "state")

    def result_rule(self, expected: Attribute | None, actual: Attribute) -> None:
        state, bits = unpacked(actual, 2, "result")
        expect(self.operand.type, state, "new state")
        array_of(INTEGRAL, bits, "random bits")


@irdl_op_definition
class RngGetAndUpdateStateOp(ValueOp):
    """The module's global generator state, then advanced by `delta`."""

    name = "hlo.rng_get_and_update_state"
    delta = prop_def(Int)

    def shape_rule(self) -> Attribute:
        return tensor(BY_NAME["u64"].type, (2,))


OPS = [RngOp, RngBitGeneratorOp, RngGetAndUpdateStateOp]
