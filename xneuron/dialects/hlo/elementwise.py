"""Chapter: elementwise operations. Unary, binary, compare, select, clamp, conversions, map."""

from __future__ import annotations

from abc import ABC

from xdsl.dialects.builtin import ArrayAttr, StringAttr
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

from xneuron.dialects.hlo.attributes import ComputationAttr, Int, Ints
from xneuron.dialects.hlo.base import ComputationEffects, ValueOp


class UnaryOp(ValueOp, ABC):
    """One operand, a result of the same shape."""

    operand = operand_def()
    traits = traits_def(Pure())


class BinaryOp(ValueOp, ABC):
    """Two operands and a result of one shape and type."""

    lhs = operand_def()
    rhs = operand_def()
    traits = traits_def(Pure())


@irdl_op_definition
class AbsOp(UnaryOp):
    """Absolute value; of a complex number, its magnitude (a real)."""

    name = "hlo.abs"


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


@irdl_op_definition
class CeilOp(UnaryOp):
    """Rounds towards positive infinity."""

    name = "hlo.ceil"


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


@irdl_op_definition
class ErfOp(UnaryOp):
    """Error function."""

    name = "hlo.erf"


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


@irdl_op_definition
class ImagOp(UnaryOp):
    """Imaginary part (a real)."""

    name = "hlo.imag"


@irdl_op_definition
class IsFiniteOp(UnaryOp):
    """True where neither infinite nor NaN (a pred)."""

    name = "hlo.is_finite"


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


@irdl_op_definition
class NotOp(UnaryOp):
    """Bitwise complement; logical of pred."""

    name = "hlo.not"


@irdl_op_definition
class PopcntOp(UnaryOp):
    """Number of one bits."""

    name = "hlo.popcnt"


@irdl_op_definition
class RealOp(UnaryOp):
    """Real part (a real)."""

    name = "hlo.real"


@irdl_op_definition
class RoundNearestAfzOp(UnaryOp):
    """Rounds to nearest, ties away from zero."""

    name = "hlo.round_nearest_afz"


@irdl_op_definition
class RoundNearestEvenOp(UnaryOp):
    """Rounds to nearest, ties to even."""

    name = "hlo.round_nearest_even"


@irdl_op_definition
class RsqrtOp(UnaryOp):
    """Reciprocal square root."""

    name = "hlo.rsqrt"


@irdl_op_definition
class SignOp(UnaryOp):
    """-1, 0 or 1; of NaN, NaN; of a complex number, x / |x|."""

    name = "hlo.sign"


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


@irdl_op_definition
class Atan2Op(BinaryOp):
    """Angle of the point (rhs, lhs)."""

    name = "hlo.atan2"


@irdl_op_definition
class ComplexOp(BinaryOp):
    """A complex number from real and imaginary part."""

    name = "hlo.complex"


@irdl_op_definition
class DivideOp(BinaryOp):
    """Quotient; of integers, truncated; by zero, all ones; of the lowest by -1, the lowest."""

    name = "hlo.divide"


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


@irdl_op_definition
class MultiplyOp(BinaryOp):
    """Product; logical and of pred; integers wrap."""

    name = "hlo.multiply"


@irdl_op_definition
class OrOp(BinaryOp):
    """Bitwise or."""

    name = "hlo.or"


@irdl_op_definition
class PowerOp(BinaryOp):
    """lhs to the power rhs."""

    name = "hlo.power"


@irdl_op_definition
class RemainderOp(BinaryOp):
    """lhs - rhs * truncated quotient (sign of lhs); by zero, lhs."""

    name = "hlo.remainder"


@irdl_op_definition
class ShiftLeftOp(BinaryOp):
    """Shifts left; by the width or more, 0."""

    name = "hlo.shift_left"


@irdl_op_definition
class ShiftRightArithmeticOp(BinaryOp):
    """Shifts right, copies the sign; by the width or more, all sign bits."""

    name = "hlo.shift_right_arithmetic"


@irdl_op_definition
class ShiftRightLogicalOp(BinaryOp):
    """Shifts right, fills with zeros; by the width or more, 0."""

    name = "hlo.shift_right_logical"


@irdl_op_definition
class StochasticConvertOp(BinaryOp):
    """Rounds lhs up or down as the random bits in rhs say."""

    name = "hlo.stochastic_convert"


@irdl_op_definition
class SubtractOp(BinaryOp):
    """Difference; integers wrap."""

    name = "hlo.subtract"


@irdl_op_definition
class XorOp(BinaryOp):
    """Bitwise exclusive or."""

    name = "hlo.xor"


@irdl_op_definition
class ConvertOp(UnaryOp):
    """Converts elements to the result's type; to integers: truncates, saturates, NaN gives 0."""

    name = "hlo.convert"


@irdl_op_definition
class BitcastConvertOp(UnaryOp):
    """Reads the bits as another type; a change of width adds or takes a minor dimension."""

    name = "hlo.bitcast_convert"


@irdl_op_definition
class ReducePrecisionOp(UnaryOp):
    """Rounds to a float format of fewer exponent and mantissa bits, kept in the same type."""

    name = "hlo.reduce_precision"
    exponent_bits = prop_def(Int)
    mantissa_bits = prop_def(Int)


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
    traits = traits_def(Pure())


@irdl_op_definition
class SelectOp(ValueOp):
    """`on_true` where the pred is true, else `on_false`; the pred may be a scalar."""

    name = "hlo.select"
    pred = operand_def()
    on_true = operand_def()
    on_false = operand_def()
    traits = traits_def(Pure())


@irdl_op_definition
class ClampOp(ValueOp):
    """min(max(operand, low), high); the bounds may be scalars."""

    name = "hlo.clamp"
    low = operand_def()
    operand = operand_def()
    high = operand_def()
    traits = traits_def(Pure())


@irdl_op_definition
class MapOp(ValueOp):
    """Applies a scalar computation to each element."""

    name = "hlo.map"
    inputs = var_operand_def()
    dimensions = opt_prop_def(Ints)
    computations = opt_prop_def(ArrayAttr[ComputationAttr])
    to_apply = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), ComputationEffects())


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
