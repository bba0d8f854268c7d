"""What a bitcast does to elements: layouts say in which order both sides lie in memory, and StableHLO has none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.types import LayoutAttr, Tensor, element_of, memory_order, shape_of, tensor
from xneuron.formats.stablehlo.writer.text import i64s

Step: TypeAlias = tuple[str, Tensor, dict[str, str]]
"""Name, result type and properties of an operation on the result of the step before."""


def as_steps(operand: Tensor, result: Tensor) -> list[Step]:
    """Transpose to the order in memory, reinterpret and reshape there, transpose back; what changes nothing left out.

    Raises VerifyException for tiled and packed layouts.
    """
    old, new = _major_to_minor(operand), _major_to_minor(result)
    inside = [shape_of(result)[dimension] for dimension in new]
    steps = _transposed(operand.element_type, shape_of(operand), old)
    steps += _reinterpreted(operand, [shape_of(operand)[d] for d in old], result, inside)
    return steps + _transposed(result.element_type, inside, [new.index(d) for d in range(len(new))])


def _major_to_minor(type: Tensor) -> tuple[int, ...]:
    """Dimensions in the order in which the array lies in memory, slowest first."""
    if isinstance(type.encoding, LayoutAttr) and not type.encoding.is_order_only:
        raise VerifyException(f"its layout {type.encoding.braces} is more than an order of dimensions")
    return memory_order(type)


def _transposed(element: Attribute, shape: Sequence[int], permutation: Sequence[int]) -> list[Step]:
    if list(permutation) == sorted(permutation):
        return []
    type = tensor(element, tuple([shape[dimension] for dimension in permutation]))
    return [("stablehlo.transpose", type, {"permutation": i64s(permutation)})]


def _reinterpreted(operand: Tensor, shape: Sequence[int], result: Tensor, inside: Sequence[int]) -> list[Step]:
    """From one element type and shape to another: wide elements fall into a last dimension of narrow ones."""
    old, new = element_of(operand).bits, element_of(result).bits
    if max(old, new) % min(old, new):
        raise VerifyException(f"its elements of {old} and {new} bits do not divide each other")
    if old < new:
        parts = (*inside, new // old)
        converted = tensor(result.element_type, tuple(inside))
        return [*_reshaped(operand.element_type, shape, parts), ("stablehlo.bitcast_convert", converted, {})]
    parts = (*shape, old // new) if old > new else tuple(shape)
    same = operand.element_type == result.element_type
    convert: list[Step] = [] if same else [("stablehlo.bitcast_convert", tensor(result.element_type, parts), {})]
    return convert + _reshaped(result.element_type, parts, inside)


def _reshaped(element: Attribute, shape: Sequence[int], to: Sequence[int]) -> list[Step]:
    return [] if tuple(shape) == tuple(to) else [("stablehlo.reshape", tensor(element, tuple(to)), {})]
