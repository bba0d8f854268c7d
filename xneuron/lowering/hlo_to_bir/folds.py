"""Folding many terms into each element of a result by one operation of the ALU.

Terms come in tiles [rows, columns, terms], a TensorReduce folds each of them, and an accumulator the tiles.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from xneuron.dialects.bir.compute import MemsetOp, TensorReduceOp, TensorScalarOp, TensorTensorOp
from xneuron.dialects.bir.enums import AluOpType, DType, Engine, MemorySpace, ReduceAxes
from xneuron.dialects.bir.expressions import Affine
from xneuron.dialects.bir.movement import LoadOp, TensorCopyOp
from xneuron.dialects.bir.operands import MemoryAccess, access

from .blocks import Block, Destination, Grid, blocks, chunks
from .layout import TILE
from .movement import spread
from .patterns import Part, pairs
from .values import Buffer, Splat

if TYPE_CHECKING:
    from .computations import Lowering

Terms: TypeAlias = "Callable[[ExitStack, Block, Affine, int], MemoryAccess]"
"""`terms(stack, block, at, count)`: a tile [rows, columns * count] of a block's terms, from number `at` on."""


@dataclass(frozen=True)
class Fold:
    """`op` applied to `init` and any number of terms, in any order; in `word`, rounded once at the end."""

    op: AluOpType
    init: Buffer | Splat
    word: DType

    @property
    def has_init(self) -> bool:
        """False if the initial value changes nothing."""
        return not (isinstance(self.init, Splat) and self.init.value == identity(self.op, self.init.dtype))


def word_of(op: AluOpType, dtype: DType) -> DType:
    """What an accumulator is kept in: sums and products of floats in float32."""
    return DType.float32 if op in (AluOpType.add, AluOpType.mult) and not dtype.is_integer else dtype


_WITHOUT_INFINITY = frozenset({DType.e4m3fn, DType.e8m0})


def identity(op: AluOpType, dtype: DType) -> int | float | None:
    """The number that changes nothing; None if there is none, or none is known."""
    bits, is_unsigned = 8 * dtype.nbytes, dtype.value.startswith("u")
    low, high = (0, 2**bits - 1) if is_unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if dtype in _WITHOUT_INFINITY:
        return None
    match op:
        case AluOpType.add | AluOpType.bitwise_or | AluOpType.bitwise_xor:
            return 0
        case AluOpType.mult:
            return 1
        case AluOpType.max:
            return low if dtype.is_integer else float("-inf")
        case AluOpType.min:
            return high if dtype.is_integer else float("inf")
        case AluOpType.bitwise_and:
            return high if is_unsigned else -1
        case _:
            return None


def new_tile(low: Lowering, stack: ExitStack, dtype: DType, shape: tuple[int, int]) -> MemoryAccess:
    """A tile until the stack is left."""
    return access(stack.enter_context(low.storage.tile(dtype, shape)))


def loaded(low: Lowering, part: Part, stack: ExitStack, block: Block, at: Affine, count: int) -> MemoryAccess:
    """A tile of terms that lie in DRAM; `part` is [batch, rows, columns, terms]."""
    assert part.buffer.in_dram
    starts, extents = (block.batch, block.row, block.column, at), (1, block.rows, block.columns, count)
    found = part.region.box(starts, extents)
    tile = new_tile(low, stack, part.buffer.dtype, (block.rows, block.columns * count))
    source = access(part.buffer.handle, found.offset, pairs(found))
    low.builder.emit(LoadOp([tile], [source], engine=Engine.DMA))
    return tile


def fold_blocks(low: Lowering, fold: Fold, out: Buffer, grid: Grid, count: int, terms: Terms, start: int = 0) -> None:
    """Folds `count` terms into each element of a result of any size: elements from `start` on of `out`."""
    most = min(count, TILE)
    width = TILE // most
    destination = Destination(low, out, grid, width, start)
    for block in blocks(low, grid, width):
        with destination.block(block) as target, ExitStack() as stack:
            _fold_block(low, fold, target, block, count, most, terms, stack)
    destination.finish()


def _fold_block(
    low: Lowering,
    fold: Fold,
    target: MemoryAccess,
    block: Block,
    count: int,
    most: int,
    terms: Terms,
    stack: ExitStack,
) -> None:
    shape = block.rows, block.columns
    total = target if target.dtype is fold.word else new_tile(low, stack, fold.word, shape)
    start_with(low, fold, total, shape, stack)
    for at, size in chunks(low, count, most, "term"):
        with ExitStack() as inner:
            tile = terms(inner, block, at, size)
            part = new_tile(low, inner, fold.word, shape)
            reduce_tile(low, fold.op, part, grouped(tile, block.columns, size))
            low.builder.emit(TensorTensorOp([total], [total, part], op=fold.op, engine=Engine.DVE))
    if total is not target:
        low.builder.emit(TensorCopyOp([target], [total], engine=Engine.DVE))


def start_with(low: Lowering, fold: Fold, total: MemoryAccess, shape: tuple[int, int], stack: ExitStack) -> None:
    """The initial value everywhere."""
    if isinstance(fold.init, Splat):
        low.builder.emit(MemsetOp([total], [], constant=fold.init.value, engine=Engine.DVE))
        return
    tile = stack.enter_context(low.storage.tile(fold.init.dtype, shape))
    spread(low, Buffer(tile, MemorySpace.SB, fold.init.dtype, shape[0] * shape[1]), fold.init)
    low.builder.emit(TensorCopyOp([total], [tile], engine=Engine.DVE))


def combine_with(low: Lowering, fold: Fold, target: MemoryAccess, part: MemoryAccess, stack: ExitStack) -> None:
    """`target = op(part, init)`."""
    if isinstance(fold.init, Splat):
        step = TensorScalarOp([target], [part], op0=fold.op, const0=fold.init.value, engine=Engine.DVE)
        low.builder.emit(step)
        return
    rows, columns = part.nums
    initial = new_tile(low, stack, fold.word, (rows, columns))
    start_with(low, fold, initial, (rows, columns), stack)
    low.builder.emit(TensorTensorOp([target], [part, initial], op=fold.op, engine=Engine.DVE))


def grouped(tile: MemoryAccess, columns: int, count: int) -> MemoryAccess:
    """A tile [rows, columns * count] as [rows, columns, count]."""
    (step, rows), _ = tile.pattern
    return MemoryAccess(tile.memory, ((step, rows), (count, columns), (1, count)), tile.offset, tile.dtype)


def reduce_tile(low: Lowering, op: AluOpType, target: MemoryAccess, tile: MemoryAccess) -> None:
    """Folds the innermost dimension."""
    low.builder.emit(TensorReduceOp([target], [tile], op=op, axis=ReduceAxes.X, engine=Engine.DVE))


def reduce_partitions(low: Lowering, op: AluOpType, target: MemoryAccess, tile: MemoryAccess) -> None:
    """Folds the partitions, as GpSimd does."""
    low.builder.emit(TensorReduceOp([target], [tile], op=op, axis=ReduceAxes.C, engine=Engine.Pool))
