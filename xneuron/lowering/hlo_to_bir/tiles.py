"""Elementwise work on arrays of any size: on chip in one go, in DRAM tile by tile.

A rule is written for one tile, as steps of the engines (`Tile`), and never asks where its arrays live.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, TypeAlias

from xneuron.dialects.bir.compute import ActivationOp, MemsetOp, SelectOp, TensorScalarOp, TensorTensorOp
from xneuron.dialects.bir.enums import ActivationFunctionType, AluOpType, DType, Engine
from xneuron.dialects.bir.expressions import Expr, affine, constant
from xneuron.dialects.bir.movement import DMACopyOp, LoadOp, SaveOp, TensorCopyOp
from xneuron.dialects.bir.operands import MemoryAccess, access

from .layout import Piece, on_chip, pieces
from .values import Buffer, Splat

if TYPE_CHECKING:
    from .computations import Lowering

Chip: TypeAlias = MemoryAccess
Operand: TypeAlias = "MemoryAccess | Splat"
Steps: TypeAlias = "Callable[..., None]"
"""`steps(tile, out, *inputs)`: writes `out`, which may be the memory of an input, in its last instruction only."""


def elementwise(low: Lowering, out: Buffer, inputs: Sequence[Buffer | Splat], steps: Steps) -> Buffer:
    """Applies `steps` to all elements; returns `out`. An input of one element goes with each element of the others."""
    for piece in pieces(out.count):
        if piece.times == 1:
            _piece(low, out, inputs, steps, piece, constant(piece.start))
            continue
        with low.builder.loop("tile", piece.times) as iv:
            _piece(low, out, inputs, steps, piece, affine(iv, piece.size, piece.start))
    return out


def _piece(
    low: Lowering, out: Buffer, inputs: Sequence[Buffer | Splat], steps: Steps, piece: Piece, start: Expr
) -> None:
    with ExitStack() as stack:
        tile = Tile(low, (piece.partitions, piece.free), stack)
        found = [given if isinstance(given, Splat) else tile.input(given, out.count, start) for given in inputs]
        if not out.in_dram:
            steps(tile, access(out.handle), *found)
            return
        result = tile.temporary(out.dtype)
        steps(tile, result, *found)
        low.builder.emit(SaveOp([part(out, start, piece)], [result], engine=Engine.DMA))


def part(buffer: Buffer, start: Expr, piece: Piece) -> MemoryAccess:
    """As many elements of an array in DRAM as the tile has, in the tile's shape."""
    return access(buffer.handle, start, [(piece.free, piece.partitions), (1, piece.free)])


class Tile:
    """Instructions on tiles of one shape; tiles that it makes are gone when its `with` block ends."""

    def __init__(self, low: Lowering, shape: tuple[int, int], stack: ExitStack) -> None:
        self.low, self.shape, self._stack = low, shape, stack

    def input(self, buffer: Buffer, count: int, start: Expr) -> Chip:
        """The tile's share of an array of `count` elements, or of one that all of them go with."""
        return self.load(buffer, start) if buffer.count == count else self.spread(buffer)

    def load(self, buffer: Buffer, start: Expr) -> Chip:
        """The tile's share of an array."""
        if not buffer.in_dram:
            assert on_chip(buffer.count) == self.shape
            return access(buffer.handle)
        target = self.temporary(buffer.dtype)
        self.low.builder.emit(LoadOp([target], [part(buffer, start, Piece(0, 1, *self.shape))], engine=Engine.DMA))
        return target

    def spread(self, scalar: Buffer) -> Chip:
        """The one element of an array, as if it were a whole tile: once per partition, read again and again."""
        partitions, free = self.shape
        column = self._stack.enter_context(self.low.storage.tile(scalar.dtype, (partitions, 1)))
        again = [(0, partitions)] if scalar.in_dram else [(1, 1), (0, partitions)]
        self.low.builder.emit(DMACopyOp([column], [access(scalar.handle, 0, again)], engine=Engine.DMA))
        return access(column, 0, [(1, partitions), (0, free)])

    @contextmanager
    def inner(self) -> Generator[Tile]:
        """The same tile for steps whose own tiles are gone earlier, when the inner `with` block ends."""
        with ExitStack() as stack:
            yield Tile(self.low, self.shape, stack)

    def temporary(self, dtype: DType) -> Chip:
        """A new tile."""
        return access(self._stack.enter_context(self.low.storage.tile(dtype, self.shape)))

    def wide(self, x: Operand) -> Chip:
        """A new tile for what is computed from `x` on the way: as wide as the ALU computes, so that nothing rounds."""
        return self.temporary(x.dtype if x.dtype.is_integer else DType.float32)

    def chip(self, operand: Operand) -> Chip:
        """An operand in memory."""
        return operand if isinstance(operand, MemoryAccess) else self.full(operand.value, operand.dtype)

    def full(self, value: int | float, dtype: DType) -> Chip:
        """A tile of one number."""
        target = self.temporary(dtype)
        self.low.builder.emit(MemsetOp([target], [], constant=value, engine=Engine.DVE))
        return target

    # Steps. `out` may be one of the inputs.

    def alu(self, op: AluOpType, out: Chip, x: Operand, y: Operand | int | float = 0.0) -> Chip:
        """`out = op(x, y)`, or `op(x)`. A number or a splat on one side is part of the instruction."""
        left, right = _number(x), _number(y)
        if right is not None:
            self._scalar(op, out, self.chip(x), right, reverse=False)
        elif left is not None:
            assert isinstance(y, MemoryAccess)
            self._scalar(op, out, y, left, reverse=True)
        else:
            assert isinstance(x, MemoryAccess)
            assert isinstance(y, MemoryAccess)
            self.low.builder.emit(TensorTensorOp([out], [x, y], op=op, engine=Engine.DVE))
        return out

    def _scalar(self, op: AluOpType, out: Chip, x: Chip, number: int | float, reverse: bool) -> None:
        step = TensorScalarOp([out], [x], op0=op, const0=number, reverse0=reverse, engine=Engine.DVE)
        self.low.builder.emit(step)

    def twice(
        self, out: Chip, x: Operand, first: tuple[AluOpType, int | float], then: tuple[AluOpType, int | float]
    ) -> Chip:
        """`out = op1(op0(x, c0), c1)` in one instruction, with nothing rounded in between."""
        (op0, const0), (op1, const1) = first, then
        self.low.builder.emit(
            TensorScalarOp([out], [self.chip(x)], op0=op0, const0=const0, op1=op1, const1=const1, engine=Engine.DVE)
        )
        return out

    def activation(self, func: ActivationFunctionType, out: Chip, x: Operand, scale: float = 1.0) -> Chip:
        """`out = func(x * scale)`, in float32."""
        self.low.builder.emit(ActivationOp([out], [self.chip(x)], func=func, scale=scale, engine=Engine.Activation))
        return out

    def select(self, out: Chip, mask: Operand, on_true: Operand, on_false: Operand) -> Chip:
        """`out = on_true where mask is not 0, else on_false`."""
        inputs = [self.chip(mask), self.chip(on_true), self.chip(on_false)]
        self.low.builder.emit(SelectOp([out], inputs, engine=Engine.DVE))
        return out

    def copy(self, out: Chip, x: Operand) -> Chip:
        """`out = x`, in the dtype of `out`."""
        if isinstance(x, Splat):
            self.low.builder.emit(MemsetOp([out], [], constant=x.value, engine=Engine.DVE))
        else:
            self.low.builder.emit(TensorCopyOp([out], [x], engine=Engine.DVE))
        return out


def _number(operand: Operand | int | float) -> int | float | None:
    """A number that an instruction can have in it; None for memory."""
    if isinstance(operand, Splat):
        return operand.value
    return None if isinstance(operand, MemoryAccess) else operand
