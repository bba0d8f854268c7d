"""Chapter: elementwise operations."""

from __future__ import annotations

import re
from collections.abc import Callable

from xdsl.ir import Attribute, Operation

from xneuron.dialects.hlo import elementwise as hlo
from xneuron.dialects.hlo.attributes import int_list, int_of, text_of
from xneuron.dialects.hlo.literal import LiteralAttr
from xneuron.dialects.hlo.types import PRED, Tensor, element_of, is_tensor, shape_of, tensor
from xneuron.fastir import operands_of
from xneuron.formats.stablehlo.writer.emitter import Leaf, Tree
from xneuron.formats.stablehlo.writer.module import Rule, Writer, single
from xneuron.formats.stablehlo.writer.text import dense, i64s

NAMES: dict[type[Operation], str] = {
    hlo.AbsOp: "stablehlo.abs",
    hlo.AcosOp: "chlo.acos",
    hlo.AcoshOp: "chlo.acosh",
    hlo.AsinOp: "chlo.asin",
    hlo.AsinhOp: "chlo.asinh",
    hlo.AtanhOp: "chlo.atanh",
    hlo.CbrtOp: "stablehlo.cbrt",
    hlo.CeilOp: "stablehlo.ceil",
    hlo.CoshOp: "chlo.cosh",
    hlo.CosineOp: "stablehlo.cosine",
    hlo.CountLeadingZerosOp: "stablehlo.count_leading_zeros",
    hlo.ErfOp: "chlo.erf",
    hlo.ExponentialOp: "stablehlo.exponential",
    hlo.ExponentialMinusOneOp: "stablehlo.exponential_minus_one",
    hlo.FloorOp: "stablehlo.floor",
    hlo.ImagOp: "stablehlo.imag",
    hlo.IsFiniteOp: "stablehlo.is_finite",
    hlo.LogOp: "stablehlo.log",
    hlo.LogPlusOneOp: "stablehlo.log_plus_one",
    hlo.LogisticOp: "stablehlo.logistic",
    hlo.NegateOp: "stablehlo.negate",
    hlo.NotOp: "stablehlo.not",
    hlo.PopcntOp: "stablehlo.popcnt",
    hlo.RealOp: "stablehlo.real",
    hlo.RoundNearestAfzOp: "stablehlo.round_nearest_afz",
    hlo.RoundNearestEvenOp: "stablehlo.round_nearest_even",
    hlo.RsqrtOp: "stablehlo.rsqrt",
    hlo.SignOp: "stablehlo.sign",
    hlo.SineOp: "stablehlo.sine",
    hlo.SinhOp: "chlo.sinh",
    hlo.SqrtOp: "stablehlo.sqrt",
    hlo.TanOp: "stablehlo.tan",
    hlo.TanhOp: "stablehlo.tanh",
    hlo.AndOp: "stablehlo.and",
    hlo.Atan2Op: "stablehlo.atan2",
    hlo.ComplexOp: "stablehlo.complex",
    hlo.DivideOp: "stablehlo.divide",
    hlo.MaximumOp: "stablehlo.maximum",
    hlo.MinimumOp: "stablehlo.minimum",
    hlo.MulhiOp: "chlo.mulhi",
    hlo.OrOp: "stablehlo.or",
    hlo.PowerOp: "stablehlo.power",
    hlo.RemainderOp: "stablehlo.remainder",
    hlo.ShiftLeftOp: "stablehlo.shift_left",
    hlo.ShiftRightArithmeticOp: "stablehlo.shift_right_arithmetic",
    hlo.ShiftRightLogicalOp: "stablehlo.shift_right_logical",
    hlo.StochasticConvertOp: "mhlo.stochastic_convert",
    hlo.SubtractOp: "stablehlo.subtract",
    hlo.XorOp: "stablehlo.xor",
    hlo.BitcastConvertOp: "stablehlo.bitcast_convert",
    hlo.SelectOp: "stablehlo.select",
    hlo.ClampOp: "stablehlo.clamp",
}
"""Operations that differ by name alone."""

_COMPARISONS = {"pred": "UNSIGNED", "int": "SIGNED", "uint": "UNSIGNED", "float": "FLOAT", "complex": "FLOAT"}
_ACCURACY = re.compile(r"(atol|rtol|ulps)=([^,}]+)")


def renamed(name: str) -> Rule:
    """The rule of an operation with the same operands and result under another name."""

    def rule(writer: Writer, op: Operation) -> Leaf:
        accuracy = op.attributes.get("result_accuracy")
        properties = {"result_accuracy": _accuracy(text_of(accuracy))} if accuracy is not None else None
        operands = [writer.leaf(value) for value in operands_of(op)]
        return single(writer.emit(name, operands, [op.results[0].type], properties))

    return rule


def _accuracy(text: str) -> str:
    if text == "{mode=highest}":
        return "#stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>"
    found = dict(_ACCURACY.findall(text))
    numbers = f"atol = {_float(found.get('atol'))}, rtol = {_float(found.get('rtol'))}, ulps = {found.get('ulps', 0)}"
    return f"#stablehlo.result_accuracy<{numbers}, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>"


def _float(text: str | None) -> str:
    return f"{float(text or 0):.17e}"


def _logical(on_pred: str, otherwise: str) -> Callable[[Writer, hlo.BinaryOp], Leaf]:
    """Sums and products of pred are logical in HLO. StableHLO says so as well, XLA's translation writes or and and."""

    def rule(writer: Writer, op: hlo.BinaryOp) -> Leaf:
        result = op.results[0].type
        operands = [writer.leaf(value) for value in operands_of(op)]
        return single(writer.emit(on_pred if _is_pred(result) else otherwise, operands, [result]))

    return rule


def _is_pred(type: Attribute) -> bool:
    return is_tensor(type) and type.element_type == PRED


def _convert(writer: Writer, op: hlo.ConvertOp) -> Leaf:
    """To pred: whether not zero, as XLA translates it; StableHLO's own conversion to i1 is not defined by that."""
    operand, result = writer.leaf(op.operand), op.results[0].type
    if element_of(result).kind != "pred" or element_of(operand.type).kind == "pred":
        return single(writer.emit("stablehlo.convert", [operand], [result]))
    zero = constant(writer, zeros(operand.type))
    return compare(writer, (operand, zero), result, "NE", element_of(operand.type).kind)


def zeros(type: Attribute) -> LiteralAttr:
    """A constant of zeros of this type, layout aside."""
    row = element_of(type)
    return LiteralAttr.from_bytes(tensor(row.type, shape_of(type)), bytes(row.bytes))


def constant(writer: Writer, value: LiteralAttr) -> Leaf:
    """A constant that an instruction needs besides."""
    return single(writer.help("stablehlo.constant", (), [value.type], {"value": dense(value)}))


def scalar(writer: Writer, type: Tensor, number: int) -> Leaf:
    """A scalar constant of this element type."""
    return constant(writer, LiteralAttr.of(tensor(type.element_type), number))


def compare(writer: Writer, operands: tuple[Leaf, Leaf], result: Attribute, direction: str, kind: str) -> Leaf:
    """A comparison. `kind`: of the elements, or the type of the comparison itself."""
    properties = {
        "compare_type": f"#stablehlo<comparison_type {_COMPARISONS.get(kind, kind)}>",
        "comparison_direction": f"#stablehlo<comparison_direction {direction}>",
    }
    return single(writer.emit("stablehlo.compare", operands, [result], properties))


def _compare(writer: Writer, op: hlo.CompareOp) -> Leaf:
    operands = writer.leaf(op.lhs), writer.leaf(op.rhs)
    kind = text_of(op.compare_type) or element_of(operands[0].type).kind
    return compare(writer, operands, op.results[0].type, op.direction.data, kind)


def _reduce_precision(writer: Writer, op: hlo.ReducePrecisionOp) -> Leaf:
    exponent, mantissa = int_of(op.exponent_bits), int_of(op.mantissa_bits)
    properties = {"exponent_bits": f"{exponent} : i32", "mantissa_bits": f"{mantissa} : i32"}
    return single(writer.emit("stablehlo.reduce_precision", [writer.leaf(op.operand)], op.result_types, properties))


def _map(writer: Writer, op: hlo.MapOp) -> Tree:
    rank = len(shape_of(op.results[0].type))
    properties = {"dimensions": i64s(int_list(op.dimensions) if op.dimensions is not None else range(rank))}
    body = writer.computation(op.to_apply)
    return single(writer.emit("stablehlo.map", writer.leaves(op.inputs), op.result_types, properties, [body]))


RULES: dict[type[Operation], Rule] = {
    **{op: renamed(name) for op, name in NAMES.items()},
    hlo.AddOp: _logical("stablehlo.or", "stablehlo.add"),
    hlo.MultiplyOp: _logical("stablehlo.and", "stablehlo.multiply"),
    hlo.ConvertOp: _convert,
    hlo.CompareOp: _compare,
    hlo.ReducePrecisionOp: _reduce_precision,
    hlo.MapOp: _map,
}
