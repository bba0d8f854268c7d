"""Chapter: elementwise operations. Unary, binary, compare, select, clamp, conversions, map."""

from __future__ import annotations

from abc import ABC
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
)
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.attributes import ComputationAttr, Int, Ints, int_list, int_of
from xneuron.dialects.hlo.base import ComputationEffects, PureUnlessWaiting, SimplifiesToValue, ValueOp
from xneuron.dialects.hlo.shape_rules import (
    ANY,
    ARITHMETIC,
    FLOATING,
    FLOATING_OR_COMPLEX,
    INTEGRAL,
    PRED_OR_INTEGRAL,
    SIGNED_OR_COMPLEX,
    UNSIGNED,
    Kinds,
    array,
    array_of,
    expect,
    expect_computation,
    expect_one_of,
    fits,
    is_scalar,
    listed,
    same_array,
    same_dimensions,
    types_of,
)
from xneuron.dialects.hlo.types import BY_NAME, PRED, Tensor, element_of, shape_of, spelled, tensor, with_element

DIRECTIONS = ("EQ", "NE", "GE", "GT", "LE", "LT")
COMPARE_TYPES = {
    "pred": ("UNSIGNED",),
    "int": ("SIGNED",),
    "uint": ("UNSIGNED",),
    "float": ("FLOAT", "TOTALORDER"),
    "complex": ("FLOAT",),
}
"""What `compare_type` may be, by the kind of the elements."""

_PREDICATE = Kinds("pred", frozenset({"pred"}))
_COMPLEX_OF = {"f32": "c64", "f64": "c128"}
_PART_OF = {whole: part for part, whole in _COMPLEX_OF.items()}


def real_part(type: Tensor) -> Tensor:
    """The type of the parts of complex numbers; any other type itself."""
    part = _PART_OF.get(element_of(type).name)
    return type if part is None else with_element(type, BY_NAME[part].type)


def _reinterpreted(operand: Tensor, result: Tensor) -> Tensor:
    """The type bitcast-convert gives with the element type of `result`: narrower elements add a minor dimension."""
    old, new, shape = element_of(operand), element_of(result), shape_of(operand)
    if (old.kind == "complex") != (new.kind == "complex"):
        raise VerifyException(f"expected both or neither to be complex, found {old.name} to {new.name}")
    wide, narrow = max(old.bits, new.bits), min(old.bits, new.bits)
    if wide % narrow:
        raise VerifyException(f"expected widths that divide each other, found {old.name} to {new.name}")
    if old.bits > new.bits:
        return tensor(new.type, (*shape, wide // narrow))
    if old.bits == new.bits:
        return tensor(new.type, shape)
    if not shape or not fits(shape[-1], wide // narrow):
        raise VerifyException(
            f"expected a last dimension of {wide // narrow} to become {new.name}, found {spelled(operand)}"
        )
    return tensor(new.type, shape[:-1])


class UnaryOp(ValueOp, ABC):
    """One operand, a result of the same shape. `KINDS`: which elements it takes."""

    KINDS: ClassVar = FLOATING_OR_COMPLEX
    operand = operand_def()
    traits = traits_def(PureUnlessWaiting())

    def shape_rule(self) -> Attribute | None:
        return array_of(self.KINDS, self.operand.type)


class BinaryOp(ValueOp, ABC):
    """Two operands and a result of one shape and type. `KINDS`: which elements it takes."""

    KINDS: ClassVar = ANY
    lhs = operand_def()
    rhs = operand_def()
    traits = traits_def(PureUnlessWaiting())

    def shape_rule(self) -> Attribute | None:
        array_of(self.KINDS, self.lhs.type)
        return same_array((self.lhs.type, self.rhs.type))


@irdl_op_definition
class AbsOp(UnaryOp):
    """Absolute value; of a complex number, its magnitude (a real)."""

    name = "hlo.abs"
    KINDS: ClassVar = SIGNED_OR_COMPLEX

    def shape_rule(self) -> Attribute:
        return real_part(array_of(self.KINDS, self.operand.type))


@irdl_op_definition
class AcosOp(UnaryOp):
    """Arc cosine."""

    name = "hlo.acos"


@irdl_op_definition
class AcoshOp(UnaryOp):
    """Inverse hyperbolic cosine."""

    name = "hlo.acosh"


@irdl_op_definition
class AsinOp(UnaryOp):
    """Arc sine."""

    name = "hlo.asin"


@irdl_op_definition
class AsinhOp(UnaryOp):
    """Inverse hyperbolic sine."""

    name = "hlo.asinh"


@irdl_op_definition
class AtanhOp(UnaryOp):
    """Inverse hyperbolic tangent."""

    name = "hlo.atanh"


@irdl_op_definition
class CbrtOp(UnaryOp):
    """Cube root."""

    name = "hlo.cbrt"
    KINDS: ClassVar = FLOATING


@irdl_op_definition
class CeilOp(UnaryOp):
    """Rounds towards positive infinity."""

    name = "hlo.ceil"
    KINDS: ClassVar = FLOATING


@irdl_op_definition
class CoshOp(UnaryOp):
    """Hyperbolic cosine."""

    name = "hlo.cosh"


@irdl_op_definition
class CosineOp(UnaryOp):
    """Cosine."""

    name = "hlo.cosine"


@irdl_op_definition
class CountLeadingZerosOp(UnaryOp):
    """Number of zero bits before the first one bit."""

    name = "hlo.count_leading_zeros"
    KINDS: ClassVar = INTEGRAL


@irdl_op_definition
class ErfOp(UnaryOp):
    """Error function."""

    name = "hlo.erf"
    KINDS: ClassVar = FLOATING


@irdl_op_definition
class ExponentialOp(UnaryOp):
    """e to the power of the operand."""

    name = "hlo.exponential"


@irdl_op_definition
class ExponentialMinusOneOp(UnaryOp):
    """exp(x) - 1 without cancellation."""

    name = "hlo.exponential_minus_one"


@irdl_op_definition
class FloorOp(UnaryOp):
    """Rounds towards negative infinity."""

    name = "hlo.floor"
    KINDS: ClassVar = FLOATING


@irdl_op_definition
class ImagOp(UnaryOp):
    """Imaginary part (a real)."""

    name = "hlo.imag"

    def shape_rule(self) -> Attribute:
        return real_part(array_of(self.KINDS, self.operand.type))


@irdl_op_definition
class IsFiniteOp(UnaryOp):
    """True where neither infinite nor NaN (a pred)."""

    name = "hlo.is_finite"
    KINDS: ClassVar = FLOATING

    def shape_rule(self) -> Attribute:
        return with_element(array_of(self.KINDS, self.operand.type), PRED)


@irdl_op_definition
class LogOp(UnaryOp):
    """Natural logarithm."""

    name = "hlo.log"


@irdl_op_definition
class LogPlusOneOp(UnaryOp):
    """log(1 + x) without cancellation."""

    name = "hlo.log_plus_one"


@irdl_op_definition
class LogisticOp(UnaryOp):
    """1 / (1 + exp(-x))."""

    name = "hlo.logistic"


@irdl_op_definition
class NegateOp(UnaryOp):
    """Arithmetic negation; integers wrap."""

    name = "hlo.negate"
    KINDS: ClassVar = ARITHMETIC


@irdl_op_definition
class NotOp(UnaryOp):
    """Bitwise complement; logical of pred."""

    name = "hlo.not"
    KINDS: ClassVar = PRED_OR_INTEGRAL


@irdl_op_definition
class PopcntOp(UnaryOp):
    """Number of one bits."""

    name = "hlo.popcnt"
    KINDS: ClassVar = INTEGRAL


@irdl_op_definition
class RealOp(UnaryOp):
    """Real part (a real)."""

    name = "hlo.real"

    def shape_rule(self) -> Attribute:
        return real_part(array_of(self.KINDS, self.operand.type))


@irdl_op_definition
class RoundNearestAfzOp(UnaryOp):
    """Rounds to nearest, ties away from zero."""

    name = "hlo.round_nearest_afz"
    KINDS: ClassVar = FLOATING


@irdl_op_definition
class RoundNearestEvenOp(UnaryOp):
    """Rounds to nearest, ties to even."""

    name = "hlo.round_nearest_even"
    KINDS: ClassVar = FLOATING


@irdl_op_definition
class RsqrtOp(UnaryOp):
    """Reciprocal square root."""

    name = "hlo.rsqrt"


@irdl_op_definition
class SignOp(UnaryOp):
    """-1, 0 or 1; of NaN, NaN; of a complex number, x / |x|."""

    name = "hlo.sign"
    KINDS: ClassVar = SIGNED_OR_COMPLEX


@irdl_op_definition
class SineOp(UnaryOp):
    """Sine."""

    name = "hlo.sine"


@irdl_op_definition
class SinhOp(UnaryOp):
    """Hyperbolic sine."""

    name = "hlo.sinh"


@irdl_op_definition
class SqrtOp(UnaryOp):
    """Square root."""

    name = "hlo.sqrt"


@irdl_op_definition
class TanOp(UnaryOp):
    """Tangent."""

    name = "hlo.tan"


@irdl_op_definition
class TanhOp(UnaryOp):
    """Hyperbolic tangent."""

    name = "hlo.tanh"


@irdl_op_definition
class AddOp(BinaryOp):
    """Sum; logical or of pred; integers wrap."""

    name = "hlo.add"


@irdl_op_definition
class AndOp(BinaryOp):
    """Bitwise and."""

    name = "hlo.and"
    KINDS: ClassVar = PRED_OR_INTEGRAL


@irdl_op_definition
class Atan2Op(BinaryOp):
    """Angle of the point (rhs, lhs)."""

    name = "hlo.atan2"
    KINDS: ClassVar = FLOATING_OR_COMPLEX


@irdl_op_definition
class ComplexOp(BinaryOp):
    """A complex number from real and imaginary part."""

    name = "hlo.complex"
    KINDS: ClassVar = FLOATING

    def shape_rule(self) -> Attribute:
        array_of(self.KINDS, self.lhs.type)
        parts = same_array((self.lhs.type, self.rhs.type))
        if (whole := _COMPLEX_OF.get(element_of(parts).name)) is None:
            raise VerifyException(f"expected parts of f32 or f64, found {spelled(parts)}")
        return with_element(parts, BY_NAME[whole].type)


@irdl_op_definition
class DivideOp(BinaryOp):
    """Quotient; of integers, truncated; by zero, all ones; of the lowest by -1, the lowest."""

    name = "hlo.divide"
    KINDS: ClassVar = ARITHMETIC


@irdl_op_definition
class MaximumOp(BinaryOp):
    """The larger; NaN if either is."""

    name = "hlo.maximum"


@irdl_op_definition
class MinimumOp(BinaryOp):
    """The smaller; NaN if either is."""

    name = "hlo.minimum"


@irdl_op_definition
class MulhiOp(BinaryOp):
    """High half of the full product of integers."""

    name = "hlo.mulhi"
    KINDS: ClassVar = INTEGRAL


@irdl_op_definition
class MultiplyOp(BinaryOp):
    """Product; logical and of pred; integers wrap."""

    name = "hlo.multiply"


@irdl_op_definition
class OrOp(BinaryOp):
    """Bitwise or."""

    name = "hlo.or"
    KINDS: ClassVar = PRED_OR_INTEGRAL


@irdl_op_definition
class PowerOp(BinaryOp):
    """lhs to the power rhs."""

    name = "hlo.power"
    KINDS: ClassVar = ARITHMETIC


@irdl_op_definition
class RemainderOp(BinaryOp):
    """lhs - rhs * truncated quotient (sign of lhs); by zero, lhs."""

    name = "hlo.remainder"
    KINDS: ClassVar = ARITHMETIC


@irdl_op_definition
class ShiftLeftOp(BinaryOp):
    """Shifts left; by the width or more, 0."""

    name = "hlo.shift_left"
    KINDS: ClassVar = INTEGRAL


@irdl_op_definition
class ShiftRightArithmeticOp(BinaryOp):
    """Shifts right, copies the sign; by the width or more, all sign bits."""

    name = "hlo.shift_right_arithmetic"
    KINDS: ClassVar = INTEGRAL


@irdl_op_definition
class ShiftRightLogicalOp(BinaryOp):
    """Shifts right, fills with zeros; by the width or more, 0."""

    name = "hlo.shift_right_logical"
    KINDS: ClassVar = INTEGRAL


@irdl_op_definition
class StochasticConvertOp(BinaryOp):
    """Rounds lhs up or down as the random bits in rhs say."""

    name = "hlo.stochastic_convert"
    KINDS: ClassVar = FLOATING

    def shape_rule(self) -> None:
        operand, random = array_of(self.KINDS, self.lhs.type), array_of(UNSIGNED, self.rhs.type, "random bits")
        same_dimensions((operand, random), "operands")
        if element_of(operand).bits != element_of(random).bits:
            raise VerifyException(f"expected {element_of(operand).bits} random bits, found {spelled(random)}")

    def result_rule(self, expected: Attribute | None, actual: Attribute) -> None:
        same_dimensions((self.lhs.type, array(actual, "result")), "operand and result")


@irdl_op_definition
class SubtractOp(BinaryOp):
    """Difference; integers wrap."""

    name = "hlo.subtract"
    KINDS: ClassVar = ARITHMETIC


@irdl_op_definition
class XorOp(BinaryOp):
    """Bitwise exclusive or."""

    name = "hlo.xor"
    KINDS: ClassVar = PRED_OR_INTEGRAL


@irdl_op_definition
class ConvertOp(UnaryOp):
    """Converts elements to the result's type; to integers: truncates, saturates, NaN gives 0."""

    name = "hlo.convert"
    traits = traits_def(PureUnlessWaiting(), SimplifiesToValue())
    KINDS: ClassVar = ANY

    def shape_rule(self) -> None:
        array(self.operand.type)

    def result_rule(self, expected: Attribute | None, actual: Attribute) -> None:
        same_dimensions((self.operand.type, array(actual, "result")), "operand and result")


@irdl_op_definition
class BitcastConvertOp(UnaryOp):
    """Reads the bits as another type; a change of width adds or takes a minor dimension."""

    name = "hlo.bitcast_convert"

    def shape_rule(self) -> None:
        array(self.operand.type)

    def result_rule(self, expected: Attribute | None, actual: Attribute) -> None:
        expect(_reinterpreted(array(self.operand.type), array(actual, "result")), actual, "result")


@irdl_op_definition
class ReducePrecisionOp(UnaryOp):
    """Rounds to a float format of fewer exponent and mantissa bits, kept in the same type."""

    name = "hlo.reduce_precision"
    exponent_bits = prop_def(Int)
    mantissa_bits = prop_def(Int)

    def shape_rule(self) -> Attribute:
        if (exponent := int_of(self.exponent_bits)) < 1:
            raise VerifyException(f"expected exponent_bits >= 1, found {exponent}")
        if (mantissa := int_of(self.mantissa_bits)) < 0:
            raise VerifyException(f"expected mantissa_bits >= 0, found {mantissa}")
        return array_of(FLOATING, self.operand.type)


@irdl_op_definition
class CompareOp(ValueOp):
    """Compares elementwise (a pred). `direction`: EQ NE GE GT LE LT.

    `compare_type`: FLOAT, TOTALORDER, SIGNED, UNSIGNED; absent: what the element type implies.
    """

    name = "hlo.compare"
    lhs = operand_def()
    rhs = operand_def()
    direction = prop_def(StringAttr)
    compare_type = opt_prop_def(StringAttr)
    traits = traits_def(PureUnlessWaiting())

    def shape_rule(self) -> Attribute:
        expect_one_of(self.direction.data, DIRECTIONS, "direction")
        compared = same_array((self.lhs.type, self.rhs.type))
        kind = element_of(compared).kind
        if kind == "complex" and self.direction.data not in ("EQ", "NE"):
            raise VerifyException(f"expected direction of complex numbers to be EQ or NE, found {self.direction.data}")
        if self.compare_type is not None:
            expect_one_of(self.compare_type.data, COMPARE_TYPES[kind], f"type for {spelled(compared)}")
        return with_element(compared, PRED)


@irdl_op_definition
class SelectOp(ValueOp):
    """`on_true` where the pred is true, else `on_false`; the pred may be a scalar."""

    name = "hlo.select"
    pred = operand_def()
    on_true = operand_def()
    on_false = operand_def()
    traits = traits_def(PureUnlessWaiting())

    def shape_rule(self) -> Attribute:
        pred = array_of(_PREDICATE, self.pred.type, "pred")
        chosen = same_array((self.on_true.type, self.on_false.type))
        if not is_scalar(pred):
            same_dimensions((pred, chosen), "operands")
        return chosen


@irdl_op_definition
class ClampOp(ValueOp):
    """min(max(operand, low), high); the bounds may be scalars."""

    name = "hlo.clamp"
    low = operand_def()
    operand = operand_def()
    high = operand_def()
    traits = traits_def(PureUnlessWaiting())

    def shape_rule(self) -> Attribute:
        clamped = array(self.operand.type)
        for bound in (self.low.type, self.high.type):
            scalar = tensor(clamped.element_type)
            expect(scalar if is_scalar(bound) else clamped, bound, "bound of the operand's shape or scalar,")
        return clamped


@irdl_op_definition
class MapOp(ValueOp):
    """Applies a scalar computation to each element."""

    name = "hlo.map"
    inputs = var_operand_def()
    dimensions = opt_prop_def(Ints)
    computations = opt_prop_def(ArrayAttr[ComputationAttr])
    to_apply = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), ComputationEffects())

    def shape_rule(self) -> Attribute:
        if not self.inputs:
            raise VerifyException("expected at least 1 operand, found 0")
        shape = same_dimensions(types_of(self.inputs), "operands")
        if self.dimensions is not None and int_list(self.dimensions) != tuple(range(len(shape))):
            raise VerifyException(f"expected all dimensions in order, found {listed(int_list(self.dimensions))}")
        scalars = [tensor(array(value.type).element_type) for value in self.inputs]
        root = array(expect_computation(self.to_apply, scalars, None, "to_apply"), "result of to_apply")
        expect(tensor(root.element_type), root, "to_apply to return")
        return tensor(root.element_type, shape)


OPS = [
    AbsOp,
    AcosOp,
    AcoshOp,
    AsinOp,
    AsinhOp,
    AtanhOp,
    CbrtOp,
    CeilOp,
    CoshOp,
    CosineOp,
    CountLeadingZerosOp,
    ErfOp,
    ExponentialOp,
    ExponentialMinusOneOp,
    FloorOp,
    ImagOp,
    IsFiniteOp,
    LogOp,
    LogPlusOneOp,
    LogisticOp,
    NegateOp,
    NotOp,
    PopcntOp,
    RealOp,
    RoundNearestAfzOp,
    RoundNearestEvenOp,
    RsqrtOp,
    SignOp,
    SineOp,
    SinhOp,
    SqrtOp,
    TanOp,
    TanhOp,
    AddOp,
    AndOp,
    Atan2Op,
    ComplexOp,
    DivideOp,
    MaximumOp,
    MinimumOp,
    MulhiOp,
    MultiplyOp,
    OrOp,
    PowerOp,
    RemainderOp,
    ShiftLeftOp,
    ShiftRightArithmeticOp,
    ShiftRightLogicalOp,
    StochasticConvertOp,
    SubtractOp,
    XorOp,
    ConvertOp,
    BitcastConvertOp,
    ReducePrecisionOp,
    CompareOp,
    SelectOp,
    ClampOp,
    MapOp,
]
