"""Kernels of `dialects/hlo/reductions.py`; sort and top-k are in `sorting.py`.

Order of folding: a region that is one known operation on its parameters is folded by numpy's own reduction (floats
are summed pairwise where the dimension is contiguous, in order elsewhere; XLA promises no order). Any other region is
folded in row-major order of the reduced dimensions, on all kept elements at once.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import TupleType
from xdsl.ir import SSAValue

from xneuron.dialects.hlo import reductions as hlo
from xneuron.dialects.hlo.attributes import WindowDimension, int_list, int_of
from xneuron.dialects.hlo.types import elements_of, shape_of
from xneuron.interpreters.kernels import sorting
from xneuron.interpreters.kernels.indexing import combine_at
from xneuron.interpreters.kernels.reducers import Fold, fold_of
from xneuron.interpreters.kernels.registry import Context, Kernel, kernel
from xneuron.interpreters.kernels.windows import positions
from xneuron.interpreters.values import as_value, dtype_of, static_shape

__all__ = ["sorting"]


def packed(result: SSAValue, values: Sequence[Any]) -> Any:
    """The results as the op has them: a tuple if its type is one."""
    return tuple(values) if isinstance(result.type, TupleType) else values[0]


@kernel(hlo.ReduceOp)
def reduce(op: hlo.ReduceOp, context: Context) -> Kernel:
    """The initial value counts once per result element, first."""
    count = len(op.args) // 2
    axes = int_list(op.dimensions)
    fold = fold_of(op.to_apply, context)
    if (known := fold.reduce) is not None and not isinstance(op.result.type, TupleType):
        return (lambda x, initial: known(x, axes, initial)) if axes else (lambda x, initial: fold(initial, x)[0])
    extents = static_shape(op.args[0].type)
    kept = [d for d in range(len(extents)) if d not in axes]
    shape = tuple(extents[d] for d in kept)
    order = [*sorted(axes), *kept]
    steps = int(np.prod([extents[d] for d in axes], dtype=np.int64))

    def run(*args: Any) -> Any:
        rows = [np.asarray(x).transpose(order).reshape(steps, *shape) for x in args[:count]]
        folded = args[count:]
        for step in range(steps):
            folded = fold(*folded, *[row[step] for row in rows])
        return packed(op.result, [np.broadcast_to(x, shape)[()] for x in folded])

    return run


@kernel(hlo.ReduceWindowOp)
def reduce_window(op: hlo.ReduceWindowOp, context: Context) -> Kernel:
    """Starts from the initial values at each place; padding is not visited."""
    count = len(op.args) // 2
    types = elements_of(op.result.type) if isinstance(op.result.type, TupleType) else [op.result.type]
    shape, dtypes = static_shape(types[0]), [dtype_of(type) for type in types]
    extents = static_shape(op.args[0].type)
    cells = [cell[1:] for cell in positions(_window(op), extents, shape)]
    fold = fold_of(op.to_apply, context)

    def run(*args: Any) -> Any:
        results = [np.full(shape, initial, dtype) for initial, dtype in zip(args[count:], dtypes, strict=True)]
        for places, elements in cells:
            folded = fold(*[r[places] for r in results], *[x[elements] for x in args[:count]])
            for result, value in zip(results, folded, strict=True):
                result[places] = value
        return packed(op.result, [as_value(result) for result in results])

    return run


def _window(op: hlo.ReduceWindowOp | hlo.SelectAndScatterOp) -> Sequence[WindowDimension]:
    """The op's window; without one, each dimension's is the identity."""
    rank = len(shape_of(op.operands[0].type))
    return (op.window.dimensions if op.window else ()) or (WindowDimension(1),) * rank


@kernel(hlo.SelectAndScatterOp)
def select_and_scatter(op: hlo.SelectAndScatterOp, context: Context) -> Kernel:
    """Each window keeps its element as long as `select(kept, next)` holds; source values meet in their order.

    A window that lies in padding altogether selects nothing.
    """
    extents, shape = static_shape(op.operand.type), static_shape(op.source.type)
    cells = [cell[1:] for cell in positions(_window(op), extents, shape)]
    select, scatter = fold_of(op.select, context), _swapped(fold_of(op.scatter, context))
    numbers = np.arange(int(np.prod(extents))).reshape(extents)

    def run(operand: Any, source: Any, initial: Any) -> Any:
        kept, chosen = np.zeros(shape, operand.dtype), np.full(shape, -1)
        for places, elements in cells:
            old, new = kept[places], operand[elements]
            keeps = (chosen[places] >= 0) & np.asarray(select(old, new)[0])
            kept[places] = np.where(keeps, old, new)
            chosen[places] = np.where(keeps, chosen[places], numbers[elements])
        result = np.full(int(np.prod(extents)), initial, operand.dtype)
        hit = chosen.reshape(-1) >= 0
        combine_at([result], chosen.reshape(-1)[hit], [np.asarray(source).reshape(-1)[hit]], scatter)
        return as_value(result.reshape(extents))

    return run


def _swapped(fold: Fold) -> Fold:
    """Takes (source value, value so far) in the order in which `scatter` is called; known operations commute."""
    if fold.reduce is not None:
        return fold
    return Fold(lambda old, new: fold(new, old))


@kernel(hlo.ScanOp)
def scan(op: hlo.ScanOp, context: Context) -> Kernel:
    """Calls `to_apply(slices of the inputs, carries)` -> (slices of the outputs, carries) for each index in turn."""
    carries = int_of(op.num_carries)
    inputs = len(op.args) - carries
    (dimension,) = int_list(op.dimensions)
    extent = static_shape(op.args[0].type)[dimension]
    order = range(extent - 1, -1, -1) if op.is_reverse is not None else range(extent)
    body = context.callable(op.to_apply)
    outputs = elements_of(op.result.type)[: len(elements_of(op.result.type)) - carries]

    def run(*args: Any) -> Any:
        rows = [np.moveaxis(x, dimension, 0) for x in args[:inputs]]
        state = args[inputs:]
        columns = [np.empty(static_shape(type), dtype_of(type)) for type in outputs]
        for index in order:
            values = body(*[row[index] for row in rows], *state)
            for column, value in zip(columns, values[: len(columns)], strict=True):
                np.moveaxis(column, dimension, 0)[index] = value
            state = values[len(columns) :]
        return (*columns, *state)

    return run
