"""Regions as access patterns, and the elements of one region to another by DMA.

A DMA streams elements in pattern order, so that one instruction gathers a transposed, sliced or broadcast array.
In DRAM a pattern is at most four pairs; what needs more is moved by static loops over the smallest extents.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from xneuron.dialects.bir.expressions import affine
from xneuron.dialects.bir.operands import MemoryAccess, access

from .copies import move, whole
from .regions import Region, plus
from .values import Buffer, Splat

if TYPE_CHECKING:
    from .computations import Lowering

MAX_PAIRS = 4
Dims: TypeAlias = list[tuple[int, tuple[int, ...]]]
"""Dimensions that several regions walk together: an extent, and the stride of each region."""


class Part(NamedTuple):
    """Some elements of an array in memory."""

    buffer: Buffer
    region: Region

    @property
    def is_all(self) -> bool:
        """True if it is the array as it is."""
        return self.region.count == self.buffer.count and self.region.is_linear

    def access(self, pattern: list[tuple[int, int]]) -> MemoryAccess:
        """The elements by the given pairs. On chip only whole arrays can be had, or one element repeated."""
        if self.buffer.in_dram:
            return access(self.buffer.handle, self.region.offset, pattern)
        if self.buffer.count == 1:
            return access(self.buffer.handle, 0, [(1, 1), (0, self.region.count)])
        assert self.is_all, "a region of an array on chip"
        return whole(self.buffer)

    @property
    def pairs_matter(self) -> bool:
        """True if its pattern must be made from the region."""
        return self.buffer.in_dram


def part_of(low: Lowering, leaf: Buffer | Splat, region: Region) -> Part:
    """Some elements of an operand, where patterns can reach them; of a splat, its number again and again."""
    if isinstance(leaf, Splat):
        return Part(low.written(Splat(leaf.value, leaf.dtype, 1)), Region.repeated(region.extents))
    if leaf.count == 1 or Part(leaf, region).is_all:
        return Part(leaf, region)
    return Part(low.in_dram(leaf), region)


def all_of(low: Lowering, leaf: Buffer | Splat, extents: tuple[int, ...]) -> Part:
    """An operand as it is."""
    return part_of(low, leaf, Region.whole(extents))


def joined(*regions: Region) -> Dims:
    """The dimensions of regions of equal extents, without those of extent 1, neighbours that walk on evenly as one."""
    found: Dims = []
    for extent, *strides in zip(regions[0].extents, *(region.strides for region in regions), strict=True):
        if extent == 1:
            continue
        if found and all(outer == extent * inner for outer, inner in zip(found[-1][1], strides, strict=True)):
            extent *= found.pop()[0]
        found.append((extent, tuple(strides)))
    return found


def pairs(region: Region) -> list[tuple[int, int]]:
    """The region as (step, num) pairs, as few as possible, at least one."""
    return [(strides[0], extent) for extent, strides in joined(region)] or [(1, 1)]


def transfer(low: Lowering, target: Part, source: Part) -> None:
    """The elements of `source` to `target`, one by one; their regions have equal extents."""
    for side in (target, source):
        if not side.buffer.in_dram and len(pairs(source.region if side is target else target.region)) > MAX_PAIRS:
            _by_way_of_dram(low, target, source)
            return
    dims = joined(target.region, source.region)
    with ExitStack() as loops:
        while any(
            part.buffer.in_dram and len(pairs(region)) > MAX_PAIRS for part, region in _sides(dims, target, source)
        ):
            smallest = min(range(len(dims)), key=lambda number: dims[number][0])
            extent, strides = dims.pop(smallest)
            step = loops.enter_context(low.builder.loop("part", extent))
            target, source = (
                Part(part.buffer, part.region.moved(affine(step, stride)))
                for part, stride in zip((target, source), strides, strict=True)
            )
        accesses = [Part(part.buffer, region).access(pairs(region)) for part, region in _sides(dims, target, source)]
        move(low, accesses[0], accesses[1], target.buffer.in_dram, source.buffer.in_dram)
