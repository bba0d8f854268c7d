"""Folding a region of any size by one operation of the ALU: in one tile, tile by tile, or to one scalar."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from math import prod

from xdsl.ir import SSAValue

from xneuron.dialects.bir.compute import TensorTensorOp
from xneuron.dialects.bir.enums import Engine, MemorySpace
from xneuron.dialects.bir.expressions import Affine, constant
from xneuron.dialects.bir.movement import TensorCopyOp
from xneuron.dialects.bir.operands import MemoryAccess, access

from .blocks import chunks
from .computations import Lowering
from .copies import copy, whole
from .folds import (
    Fold,
    combine_with,
    fold_blocks,
    grouped,
    loaded,
    new_tile,
    reduce_partitions,
    reduce_tile,
    start_with,
)
from .layout import TILE, Piece, on_chip, pieces
from .patterns import Part, joined, part_of, transfer
from .regions import Region, plus, times
from .tiles import Tile
from .values import Buffer, Splat

_MOST_KEPT = 3
"""Kept dimensions that a block walks: batch, rows, columns."""


def fold_region(low: Lowering, fold: Fold, out: Buffer, source: Buffer | Splat, kept: Region, reduced: Region) -> None:
    """Folds the elements of `reduced` at each place of `kept`, which is one element of the result."""
    region = kept.then(reduced)
    if isinstance(source, Splat):
        kept, reduced = Region.repeated(kept.extents), Region.repeated(reduced.extents)
    if out.count == 1 and (isinstance(source, Splat) or Part(source, region).is_all):
        _to_scalar(low, fold, out, source, region.count)
    elif not _in_one_tile(low, fold, out, source, region):
        _in_tiles(low, fold, out, source, kept, reduced)


def _in_one_tile(low: Lowering, fold: Fold, out: Buffer, source: Buffer | Splat, region: Region) -> bool:
    """One DMA that puts the terms of each element into its partition, and one TensorReduce; False if too large.

    No DMA if they are there already: on chip, and the last dimensions reduced.
    """
    shape, count = on_chip(out.count), region.count // out.count
    if shape is None or shape[1] * count > TILE:
        return False
    rows, columns = shape
    with ExitStack() as stack:
        part = part_of(low, source, region)
        if part.is_all and not part.buffer.in_dram and on_chip(part.buffer.count) == (rows, columns * count):
            tile = whole(part.buffer)
        else:
            tile = new_tile(low, stack, part.buffer.dtype, (rows, columns * count))
            transfer(low, _as_part(tile, region), part)
        _reduced(low, fold, out, grouped(tile, columns, count), stack)
    return True


def _as_part(tile: MemoryAccess, region: Region) -> Part:
    """A whole tile as an array of the extents of a region."""
    return Part(_as_buffer(tile), Region.whole(region.extents))


def _as_buffer(tile: MemoryAccess) -> Buffer:
    handle = tile.memory
    assert isinstance(handle, SSAValue)
    return Buffer(handle, MemorySpace.SB, tile.dtype, prod(tile.nums), owned=False)


def _reduced(low: Lowering, fold: Fold, out: Buffer, tile: MemoryAccess, stack: ExitStack) -> None:
    """One TensorReduce of a tile that has all terms, then the initial value."""
    rows, columns = tile.nums[:2]
    target = new_tile(low, stack, out.dtype, (rows, columns)) if out.in_dram else access(out.handle)
    if fold.has_init:
        part = new_tile(low, stack, fold.word, (rows, columns))
        reduce_tile(low, fold.op, part, tile)
        combine_with(low, fold, target, part, stack)
    else:
        reduce_tile(low, fold.op, target, tile)
    if out.in_dram:
        copy(low, out, _as_buffer(target))


def _in_tiles(low: Lowering, fold: Fold, out: Buffer, source: Buffer | Splat, kept: Region, reduced: Region) -> None:
    """Tiles of any result; terms come straight from where they are if they lie evenly, else they are put in order."""
    count, buffer = reduced.count, low.in_dram(_once(source))
    (kept,), (reduced,) = joined(kept), joined(reduced)
    if len(kept.extents) > _MOST_KEPT or len(reduced.extents) > 1:
        everything = kept.then(reduced)
        buffer = low.scratch(ordered_from := buffer, everything.count, in_dram=True)
        transfer(low, Part(buffer, Region.whole(everything.extents)), Part(ordered_from, everything))
        kept, reduced = Region((out.count,), (count,)), Region((count,), (1,))
    for start, rows in _grids(kept):
        terms = rows.then(Region((count,), reduced.strides or (0,), reduced.offset))
        batch, height, width = rows.extents
        load = partial(loaded, low, Part(buffer, terms))
        fold_blocks(low, fold, out, (batch, height, width), count, load, start)


def _once(source: Buffer | Splat) -> Buffer | Splat:
    return Splat(source.value, source.dtype, 1) if isinstance(source, Splat) else source


def _grids(kept: Region) -> Iterator[tuple[int, Region]]:
    """Results as [batch, rows, columns], and where in the result each begins: one line is cut into tiles."""
    if len(kept.extents) > 1:
        missing = (0,) * (_MOST_KEPT - len(kept.extents))
        yield 0, Region((1,) * len(missing), missing).then(kept)
        return
    (stride,) = kept.strides or (0,)
    for piece in pieces(kept.count):
        extents = (piece.times, piece.partitions, piece.free)
        strides = (piece.size * stride, piece.free * stride, stride)
        yield piece.start, Region(extents, strides, plus(kept.offset, constant(piece.start * stride)))


# To one scalar


def _to_scalar(low: Lowering, fold: Fold, out: Buffer, source: Buffer | Splat, count: int) -> None:
    """Each tile to one element per partition, those to one, and those of all tiles to one."""
    with ExitStack() as stack:
        target = new_tile(low, stack, out.dtype, (1, 1)) if out.in_dram else whole(out)
        if on_chip(count) is None:
            _many_to_scalar(low, fold, target, source, count, stack)
        else:
            tile = _loaded_flat(low, stack, source, next(pieces(count)), constant(0))
            if fold.has_init:
                part = new_tile(low, stack, fold.word, (1, 1))
                _tile_to_scalar(low, fold, part, tile, stack)
                combine_with(low, fold, target, part, stack)
            else:
                _tile_to_scalar(low, fold, target, tile, stack)
        if out.in_dram:
            copy(low, out, _as_buffer(target))


def _many_to_scalar(
    low: Lowering, fold: Fold, target: MemoryAccess, source: Buffer | Splat, count: int, stack: ExitStack
) -> None:
    total, part = (new_tile(low, stack, fold.word, (1, 1)) for _ in range(2))
    start_with(low, fold, total, (1, 1), stack)
    for piece in pieces(count):
        for number, _ in chunks(low, piece.times, 1, "tile"):
            with ExitStack() as inner:
                tile = _loaded_flat(low, inner, source, piece, plus(times(number, piece.size), constant(piece.start)))
                _tile_to_scalar(low, fold, part, tile, inner)
                low.builder.emit(TensorTensorOp([total], [total, part], op=fold.op, engine=Engine.DVE))
    low.builder.emit(TensorCopyOp([target], [total], engine=Engine.DVE))


def _loaded_flat(low: Lowering, stack: ExitStack, source: Buffer | Splat, piece: Piece, start: Affine) -> MemoryAccess:
    tile = Tile(low, (piece.partitions, piece.free), stack)
    return tile.load(source, start) if isinstance(source, Buffer) else tile.chip(source)


def _tile_to_scalar(low: Lowering, fold: Fold, target: MemoryAccess, tile: MemoryAccess, stack: ExitStack) -> None:
    rows, columns = tile.nums
    if rows == 1:
        reduce_tile(low, fold.op, target, tile)
    elif columns == 1:
        reduce_partitions(low, fold.op, target, tile)
    else:
        column = new_tile(low, stack, fold.word, (rows, 1))
        reduce_tile(low, fold.op, column, tile)
        reduce_partitions(low, fold.op, target, column)
