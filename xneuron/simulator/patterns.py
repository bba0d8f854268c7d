"""Access patterns of one instruction brought to one shape, so that numpy pairs up their elements.

Element streams pair up in pattern order, whatever their shapes: `[[4, 128], [1, 4]]` and `[[1, 512]]` are the same
512 elements. A pair `(step, num)` may be cut in two, and neighbours that walk on evenly may be joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

from xneuron.dialects.bir.operands import Pattern


def elements(pattern: Pattern) -> int:
    """The number of elements that a pattern visits."""
    return prod(num for _, num in pattern)


def aligned(patterns: Sequence[Pattern]) -> list[Pattern] | None:
    """The same streams with equal shapes, in as few dimensions as possible; None where no cut does it."""
    nums = _common_shape(patterns)
    return None if nums is None else joined([_cut(pattern, nums) for pattern in patterns])


def _common_shape(patterns: Sequence[Pattern]) -> list[int] | None:
    """Extents, outermost first, that all patterns can be cut to."""
    sizes = {1}
    for pattern in patterns:
        size = 1
        for _, num in reversed(pattern):
            size *= num
            sizes.add(size)
    ends = sorted(sizes)
    if any(outer % inner for inner, outer in pairwise(ends)):
        return None
    return [outer // inner for inner, outer in pairwise(ends)][::-1]


def _cut(pattern: Pattern, nums: Sequence[int]) -> Pattern:
    """The pattern with its pairs cut so that its extents are `nums` (extents of 1 are dropped)."""
    rest = [pair for pair in pattern if pair[1] > 1]
    found: list[tuple[int, int]] = []
    for num in reversed(nums):
        step, left = rest.pop()
        found.append((step, num))
        if left > num:
            rest.append((step * num, left // num))
    return tuple(reversed(found))


def joined(patterns: Sequence[Pattern]) -> list[Pattern]:
    """Patterns of one shape with neighbouring dimensions joined where all of them allow it."""
    found: list[list[tuple[int, int]]] = []
    for pairs in zip(*patterns, strict=True):
        if found and all(outer[0] == step * num for outer, (step, num) in zip(found[-1], pairs, strict=True)):
            found[-1] = [(step, outer[1] * num) for outer, (step, num) in zip(found[-1], pairs, strict=True)]
        else:
            found.append(list(pairs))
    if not found:
        return [((1, 1),) for _ in patterns]
    return [tuple(pairs) for pairs in zip(*found, strict=True)]


def repeated(pattern: Pattern, times: int) -> Pattern:
    """Each element of the pattern that many times: one scalar per partition, read by all of its elements."""
    return (*pattern, (0, times))


def flat(pattern: Pattern) -> tuple[int, int] | None:
    """The pattern as one pair; None if it does not walk on evenly."""
    (pairs,) = joined([tuple(pair for pair in pattern if pair[1] > 1)])
    return pairs[0] if len(pairs) == 1 else None
