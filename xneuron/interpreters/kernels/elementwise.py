"""Kernels of `dialects/hlo/elementwise.py`; `arithmetic.py` has the table of unary and binary operations."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import Operation

from xneuron.dialects.hlo import elementwise as hlo
from xneuron.dialects.hlo.attributes import int_of, text_of
from xneuron.dialects.hlo.numbers import FORMATS
from xneuron.dialects.hlo.types import element_of
from xneuron.execution.errors import EvaluationError
from xneuron.interpreters.kernels import floats
from xneuron.interpreters.kernels.arithmetic import TABLE, meaning_on
from xneuron.interpreters.kernels.conversions import bitcaster, converter
from xneuron.interpreters.kernels.registry import Context, Elementwise, Kernel, Meaning, kernel
from xneuron.interpreters.values import dtype_of, static_shape

COMPARISONS = {
    "EQ": (np.equal, "{0} == {1}"),
    "NE": (np.not_equal, "{0} != {1}"),
    "GE": (np.greater_equal, "{0} >= {1}"),
    "GT": (np.greater, "{0} > {1}"),
    "LE": (np.less_equal, "{0} <= {1}"),
    "LT": (np.less, "{0} < {1}"),
}


@kernel(*TABLE)
def tabled(op: Operation, context: Context) -> Elementwise:
    """The op's entry for its element type."""
    return meaning_on(type(op), element_of(op.operands[0].type), op)


@kernel(hlo.CompareOp)
def compare(op: hlo.CompareOp, context: Context) -> Elementwise:
    """NaN is unequal to all and unordered; under TOTALORDER floats compare by sign and bits."""
    ufunc, inline = COMPARISONS[text_of(op.direction)]
    element = element_of(op.lhs.type)
    if element.kind != "float" or text_of(op.compare_type) != "TOTALORDER":
        return Elementwise(ufunc, inline=inline, out=True)
    return Elementwise(lambda a, b: ufunc(floats.total_order(a), floats.total_order(b)))


@kernel(hlo.SelectOp)
def select(op: hlo.SelectOp, context: Context) -> Elementwise:
    """One or the other operand as a whole where the pred is a scalar."""

    def pick(pred: Any, on_true: Any, on_false: Any) -> Any:
        if pred.ndim:
            return np.where(pred, on_true, on_false)
        return on_true if pred else on_false

    return Elementwise(pick, inline="{1} if {0} else {2}")


@kernel(hlo.ClampOp)
def clamp(op: hlo.ClampOp, context: Context) -> Elementwise:
    """min(high, max(operand, low)): NaN if any is."""
    element = element_of(op.operand.type)
    smaller, larger = meaning_on(hlo.MinimumOp, element, op), meaning_on(hlo.MaximumOp, element, op)
    return Elementwise(lambda low, value, high: smaller.array(high, larger.array(value, low)))


@kernel(hlo.ConvertOp)
def convert(op: hlo.ConvertOp, context: Context) -> Elementwise:
    """See `conversions.converter`."""
    return converter(element_of(op.operand.type), element_of(op.result.type))


@kernel(hlo.BitcastConvertOp)
def bitcast_convert(op: hlo.BitcastConvertOp, context: Context) -> Meaning:
    """See `conversions.bitcaster`."""
    source, target = element_of(op.operand.type), element_of(op.result.type)
    function = bitcaster(source, target, static_shape(op.result.type))
    return Elementwise(function) if source.bits == target.bits >= 8 else function


@kernel(hlo.ReducePrecisionOp)
def reduce_precision(op: hlo.ReducePrecisionOp, context: Context) -> Elementwise:
    """See `floats.reduce_precision`."""
    element = element_of(op.operand.type)
    form = FORMATS.get(element.name)
    if form is None or form.finite:
        raise EvaluationError(f"no meaning for reduce-precision on {element.name}", op)
    wanted = int_of(op.exponent_bits), int_of(op.mantissa_bits)
    return Elementwise(floats.reduce_precision(*wanted, form.exponent, form.mantissa))


@kernel(hlo.StochasticConvertOp)
def stochastic_convert(op: hlo.StochasticConvertOp, context: Context) -> Elementwise:
    """Rounds to an integer up or down, up where the fraction exceeds the random number's share of its range."""
    target = element_of(op.result.type)
    if target.kind != "int":
        raise EvaluationError(f"no meaning for stochastic-convert to {target.name}", op)
    return Elementwise(floats.stochastic_rounder(target, dtype_of(op.result.type)))


@kernel(hlo.MapOp)
def map_(op: hlo.MapOp, context: Context) -> Kernel:
    """The computation on whole arrays where it is elementwise, else element by element."""
    shape, dtype = static_shape(op.result.type), dtype_of(op.result.type)
    if (whole := context.vectorized(op.to_apply)) is not None:
        return lambda *operands: np.broadcast_to(whole(*operands), shape)[()]
    one = context.callable(op.to_apply)

    def each(*operands: Any) -> Any:
        flat = [np.asarray(operand).reshape(-1) for operand in operands]
        results = [one(*elements) for elements in zip(*flat, strict=True)]
        return np.array(results, dtype).reshape(shape)[()]

    return each
