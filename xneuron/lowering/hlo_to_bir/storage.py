"""Memory locations: made when a value needs one, used again when nobody needs the value any more.

On chip a value takes the first room that nobody holds (first fit). What takes the same room later in the same dtype and
shape is the same location, so that the simulator runs on the reuse that hardware would see. Values have a share of the
memory; when it is used up they go to DRAM. The rest is for tiles, which live for one instruction.
"""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.ir import SSAValue

from xneuron.dialects.bir.enums import DType, MemorySpace, TensorKind
from xneuron.dialects.bir.storage import MemoryLocationOp
from xneuron.dialects.bir.types import Geometry
from xneuron.dialects.bir.verifier.storage import CAPACITY

from .builder import Builder
from .layout import on_chip
from .values import Buffer

VALUES = 112 * 1024
"""Where the share of values ends in each SB partition, and that of tiles begins: five of 64-bit integers, at least."""

Shape: TypeAlias = tuple[int, ...]


class OutOfMemory(Exception):
    """The tiles of one instruction do not fit on chip."""


@dataclass
class Rooms:
    """Which bytes of each partition of a memory are taken, and what has stood at each place."""

    capacity: int
    _taken: list[tuple[int, int, SSAValue]] = field(default_factory=list[tuple[int, int, SSAValue]])
    """(begin, end, who), by begin."""

    def first_fit(self, size: int, begin: int, end: int) -> int | None:
        """The lowest place between `begin` and `end` with so many free bytes."""
        at = begin
        for taken_begin, taken_end, _ in self._taken:
            if taken_end > at:
                if taken_begin >= at + size:
                    break
                at = taken_end
        return at if at + size <= end else None

    def take(self, at: int, size: int, who: SSAValue) -> None:
        """Marks a place as taken."""
        insort(self._taken, (at, at + size, who), key=lambda room: room[0])

    def give_back(self, who: SSAValue) -> None:
        """Marks it as free again."""
        self._taken = [room for room in self._taken if room[2] is not who]


@dataclass
class Storage:
    """All locations of a function."""

    builder: Builder
    _rooms: dict[MemorySpace, Rooms] = field(default_factory=lambda: {s: Rooms(c) for s, c in CAPACITY.items()})
    _known: dict[tuple[Geometry, int], SSAValue] = field(default_factory=dict[tuple[Geometry, int], SSAValue])
    """Locations on chip by what they are and where."""
    _free: dict[Geometry, list[SSAValue]] = field(default_factory=lambda: defaultdict[Geometry, list[SSAValue]](list))
    """Locations in DRAM that nobody holds."""
    _geometries: dict[SSAValue, Geometry] = field(default_factory=dict[SSAValue, Geometry])

    # Values

    def value(self, wanted: str, dtype: DType, count: int, in_dram: bool) -> Buffer:
        """A buffer for an array: on chip, unless it does not fit there or is wanted in DRAM."""
        shape = None if in_dram else on_chip(count)
        if shape is not None:
            handle = self._on_chip(wanted, Geometry(MemorySpace.SB, dtype, shape), 0, VALUES)
            if handle is not None:
                return Buffer(handle, MemorySpace.SB, dtype, count)
        handle = self._off_chip(wanted, Geometry(MemorySpace.DRAM, dtype, (count,)))
        return Buffer(handle, MemorySpace.DRAM, dtype, count)

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
    def tile(self, dtype: DType, shape: Shape, space: MemorySpace = MemorySpace.SB) -> Generator[SSAValue]:
        """A location for the time of a `with` block. Raises OutOfMemory."""
        geometry, wanted = Geometry(space, dtype, shape), "tile" if space is MemorySpace.SB else space.lower()
        end = CAPACITY[space]
        handle = self._on_chip(wanted, geometry, VALUES, end) if space is MemorySpace.SB else None
        handle = self._on_chip(wanted, geometry, 0, end) if handle is None else handle
        if handle is None:
            raise OutOfMemory(f"its tiles do not fit in {space}")
        yield handle
        self._give_back(handle)

    # Locations

    def _on_chip(self, wanted: str, geometry: Geometry, begin: int, end: int) -> SSAValue | None:
        """A location between two addresses; None if there is no room."""
        size = -(-geometry.bytes_per_partition // 4) * 4
        rooms = self._rooms[geometry.space]
        if (at := rooms.first_fit(size, begin, end)) is None:
            return None
        if (geometry, at) not in self._known:
            self._known[geometry, at] = self._declare(wanted, geometry, addr=at, allocated=True)
        handle = self._known[geometry, at]
        rooms.take(at, size, handle)
        return handle

    def _off_chip(self, wanted: str, geometry: Geometry) -> SSAValue:
        free = self._free[geometry]
        return free.pop() if free else self._declare(wanted, geometry)

    def _declare(self, wanted: str, geometry: Geometry, **keys: object) -> SSAValue:
        name = self.builder.name(wanted)
        handle = self.builder.declare(MemoryLocationOp(name, geometry.space, geometry.dtype, geometry.shape, **keys))
        self._geometries[handle] = geometry
        return handle

    def _give_back(self, handle: SSAValue) -> None:
        geometry = self._geometries[handle]
        if geometry.on_chip:
            self._rooms[geometry.space].give_back(handle)
        else:
            self._free[geometry].append(handle)
