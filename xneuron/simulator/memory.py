"""Memory locations as flat buffers, and the windows that instructions look at them through.

A location is its elements flattened row-major. Storage holds 0xFF bytes until written (reference `bir.md`, section i):
NaN for floats, -1 or the largest value for integers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from xneuron.dialects.bir.operands import MemoryAccess, Pattern
from xneuron.dialects.bir.storage import MemoryLocationOp
from xneuron.execution.errors import EvaluationError
from xneuron.simulator.dtypes import Array, Numpy, numpy_of

SENTINEL = 0xFF
CACHE_LINE = 64
"""Bytes."""
MAX_WINDOWS = 4096
"""Windows of one access that are kept; a loop over more offsets makes them again."""


class Memory:
    """The storage of a function, allocated when something first asks for it.

    `tracked`: also remember which elements were written.
    """

    def __init__(self, locations: Sequence[MemoryLocationOp], tracked: bool = False) -> None:
        self.tracked = tracked
        self._locations: dict[SSAValue, MemoryLocationOp] = {op.result: op for op in locations}
        self._by_name = {location.label: location for location in locations}
        self._bytes: dict[SSAValue, Array] = {}
        self._written: dict[SSAValue, Array] = {}

    def reset(self) -> None:
        """Forgets what was written; constants that say what they hold are there again."""
        for buffer in self._bytes.values():
            buffer.fill(SENTINEL)
        for buffer in self._written.values():
            buffer.fill(False)
        for location in self._by_name.values():
            if location.data is not None:
                self._buffer(location.result)[...] = np.frombuffer(bytes.fromhex(location.data.data), np.uint8)
                if self.tracked:
                    self._flags(location.result).fill(True)

    def array(self, name: str) -> Array:
        """All elements of the location of that name, in its shape; not a copy."""
        location = self._by_name[name]
        geometry = location.geometry
        return self._buffer(location.result).view(numpy_of(geometry.dtype)).reshape(geometry.shape)

    def write(self, name: str, values: Array) -> None:
        """Fills a location."""
        self.array(name)[...] = values
        if self.tracked:
            self._flags(self._by_name[name].result).fill(True)

    def windows(self, access: MemoryAccess, pattern: Pattern, dtype: Numpy | None = None) -> Windows:
        """Windows on what `access` covers, shaped by `pattern`; elements as `dtype`, by default the location's."""
        location = self._location(access)
        dtype = numpy_of(location.geometry.dtype) if dtype is None else dtype
        return Windows(self._buffer(location.result), location, access.pattern, pattern, dtype)

    def written(self, access: MemoryAccess) -> Windows:
        """Windows on the flags that say which elements were written."""
        location = self._location(access)
        flags = self._flags(location.result)
        return Windows(flags, location, access.pattern, access.pattern, np.dtype(np.bool_))

    def _location(self, access: MemoryAccess) -> MemoryLocationOp:
        assert isinstance(access.memory, SSAValue)
        return self._locations[access.memory]

    def _buffer(self, value: SSAValue) -> Array:
        if value not in self._bytes:
            geometry = self._locations[value].geometry
            self._bytes[value] = _unwritten(geometry.elements * geometry.dtype.nbytes)
        return self._bytes[value]

    def _flags(self, value: SSAValue) -> Array:
        if value not in self._written:
            self._written[value] = np.zeros(self._locations[value].geometry.elements, np.uint8)
        return self._written[value]


class Windows(dict[int, Array]):
    """The window of one access at each offset, checked and made at first use: `windows[offset]`.

    `reach` is the access pattern as written, which the bounds are about; `pattern` is the shape of the window.
    """

    def __init__(
        self, buffer: Array, location: MemoryLocationOp, reach: Pattern, pattern: Pattern, dtype: Numpy
    ) -> None:
        super().__init__()
        self._buffer = buffer
        self._location = location
        self._reach = reach
        self._dtype = dtype
        self._shape = tuple(num for _, num in pattern)
        self._strides = tuple(step * dtype.itemsize for step, _ in pattern)

    def __missing__(self, offset: int) -> Array:
        self._check(offset)
        if len(self) >= MAX_WINDOWS:
            self.clear()
        start = offset * self._dtype.itemsize
        window = np.ndarray(self._shape, self._dtype, self._buffer, start, self._strides)
        self[offset] = window
        return window

    def _check(self, offset: int) -> None:
        """On chip the first pair walks partitions, and the others stay inside one (as the verifier has it)."""
        geometry = self._location.geometry
        if not geometry.on_chip:
            self._check_range(self._reach, offset, geometry.elements)
            return
        first, within = divmod(offset, geometry.free_elements)
        last = first + self._reach[0][1] - 1
        if first < 0 or last >= geometry.partitions:
            raise EvaluationError(
                f"the access at offset {offset} covers partitions {first} to {last} of the "
                f"{geometry.partitions} of '{self._location.label}'"
            )
        self._check_range(self._reach[1:], within, geometry.free_elements)

    def _check_range(self, pattern: Pattern, offset: int, room: int) -> None:
        reach = [step * (num - 1) for step, num in pattern]
        low = offset + sum(distance for distance in reach if distance < 0)
        high = offset + sum(distance for distance in reach if distance > 0)
        if low < 0 or high >= room:
            where = " of each partition" if self._location.geometry.on_chip else ""
            raise EvaluationError(
                f"the access covers elements {low} to {high} of the {room}{where} of '{self._location.label}'"
            )


def _unwritten(size: int) -> Array:
    """Bytes nobody has written, at the start of a cache line: numpy is up to 1.5 times as fast there."""
    room = np.full(size + CACHE_LINE, SENTINEL, np.uint8)
    start = -room.ctypes.data % CACHE_LINE
    return room[start : start + size]
