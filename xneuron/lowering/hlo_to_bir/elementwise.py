"""Elementwise instructions that are one operation of the ALU, and how rules for all the others are written.

A rule is a function of steps on one tile; `stepwise` registers it, and `tiles.elementwise` applies it to arrays.
Steps of several instructions keep what is in between as wide as the ALU computes, so that a result is rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from xdsl.ir import Operation

from xneuron.dialects.bir.enums import ActivationFunctionType, AluOpType, DType
from xneuron.dialects.hlo import elementwise as hlo
from xneuron.dialects.hlo.types import element_of

from .computations import Lowering
from .rules import Check, lowers
from .tiles import Chip, Operand, Steps, Tile, elementwise
from .values import Tree

_S = TypeVar("_S", bound=Callable[..., None])


def is_signed(dtype: DType) -> bool:
    """True for integers that have a sign."""
    return dtype.value.startswith("int")


def stepwise(*ops: type[Operation], check: Check | None = None) -> Callable[[_S], _S]:
    """Registers `steps(tile, out, *operands)` as the rule of instructions."""

    def register(steps: _S) -> _S:
        def rule(low: Lowering, op: Operation) -> Tree:
            return apply(low, op, steps)

        lowers(*ops, check=check, in_place=None)(rule)
        return steps

    return register


def apply(low: Lowering, op: Operation, steps: Steps) -> Tree:
    """The result of an instruction by steps on its operands."""
    return elementwise(low, low.result(op.results[0]), [low.leaf(value) for value in op.operands], steps)


def alu(op: AluOpType, *numbers: int | float) -> Steps:
    """Steps that are one operation of the ALU, on the operands and then the numbers: two at most."""

    def steps(tile: Tile, out: Chip, *operands: Operand) -> None:
        tile.alu(op, out, *operands, *numbers)

    return steps


def cast(tile: Tile, out: Chip, x: Operand) -> None:
    """Steps that convert, as BIR's copies do."""
    tile.copy(out, tile.chip(x))


def kind_of(op: Operation) -> str:
    """The kind of the first operand's elements: pred, int, uint, float."""
    return element_of(op.operands[0].type).kind


_BINARY: dict[type[hlo.BinaryOp], AluOpType] = {
    hlo.AddOp: AluOpType.add,
    hlo.SubtractOp: AluOpType.subtract,
    hlo.MultiplyOp: AluOpType.mult,
    hlo.MaximumOp: AluOpType.max,
    hlo.MinimumOp: AluOpType.min,
    hlo.PowerOp: AluOpType.pow,
    hlo.AndOp: AluOpType.bitwise_and,
    hlo.OrOp: AluOpType.bitwise_or,
    hlo.XorOp: AluOpType.bitwise_xor,
}
"""The ALU's own operations on numbers: integers wrap, powers of integers are HLO's."""
_ON_PREDS: dict[type[hlo.BinaryOp], AluOpType] = {
    hlo.AddOp: AluOpType.bitwise_or,
    hlo.MaximumOp: AluOpType.bitwise_or,
    hlo.MultiplyOp: AluOpType.bitwise_and,
    hlo.MinimumOp: AluOpType.bitwise_and,
}
"""What means something else on 0 and 1; a sum of two ones is one."""


@lowers(*_BINARY, in_place=None)
def binary(low: Lowering, op: hlo.BinaryOp) -> Tree:
    """The ALU's own operation."""
    table = {**_BINARY, **_ON_PREDS} if kind_of(op) == "pred" else _BINARY
    return apply(low, op, alu(table[type(op)]))


@stepwise(hlo.NegateOp)
def negate(tile: Tile, out: Chip, x: Operand) -> None:
    """`x * -1`: the sign of a zero changes, too; integers wrap."""
    tile.alu(AluOpType.mult, out, x, -1)


@lowers(hlo.AbsOp, in_place=None)
def absolute(low: Lowering, op: hlo.AbsOp) -> Tree:
    """The ALU's own operation; of the lowest integer, itself."""
    return apply(low, op, alu(AluOpType.abs))


@stepwise(hlo.SignOp)
def sign(tile: Tile, out: Chip, x: Operand) -> None:
    """-1, 0 or 1; of floats, zeros and NaN are their own sign."""
    if x.dtype.is_integer:
        tile.twice(out, x, (AluOpType.max, -1 if is_signed(out.dtype) else 0), (AluOpType.min, 1))
        return
    with tile.inner() as inner:
        x = inner.chip(x)
        signs = inner.activation(ActivationFunctionType.Sign, inner.wide(x), x)
        inner.select(out, x, signs, x)


@lowers(hlo.NotOp, in_place=None)
def complement(low: Lowering, op: hlo.NotOp) -> Tree:
    """All bits of integers, the lowest of a pred."""
    return apply(low, op, alu(AluOpType.bitwise_xor, 1) if kind_of(op) == "pred" else alu(AluOpType.bitwise_not))
