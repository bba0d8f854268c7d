"""Activation: a table of functions, in float32."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from xneuron.dialects.bir.compute import ActivationOp
from xneuron.dialects.bir.enums import ActivationFunctionType
from xneuron.dialects.bir.operands import Immediate
from xneuron.interpreters.kernels.floats import error_function, reciprocal_root
from xneuron.simulator.dtypes import SINGLE, into
from xneuron.simulator.kernels.elementwise import refuse_accumulation, with_scalars
from xneuron.simulator.kernels.registry import Call, Host, Meaning, Slot, View, kernel, reshaping, same_shape, slots

Function = Callable[..., Any]


def _sigmoid(x: Any) -> Any:
    return np.float32(1) / (np.float32(1) + np.exp(-x))


FUNCTIONS: dict[ActivationFunctionType, Function | None] = {
    ActivationFunctionType.Identity: None,
    ActivationFunctionType.Copy: None,
    ActivationFunctionType.Relu: lambda x: np.maximum(x, np.float32(0)),
    ActivationFunctionType.Exp: np.exp,
    ActivationFunctionType.Tanh: np.tanh,
    ActivationFunctionType.Sigmoid: _sigmoid,
    ActivationFunctionType.Gelu: lambda x: x * (np.float32(1) + error_function(x * np.float32(math.sqrt(0.5)))) / 2,
    ActivationFunctionType.Sqrt: np.sqrt,
    ActivationFunctionType.Rsqrt: reciprocal_root,
    ActivationFunctionType.Reciprocal: np.reciprocal,
    ActivationFunctionType.Square: np.square,
    ActivationFunctionType.Abs: np.absolute,
    ActivationFunctionType.Sign: np.sign,
    ActivationFunctionType.Silu: lambda x: x * _sigmoid(x),
    ActivationFunctionType.Softplus: lambda x: np.logaddexp(np.float32(0), x),
    ActivationFunctionType.Ln: np.log,
    ActivationFunctionType.Erf: error_function,
    ActivationFunctionType.Sin: np.sin,
    ActivationFunctionType.Arctan: np.arctan,
}
"""Functions of float32 arrays, None for the identity; Gelu is the exact one (by erf)."""


@kernel(ActivationOp)
def activation(op: ActivationOp, host: Host) -> Meaning:
    """`out = func(x * scale + bias)`; the bias is a number, or a value per partition."""
    refuse_accumulation(op)
    scale, func = op.key("scale"), FUNCTIONS[op.key("func")]
    number = next((o.value for o in op.inputs if isinstance(o, Immediate)), None)
    views = with_scalars(op)
    if calls := _direct(views, func, scale, number):
        return Meaning(views, calls)
    function = into(_composed(func, scale, number))
    if not same_shape(views):
        function = reshaping(function, views[-1].shape)
    return Meaning(views, (Call(function, slots(len(views))),))


def _direct(views: tuple[View, ...], func: Function | None, scale: float, number: float | None) -> tuple[Call, ...]:
    """A numpy call per step, each writing into the output; empty where that will not do."""
    if not same_shape(views) or any(view.dtype != SINGLE for view in views):
        return ()
    if not isinstance(func, np.ufunc) or any(v.access.memory is views[-1].access.memory for v in views[1:-1]):
        return ()
    out, value = Slot(len(views) - 1), Slot(0)
    bias = Slot(1) if len(views) == 3 else number
    calls: list[Call] = []
    if scale != 1:
        calls.append(Call(np.multiply, (value, np.float32(scale)), out))
        value = out
    if isinstance(bias, Slot) or bias:
        calls.append(Call(np.add, (value, bias if isinstance(bias, Slot) else np.float32(bias)), out))
        value = out
    return (*calls, Call(func, (value,), out))


def _composed(func: Function | None, scale: float, number: float | None) -> Function:
    def run(x: Any, bias: Any = None) -> Any:
        bias = number if bias is None else bias
        x = x.astype(SINGLE) * np.float32(scale)
        if bias is not None:
            x = x + np.asarray(bias).astype(SINGLE)
        return x if func is None else func(x)

    return run
