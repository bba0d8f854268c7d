"""Memory locations: made when a value needs one, used again when nobody needs the value any more.

A location that is free again serves the next value of its dtype and size, so that what a program takes on chip is what
it holds at one time, and the simulator runs on the very reuse that hardware would see. Values have a share of
the on-chip memory; when it is used up they go to DRAM. The rest is for tiles, which live for one instruction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.ir import SSAValue

from xneuron.dialects.bir.enums import DType, MemorySpace, TensorKind
from xneuron.dialects.bir.storage import MemoryLocationOp

from .builder import Builder
from .layout import on_chip
from .values import Buffer

CAPACITY = {MemorySpace.SB: 192 * 1024, MemorySpace.PSUM: 16 * 1024}
"""Bytes of one partition (NeuronCore-v2, reference `bir.md`, section i)."""
VALUES = 120 * 1024
"""Bytes of each SB partition that values may take; tiles have the rest."""

Shape: TypeAlias = tuple[int, ...]
Kind: TypeAlias = tuple[MemorySpace, DType, Shape]


@dataclass
class Storage:
    """All locations of a function."""

    builder: Builder
    used: dict[MemorySpace, int] = field(default_factory=lambda: defaultdict[MemorySpace, int](int))
    """Bytes of each partition that locations take."""
    _free: dict[Kind, list[SSAValue]] = field(default_factory=lambda: defaultdict[Kind, list[SSAValue]](list))
    _kinds: dict[SSAValue, Kind] = field(default_factory=dict[SSAValue, Kind])

    # Values

    def value(self, wanted: str, dtype: DType, count: int, in_dram: bool) -> Buffer:
        """A buffer for an array: on chip, unless it does not fit there or is wanted in DRAM."""
        shape = on_chip(count)
        if in_dram or shape is None or not self._has_room(MemorySpace.SB, dtype, shape, VALUES):
            return Buffer(self._take(wanted, MemorySpace.DRAM, dtype, (count,)), MemorySpace.DRAM, dtype, count)
        return Buffer(self._take(wanted, MemorySpace.SB, dtype, shape), MemorySpace.SB, dtype, count)

    def external(self, name: str, kind: TensorKind, dtype: DType, shape: Shape, **keys: object) -> Buffer:
        """A location that the outside world fills or reads, in DRAM."""
        location = MemoryLocationOp(self.builder.name(name), MemorySpace.DRAM, dtype, shape or (1,), kind=kind, **keys)
        handle = self.builder.declare(location)
        return Buffer(handle, MemorySpace.DRAM, dtype, location.geometry.elements, owned=False)

    def hold(self, buffers: Iterator[Buffer]) -> None:
        """One more value needs each of these."""
        for buffer in buffers:
            buffer.holders += 1

    def drop(self, buffers: Iterator[Buffer]) -> None:
        """One value less needs each of these."""
        for buffer in buffers:
            buffer.holders -= 1
            if not buffer.holders and buffer.owned:
                self._give_back(buffer.handle)

    # Tiles

    @contextmanager
    def tile(
        self, dtype: DType, shape: Shape, space: MemorySpace = MemorySpace.SB, wanted: str = "tile"
    ) -> Generator[SSAValue]:
        """A location for the time of a `with` block."""
        handle = self._take(wanted if space is MemorySpace.SB else space.lower(), space, dtype, shape)
        yield handle
        self._give_back(handle)

    def _take(self, wanted: str, space: MemorySpace, dtype: DType, shape: Shape) -> SSAValue:
        if free := self._free[space, dtype, shape]:
            return free.pop()
        location = MemoryLocationOp(self.builder.name(wanted), space, dtype, shape)
        handle = self.builder.declare(location)
        self._kinds[handle] = space, dtype, shape
        self._place(location)
        return handle

    def _give_back(self, handle: SSAValue) -> None:
        self._free[self._kinds[handle]].append(handle)

    def _has_room(self, space: MemorySpace, dtype: DType, shape: Shape, limit: int) -> bool:
        return bool(self._free[space, dtype, shape]) or self.used[space] + _aligned(dtype, shape) <= limit

    def _place(self, location: MemoryLocationOp) -> None:
        """Gives an on-chip location its address, behind the others."""
        geometry = location.geometry
        if not geometry.on_chip:
            return
        address = self.used[geometry.space]
        location.properties |= MemoryLocationOp.key_attributes({"addr": address, "allocated": True})
        self.used[geometry.space] += _aligned(geometry.dtype, geometry.shape)


def _aligned(dtype: DType, shape: Shape) -> int:
    """Bytes of one partition, rounded up to a multiple of 4."""
    size = dtype.nbytes
    for extent in shape[1:]:
        size *= extent
    return -(-size // 4) * 4
