"""Conversions between element types: of the value (`convert`) and of the bits (`bitcast_convert`)."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from xneuron.dialects.hlo.types import BY_NAME, Element, tensor
from xneuron.interpreters.kernels.integers import choose
from xneuron.interpreters.kernels.registry import Elementwise
from xneuron.interpreters.values import DType, dtype_of

Function = Callable[..., Any]


@lru_cache(maxsize=1024)
def converter(source: Element, target: Element) -> Elementwise:
    """Converts values, as Literal::Convert and XLA's CPU code do.

    To pred: whether not zero (NaN is true). To integers: truncated and saturated, NaN gives 0; from integers: cut to
    the width. To narrower floats: rounded to nearest even; too large gives infinity or what the format has for it.
    From complex to real: the real part.
    """
    dtype = dtype_of(tensor(target.type))
    if source is target:
        return Elementwise(lambda a: a, inline="{0}")
    if target.kind == "pred":
        return Elementwise(lambda a: a != a.dtype.type(0))
    if source.kind == "complex" and target.kind != "complex":
        part = converter(BY_NAME["f32" if source.name == "c64" else "f64"], target).array
        return Elementwise(lambda a: part(a.real))
    if source.kind == "float" and target.kind in ("int", "uint"):
        return _saturated(target, dtype)
    if source.bytes == target.bytes == 1 and source.kind != "pred":
        middle = {"float": np.float32, "int": np.int8, "uint": np.uint8}[source.kind]
        return Elementwise(lambda a: a.astype(middle).astype(dtype))  # ml_dtypes has no direct way
    inline = None if target.kind in ("int", "uint") and target.bits < 8 else "{type}({0})"
    return Elementwise(lambda a: a.astype(dtype), inline=inline, names={"type": dtype.type})


def _saturated(target: Element, dtype: DType) -> Elementwise:
    bits = target.bits
    low, high = (-(1 << (bits - 1)), 1 << (bits - 1)) if target.kind == "int" else (0, 1 << bits)
    holder = np.dtype(f"{'i' if target.kind == 'int' else 'u'}{target.bytes}")
    lowest, highest = holder.type(low), holder.type(high - 1)

    def convert(a: Any) -> Any:
        if a.size and low <= float(a.min()) and float(a.max()) < high:
            return a.astype(dtype)
        whole = np.trunc(a.astype(np.float64))
        inside = (whole >= low) & (whole < high)
        result = choose(inside, whole, np.float64(0)).astype(holder)
        result = choose(whole >= high, highest, choose(whole < low, lowest, result))
        return result.astype(dtype)

    def convert_scalar(a: Any) -> Any:
        value = float(a)
        if low <= value < high:
            return dtype.type(int(value))
        return convert(a)

    return Elementwise(convert, scalar=convert_scalar)


def bitcaster(source: Element, target: Element, shape: tuple[int, ...]) -> Function:
    """Reads bits as another type. A narrower type adds a minor dimension, lowest bits first; a wider one takes it.

    `shape` is the result's. Types narrower than a byte count with their own bits.
    """
    dtype = dtype_of(tensor(target.type))
    if source.bits == target.bits >= 8:
        return lambda a: a.view(dtype)
    if min(source.bits, target.bits) >= 8:
        return lambda a: np.ascontiguousarray(a).reshape(-1).view(dtype).reshape(shape)[()]

    def regroup(a: Any) -> Any:
        bits = np.unpackbits(np.ascontiguousarray(a).reshape(-1).view(np.uint8), bitorder="little")
        packed = bits.reshape(-1, 8 * source.bytes)[:, : source.bits].reshape(-1, target.bits)
        padded = np.zeros((len(packed), 8 * target.bytes), np.uint8)
        padded[:, : target.bits] = packed
        raw = np.packbits(padded.reshape(-1), bitorder="little")
        return _sign_extended(raw, target, dtype).reshape(shape)[()]

    return regroup


def _sign_extended(raw: Any, target: Element, dtype: DType) -> Any:
    """ml_dtypes keeps narrow integers in a byte whose upper bits it ignores: `astype` makes them canonical."""
    if target.bits >= 8 or target.kind == "float":
        return raw.view(dtype)
    return raw.astype(bool) if target.kind == "pred" else raw.view(np.int8).astype(dtype)
