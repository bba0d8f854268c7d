"""Rules for windows at a start given at run time, and how start indices become offsets.

An offset is affine: a number, an induction variable or a register per dimension. Starts are clamped so that the window
fits, as HLO says, before they are narrowed to what a register holds.
"""

from __future__ import annotations

from xdsl.ir import Operation

from xneuron.dialects.bir.enums import AluOpType, DType
from xneuron.dialects.bir.expressions import Affine, affine, constant
from xneuron.dialects.bir.operands import access
from xneuron.dialects.bir.registers import RegisterAluOp
from xneuron.dialects.hlo.data_movement import DynamicSliceOp, DynamicUpdateSliceOp
from xneuron.dialects.hlo.types import element_count, shape_of

from .computations import Lowering
from .copies import copy
from .empty import is_nothing
from .indices import Slicing, window_of
from .patterns import Part, all_of, part_of, transfer
from .regions import Region, keeps_order
from .rules import lowers
from .tiles import Chip, Tile, elementwise
from .values import Buffer, Path, Splat, Tree

LARGEST = 2**31 - 1
"""The largest number that a register holds; no location is that large."""
_WIDE = {DType.uint32, DType.uint64, DType.int64}


@lowers(DynamicSliceOp)
def dynamic_slice(low: Lowering, op: DynamicSliceOp) -> Tree:
    """One DMA from a region whose offset is known when it starts."""
    source, result = low.leaf(op.operand), op.results[0]
    if isinstance(source, Splat):
        return Splat(source.value, source.dtype, element_count(result.type))
    if keeps_order(op):
        return source
    sizes, whole = window_of(op), Region.whole(shape_of(op.operand.type))
    window = whole.box(window_starts(low, op), sizes)
    out = low.result(result)
    transfer(low, Part(out, Region.whole(sizes)), part_of(low, source, window))
    return out


@lowers(DynamicUpdateSliceOp, in_place=(0,))
def dynamic_update_slice(low: Lowering, op: DynamicUpdateSliceOp) -> Tree:
    """One DMA into a region of the operand's own memory if nobody else needs that, else of a copy."""
    if is_nothing(op.update.type):
        return updatable(low, op, 0)
    sizes, whole = window_of(op), Region.whole(shape_of(op.operand.type))
    starts = window_starts(low, op)
    out = updatable(low, op, 0)
    transfer(low, Part(out, whole.box(starts, sizes)), all_of(low, low.leaf(op.update), sizes))
    return out


def updatable(low: Lowering, op: Operation, number: int, path: Path = ()) -> Buffer:
    """An operand's elements where some of them may be overwritten to become a leaf of the result.

    That is the operand's own memory if it is the target of the result, or if nobody needs it any more; else a copy.
    """
    operand, result = op.operands[number], op.results[0]
    found, target = low.leaf(operand), low.target(result, path)
    if isinstance(found, Buffer) and found is target:
        return found
    is_free = isinstance(found, Buffer) and found.in_dram and low.is_dying(operand, found)
    if isinstance(found, Buffer) and is_free and target is None and list(op.operands).count(operand) == 1:
        return found
    out = low.result(result, path)
    copy(low, out, found)
    return out


def window_starts(low: Lowering, op: Slicing) -> list[Affine]:
    """Where the window starts in each dimension, so that it fits."""
    lasts = [extent - size for extent, size in zip(shape_of(op.operand.type), window_of(op), strict=True)]
    if len(op.start_indices) == 1 and shape_of(op.start_indices[0].type):
        vector = low.leaf(op.start_indices[0])
        vector = narrow(low, vector) if isinstance(vector, Buffer) else vector
        return [start_at(low, vector, constant(d), last) for d, last in enumerate(lasts)]
    return [start_offset(low, op, d, last) for d, last in enumerate(lasts)]


def start_offset(low: Lowering, op: Slicing, dimension: int, last: int) -> Affine:
    """The start in one dimension: an induction variable where that is all that the index is, else a register."""
    if (found := low.start(op, dimension)) is not None:
        return found
    return start_at(low, low.leaf(op.start_indices[dimension]), constant(0), last)


def start_at(low: Lowering, indices: Buffer | Splat, position: Affine, last: int) -> Affine:
    """One element of an array of start indices, clamped to [0, last]: a number, or a register."""
    if last == 0:
        return constant(0)
    if isinstance(indices, Splat):
        return constant(min(max(int(indices.value), 0), last))
    register = low.builder.load(access(narrow(low, indices).handle, position, [(1, 1)]), "start")
    low.builder.emit(RegisterAluOp([register], [register, 0], op=AluOpType.max))
    low.builder.emit(RegisterAluOp([register], [register, last], op=AluOpType.min))
    return affine(register)


def narrow(low: Lowering, indices: Buffer) -> Buffer:
    """Indices as a register can hold them: what is out of its range becomes -1 or the largest number."""
    if indices.dtype not in _WIDE:
        return indices
    out = low.keep_for_now(low.storage.value("indices", DType.int32, indices.count, indices.in_dram))

    def saturate(tile: Tile, target: Chip, x: Chip) -> None:
        wide = tile.alu(AluOpType.min, tile.temporary(indices.dtype), x, LARGEST)
        if indices.dtype is DType.int64:
            tile.alu(AluOpType.max, wide, wide, -1)
        tile.copy(target, wide)

    return elementwise(low, out, [indices], saturate)
