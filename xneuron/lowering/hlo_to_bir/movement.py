"""Rules for what moves elements without computing: another region of the operand, or the result piece by piece."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from xneuron.dialects.bir.compute import IotaOp as IotaInstruction
from xneuron.dialects.bir.enums import AluOpType, DType, Engine
from xneuron.dialects.bir.expressions import affine, constant
from xneuron.dialects.bir.movement import SaveOp
from xneuron.dialects.bir.operands import MemoryAccess
from xneuron.dialects.hlo.attributes import int_list, int_of
from xneuron.dialects.hlo.data_movement import (
    BroadcastOp,
    ConcatenateOp,
    IotaOp,
    PadOp,
    ReverseOp,
    SliceOp,
    TransposeOp,
)
from xneuron.dialects.hlo.types import element_count, shape_of

from .computations import Lowering
from .copies import copy, whole
from .empty import is_nothing
from .layout import Piece, pieces
from .patterns import Part, all_of, part_of, transfer
from .regions import Region, keeps_order, region_of
from .rules import lowers
from .tiles import Tile, part
from .values import Buffer, Splat, Tree


@lowers(BroadcastOp, TransposeOp, SliceOp, ReverseOp)
def view(low: Lowering, op: BroadcastOp | TransposeOp | SliceOp | ReverseOp) -> Tree:
    """One DMA from another region of the operand; nothing if that is all of it in the same order."""
    source, result = low.leaf(op.operand), op.results[0]
    if isinstance(source, Splat):
        return Splat(source.value, source.dtype, element_count(result.type))
    if keeps_order(op):
        return source
    region = region_of(op)
    assert region is not None
    out = low.result(result)
    transfer(low, Part(out, Region.whole(region.extents)), part_of(low, source, region))
    return out


@lowers(ConcatenateOp)
def concatenate(low: Lowering, op: ConcatenateOp) -> Tree:
    """One DMA per operand."""
    out, (dimension,) = low.result(op.results[0]), int_list(op.dimensions)
    result = Region.whole(shape_of(op.results[0].type))
    starts = [0] * len(result.extents)
    for value in op.inputs:
        if is_nothing(value.type):
            continue
        extents = shape_of(value.type)
        transfer(low, Part(out, result.box(starts, extents)), all_of(low, low.leaf(value), extents))
        starts[dimension] += extents[dimension]
    return out


@lowers(PadOp)
def pad(low: Lowering, op: PadOp) -> Tree:
    """The padding everywhere, then what is left of the operand over it."""
    out, extents = low.result(op.results[0]), shape_of(op.results[0].type)
    spread(low, out, low.leaf(op.padding_value))
    if is_nothing(op.operand.type):
        return out
    steps = [interior + 1 for interior in int_list(op.interior_padding)]
    source = all_of(low, low.leaf(op.operand), shape_of(op.operand.type))
    place(low, Part(out, Region.whole(extents)), source, int_list(op.edge_padding_low), steps)
    return out


def place(low: Lowering, target: Part, source: Part, starts: Sequence[int], steps: Sequence[int]) -> None:
    """Element i of `source` to element `start + i * step` of each dimension; what falls outside is left out."""
    rows = zip(source.region.extents, target.region.extents, starts, steps, strict=True)
    kept = [_kept(extent, limit, start, step) for extent, limit, start, step in rows]
    sizes = [stop - first for first, stop, _ in kept]
    if min(sizes, default=1) <= 0:
        return
    part = source.region.box([first for first, _, _ in kept], sizes)
    places = target.region.box([at for _, _, at in kept], sizes, steps)
    transfer(low, Part(target.buffer, places), part_of(low, source.buffer, part))


def _kept(extent: int, limit: int, offset: int, step: int) -> tuple[int, int, int]:
    """Which of `extent` elements, put at `offset + i * step`, are put below `limit`, and where the first one is."""
    first = max(0, -(offset // step))
    return first, min(extent, -((offset - limit) // step)), offset + first * step


def spread(low: Lowering, target: Buffer, scalar: Buffer | Splat) -> None:
    """The one element of a scalar everywhere."""
    if isinstance(scalar, Splat):
        copy(low, target, Splat(scalar.value, scalar.dtype, target.count))
    else:
        extents = (target.count,)
        transfer(low, Part(target, Region.whole(extents)), Part(scalar, Region.repeated(extents)))


@lowers(IotaOp)
def iota(low: Lowering, op: IotaOp) -> Tree:
    """Numbers as they lie in the result where that is one line, else a line of them, repeated by a DMA."""
    out = low.result(op.results[0])
    number(low, out, shape_of(op.results[0].type), int_of(op.iota_dimension))
    return out


def number(low: Lowering, out: Buffer, extents: tuple[int, ...], dimension: int) -> None:
    """The index along one dimension everywhere."""
    if extents[dimension] == out.count:
        _count_up(low, out)
        return
    line = low.scratch(out, extents[dimension], in_dram=True)
    _count_up(low, line)
    strides = tuple(1 if d == dimension else 0 for d in range(len(extents)))
    transfer(low, Part(out, Region.whole(extents)), Part(line, Region(extents, strides)))


def _count_up(low: Lowering, out: Buffer) -> None:
    """0, 1, 2, …; in DRAM tile by tile."""
    if not out.in_dram:
        _counted(low, whole(out), 0)
        return
    for piece in pieces(out.count):
        with ExitStack() as stack:
            tile = Tile(low, (piece.partitions, piece.free), stack)
            if piece.times == 1:
                numbers = _counted(low, tile.temporary(out.dtype), piece.start)
                low.builder.emit(SaveOp([part(out, constant(piece.start), piece)], [numbers], engine=Engine.DMA))
            else:
                _count_on(low, out, piece, tile)


def _counted(low: Lowering, target: MemoryAccess, start: int) -> MemoryAccess:
    """Writes a tile; an instruction counts from a number that it has in it."""
    (free, _), (_, num) = target.pattern
    counting = IotaInstruction([target], [], base=start, pattern=(1, num), channel_multiplier=free, engine=Engine.Pool)
    low.builder.emit(counting)
    return target


def _count_on(low: Lowering, out: Buffer, piece: Piece, tile: Tile) -> None:
    """Tile after tile: the next numbers are the last ones and a tile's size."""
    numbers, converted = _counted(low, tile.temporary(DType.int32), piece.start), tile.temporary(out.dtype)
    with low.builder.loop("tile", piece.times) as iv:
        tile.copy(converted, numbers)
        target = part(out, affine(iv, piece.size, piece.start), piece)
        low.builder.emit(SaveOp([target], [converted], engine=Engine.DMA))
        tile.alu(AluOpType.add, numbers, numbers, piece.size)
