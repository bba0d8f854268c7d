"""Which elements of an array an instruction means: a box with a stride per dimension, and instructions that are one.

All that HLO does to an array by index alone (broadcast, transpose, slice, reverse, …) is another region of the same
elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import prod
from operator import mul
from typing import TypeAlias

from xdsl.ir import Attribute, Operation

from xneuron.dialects.bir.expressions import Affine, Sum, constant, fold
from xneuron.dialects.hlo.attributes import int_list
from xneuron.dialects.hlo.data_movement import BitcastOp, BroadcastOp, DynamicSliceOp, ReverseOp, SliceOp, TransposeOp
from xneuron.dialects.hlo.types import element_count, memory_order, shape_of

Shape: TypeAlias = tuple[int, ...]
START = constant(0)


def row_major(extents: Sequence[int]) -> Shape:
    """The distance between neighbours along each dimension of an array."""
    return tuple(accumulate(reversed(extents), mul, initial=1))[-2::-1] if extents else ()


def plus(*terms: Affine) -> Affine:
    """The sum."""
    if not any(term.terms for term in terms):
        return constant(sum(term.c for term in terms))
    total = fold(Sum(terms))
    assert isinstance(total, Affine)
    return total


def times(term: Affine, factor: int) -> Affine:
    """A multiple."""
    return plus(Affine(tuple((index, coeff * factor) for index, coeff in term.terms), term.c * factor))


@dataclass(frozen=True)
class Region:
    """The elements at `offset + sum(index_d * strides[d])` for all indices below `extents`, in row-major order."""

    extents: Shape
    strides: Shape
    offset: Affine = START

    @staticmethod
    def whole(extents: Sequence[int]) -> Region:
        """All elements of an array."""
        return Region(tuple(extents), row_major(extents))

    @staticmethod
    def repeated(extents: Sequence[int]) -> Region:
        """Element 0 again and again."""
        return Region(tuple(extents), (0,) * len(extents))

    @property
    def count(self) -> int:
        """The number of elements."""
        return prod(self.extents)

    @property
    def is_linear(self) -> bool:
        """True if they are neighbours from element 0 on."""
        moving = [(e, s) for e, s in zip(self.extents, self.strides, strict=True) if e > 1]
        extents = [extent for extent, _ in moving]
        return self.offset == START and tuple(stride for _, stride in moving) == row_major(extents)

    def pick(self, dims: Sequence[int]) -> Region:
        """The dimensions in another order; those that are left out stay at index 0."""
        return replace(self, extents=tuple(self.extents[d] for d in dims), strides=tuple(self.strides[d] for d in dims))

    def then(self, inner: Region) -> Region:
        """The dimensions of both, those of `inner` inside."""
        offset = plus(self.offset, inner.offset)
        return Region((*self.extents, *inner.extents), (*self.strides, *inner.strides), offset)

    def fixed(self, dimension: int, index: Affine) -> Region:
        """The elements at one index of a dimension, without that dimension."""
        by = times(index, self.strides[dimension])
        return self.pick([d for d in range(len(self.extents)) if d != dimension]).moved(by)

    def moved(self, by: Affine) -> Region:
        """As far away as `by` elements."""
        return replace(self, offset=plus(self.offset, by))

    def box(self, starts: Sequence[Affine | int], extents: Sequence[int], steps: Sequence[int] | None = None) -> Region:
        """Every `steps[d]`th of the indices from `starts[d]` on, `extents[d]` of them."""
        strides = self.strides if steps is None else tuple(map(mul, self.strides, steps))
        affine = [constant(start) if isinstance(start, int) else start for start in starts]
        by = plus(START, *(times(start, stride) for start, stride in zip(affine, self.strides, strict=True)))
        return Region(tuple(extents), strides, plus(self.offset, by))


_OF_ONE_OPERAND = (BroadcastOp, TransposeOp, SliceOp, ReverseOp, DynamicSliceOp)


def region_of(op: Operation) -> Region | None:
    """The region of its first operand that is the result of an instruction; None if it does anything else."""
    match op:
        case BroadcastOp():
            return _broadcast(op)
        case TransposeOp():
            return Region.whole(shape_of(op.operand.type)).pick(int_list(op.dimensions))
        case SliceOp():
            steps, whole = int_list(op.strides), Region.whole(shape_of(op.operand.type))
            return whole.box(int_list(op.starts), shape_of(op.results[0].type), steps)
        case ReverseOp():
            return _reversed(op)
        case DynamicSliceOp() if shape_of(op.operand.type) == shape_of(op.results[0].type):
            return Region.whole(shape_of(op.operand.type))
        case _:
            return None


def _broadcast(op: BroadcastOp) -> Region:
    extents = shape_of(op.results[0].type)
    strides = [0] * len(extents)
    for dimension, stride in zip(int_list(op.dimensions), row_major(shape_of(op.operand.type)), strict=True):
        strides[dimension] = stride
    return Region(extents, tuple(strides))


def _reversed(op: ReverseOp) -> Region:
    whole, turned = Region.whole(shape_of(op.operand.type)), int_list(op.dimensions)
    starts = [extent - 1 if d in turned else 0 for d, extent in enumerate(whole.extents)]
    return whole.box(starts, whole.extents, [-1 if d in turned else 1 for d in range(len(starts))])


def in_memory(type: Attribute) -> Region:
    """The elements of an array in the order of memory that its layout says."""
    return Region.whole(shape_of(type)).pick(memory_order(type))


def keeps_order(op: Operation) -> bool:
    """True if the result is the first operand, element by element in row-major order."""
    if isinstance(op, BitcastOp):
        return in_memory(op.operand.type).is_linear and in_memory(op.results[0].type).is_linear
    if not isinstance(op, _OF_ONE_OPERAND) or element_count(op.operands[0].type) != element_count(op.results[0].type):
        return False
    found = region_of(op)
    return found is not None and found.is_linear
