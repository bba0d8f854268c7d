"""Windows over arrays, one window position at a time, for all places of the window at once.

No array is padded: each position of a window meets an arithmetic progression of operand elements at an arithmetic
progression of places, so it is a pair of slices. Padding and the holes of dilation are never visited, as in HLO's
evaluator (IterateThroughWindow).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import gcd

from xneuron.dialects.hlo.attributes import WindowDimension

Slices = tuple[slice, ...]


def positions(
    window: Sequence[WindowDimension], extents: Sequence[int], places: Sequence[int]
) -> list[tuple[tuple[int, ...], Slices, Slices]]:
    """(position in the window, slices of places, slices of the operand), in row-major order, empty ones left out.

    `extents` are the operand's, `places` the result's. A reversed dimension is visited from its end.
    """
    columns = [_column(*row) for row in zip(window, extents, places, strict=True)]
    return [
        (tuple(c[0] for c in cell), tuple(c[1] for c in cell), tuple(c[2] for c in cell)) for cell in product(*columns)
    ]


def _column(dimension: WindowDimension, extent: int, places: int) -> list[tuple[int, slice, slice]]:
    found: list[tuple[int, slice, slice]] = []
    for index in range(dimension.size):
        pair = _progression(dimension, index, extent, places)
        if pair is not None:
            found.append((index, *pair))
    return found


def _progression(dimension: WindowDimension, index: int, extent: int, places: int) -> tuple[slice, slice] | None:
    """Places p with `p * stride + index * dilation - padding = base_dilation * e`, 0 <= e < extent; and the e."""
    stride, dilation = dimension.stride, dimension.base_dilation
    offset = index * dimension.window_dilation - dimension.padding_low
    step = dilation // gcd(stride, dilation)
    first = next((p for p in range(step) if (p * stride + offset) % dilation == 0), None)
    if first is None:
        return None
    element, element_step = (first * stride + offset) // dilation, step * stride // dilation
    skipped = max(0, -(element // element_step))
    first, element = first + skipped * step, element + skipped * element_step
    count = min(-((first - places) // step), -((element - extent) // element_step))
    if count <= 0:
        return None
    return (
        slice(first, first + (count - 1) * step + 1, step),
        slice(element, element + (count - 1) * element_step + 1, element_step),
    )
