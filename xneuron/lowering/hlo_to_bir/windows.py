"""Rules for windows that move over an array: a reduction over another region, in which windows overlap.

Padding and the holes of dilation become elements that change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xneuron.dialects.hlo.attributes import WindowDimension
from xneuron.dialects.hlo.reductions import ReduceWindowOp
from xneuron.dialects.hlo.types import shape_of

from .computations import Lowering
from .copies import copy
from .folds import Fold, identity, word_of
from .layout import dtype_of
from .lifted import not_elementwise
from .movement import place
from .patterns import Part
from .reducers import operation_of
from .reductions import fold_region, fold_slices
from .regions import Region, Shape
from .rules import lowers
from .values import Buffer, Splat, Tree, leaf_paths, type_at

Window = Sequence[WindowDimension]


def needs_padding(window: Window) -> bool:
    """True if windows reach elements that the array does not have."""
    return any((d.padding_low, d.padding_high, d.base_dilation) != (0, 0, 1) for d in window)


def padded(low: Lowering, value: SSAValue, window: Window, filler: int | float) -> tuple[Buffer | Splat, Region]:
    """An operand with its padding and its holes, and the region that is all of it."""
    leaf, extents = low.leaf(value), shape_of(value.type)
    if not needs_padding(window):
        return leaf, Region.whole(extents)
    rows = list(zip(extents, window, strict=True))
    whole = Region.whole([(e - 1) * d.base_dilation + 1 + d.padding_low + d.padding_high for e, d in rows])
    out = low.scratch(leaf, whole.count, in_dram=True)
    copy(low, out, Splat(filler, leaf.dtype, whole.count))
    place(low, Part(out, whole), value, [d.padding_low for d in window], [d.base_dilation for d in window])
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
    dtype, operation = dtype_of(op.args[0].type), operation_of(op.to_apply)
    changes = operation is None or dtype is None or identity(operation, dtype) is None
    if changes and needs_padding(_window(op)):
        return "its windows reach beyond the array, and no element is known to change nothing under its computation"
    return None if operation else not_elementwise(op.to_apply)


@lowers(ReduceWindowOp, check=_problem)
def reduce_window(low: Lowering, op: ReduceWindowOp) -> Tree:
    """As a reduce of the array with a copy of its elements per window."""
    window, operation = _window(op), operation_of(op.to_apply)
    count = len(op.args) // 2
    if operation is None:
        whole = Region.whole(shape_of(op.args[0].type))
        regions = swept(whole, window, shape_of(type_at(op.results[0].type, leaf_paths(op.results[0].type)[0])))
        return fold_slices(low, op, [low.leaf(value) for value in op.args[:count]], *regions)
    out = low.result(op.results[0])
    source, whole = padded(low, op.args[0], window, identity(operation, out.dtype) or 0)
    fold = Fold(operation, low.leaf(op.args[1]), word_of(operation, out.dtype))
    fold_region(low, fold, out, source, *swept(whole, window, shape_of(op.results[0].type)))
    return out
