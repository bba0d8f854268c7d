"""Copies with a cast, constants, counting patterns."""

from __future__ import annotations

from typing import Any

import numpy as np

from xneuron.dialects.bir.compute import IotaOp, MemsetOp
from xneuron.dialects.bir.enums import DMACopyMode, MemsetMode
from xneuron.dialects.bir.movement import AllEngineBarrierOp, DMACopyOp, LoadOp, NoOpOp, SaveOp, TensorCopyOp
from xneuron.simulator.dtypes import Array, into, is_integer, scalar, store
from xneuron.simulator.kernels.registry import (
    Call,
    Host,
    Meaning,
    Slot,
    View,
    accesses,
    align,
    kernel,
    same_shape,
    slots,
    unsupported,
)
from xneuron.simulator.patterns import joined


@kernel(TensorCopyOp, LoadOp, SaveOp)
def copy(op: TensorCopyOp | LoadOp | SaveOp | DMACopyOp, host: Host) -> Meaning:
    """The element stream of the input, in pattern order, to the output, with a cast."""
    views = align([*op.inputs, *op.outputs])
    source, target = views
    if same_shape(views) and source.dtype == target.dtype:
        return Meaning(views, (Call(np.copyto, (Slot(1), Slot(0))),))
    return Meaning(views, (Call(store, slots(2)),))


@kernel(DMACopyOp)
def dma_copy(op: DMACopyOp, host: Host) -> Meaning:
    """Mode Copy is a plain copy; what the others do is not public in full."""
    if (mode := op.key("mode")) is not DMACopyMode.Copy:
        raise unsupported(f"mode = {mode}")
    return copy(op, host)


@kernel(NoOpOp, AllEngineBarrierOp)
def nothing(op: NoOpOp | AllEngineBarrierOp, host: Host) -> Meaning:
    """Instructions run in program order, so that nobody waits."""
    return Meaning((), ())


@kernel(MemsetOp)
def memset(op: MemsetOp, host: Host) -> Meaning:
    """Fills the output with a constant of its dtype, or with random numbers."""
    (access,) = accesses(op.outputs)
    view = View(access, joined([access.pattern])[0])
    if op.key("mode") is MemsetMode.Random:
        return Meaning((view,), (Call(into(lambda: _random(view, host)), slots(1)),))
    return Meaning((view,), (Call(np.copyto, (Slot(0), scalar(op.key("constant"), view.dtype))),))


def _random(view: View, host: Host) -> Any:
    """Floats in [0, 1), integers of all bits."""
    if is_integer(view.dtype):
        info = np.iinfo(view.dtype)
        return host.random.integers(info.min, info.max, view.shape, view.dtype, endpoint=True)
    return host.random.random(view.shape, np.float32)


@kernel(IotaOp)
def iota(op: IotaOp, host: Host) -> Meaning:
    """`base + partition * channel_multiplier + sum(i * step)`, computed once."""
    (access,) = accesses(op.outputs)
    view = View(access, access.pattern)
    flat: tuple[int, ...] = op.key("pattern")
    values = np.asarray(op.key("base"), np.int64)
    steps = [(op.key("channel_multiplier"), view.shape[0]), *zip(flat[::2], flat[1::2], strict=True)]
    for step, num in steps:
        values = values[..., None] + step * np.arange(num, dtype=np.int64)
    return Meaning((view,), (Call(np.copyto, (Slot(0), _in_type(values, view))),))


def _in_type(values: Array, view: View) -> Array:
    """Integers wrap at the width of the output, floats are rounded from 32-bit integers."""
    words = values.astype(np.int32) if not is_integer(view.dtype) else values
    result = words.astype(np.float32).astype(view.dtype) if not is_integer(view.dtype) else words.astype(view.dtype)
    return result.reshape(view.shape)
