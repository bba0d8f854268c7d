"""What unary and binary operations are on each element type.

A table says what each op is on each kind of element type. ufuncs are right as they are on all but integers narrower
than a byte: numpy and ml_dtypes compute narrow floats in f32 and round once per operation. Functions that compute in
several steps, and those that are not exact, are lifted to narrow types. Subnormal numbers are kept; XLA's CPU code
flushes them.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import Operation

from xneuron.dialects.hlo import elementwise as hlo
from xneuron.dialects.hlo.base import opcode_of
from xneuron.dialects.hlo.types import Element, tensor
from xneuron.execution.errors import EvaluationError
from xneuron.interpreters.kernels import complexes, floats, integers
from xneuron.interpreters.kernels.registry import Elementwise
from xneuron.interpreters.values import DType, dtype_of

Function: TypeAlias = Callable[..., Any]
Row: TypeAlias = dict[str, "Elementwise | Callable[[Element], Elementwise]"]


def _ufunc(function: Function, inline: str | None = None) -> Elementwise:
    return Elementwise(function, inline=inline, out=True)


def _steps(function: Function, scalar: Function | None = None, inline: str | None = None) -> Elementwise:
    return Elementwise(function, scalar=scalar, inline=inline)


def _by_width(function: Callable[[int], Function], wide: Elementwise | None = None) -> Callable[[Element], Elementwise]:
    """A function that depends on the width in bits; `wide` does for types of whole bytes."""
    return lambda element: wide if wide and element.bits >= 8 else _steps(function(element.bits))


def _row(
    number: Elementwise | None = None,
    *,
    pred: Elementwise | None = None,
    integer: Elementwise | Callable[[Element], Elementwise] | None = None,
    real: Elementwise | None = None,
    cplx: Elementwise | None = None,
) -> Row:
    """What an op is on each kind of element; `number` for all kinds of number not given."""
    integer, real, cplx = integer or number, real or number, cplx or number
    row = {"pred": pred, "int": integer, "uint": integer, "float": real, "complex": cplx}
    return {kind: meaning for kind, meaning in row.items() if meaning is not None}


def _function(function: Function) -> Row:
    """A ufunc of real and complex floats."""
    return _row(real=_ufunc(function), cplx=_ufunc(function))


_OR, _AND = _ufunc(np.logical_or, "{0} | {1}"), _ufunc(np.logical_and, "{0} & {1}")
_XOR, _SAME = _ufunc(np.logical_xor, "{0} ^ {1}"), _steps(lambda a: a)
_SHIFT_RIGHT = _ufunc(np.right_shift, "{0} >> {1}")

_COMPUTED: set[Function] = {
    *(floats.round_half_away, floats.reciprocal_root, floats.logistic, floats.error_function),
    *(np.exp, np.expm1, np.log, np.log1p, np.cbrt, np.power),
    *(np.sin, np.cos, np.tan, np.tanh, np.sinh, np.cosh, np.arctan2),
    *(np.arcsin, np.arccos, np.arcsinh, np.arccosh, np.arctanh),
}
"""Functions of floats that are not exact, or whose steps round: narrow floats go through f32, and are rounded once.

So each has one meaning: numpy and ml_dtypes have some of their own for narrow floats, one number in many thousands off.
"""

TABLE: dict[type[Operation], Row] = {
    hlo.AddOp: _row(_ufunc(np.add, "{0} + {1}"), pred=_OR),
    hlo.SubtractOp: _row(_ufunc(np.subtract, "{0} - {1}"), pred=_XOR),
    hlo.MultiplyOp: _row(_ufunc(np.multiply, "{0} * {1}"), pred=_AND),
    hlo.DivideOp: _row(_ufunc(np.divide, "{0} / {1}"), integer=_steps(integers.divide, integers.divide_scalar)),
    hlo.RemainderOp: _row(integer=_steps(integers.remainder, integers.remainder_scalar), real=_ufunc(np.fmod)),
    hlo.MaximumOp: _row(
        pred=_OR,
        integer=_ufunc(np.maximum, "{0} if {0} > {1} else {1}"),
        real=_steps(floats.maximum, floats.maximum_scalar),
    ),
    hlo.MinimumOp: _row(
        pred=_AND,
        integer=_ufunc(np.minimum, "{0} if {0} < {1} else {1}"),
        real=_steps(floats.minimum, floats.minimum_scalar),
    ),
    hlo.PowerOp: _row(integer=_steps(integers.power), real=_ufunc(np.power), cplx=_steps(complexes.power)),
    hlo.Atan2Op: _row(real=_ufunc(np.arctan2), cplx=_steps(complexes.arc_tangent)),
    hlo.ComplexOp: _row(real=_steps(complexes.build)),
    hlo.AndOp: _row(pred=_AND, integer=_ufunc(np.bitwise_and, "{0} & {1}")),
    hlo.OrOp: _row(pred=_OR, integer=_ufunc(np.bitwise_or, "{0} | {1}")),
    hlo.XorOp: _row(pred=_XOR, integer=_ufunc(np.bitwise_xor, "{0} ^ {1}")),
    hlo.NotOp: _row(pred=_ufunc(np.logical_not, "~{0}"), integer=_ufunc(np.invert, "~{0}")),
    hlo.ShiftLeftOp: _row(integer=_by_width(integers.shift_left, _ufunc(np.left_shift, "{0} << {1}"))),
    hlo.ShiftRightArithmeticOp: {
        "int": _by_width(integers.shift_right_arithmetic, _SHIFT_RIGHT),
        "uint": _by_width(integers.shift_right_arithmetic),
    },
    hlo.ShiftRightLogicalOp: {
        "int": _by_width(integers.shift_right_logical),
        "uint": _by_width(integers.shift_right_logical, _SHIFT_RIGHT),
    },
    hlo.MulhiOp: _row(integer=_by_width(integers.multiply_high)),
    hlo.CountLeadingZerosOp: _row(integer=_by_width(integers.leading_zeros)),
    hlo.PopcntOp: _row(integer=_by_width(integers.population_count)),
    hlo.NegateOp: _row(_ufunc(np.negative, "-{0}")),
    hlo.AbsOp: _row(Elementwise(np.abs, scalar=abs, out=True)),
    hlo.SignOp: _row(integer=_ufunc(np.sign), real=_steps(floats.sign), cplx=_steps(complexes.sign)),
    hlo.RealOp: _row(real=_SAME, cplx=_steps(lambda a: a.real)),
    hlo.ImagOp: _row(real=_steps(lambda a: np.zeros(a.shape, a.dtype)[()]), cplx=_steps(lambda a: a.imag)),
    hlo.IsFiniteOp: _row(_ufunc(np.isfinite)),
    hlo.CeilOp: _row(real=_ufunc(np.ceil)),
    hlo.FloorOp: _row(real=_ufunc(np.floor)),
    hlo.RoundNearestAfzOp: _row(real=_steps(floats.round_half_away)),
    hlo.RoundNearestEvenOp: _row(real=_ufunc(np.rint)),
    hlo.SqrtOp: _function(np.sqrt),
    hlo.RsqrtOp: _row(real=_steps(floats.reciprocal_root), cplx=_steps(complexes.reciprocal_root)),
    hlo.CbrtOp: _row(real=_ufunc(np.cbrt)),
    hlo.ExponentialOp: _function(np.exp),
    hlo.ExponentialMinusOneOp: _function(np.expm1),
    hlo.LogOp: _function(np.log),
    hlo.LogPlusOneOp: _function(np.log1p),
    hlo.LogisticOp: _row(real=_steps(floats.logistic), cplx=_steps(complexes.logistic)),
    hlo.ErfOp: _row(real=_steps(floats.error_function)),
    hlo.SineOp: _function(np.sin),
    hlo.CosineOp: _function(np.cos),
    hlo.TanOp: _function(np.tan),
    hlo.TanhOp: _function(np.tanh),
    hlo.SinhOp: _function(np.sinh),
    hlo.CoshOp: _function(np.cosh),
    hlo.AsinOp: _function(np.arcsin),
    hlo.AcosOp: _function(np.arccos),
    hlo.AsinhOp: _function(np.arcsinh),
    hlo.AcoshOp: _function(np.arccosh),
    hlo.AtanhOp: _function(np.arctanh),
}


def meaning_on(op: type[Operation], element: Element, where: Operation | None = None) -> Elementwise:
    """What an op of the table is on an element type. Raises EvaluationError where it is nothing."""
    entry = TABLE[op].get(element.kind)
    if entry is None:
        raise EvaluationError(f"no meaning for {opcode_of(op.name)} on {element.name}", where)
    meaning = entry if isinstance(entry, Elementwise) else entry(element)
    return _lifted(meaning, element, dtype_of(tensor(element.type)))


def _lifted(meaning: Elementwise, element: Element, dtype: DType) -> Elementwise:
    if element.kind in ("int", "uint") and element.bits < 8:
        return Elementwise(integers.through_bytes(meaning.array, element, dtype))
    if element.kind == "float" and element.bits < 32 and meaning.array in _COMPUTED:
        return Elementwise(floats.through_single(meaning.array, dtype))
    return meaning
