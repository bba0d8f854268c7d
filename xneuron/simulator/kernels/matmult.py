"""Matmult: the systolic array, in float32, into PSUM."""

from __future__ import annotations

from typing import Any

import numpy as np

from xneuron.dialects.bir.compute import MatmultOp
from xneuron.dialects.bir.operands import MemoryAccess, Pattern
from xneuron.simulator.dtypes import SINGLE, converted, store
from xneuron.simulator.kernels.registry import Call, Host, Meaning, Slot, View, accesses, kernel, slots, unsupported
from xneuron.simulator.patterns import elements, flat


@kernel(MatmultOp)
def matmult(op: MatmultOp, host: Host) -> Meaning:
    """`out[m, n] = sum over k of stationary[k, m] * moving[k, n]`, added to the output unless `start_tensor_calc`."""
    if op.key("is_transpose"):
        raise unsupported("is_transpose")
    moving, stationary = accesses(op.inputs)
    (out,) = accesses(op.outputs)
    views = tuple(View(access, _matrix(access)) for access in (moving, stationary, out))
    plain = all(len(view.pattern) == 2 and view.dtype == SINGLE for view in views)
    if plain and op.key("start_tensor_calc"):
        turned = View(stationary, (views[1].pattern[1], views[1].pattern[0]))
        return Meaning((views[0], turned, views[2]), (Call(np.matmul, (Slot(1), Slot(0)), out=Slot(2)),))
    shape = (elements(stationary.pattern[1:]), elements(moving.pattern[1:]))
    return Meaning(views, (Call(_product(shape, op.key("start_tensor_calc")), slots(3)),))


def _matrix(access: MemoryAccess) -> Pattern:
    """Partitions by what is left, where that walks on evenly."""
    free = flat(access.pattern[1:])
    return access.pattern if free is None else (access.pattern[0], free)


def _product(shape: tuple[int, int], start: bool) -> Any:
    def run(moving: Any, stationary: Any, out: Any) -> None:
        right = converted(moving, SINGLE).reshape(moving.shape[0], -1)
        left = converted(stationary, SINGLE).reshape(moving.shape[0], -1)
        product = np.matmul(left.T, right)
        store(product if start else converted(out, SINGLE).reshape(shape) + product, out)

    return run
