"""TensorReduce: the innermost dimensions of a pattern, or the partitions, folded by an ALU operation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from xneuron.dialects.bir.compute import TensorReduceOp
from xneuron.dialects.bir.enums import AluOpType, ReduceAxes
from xneuron.simulator.alu import function_of, word_of
from xneuron.simulator.dtypes import SINGLE, Array, Numpy, converted, into
from xneuron.simulator.kernels.registry import Call, Host, Meaning, View, accesses, kernel, slots, unsupported

REDUCTIONS = frozenset(
    {
        AluOpType.add,
        AluOpType.subtract,
        AluOpType.mult,
        AluOpType.elemwise_mul,
        AluOpType.max,
        AluOpType.min,
        AluOpType.bitwise_and,
        AluOpType.bitwise_or,
        AluOpType.bitwise_xor,
        AluOpType.logical_and,
        AluOpType.logical_or,
        AluOpType.logical_xor,
        AluOpType.abs_max,
        AluOpType.abs_min,
    }
)
"""What can fold a stream: the operations NKI calls legal in a reduction, and two more that make sense."""

_EXTREMES = {AluOpType.max: np.maximum, AluOpType.min: np.minimum}
_OF_MAGNITUDES = {AluOpType.abs_max: AluOpType.max, AluOpType.abs_min: AluOpType.min}


@kernel(TensorReduceOp)
def tensor_reduce(op: TensorReduceOp, host: Host) -> Meaning:
    """Folds in the order of numpy (pairwise where it sums); `negate` changes the sign of the result."""
    if op.key("apply_transpose"):
        raise unsupported("apply_transpose")
    views = tuple(View(access, access.pattern) for access in (*accesses(op.inputs), *accesses(op.outputs)))
    word = word_of([op.key("op")], [view.dtype for view in views])
    fold = _fold(op.key("op"), word)
    axes = reduced_axes(op.key("axis"), len(views[0].pattern))
    negate = op.key("negate")

    def reduce(x: Array) -> Array:
        x = converted(x, word)
        # One axis, so that what is not associative folds in stream order.
        result = fold(x.reshape((*x.shape[: axes[0]], -1, *x.shape[axes[-1] + 1 :])), axes[0])
        return np.negative(converted(result, word)) if negate else result

    return Meaning(views, (Call(into(reduce), slots(2)),))


def reduced_axes(axis: ReduceAxes, rank: int) -> list[int]:
    """The dimensions of the pattern that go: `X` is the innermost, `C` the partition, which the others keep."""
    if axis is ReduceAxes.C:
        return [0]
    if axis is ReduceAxes.XYZWC:
        return list(range(rank))
    return list(range(max(1, rank - len(axis.value)), rank)) or [rank]


def _fold(op: AluOpType, word: Numpy) -> Callable[[Array, int], Array]:
    if op not in REDUCTIONS:
        raise unsupported(f"reduction by {op}")
    if op in _EXTREMES and word == SINGLE:
        return _extreme(_EXTREMES[op])
    magnitudes = op in _OF_MAGNITUDES
    ufunc = _EXTREMES[_OF_MAGNITUDES[op]] if magnitudes else function_of(op, word)
    assert isinstance(ufunc, np.ufunc)

    def fold(x: Array, axis: int) -> Array:
        return ufunc.reduce(np.absolute(x) if magnitudes else x, axis=axis)

    return fold


def _extreme(ufunc: np.ufunc) -> Callable[[Array, int], Array]:
    """Maximum or minimum of floats: of two zeros, +0 is the larger."""

    def fold(x: Array, axis: int) -> Array:
        result = ufunc.reduce(x, axis=axis)
        if result.all():
            return result
        # Nothing is beyond a result of zero, so that the extreme of all signs is that of the zeros.
        sign = ufunc.reduce(np.copysign(SINGLE.type(1), x), axis=axis)
        zero: Array = np.copysign(SINGLE.type(0), sign)
        return np.where(result == 0, zero, result)

    return fold
