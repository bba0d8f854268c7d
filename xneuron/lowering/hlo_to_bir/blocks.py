"""Results that are put together block by block: [batch, rows, columns], rows on partitions."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from xneuron.dialects.bir.expressions import Affine, affine, constant
from xneuron.dialects.bir.operands import MemoryAccess, access
from xneuron.dialects.bir.verifier.storage import PARTITIONS

from .copies import copy, move, whole
from .layout import on_chip
from .regions import plus, times
from .values import Buffer

if TYPE_CHECKING:
    from .computations import Lowering

Grid: TypeAlias = tuple[int, int, int]
"""Extents of a result: batch, rows, columns."""


class Block(NamedTuple):
    """`rows` x `columns` elements of a result, the first one at [batch, row, column]."""

    batch: Affine
    row: Affine
    column: Affine
    rows: int
    columns: int


def chunks(low: Lowering, extent: int, most: int, wanted: str) -> Iterator[tuple[Affine, int]]:
    """Where chunks of at most `most` begin, and their sizes: what is emitted meanwhile is done for each.

    Full ones are one loop; what is left over comes after it.
    """
    full, rest = divmod(extent, most)
    if full == 1:
        yield constant(0), most
    elif full:
        with low.builder.loop(wanted, full) as iv:
            yield affine(iv, most), most
    if rest:
        yield constant(full * most), rest


def blocks(low: Lowering, grid: Grid, width: int) -> Iterator[Block]:
    """All blocks of a result, of at most 128 rows and `width` columns; emits the loops over them."""
    for batch, _ in chunks(low, grid[0], 1, "batch"):
        for row, rows in chunks(low, grid[1], PARTITIONS, "row"):
            for column, columns in chunks(low, grid[2], width, "column"):
                yield Block(batch, row, column, rows, columns)


class Destination:
    """Where the blocks of a result go: elements from `start` on of `out`, row-major.

    On chip they are written where they belong if that is the layout of the result, and brought there by one DMA
    otherwise; several that do not lie like that meet in DRAM.
    """

    def __init__(self, low: Lowering, out: Buffer, grid: Grid, width: int, start: int = 0) -> None:
        self.low, self.out, self.grid, self.start = low, out, grid, start
        batch, rows, columns = grid
        self._in_place = not out.in_dram and batch == 1 and on_chip(out.count) == (rows, columns)
        is_one = batch == 1 and rows <= PARTITIONS and columns <= width
        meets_in_dram = not (out.in_dram or self._in_place or is_one)
        self._meeting = low.scratch(out, out.count, in_dram=True) if meets_in_dram else out

    @contextmanager
    def block(self, block: Block) -> Generator[MemoryAccess]:
        """A block to write, which is where it belongs when the `with` ends."""
        shape = block.rows, block.columns
        if self._in_place:
            yield access(self.out.handle, block.column, [(self.grid[2], block.rows), (1, block.columns)])
            return
        with self.low.storage.tile(self.out.dtype, shape) as tile:
            yield access(tile)
            move(self.low, self._place(block), access(tile), self._meeting.in_dram, False)

    def _place(self, block: Block) -> MemoryAccess:
        if not self._meeting.in_dram:
            return whole(self.out)
        _, rows, columns = self.grid
        at = plus(constant(self.start), times(block.batch, rows * columns), times(block.row, columns), block.column)
        return access(self._meeting.handle, at, [(columns, block.rows), (1, block.columns)])

    def finish(self) -> None:
        """Brings the blocks from where they met."""
        copy(self.low, self.out, self._meeting)
