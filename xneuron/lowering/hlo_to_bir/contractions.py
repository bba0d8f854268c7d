"""Rules for dots: floats on the systolic array, in float32; integers by multiplying and adding, exactly.

Operands come as [batch, rows, terms] and [batch, columns, terms]: straight from where they are if each of these lies
evenly, else from a copy in that order.
"""

from __future__ import annotations

from contextlib import ExitStack

from xdsl.ir import SSAValue

from xneuron.dialects.bir.compute import MatmultOp, MemsetOp, TensorTensorOp
from xneuron.dialects.bir.enums import AluOpType, DType, Engine, MemorySpace
from xneuron.dialects.bir.expressions import Affine
from xneuron.dialects.bir.movement import LoadOp, TensorCopyOp
from xneuron.dialects.bir.operands import MemoryAccess, access
from xneuron.dialects.hlo.contractions import DotOp
from xneuron.dialects.hlo.types import element_of, shape_of

from .blocks import Block, Destination, blocks, chunks
from .computations import Lowering
from .dots import BANK, Dot
from .folds import Fold, fold_blocks, loaded, new_tile
from .layout import PARTITIONS
from .patterns import Part, joined, pairs, transfer
from .regions import Region
from .rules import lowers
from .values import Buffer, Splat, Tree


def _problem(op: DotOp) -> str | None:
    *operands, result = (element_of(value.type).kind for value in (op.lhs, op.rhs, op.results[0]))
    if result == "pred" and operands != ["pred", "pred"]:
        return "no instruction of BIR says whether a sum of products of numbers is 0"
    if result != "float" and "float" in operands:
        return "no instruction of BIR cuts a sum of products of floats off to an integer"
    return None


@lowers(DotOp, check=_problem)
def dot(low: Lowering, op: DotOp) -> Tree:
    """Block by block of the result."""
    shape = Dot.of(op)
    out = low.result(op.results[0])
    lhs = _ordered(low, op.lhs, shape.lhs)
    rhs = _ordered(low, op.rhs, shape.rhs)
    if all(buffer.dtype.is_integer for buffer in (out, lhs.buffer, rhs.buffer)):
        _multiply_and_add(low, out, lhs, rhs, shape, element_of(op.results[0].type).kind == "pred")
    else:
        _multiply(low, out, lhs, rhs, shape)
    return out


def _ordered(low: Lowering, value: SSAValue, groups: tuple[list[int], ...]) -> Part:
    """An operand as three dimensions, in DRAM."""
    leaf, shape = low.leaf(value), shape_of(value.type)
    if isinstance(leaf, Splat):
        one = low.in_dram(Splat(leaf.value, leaf.dtype, 1))
        return Part(one, Region.repeated([Region.whole(shape).pick(group).count for group in groups]))
    buffer, whole = low.in_dram(leaf), Region.whole(shape)
    found = [joined(whole.pick(group))[0] for group in groups]
    if all(len(region.extents) <= 1 for region in found):
        extents = [region.count for region in found]
        strides = [region.strides[0] if region.strides else 0 for region in found]
        return Part(buffer, Region(tuple(extents), tuple(strides)))
    source = whole.pick([d for group in groups for d in group])
    scratch = low.scratch(buffer, buffer.count, in_dram=True)
    transfer(low, Part(scratch, Region.whole(source.extents)), Part(buffer, source))
    return Part(scratch, Region.whole([region.count for region in found]))


# Floats

_BANK = (DType.float32, (PARTITIONS, BANK), MemorySpace.PSUM)


def _multiply(low: Lowering, out: Buffer, lhs: Part, rhs: Part, dot: Dot) -> None:
    """Each block in a bank of PSUM, rounded once to the type of the result."""
    destination = Destination(low, out, dot.grid, BANK)
    for block in blocks(low, dot.grid, BANK):
        with destination.block(block) as target, low.storage.tile(*_BANK) as bank:
            psum = access(bank, 0, [(BANK, block.rows), (1, block.columns)])
            _sum_of_products(low, psum, lhs, rhs, block, dot.terms)
            low.builder.emit(TensorCopyOp([target], [psum], engine=Engine.DVE))
    destination.finish()


def _sum_of_products(low: Lowering, psum: MemoryAccess, lhs: Part, rhs: Part, block: Block, terms: int) -> None:
    """One matmult per 128 terms; several add to a bank that is 0."""
    adds = terms > PARTITIONS
    if adds:
        low.builder.emit(MemsetOp([psum], [], constant=0.0, engine=Engine.DVE))
    for at, count in chunks(low, terms, PARTITIONS, "term"):
        with ExitStack() as stack:
            stationary = _terms_first(low, stack, lhs, (block.batch, block.row, at), (block.rows, count))
            moving = _terms_first(low, stack, rhs, (block.batch, block.column, at), (block.columns, count))
            product = MatmultOp([psum], [moving, stationary], start_tensor_calc=not adds, engine=Engine.PE)
            low.builder.emit(product)


def _terms_first(
    low: Lowering, stack: ExitStack, part: Part, starts: tuple[Affine, Affine, Affine], extents: tuple[int, int]
) -> MemoryAccess:
    """A tile [terms, rows or columns] of an operand, for the side of the array that it enters by."""
    others, terms = extents
    found = part.region.box(starts, (1, others, terms)).pick((2, 1))
    tile = new_tile(low, stack, part.buffer.dtype, (terms, others))
    source = access(part.buffer.handle, found.offset, pairs(found))
    low.builder.emit(LoadOp([tile], [source], engine=Engine.DMA))
    return tile


# Integers


def _multiply_and_add(low: Lowering, out: Buffer, lhs: Part, rhs: Part, dot: Dot, is_pred: bool) -> None:
    """Products of each element in one partition, folded; of truth values, whether any two are both true."""
    batch, rows, columns = dot.grid
    extents = (batch, rows, columns, dot.terms)
    (left_batch, row, left_term), (right_batch, column, right_term) = lhs.region.strides, rhs.region.strides
    left = Part(lhs.buffer, Region(extents, (left_batch, row, 0, left_term)))
    right = Part(rhs.buffer, Region(extents, (right_batch, 0, column, right_term)))
    multiply, add = (AluOpType.bitwise_and, AluOpType.bitwise_or) if is_pred else (AluOpType.mult, AluOpType.add)

    def products(stack: ExitStack, block: Block, at: Affine, count: int) -> MemoryAccess:
        x, y = (loaded(low, part, stack, block, at, count) for part in (left, right))
        target = x if x.dtype is out.dtype else new_tile(low, stack, out.dtype, (block.rows, block.columns * count))
        low.builder.emit(TensorTensorOp([target], [x, y], op=multiply, engine=Engine.DVE))
        return target

    fold_blocks(low, Fold(add, Splat(0, out.dtype, 1), out.dtype), out, dot.grid, dot.terms, products)
