"""Rules for dots: floats on the systolic array, in float32; integers by multiplying and adding, exactly.

Operands come as [batch, rows, terms] and [batch, columns, terms]: straight from where they are if each of these lies
evenly, else from a copy in that order.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import reduce

from xdsl.ir import SSAValue

from xneuron.dialects.bir.compute import MatmultOp, MemsetOp, TensorTensorOp
from xneuron.dialects.bir.enums import AluOpType, DType, Engine, MemorySpace
from xneuron.dialects.bir.expressions import Affine
from xneuron.dialects.bir.movement import LoadOp, TensorCopyOp
from xneuron.dialects.bir.operands import MemoryAccess, access
from xneuron.dialects.bir.verifier.storage import PARTITIONS
from xneuron.dialects.hlo.contractions import ConvolutionOp, DotOp
from xneuron.dialects.hlo.types import element_count, element_of, shape_of

from .blocks import Block, Destination, Grid, blocks, chunks
from .computations import Lowering
from .dots import BANK, Dot
from .empty import is_nothing
from .folds import Fold, fold_blocks, loaded, new_tile
from .layout import dtype_of
from .patterns import Part, joined, pairs, transfer
from .regions import Region, plus
from .rules import lowers
from .values import Buffer, Splat, Tree


def problem(op: DotOp | ConvolutionOp) -> str | None:
    """What is wrong with the types of a sum of products."""
    *operands, result = (element_of(value.type).kind for value in (op.lhs, op.rhs, op.results[0]))
    if result == "pred" and operands != ["pred", "pred"]:
        return "no instruction of BIR says whether a sum of products of numbers is 0"
    if result != "float" and "float" in operands:
        return "no instruction of BIR cuts a sum of products of floats off to an integer"
    return None


@lowers(DotOp, check=problem)
def dot(low: Lowering, op: DotOp) -> Tree:
    """Block by block of the result; zero where there are no terms."""
    if is_nothing(op.lhs.type):
        dtype = dtype_of(op.results[0].type)
        assert dtype is not None
        return Splat(0, dtype, element_count(op.results[0].type))
    shape = Dot.of(op)
    lhs = ordered(low, low.leaf(op.lhs), _groups(op.lhs, shape.lhs))
    rhs = ordered(low, low.leaf(op.rhs), _groups(op.rhs, shape.rhs))
    out = low.result(op.results[0])
    product(low, out, lhs, rhs, is_pred=element_of(op.results[0].type).kind == "pred")
    return out


def _groups(value: SSAValue, groups: tuple[list[int], ...]) -> list[Region]:
    whole = Region.whole(shape_of(value.type))
    return [whole.pick(group) for group in groups]


def ordered(low: Lowering, leaf: Buffer | Splat, groups: Sequence[Region]) -> Part:
    """Elements as [batch, rows or columns, terms], in DRAM: each group of dimensions becomes one."""
    counts = [group.count for group in groups]
    if isinstance(leaf, Splat):
        return Part(low.in_dram(Splat(leaf.value, leaf.dtype, 1)), Region.repeated(counts))
    buffer, found = low.in_dram(leaf), [joined(group)[0] for group in groups]
    if all(len(group.extents) <= 1 for group in found):
        strides = [group.strides[0] if group.strides else 0 for group in found]
        return Part(buffer, Region(tuple(counts), tuple(strides), plus(*(group.offset for group in groups))))
    source = reduce(Region.then, groups)
    scratch = low.scratch(buffer, source.count, in_dram=True)
    transfer(low, Part(scratch, Region.whole(source.extents)), Part(buffer, source))
    return Part(scratch, Region.whole(counts))


def product(low: Lowering, out: Buffer, lhs: Part, rhs: Part, is_pred: bool) -> None:
    """The sums of products of [batch, rows, terms] and [batch, columns, terms], as [batch, rows, columns]."""
    batch, rows, terms = lhs.region.extents
    grid = batch, rows, rhs.region.extents[1]
    if all(buffer.dtype.is_integer for buffer in (out, lhs.buffer, rhs.buffer)):
        _multiply_and_add(low, out, lhs, rhs, grid, terms, is_pred)
    else:
        _multiply(low, out, lhs, rhs, grid, terms)


# Floats

_BANK = (DType.float32, (PARTITIONS, BANK), MemorySpace.PSUM)


def _multiply(low: Lowering, out: Buffer, lhs: Part, rhs: Part, grid: Grid, terms: int) -> None:
    """Each block in a bank of PSUM, rounded once to the type of the result."""
    destination = Destination(low, out, grid, BANK)
    for block in blocks(low, grid, BANK):
        with destination.block(block) as target, low.storage.tile(*_BANK) as bank:
            psum = access(bank, 0, [(BANK, block.rows), (1, block.columns)])
            _sum_of_products(low, psum, lhs, rhs, block, terms)
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


def _multiply_and_add(low: Lowering, out: Buffer, lhs: Part, rhs: Part, grid: Grid, terms: int, is_pred: bool) -> None:
    """Products of each element in one partition, folded; of truth values, whether any two are both true."""
    extents = (*grid, terms)
    (left_batch, row, left_term), (right_batch, column, right_term) = lhs.region.strides, rhs.region.strides
    left = Part(lhs.buffer, Region(extents, (left_batch, row, 0, left_term)))
    right = Part(rhs.buffer, Region(extents, (right_batch, 0, column, right_term)))
    multiply, add = (AluOpType.bitwise_and, AluOpType.bitwise_or) if is_pred else (AluOpType.mult, AluOpType.add)

    def products(stack: ExitStack, block: Block, at: Affine, count: int) -> MemoryAccess:
        x, y = (loaded(low, part, stack, block, at, count) for part in (left, right))
        target = x if x.dtype is out.dtype else new_tile(low, stack, out.dtype, (block.rows, block.columns * count))
        low.builder.emit(TensorTensorOp([target], [x, y], op=multiply, engine=Engine.DVE))
        return target

    fold_blocks(low, Fold(add, Splat(0, out.dtype, 1), out.dtype), out, grid, terms, products)
