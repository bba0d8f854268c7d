"""Kernels of `dialects/hlo/data_movement.py`; gather and scatter are in `indexing.py`.

Results are views of operands where numpy can say them so. Constants and copies are in `interpreters/forwarding.py`.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xneuron.dialects.hlo import data_movement as hlo
from xneuron.dialects.hlo.attributes import int_list, int_of
from xneuron.dialects.hlo.types import element_of, memory_order, shape_of
from xneuron.execution.errors import EvaluationError
from xneuron.interpreters.kernels import indexing
from xneuron.interpreters.kernels.registry import Context, Kernel, Meaning, Updating, kernel
from xneuron.interpreters.values import as_value, dtype_of, static_shape

__all__ = ["indexing"]


@kernel(hlo.IotaOp)
def iota(op: hlo.IotaOp, context: Context) -> Kernel:
    """Numbers wrap in narrow integer types."""
    shape, dimension = static_shape(op.result.type), int_of(op.iota_dimension)
    numbers = np.arange(shape[dimension]).astype(dtype_of(op.result.type))
    value = np.broadcast_to(_along(numbers, dimension, len(shape)), shape)
    return lambda: value


def _along(vector: Any, dimension: int, rank: int) -> Any:
    """The vector as an array of that rank that extends in one dimension only."""
    return vector.reshape([-1 if d == dimension else 1 for d in range(rank)])


@kernel(hlo.BroadcastOp)
def broadcast(op: hlo.BroadcastOp, context: Context) -> Kernel:
    """A read-only view; `dimensions` may be in any order."""
    shape, dimensions = static_shape(op.result.type), int_list(op.dimensions)
    extents = [shape[d] if d in dimensions else 1 for d in range(len(shape))]
    order = sorted(range(len(dimensions)), key=lambda i: dimensions[i])
    if not shape:
        return lambda x: x
    if order == list(range(len(order))):
        return lambda x: np.broadcast_to(x.reshape(extents), shape)
    return lambda x: np.broadcast_to(x.transpose(order).reshape(extents), shape)


@kernel(hlo.ReshapeOp)
def reshape(op: hlo.ReshapeOp, context: Context) -> Kernel:
    """Row-major order."""
    shape = static_shape(op.result.type)
    return (lambda x: x.reshape(shape)) if shape else (lambda x: x.reshape(shape)[()])


@kernel(hlo.DynamicReshapeOp)
def dynamic_reshape(op: hlo.DynamicReshapeOp, context: Context) -> Kernel:
    """Reshape to extents that operands give."""

    def run(x: Any, *sizes: Any) -> Any:
        shape = tuple(int(size) for size in sizes)
        if int(np.prod(shape)) != x.size:
            raise EvaluationError(f"expected extents of {x.size} elements, found {list(shape)}", op)
        return x.reshape(shape)[()]

    return run


@kernel(hlo.BitcastOp)
def bitcast(op: hlo.BitcastOp, context: Context) -> Kernel:
    """The elements in the order of memory, which layouts decide; the type may change to one of the same width."""
    source, target = op.operand.type, op.result.type
    if element_of(source).bits != element_of(target).bits:
        raise EvaluationError("no meaning for a bitcast that changes the width of elements", op)
    leave, enter = memory_order(source), memory_order(target)
    stored = [static_shape(target)[d] for d in enter]
    back = np.argsort(enter) if enter else []
    dtype = dtype_of(target)
    return lambda x: as_value(np.asarray(x).transpose(leave).reshape(stored).transpose(back).view(dtype))


@kernel(hlo.TransposeOp)
def transpose(op: hlo.TransposeOp, context: Context) -> Kernel:
    """A view."""
    order = int_list(op.dimensions)
    return (lambda x: x.transpose(order)) if order else (lambda x: x)


@kernel(hlo.ReverseOp)
def reverse(op: hlo.ReverseOp, context: Context) -> Kernel:
    """A view with negative strides."""
    dimensions = set(int_list(op.dimensions))
    index = tuple(slice(None, None, -1 if d in dimensions else 1) for d in range(len(shape_of(op.operand.type))))
    return lambda x: x[index]


@kernel(hlo.SliceOp)
def slice_(op: hlo.SliceOp, context: Context) -> Kernel:
    """A view."""
    index = tuple(map(slice, int_list(op.starts), int_list(op.limits), int_list(op.strides)))
    return (lambda x: x[index]) if index else (lambda x: x)


@kernel(hlo.DynamicSliceOp)
def dynamic_slice(op: hlo.DynamicSliceOp, context: Context) -> Kernel:
    """A view; each start is clamped to [0, extent - size]."""
    sizes = int_list(op.slice_sizes)
    lasts = _last_starts(static_shape(op.operand.type), sizes)
    if not sizes:
        return lambda x, *starts: x
    if len(sizes) == 1 and not shape_of(op.start_indices[0].type):
        (size,), (last,) = sizes, lasts

        def one(x: Any, start: Any) -> Any:
            first = min(max(int(start), 0), last)
            return x[first : first + size]

        return one
    return lambda x, *starts: x[_window(_numbers(starts), lasts, sizes)]


def _last_starts(extents: Sequence[int], sizes: Sequence[int]) -> tuple[int, ...]:
    return tuple(extent - size for extent, size in zip(extents, sizes, strict=True))


def _numbers(starts: tuple[Any, ...]) -> Sequence[Any]:
    """Start indices in either form: one scalar per dimension, or one vector."""
    return starts[0].tolist() if len(starts) == 1 and starts[0].ndim else starts


def _window(starts: Sequence[Any], lasts: Sequence[int], sizes: Sequence[int]) -> tuple[slice, ...]:
    firsts = [min(max(int(start), 0), last) for start, last in zip(starts, lasts, strict=True)]
    return tuple([slice(first, first + size) for first, size in zip(firsts, sizes, strict=True)])


@kernel(hlo.DynamicUpdateSliceOp)
def dynamic_update_slice(op: hlo.DynamicUpdateSliceOp, context: Context) -> Meaning:
    """The same clamping as dynamic-slice."""
    sizes = static_shape(op.update.type)
    lasts = _last_starts(static_shape(op.operand.type), sizes)
    if not sizes:
        return lambda x, update, *starts: update

    def in_place(x: Any, update: Any, *starts: Any) -> Any:
        x[_window(_numbers(starts), lasts, sizes)] = update
        return x

    return Updating(lambda x, *rest: in_place(x.copy(), *rest), in_place)


@kernel(hlo.PadOp)
def pad(op: hlo.PadOp, context: Context) -> Kernel:
    """Interior padding first, then the edges, which may cut."""
    shape, dtype = static_shape(op.result.type), dtype_of(op.result.type)
    rows = zip(
        static_shape(op.operand.type), shape, int_list(op.edge_padding_low), int_list(op.interior_padding), strict=True
    )
    ranges = [_placed(extent, limit, low, interior + 1) for extent, limit, low, interior in rows]
    source, target = tuple(r[0] for r in ranges), tuple(r[1] for r in ranges)
    if not shape:
        return lambda x, value: x

    def run(x: Any, value: Any) -> Any:
        result = np.full(shape, value, dtype)
        result[target] = x[source]
        return result

    return run


def _placed(extent: int, limit: int, offset: int, step: int) -> tuple[slice, slice]:
    """Which of `extent` elements, put at `offset + i * step`, fall into [0, limit), and where."""
    first = max(0, -(offset // step))
    stop = max(first, min(extent, -((offset - limit) // step)))
    at = offset + first * step
    return slice(first, stop), slice(at, at + (stop - first) * step, step)


@kernel(hlo.ConcatenateOp)
def concatenate(op: hlo.ConcatenateOp, context: Context) -> Kernel:
    """A new array also for one operand."""
    (axis,) = int_list(op.dimensions)
    return lambda *operands: np.concatenate(operands, axis)


@kernel(hlo.GetDimensionSizeOp)
def get_dimension_size(op: hlo.GetDimensionSizeOp, context: Context) -> Kernel:
    """The array's own extent: values carry the run-time extents."""
    (dimension,) = int_list(op.dimensions)
    return lambda x: np.int32(x.shape[dimension])


@kernel(hlo.SetDimensionSizeOp)
def set_dimension_size(op: hlo.SetDimensionSizeOp, context: Context) -> Kernel:
    """The first `size` elements of the dimension. Growing is an error: what is there is not known."""
    (dimension,) = int_list(op.dimensions)
    before = (slice(None),) * dimension

    def run(x: Any, size: Any) -> Any:
        if not 0 <= size <= x.shape[dimension]:
            raise EvaluationError(f"expected a size of at most {x.shape[dimension]}, found {size}", op)
        return x[(*before, slice(0, int(size)))]

    return run
