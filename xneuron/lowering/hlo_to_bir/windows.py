"""Rules for windows that move over an array: a reduction over another region, in which windows overlap.

Padding and the holes of dilation become elements that change nothing, or that a mask leaves out.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xneuron.dialects.bir.enums import DType
from xneuron.dialects.hlo.attributes import WindowDimension
from xneuron.dialects.hlo.reductions import ReduceWindowOp
from xneuron.dialects.hlo.types import shape_of

from .computations import Lowering
from .copies import copy
from .folds import Fold, identity, word_of
from .lifted import not_elementwise
from .movement import place
from .patterns import Part, all_of
from .reducers import operation_of
from .reductions import fold_slices
from .region_folds import fold_region
from .regions import Region, Shape
from .rules import lowers
from .values import Buffer, Splat, Tree, leaf_paths, type_at

Window = Sequence[WindowDimension]


def needs_padding(window: Window) -> bool:
    """True if windows reach elements that the array does not have."""
    return any((d.padding_low, d.padding_high, d.base_dilation) != (0, 0, 1) for d in window)


def padded(
    low: Lowering, leaf: Buffer | Splat, extents: Shape, window: Window, filler: int | float
) -> tuple[Buffer | Splat, Region]:
    """An array with its padding and its holes, and the region that is all of it."""
    if not needs_padding(window):
        return leaf, Region.whole(extents)
    rows = list(zip(extents, window, strict=True))
    whole = Region.whole([(e - 1) * d.base_dilation + 1 + d.padding_low + d.padding_high for e, d in rows])
    out = low.scratch(leaf, whole.count, in_dram=True)
    copy(low, out, Splat(filler, leaf.dtype, whole.count))
    lows, steps = [d.padding_low for d in window], [d.base_dilation for d in window]
    place(low, Part(out, whole), all_of(low, leaf, extents), lows, steps)
    return out, whole


def swept(whole: Region, window: Window, places: Shape) -> tuple[Region, Region]:
    """Where windows begin, and their elements from there."""
    begins = [stride * d.stride for stride, d in zip(whole.strides, window, strict=True)]
    steps = [stride * d.window_dilation for stride, d in zip(whole.strides, window, strict=True)]
    return Region(places, tuple(begins)), Region(tuple(d.size for d in window), tuple(steps))


def _window(op: ReduceWindowOp) -> Window:
    rank = len(shape_of(op.args[0].type))
    return (op.window.dimensions if op.window else ()) or (WindowDimension(1),) * rank


def _problem(op: ReduceWindowOp) -> str | None:
    return None if operation_of(op.to_apply) else not_elementwise(op.to_apply)


@lowers(ReduceWindowOp, check=_problem)
def reduce_window(low: Lowering, op: ReduceWindowOp) -> Tree:
    """As a reduce of the array with a copy of its elements per window."""
    window, result = _window(op), op.results[0]
    count, extents = len(op.args) // 2, shape_of(op.args[0].type)
    places = shape_of(type_at(result.type, leaf_paths(result.type)[0]))
    operation, dtype = operation_of(op.to_apply), low.leaf(op.args[0]).dtype
    filler = identity(operation, dtype) if operation else None
    if operation is None or (filler is None and needs_padding(window)):
        inputs = [padded(low, low.leaf(value), extents, window, 0)[0] for value in op.args[:count]]
        exists, whole = padded(low, Splat(1, DType.uint8, prod(extents)), extents, window, 0)
        return fold_slices(low, op, inputs, *swept(whole, window, places), exists)
    out = low.result(result)
    source, whole = padded(low, low.leaf(op.args[0]), extents, window, filler or 0)
    fold = Fold(operation, low.leaf(op.args[1]), word_of(operation, dtype))
    fold_region(low, fold, out, source, *swept(whole, window, places))
    return out
