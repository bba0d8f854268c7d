"""Kernels of sort and top-k.

A comparator that is one comparison of the two values of an operand becomes an argsort of integers or floats. Any
other is run on whole arrays by a merge sort, so that its cost is that of O(log² n) evaluations. Both are stable.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.ir import BlockArgument, Region

from xneuron.dialects.hlo import elementwise
from xneuron.dialects.hlo import reductions as hlo
from xneuron.dialects.hlo.attributes import int_list, int_of, text_of
from xneuron.dialects.hlo.base import body_of, root_of
from xneuron.dialects.hlo.types import Element, element_of
from xneuron.interpreters.kernels.floats import total_order
from xneuron.interpreters.kernels.reducers import fold_of
from xneuron.interpreters.kernels.registry import Context, Kernel, kernel
from xneuron.interpreters.values import Array

Less = Callable[[Sequence[Array], Sequence[Array]], Array]
"""Whether elements of the first arrays come before those of the second, elementwise, one array per operand."""


@kernel(hlo.SortOp)
def sort(op: hlo.SortOp, context: Context) -> Kernel:
    """Several operands move together, and the result is a tuple."""
    (axis,) = int_list(op.dimensions)
    order = _order_of(op, context)

    def run(*operands: Any) -> Any:
        moved = [np.moveaxis(x, axis, -1) for x in operands]
        by = order(moved)
        results = [np.moveaxis(np.take_along_axis(x, by, -1), -1, axis) for x in moved]
        return tuple(results) if len(results) > 1 else results[0]

    return run


def _order_of(op: hlo.SortOp, context: Context) -> Callable[[Sequence[Array]], Array]:
    """From operands with the sorted dimension last to the positions of their elements in order."""
    if (key := _key(op.to_apply)) is not None:
        operand, to_key = key
        return lambda operands: np.argsort(to_key(operands[operand]), axis=-1, kind="stable")
    compare = fold_of(op.to_apply, context)

    def less(left: Sequence[Array], right: Sequence[Array]) -> Array:
        pairs = [x for pair in zip(left, right, strict=True) for x in pair]
        return np.broadcast_to(compare(*pairs)[0], left[0].shape)

    return lambda operands: merge_order(operands, less)


def _key(region: Region) -> tuple[int, Callable[[Any], Any]] | None:
    """The operand that alone decides, and a map of its values to numbers in ascending order."""
    root, block = root_of(region).owner, body_of(region)
    if not isinstance(root, elementwise.CompareOp) or text_of(root.direction) not in ("LT", "GT"):
        return None
    left, right = root.lhs, root.rhs
    if not isinstance(left, BlockArgument) or not isinstance(right, BlockArgument) or left.block is not block:
        return None
    ascending = text_of(root.direction) == "LT"
    if right.index < left.index:
        left, right, ascending = right, left, not ascending
    if left.index % 2 or right.index != left.index + 1:
        return None
    numbers = _numbers(element_of(left.type), text_of(root.compare_type) == "TOTALORDER")
    return left.index // 2, numbers if ascending else lambda x: _descending(numbers(x))


def _numbers(element: Element, total: bool) -> Callable[[Any], Any]:
    """Numbers that numpy sorts as the comparison does: NaN last where it is unordered."""
    if element.kind in ("int", "uint") and element.bits < 8:
        return lambda x: x.astype(np.int8)
    if element.kind != "float":
        return lambda x: x
    if total:
        return total_order
    return lambda x: x.astype(np.float32) if element.bits < 32 else x


def _descending(numbers: Any) -> Any:
    """Numbers in the opposite order: the complement of integers, the negative of floats (NaN stays last)."""
    return -numbers if numbers.dtype.kind == "f" else ~numbers


def merge_order(operands: Sequence[Array], less: Less) -> Array:
    """A stable merge sort of the last dimension by any strict weak order; all runs of a level are merged at once."""
    shape = operands[0].shape
    extent = shape[-1]
    order = np.broadcast_to(np.arange(extent), shape)
    width = 1
    while width < extent:
        place = _merged_places([np.take_along_axis(x, order, -1) for x in operands], width, less)
        merged = np.empty(shape, np.int64)
        np.put_along_axis(merged, place, order, -1)
        order, width = merged, 2 * width
    return order


def _merged_places(operands: Sequence[Array], width: int, less: Less) -> Array:
    """Where each element goes when neighbouring sorted runs of `width` become one.

    An element's place is its place in its own run plus how many of the other run come before it, found by bisection; of
    equal ones, those of the left run come first.
    """
    shape = operands[0].shape
    at = np.arange(shape[-1])
    on_left = at // width % 2 == 0
    start = at // (2 * width) * (2 * width)
    other = np.minimum(np.where(on_left, start + width, start), shape[-1])
    low = np.broadcast_to(other, shape).copy()
    high = np.broadcast_to(np.minimum(np.where(on_left, start + 2 * width, start + width), shape[-1]), shape).copy()
    for _ in range(width.bit_length()):
        middle = (low + high) // 2
        probed = [np.take_along_axis(x, np.minimum(middle, shape[-1] - 1), -1) for x in operands]
        before = np.where(on_left, less(probed, operands), ~less(operands, probed))
        active = low < high
        low = np.where(active & before, middle + 1, low)
        high = np.where(active & ~before, middle, high)
    own = at - np.where(on_left, start, start + width)
    return start + own + (low - other)


@kernel(hlo.TopKOp)
def topk(op: hlo.TopKOp, context: Context) -> Kernel:
    """In the order of totalOrder (a NaN is largest); of equal ones the first index first."""
    k, largest = int_of(op.k), op.largest is not None
    return top_k(element_of(op.operand.type), k, largest)


def top_k(element: Element, k: int, largest: bool) -> Kernel:
    """(values, s32 indices) of the k largest or smallest along the last dimension."""
    numbers = _numbers(element, total=True)

    def run(x: Any) -> Any:
        keys = numbers(x)
        order = np.argsort(_descending(keys) if largest else keys, axis=-1, kind="stable")[..., :k]
        return np.take_along_axis(x, order, -1), order.astype(np.int32)

    return run
