"""The bound of a dynamic loop in 32-bit registers: when the loop is entered, and where its counter ends.

A loop's bound `c + coeff * register` is exact, a register wraps at 32 bits. Two facts bridge the gap. Whether
`lb` is below the bound can be asked of the register itself, against a constant. And the counter and a
wrapped limit still meet: they agree modulo 2**32, and the counter cannot meet it early as long as the
distance is less than 2**32. Whether it is can also be asked of the register itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.ir import SSAValue

from xneuron.dialects.bir.axes import DynamicForLoopAxis
from xneuron.dialects.bir.enums import AluOpType, BranchCompareOp, DType
from xneuron.dialects.bir.expressions import Affine, Expr, RuntimeValue

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1


@dataclass(frozen=True)
class RuntimeBound:
    """`lb`, `c + coeff * register` and `stride` of a dynamic loop."""

    lb: int
    register: SSAValue
    coeff: int
    c: int
    stride: int

    @property
    def cannot_wrap(self) -> bool:
        """The limit is the register itself, and the counter meets it before it could step over the end."""
        return (self.coeff, self.c, self.stride) == (1, 0, 1)

    def guard(self) -> tuple[BranchCompareOp, int]:
        """`lb < c + coeff * register` as a comparison of the register, exact for every register value."""
        distance = self.lb - self.c
        if self.coeff > 0:
            threshold = distance // self.coeff
            compare, always, never = BranchCompareOp.IS_GTIMM, threshold < INT32_MIN, threshold > INT32_MAX
        elif self.coeff < 0:
            threshold = -(distance // -self.coeff)
            compare, always, never = BranchCompareOp.IS_LTIMM, threshold > INT32_MAX, threshold < INT32_MIN
        else:
            threshold, compare, always, never = 0, BranchCompareOp.IS_LTIMM, distance < 0, distance >= 0
        if always:
            return BranchCompareOp.IS_GEIMM, INT32_MIN
        return (BranchCompareOp.IS_LTIMM, INT32_MIN) if never else (compare, threshold)

    def overflow(self) -> tuple[BranchCompareOp, int] | None:
        """`c + coeff * register >= lb + 2**32` as a comparison of the register; None if no register gets there."""
        distance = self.lb + 2**32 - self.c
        if self.coeff == 0:
            return None
        threshold = -(-distance // abs(self.coeff))
        if self.coeff > 0:
            return (BranchCompareOp.IS_GEIMM, threshold) if threshold <= INT32_MAX else None
        return (BranchCompareOp.IS_LEIMM, -threshold) if -threshold >= INT32_MIN else None

    def limit_steps(self) -> Iterator[tuple[AluOpType, int, DType]]:
        """What turns the register into the limit, as operation, constant and dtype."""
        if self.coeff != 1:
            yield AluOpType.mult, self.coeff, DType.int32
        if self.c != 0:
            yield AluOpType.add, self.c, DType.int32
        if self.stride != 1:
            # lb + ceil((limit - lb) / stride) * stride, where the counter ends; the distance is unsigned.
            yield AluOpType.subtract, self.lb + 1, DType.int32
            yield AluOpType.divide, self.stride, DType.uint32
            yield AluOpType.mult, self.stride, DType.int32
            yield AluOpType.add, self.lb + self.stride, DType.int32


def runtime_bound(axis: DynamicForLoopAxis) -> RuntimeBound:
    """The bounds of a loop that the verifier accepts."""
    assert isinstance(axis.lb, Affine)
    assert isinstance(axis.ub, Affine)
    assert isinstance(axis.stride, Affine)
    ((idx, coeff),) = axis.ub.terms
    return RuntimeBound(axis.lb.c, register_of(idx), coeff, axis.ub.c, axis.stride.c)


def register_of(expr: Expr) -> SSAValue:
    """The register that a bound or a condition reads."""
    assert isinstance(expr, RuntimeValue)
    assert isinstance(expr.value, SSAValue)
    return expr.value
