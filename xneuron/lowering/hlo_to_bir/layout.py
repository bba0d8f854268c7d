"""How an array becomes a memory location: by its number of elements alone, so that a reshape is nothing to do.

Every value is its elements flattened row-major. On chip they are spread evenly over partitions; arrays that do not fit
a tile that way live in DRAM, and are worked on in tiles. All element types share one rule, so that arrays of equally
many elements always pair up.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from xdsl.ir import Attribute

from xneuron.dialects.bir.enums import DType
from xneuron.dialects.bir.verifier.storage import PARTITIONS
from xneuron.dialects.hlo.types import BY_TYPE, is_tensor

TILE = 2048
"""Most elements of one partition of a tile: 8 KiB of float32."""

DTYPES = {
    "pred": DType.uint8,
    "s8": DType.int8,
    "s16": DType.int16,
    "s32": DType.int32,
    "s64": DType.int64,
    "u8": DType.uint8,
    "u16": DType.uint16,
    "u32": DType.uint32,
    "u64": DType.uint64,
    "f16": DType.float16,
    "bf16": DType.bfloat16,
    "f32": DType.float32,
    "f8e5m2": DType.float8e5,
    "f8e4m3": DType.float8e4,
    "f8e4m3fn": DType.e4m3fn,
    "f8e3m4": DType.float8e3,
    "f8e8m0fnu": DType.e8m0,
}
"""Element types that BIR has; a pred is a byte, 0 or 1."""


def dtype_of(type: Attribute) -> DType | None:
    """The dtype of an array's elements, None if BIR has none for them."""
    row = BY_TYPE.get(type.element_type) if is_tensor(type) else None
    return DTYPES.get(row.name) if row else None


@lru_cache(maxsize=4096)
def on_chip(count: int) -> tuple[int, int] | None:
    """Partitions and elements of each for `count` elements; None if they cannot be spread evenly over small ones."""
    partitions = max(p for p in range(1, PARTITIONS + 1) if count % p == 0)
    return (partitions, count // partitions) if count // partitions <= TILE else None


class Piece(NamedTuple):
    """`times` tiles in a row, `partitions` x `free` elements each, the first one at element `start`."""

    start: int
    times: int
    partitions: int
    free: int

    @property
    def size(self) -> int:
        """Elements of one tile."""
        return self.partitions * self.free


def pieces(count: int) -> Iterator[Piece]:
    """`count` elements as tiles: one if they fit, else full ones, and what is left over."""
    if (shape := on_chip(count)) is not None:
        yield Piece(0, 1, *shape)
        return
    full, left = divmod(count, PARTITIONS * TILE)
    if full:
        yield Piece(0, full, PARTITIONS, TILE)
    rows, rest = divmod(left, PARTITIONS)
    if rows:
        yield Piece(count - left, 1, PARTITIONS, rows)
    if rest:
        yield Piece(count - rest, 1, rest, 1)
