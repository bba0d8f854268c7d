"""Regions as access patterns, and the elements of one region to another by DMA.

A DMA streams elements in pattern order, so that one instruction gathers a transposed, sliced or broadcast array.
In DRAM a pattern is at most four pairs; what needs more is moved by static loops over the smallest extents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from xneuron.dialects.bir.expressions import Affine, affine
from xneuron.dialects.bir.operands import MemoryAccess, access
from xneuron.dialects.bir.verifier.accesses import MAX_PAIRS

from .copies import move, whole
from .regions import Region
from .values import Buffer, Splat

if TYPE_CHECKING:
    from .computations import Lowering


class Part(NamedTuple):
    """Some elements of an array in memory."""

    buffer: Buffer
    region: Region

    @property
    def is_all(self) -> bool:
        """True if it is the array as it is."""
        return self.region.count == self.buffer.count and self.region.is_linear

    @property
    def access(self) -> MemoryAccess:
        """The elements. On chip only whole arrays can be had, or one element again and again."""
        if self.is_all:
            return whole(self.buffer)
        if self.buffer.in_dram:
            return access(self.buffer.handle, self.region.offset, pairs(self.region))
        assert self.buffer.count == 1, "a part of an array on chip"
        return access(self.buffer.handle, 0, [(1, 1), (0, self.region.count)])

    def fixed(self, dimension: int, index: Affine) -> Part:
        """The elements at one index of a dimension."""
        return Part(self.buffer, self.region.fixed(dimension, index))


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


def joined(*regions: Region) -> list[Region]:
    """The same regions, of equal extents, in as few dimensions as all of them allow."""
    extents: list[int] = []
    strides: list[tuple[int, ...]] = []
    for extent, *steps in zip(regions[0].extents, *(region.strides for region in regions), strict=True):
        if extent == 1:
            continue
        if strides and all(outer == extent * inner for outer, inner in zip(strides[-1], steps, strict=True)):
            extent *= extents.pop()
            strides.pop()
        extents.append(extent)
        strides.append(tuple(steps))
    columns = zip(*strides, strict=True) if strides else ((),) * len(regions)
    return [Region(tuple(extents), found, region.offset) for region, found in zip(regions, columns, strict=True)]


def pairs(region: Region) -> list[tuple[int, int]]:
    """The region as (step, num) pairs, as few as possible, at least one."""
    (region,) = joined(region)
    return list(zip(region.strides, region.extents, strict=True)) or [(1, 1)]


def transfer(low: Lowering, target: Part, source: Part) -> None:
    """The elements of `source` to `target`, one by one; their regions have equal extents."""
    sides = (target, source)
    if all(not part.buffer.in_dram or len(pairs(part.region)) <= MAX_PAIRS for part in sides):
        move(low, target.access, source.access, target.buffer.in_dram, source.buffer.in_dram)
    elif all(part.buffer.in_dram or part.buffer.count == 1 for part in sides):
        _in_a_loop(low, *(Part(part.buffer, region) for part, region in zip(sides, _together(sides), strict=True)))
    else:
        scratch = Part(low.scratch(source.buffer, source.region.count, True), Region.whole(source.region.extents))
        transfer(low, scratch, source)
        transfer(low, target, scratch)


def _together(parts: tuple[Part, ...]) -> list[Region]:
    return joined(*(part.region for part in parts))


def _in_a_loop(low: Lowering, target: Part, source: Part) -> None:
    """One trip per index of the dimension of the smallest extent."""
    extents = target.region.extents
    smallest = min(range(len(extents)), key=extents.__getitem__)
    with low.builder.loop("part", extents[smallest]) as step:
        at = affine(step)
        transfer(low, target.fixed(smallest, at), source.fixed(smallest, at))


def brought(low: Lowering, source: Buffer | Splat, region: Region) -> Buffer | Splat:
    """Some elements as an array of their own, on chip if they fit, until the instruction is done."""
    if isinstance(source, Splat):
        return Splat(source.value, source.dtype, region.count)
    target = low.scratch(source, region.count, in_dram=False)
    transfer(low, Part(target, Region.whole(region.extents)), part_of(low, source, region))
    return target
