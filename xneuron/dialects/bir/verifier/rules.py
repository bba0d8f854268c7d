"""Rules of single opcodes: shapes of tensors, dtypes of registers, forms of comparisons."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from ..branches import CompareAndBranchOp
from ..compute import (
    ActivationOp,
    IotaOp,
    MatmultOp,
    ReciprocalOp,
    SelectOp,
    TensorReduceOp,
    TensorScalarOp,
    TensorScalarPtrOp,
    TensorTensorOp,
)
from ..enums import REGISTER_ALU_OPS, BranchCompareOp, DType, ReduceAxes
from ..instruction import DataInstruction
from ..movement import DMACopyOp, LoadOp, SaveOp, TensorCopyOp
from ..operands import Immediate, MemoryAccess, Operand, RegisterAccess
from ..registers import RegisterAluOp, RegisterMoveOp, TensorLoadOp, TensorSaveOp
from .diagnostics import BirError

_MOVABLE = (DType.float32, DType.uint32, DType.int32)
_INTEGERS_32 = (DType.int32, DType.uint32)


def nums(operand: Operand) -> tuple[int, ...]:
    """The shape of a tensor operand."""
    assert isinstance(operand, MemoryAccess)
    return operand.nums


def _expect(what: str, expected: int, found: int) -> None:
    if expected != found:
        raise BirError("element-count", f"expected {expected} elements {what} but got {found}")


def same_elements(op: DataInstruction) -> None:
    """Every tensor has as many elements as the output."""
    count = prod(nums(op.outputs[0]))
    for number, operand in enumerate(op.inputs):
        _expect(f"in input {number} of {op.name}", count, prod(nums(operand)))


def one_scalar_per_partition(op: DataInstruction) -> None:
    """TensorScalarPtr and the bias of an Activation: the further inputs have one value per partition."""
    first, *scalars = op.inputs
    _expect(f"in input 0 of {op.name}", prod(nums(op.outputs[0])), prod(nums(first)))
    for number, operand in enumerate(scalars, 1):
        if isinstance(operand, MemoryAccess):
            _expect(f"in input {number} of {op.name}", nums(first)[0], prod(nums(operand)))


def reduced(op: DataInstruction) -> None:
    """The output of a TensorReduce has one element per group of collapsed dimensions."""
    shape = nums(op.inputs[0])
    axis: ReduceAxes = op.key("axis")
    if axis == ReduceAxes.C:
        kept = shape[1:]
    else:
        kept = shape[: max(0 if axis == ReduceAxes.XYZWC else 1, len(shape) - len(axis.value))]
    _expect("in the output of bir.tensor_reduce", prod(kept), prod(nums(op.outputs[0])))


def iota(op: DataInstruction) -> None:
    """The pattern of an Iota describes one partition of the output."""
    pattern: tuple[int, ...] = op.key("pattern")
    if len(pattern) % 2:
        raise BirError("pattern", f"expected pairs of step and num but got {len(pattern)} numbers")
    _expect("in one partition of bir.iota", prod(nums(op.outputs[0])[1:]), prod(pattern[1::2]))


def matmult(op: DataInstruction) -> None:
    """[K, N] and [K, M] give [M, N]."""
    moving, stationary = map(nums, op.inputs)
    out = nums(op.outputs[0])
    _expect("along the partitions of the stationary input", moving[0], stationary[0])
    _expect("along the partitions of the output", prod(stationary[1:]), out[0])
    _expect("in one partition of the output", prod(moving[1:]), prod(out[1:]))


def register_alu(op: DataInstruction) -> None:
    if op.key("op") not in REGISTER_ALU_OPS:
        raise BirError("register-alu", f"Invalid enum variant for enum AluOpType: {op.key('op')}")
    allowed = (DType.uint64, DType.int64) if op.key("is_64bit") else _INTEGERS_32
    for operand in (*op.inputs, *op.outputs):
        assert isinstance(operand, RegisterAccess | Immediate)
        if operand.dtype not in allowed:
            raise BirError("register-width", f"expected {' or '.join(allowed)} but got {operand.dtype}")


def register_move(op: DataInstruction) -> None:
    (source,), (target,) = op.inputs, op.outputs
    assert isinstance(target, RegisterAccess)
    if target.dtype == DType.int64:
        if not isinstance(source, Immediate):
            raise BirError("register-width", "64bit REG MOVE instr must have ImmediateValue src")
        return
    for operand in (source, target):
        assert isinstance(operand, RegisterAccess | Immediate)
        if operand.dtype not in _MOVABLE:
            raise BirError(
                "register-width", f"only support fp32/uint32/int32 for REG MOVE instr, but got {operand.dtype}"
            )


def one_element(op: DataInstruction) -> None:
    (operand,) = (o for o in (*op.inputs, *op.outputs) if isinstance(o, MemoryAccess))
    _expect(f"for {op.name}", 1, prod(operand.nums))


def comparison(op: DataInstruction) -> None:
    compare: BranchCompareOp = op.key("comp_op")
    left, right = op.inputs
    if compare == BranchCompareOp.Unsupported:
        raise BirError("branch-compare", "the comparison is Unsupported")
    if compare.with_immediate != isinstance(right, Immediate):
        wanted = "an immediate" if compare.with_immediate else "a register"
        raise BirError("branch-compare", f"expected {wanted} on the right of {compare}")
    assert isinstance(left, RegisterAccess)
    if left.dtype.nbytes > 4:
        raise BirError("branch-compare", f"expected at most 32 bits on the left but got {left.dtype}")


RULES: dict[type[DataInstruction], Callable[[DataInstruction], None]] = {
    **dict.fromkeys((TensorTensorOp, TensorScalarOp, SelectOp, ReciprocalOp), same_elements),
    **dict.fromkeys((TensorCopyOp, LoadOp, SaveOp, DMACopyOp), same_elements),
    **dict.fromkeys((TensorScalarPtrOp, ActivationOp), one_scalar_per_partition),
    TensorReduceOp: reduced,
    IotaOp: iota,
    MatmultOp: matmult,
    RegisterAluOp: register_alu,
    RegisterMoveOp: register_move,
    TensorLoadOp: one_element,
    TensorSaveOp: one_element,
    CompareAndBranchOp: comparison,
}
