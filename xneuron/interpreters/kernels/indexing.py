"""Kernels of gather and scatter, by arrays of indices computed once per run.

Rules: HandleGather, HandleScatter in hlo_evaluator.cc; scatter's windows are skipped as a whole, as in XLA's CPU code
(scatter_expander.cc).
"""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xneuron.dialects.hlo import indexing as hlo
from xneuron.dialects.hlo.attributes import int_list, int_of
from xneuron.interpreters.kernels.reducers import Fold, fold_of
from xneuron.interpreters.kernels.registry import Context, Kernel, Meaning, Updating, kernel
from xneuron.interpreters.values import Array, as_value, static_shape


def batch_dimensions(rank: int, window_dimensions: Sequence[int]) -> list[int]:
    """Dimensions of gather's result (scatter's updates) that say which index, in order."""
    return [d for d in range(rank) if d not in window_dimensions]


def _placed(values: Array, dimensions: Sequence[int], rank: int) -> Array:
    """An array whose dimensions become the given ones of a larger rank, for broadcasting."""
    shape = [1] * rank
    for extent, dimension in zip(values.shape, dimensions, strict=True):
        shape[dimension] = extent
    return values.reshape(shape)


class Positions:
    """Where windows lie: the shared arithmetic of gather and scatter.

    `components(indices)` gives, per operand dimension, the start of each window as an array that broadcasts against the
    windows (gather's result, scatter's updates); `offsets` the places inside a window, likewise.
    """

    def __init__(
        self,
        operand: Sequence[int],
        windows: Sequence[int],
        window_dimensions: Sequence[int],
        collapsed: Sequence[int],
        mapped: Sequence[int],
        batching: Sequence[tuple[int, int]],
        vector_dimension: int,
        indices: Sequence[int],
    ) -> None:
        self.rank = len(windows)
        self.vector_dimension = vector_dimension
        self.mapped = {dimension: component for component, dimension in enumerate(mapped)}
        self.batch = batch_dimensions(self.rank, window_dimensions)
        self.has_vector = vector_dimension < len(indices)
        kept = [d for d in range(len(indices)) if d != vector_dimension]
        batching_dimensions = [dimension for dimension, _ in batching]
        inside = [d for d in range(len(operand)) if d not in collapsed and d not in batching_dimensions]
        self.offsets: list[Array | int] = [0] * len(operand)
        self.sizes = [1] * len(operand)
        for dimension, window_dimension in zip(inside, window_dimensions, strict=True):
            self.sizes[dimension] = windows[window_dimension]
            offsets = np.arange(windows[window_dimension])
            self.offsets[dimension] = _placed(offsets, [window_dimension], self.rank)
        self.fixed: dict[int, Array] = {}
        for dimension, index_dimension in batching:
            at = self.batch[kept.index(index_dimension)]
            self.fixed[dimension] = _placed(np.arange(operand[dimension]), [at], self.rank)
        self.lasts = [extent - size for extent, size in zip(operand, self.sizes, strict=True)]

    def starts(self, indices: Any) -> list[Array | int]:
        """Start of each window per operand dimension, not clamped; indices beyond s64 count as the largest s64."""
        indices = np.asarray(indices)
        if indices.dtype == np.uint64:
            indices = np.minimum(indices, np.uint64(np.iinfo(np.int64).max))
        indices = indices.astype(np.int64)
        if self.has_vector:
            indices = np.moveaxis(indices, self.vector_dimension, -1)
        else:
            indices = indices[..., np.newaxis]
        return [self._start(indices, dimension) for dimension in range(len(self.offsets))]

    def _start(self, indices: Array, dimension: int) -> Array | int:
        if (component := self.mapped.get(dimension)) is not None:
            return _placed(indices[..., component], self.batch, self.rank)
        return self.fixed.get(dimension, 0)

    def clamped(self, starts: list[Array | int]) -> list[Array | int]:
        """Starts moved so that windows fit."""
        return [
            np.clip(start, 0, last) if dimension in self.mapped else start
            for dimension, (start, last) in enumerate(zip(starts, self.lasts, strict=True))
        ]

    def inside(self, starts: list[Array | int]) -> Array | bool:
        """Which windows fit."""
        fits: Array | bool = True
        for dimension in self.mapped:
            fits = fits & (starts[dimension] >= 0) & (starts[dimension] <= self.lasts[dimension])
        return fits

    def elements(self, starts: list[Array | int]) -> tuple[Array | int, ...]:
        """An index of the operand that gives, or sets, the elements of all windows."""
        return tuple(start + offset for start, offset in zip(starts, self.offsets, strict=True))


def _pairs(left: Any, right: Any) -> list[tuple[int, int]]:
    return list(zip(int_list(left), int_list(right), strict=True))


@kernel(hlo.GatherOp, fresh=True)
def gather(op: hlo.GatherOp, context: Context) -> Kernel:
    """Starts are clamped so that windows fit. Dimensions that all windows fill are taken whole, not by index."""
    extents, shape = static_shape(op.operand.type), static_shape(op.result.type)
    collapsed, mapped = int_list(op.collapsed_slice_dims), int_list(op.start_index_map)
    batching = _pairs(op.operand_batching_dims, op.start_indices_batching_dims)
    inside = [d for d in range(len(extents)) if d not in collapsed and d not in dict(batching)]
    offsets = dict(zip(inside, int_list(op.offset_dims), strict=True))
    whole = {d: at for d, at in offsets.items() if shape[at] == extents[d] and d not in mapped}
    picked = [d for d in range(len(extents)) if d not in whole]
    others = [at for at in range(len(shape)) if at not in whole.values()]
    positions = Positions(
        [extents[d] for d in picked],
        [shape[at] for at in others],
        [others.index(at) for d, at in offsets.items() if d not in whole],
        [picked.index(d) for d in collapsed],
        [picked.index(d) for d in mapped],
        [(picked.index(d), index) for d, index in batching],
        int_of(op.index_vector_dim),
        static_shape(op.start_indices.type),
    )
    enter, found_order = [*picked, *whole], [*others, *whole.values()]
    found_shape = tuple(shape[at] for at in found_order)
    leave = [found_order.index(at) for at in range(len(shape))]
    anchor = np.zeros([1] * len(others), np.int64)

    def run(x: Any, indices: Any) -> Any:
        at = positions.elements(positions.clamped(positions.starts(indices)))
        at = (at[0] + anchor, *at[1:]) if at else (np.newaxis,) * len(others)
        found = np.asarray(x).transpose(enter)[at]
        if found.shape != found_shape or not picked:
            found = np.broadcast_to(found, found_shape).copy()
        return as_value(found.transpose(leave))

    return run


@kernel(hlo.ScatterOp)
def scatter(op: hlo.ScatterOp, context: Context) -> Meaning:
    """Updates that meet at one element are combined in the order of the updates."""
    count = len(op.args) // 2
    operand, indices, updates = op.args[0], op.args[count], op.args[count + 1]
    positions = Positions(
        static_shape(operand.type),
        static_shape(updates.type),
        int_list(op.update_window_dims),
        int_list(op.inserted_window_dims),
        int_list(op.scatter_dims_to_operand_dims),
        _pairs(op.input_batching_dims, op.scatter_indices_batching_dims),
        int_of(op.index_vector_dim),
        static_shape(indices.type),
    )
    apply = _scatterer(positions, static_shape(operand.type), static_shape(updates.type), fold_of(op.to_apply, context))
    if count > 1:
        return lambda *args: tuple(apply([x.copy() for x in args[:count]], args[count], args[count + 1 :]))
    if not static_shape(operand.type):
        return lambda x, where, update: as_value(apply([np.array(x)], where, [update])[0])
    return Updating(
        lambda x, where, update: apply([x.copy()], where, [update])[0],
        lambda x, where, update: apply([x], where, [update])[0],
    )


def _scatterer(
    positions: Positions, shape: Sequence[int], windows: Sequence[int], fold: Fold
) -> Callable[[list[Any], Any, Sequence[Any]], list[Any]]:
    """Changes the operands in place and returns them; index by index, and in each window in row-major order."""
    order = [*positions.batch, *(d for d in range(len(windows)) if d not in positions.batch)]

    def ordered(x: Any) -> Array:
        return np.broadcast_to(x, windows).transpose(order).reshape(-1)

    def apply(operands: list[Any], indices: Any, updates: Sequence[Any]) -> list[Any]:
        starts = positions.starts(indices)
        fits = ordered(positions.inside(starts))
        where = np.zeros((), np.int64)
        for start, offset, stride in zip(starts, positions.offsets, _strides(shape), strict=True):
            where = where + (start + offset) * stride
        targets = ordered(where)[fits]
        values = [ordered(update)[fits] for update in updates]
        flat = [np.ascontiguousarray(x).reshape(-1) for x in operands]
        combine_at(flat, targets, values, fold)
        return [x.reshape(shape) for x in flat]

    return apply


def _strides(shape: Sequence[int]) -> list[int]:
    return [int(np.prod(shape[d + 1 :])) for d in range(len(shape))]


def combine_at(flat: Sequence[Array], targets: Array, values: Sequence[Array], fold: Fold) -> None:
    """Folds `values[k][i]` into `flat[k][targets[i]]`, in the order of i.

    Each round does the next update of every element that still has one, so a computation runs as often as the
    busiest element is hit.
    """
    if fold.replaces:
        for x, value in zip(flat, values, strict=True):
            x[targets] = value  # numpy keeps the last of several
        return
    if fold.ufunc is not None and flat[0].dtype.kind in "biufc":
        fold.ufunc.at(flat[0], targets, values[0])
        return
    for chosen in _rounds(targets):
        at = targets[chosen]
        results = fold(*[x[at] for x in flat], *[value[chosen] for value in values])
        for x, result in zip(flat, results, strict=True):
            x[at] = result


def _rounds(targets: Array) -> list[Array]:
    """Positions of the first, second, … occurrence of each target."""
    order = np.argsort(targets, kind="stable")
    ordered = targets[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if ordered.size else np.zeros(0, np.int64)
    occurrence = np.arange(ordered.size) - np.repeat(starts, np.diff(np.r_[starts, ordered.size]))
    return [np.sort(order[occurrence == k]) for k in range(int(occurrence.max(initial=-1)) + 1)]
