"""Kernels of sort and top-k.

A comparator that compares the same function of both elements, as almost all do, becomes an argsort of that function's
values. Any other is run on whole arrays by a merge sort, in O(log² n) evaluations. Both are stable.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.ir import BlockArgument, Operation, Region, SSAValue

from xneuron.dialects.hlo import elementwise
from xneuron.dialects.hlo import reductions as hlo
from xneuron.dialects.hlo.attributes import int_list, int_of, text_of
from xneuron.dialects.hlo.base import root_of
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
    if (keys := _keys(op.to_apply, context)) is not None:
        return lambda operands: np.argsort(keys(operands), axis=-1, kind="stable")
    compare = fold_of(op.to_apply, context)

    def less(left: Sequence[Array], right: Sequence[Array]) -> Array:
        pairs = [x for pair in zip(left, right, strict=True) for x in pair]
        return np.broadcast_to(compare(*pairs)[0], left[0].shape)

    return lambda operands: merge_order(operands, less)


def _keys(region: Region, context: Context) -> Callable[[Sequence[Array]], Array] | None:
    """For a comparator `compare(f(a, …), f(b, …))` by LT or GT: from operands to numbers in ascending order."""
    root = root_of(region).owner
    if not isinstance(root, elementwise.CompareOp) or text_of(root.direction) not in ("LT", "GT"):
        return None
    turned = Mirror().turned(root.lhs, root.rhs)
    if turned is None:
        return None
    ascending = (text_of(root.direction) == "LT") != turned
    numbers = _numbers(element_of(root.lhs.type), text_of(root.compare_type) == "TOTALORDER")
    if isinstance(root.lhs, BlockArgument):
        operand = root.lhs.index // 2
        return lambda operands: _directed(numbers(operands[operand]), ascending)
    if (key := context.vectorized(_side(region))) is None:
        return None

    def keys(operands: Sequence[Array]) -> Array:
        values = key(*[x for operand in operands for x in (operand, operand)])
        return _directed(numbers(np.broadcast_to(values, operands[0].shape)), ascending)

    return keys


def _side(region: Region) -> Region:
    """The comparator with the left side of its comparison as its root."""
    side = region.clone()
    last = side.block.last_op
    if last is not None and isinstance(root := root_of(side).owner, elementwise.CompareOp):
        last.operands = [root.lhs]
    return side


class Mirror:
    """Whether two values are the same function of the first, and of the second, parameter of each pair."""

    def __init__(self) -> None:
        self._seen: dict[tuple[SSAValue, SSAValue], set[bool] | None] = {}

    def turned(self, left: SSAValue, right: SSAValue) -> bool | None:
        """True if the left one is of the second parameters, None if the two are not mirror images."""
        sides = self._sides(left, right)
        return sides.pop() if sides is not None and len(sides) == 1 else None

    def _sides(self, left: SSAValue, right: SSAValue) -> set[bool] | None:
        key = left, right
        if key not in self._seen:
            self._seen[key] = self._compared(left, right)
        return self._seen[key]

    def _compared(self, left: SSAValue, right: SSAValue) -> set[bool] | None:
        if isinstance(left, BlockArgument) or isinstance(right, BlockArgument):
            return self._parameters(left, right)
        a, b = left.owner, right.owner
        if not isinstance(a, Operation) or not isinstance(b, Operation) or a.regions or type(a) is not type(b):
            return None
        if a.properties != b.properties or len(a.operands) != len(b.operands):
            return None
        found: set[bool] = set()
        for x, y in zip(a.operands, b.operands, strict=True):
            if (sides := self._sides(x, y)) is None:
                return None
            found |= sides
        return found

    def _parameters(self, left: SSAValue, right: SSAValue) -> set[bool] | None:
        if not isinstance(left, BlockArgument) or not isinstance(right, BlockArgument) or left.block is not right.block:
            return None
        pair = left.index // 2 == right.index // 2 and left.index != right.index
        return {left.index > right.index} if pair else None


def _numbers(element: Element, total: bool) -> Callable[[Any], Any]:
    """Numbers that numpy sorts as the comparison does: NaN last where it is unordered."""
    if element.kind in ("int", "uint") and element.bits < 8:
        return lambda x: x.astype(np.int8)
    if element.kind != "float":
        return lambda x: x
    if total:
        return total_order
    return lambda x: x.astype(np.float32) if element.bits < 32 else x


def _directed(numbers: Any, ascending: bool) -> Any:
    """Numbers, or ones in the opposite order: the complement of integers, the negative of floats (NaN stays last)."""
    if ascending:
        return numbers
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
        order = np.argsort(_directed(keys, not largest), axis=-1, kind="stable")[..., :k]
        return np.take_along_axis(x, order, -1), order.astype(np.int32)

    return run
