"""Writing the instructions on registers: one line of integer arithmetic each, and what wraps it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.ir import SSAValue

from xneuron.dialects.bir.branches import CompareAndBranchOp
from xneuron.dialects.bir.enums import DType
from xneuron.dialects.bir.instruction import DataInstruction
from xneuron.dialects.bir.operands import Immediate, MemoryAccess, Operand, RegisterAccess
from xneuron.dialects.bir.registers import RegisterAluOp, RegisterMoveOp, TensorLoadOp, TensorSaveOp
from xneuron.dialects.bir.storage import RegisterOp
from xneuron.execution.errors import EvaluationError
from xneuron.simulator.numbers import float_bits, signed
from xneuron.simulator.register_code import (
    Number,
    alu,
    condition,
    element,
    integer_range,
    literal,
    low_bits,
    register,
    wrapped,
)

if TYPE_CHECKING:
    from xneuron.simulator.emission import Emitter

_WORDS = (DType.int32, DType.uint32, DType.float32, DType.float32r)
"""Elements that a register holds bit by bit."""
_LONGS = (DType.int64, DType.uint64)


def emit_move(emitter: Emitter, op: RegisterMoveOp) -> None:
    """Copies bits; an immediate's bits are those of its dtype."""
    (source,), (target,) = op.inputs, op.outputs
    name = _variable(emitter, target)
    if isinstance(source, Immediate):
        emitter.source.line(f"{name} = {immediate_bits(source, _bits(target))}")
    elif name != (other := _variable(emitter, source)):
        emitter.source.line(f"{name} = {other}")


def emit_alu(emitter: Emitter, op: RegisterAluOp) -> None:
    """Exact arithmetic on what the operands' dtypes say, then the low bits."""
    (target,) = op.outputs
    bits = 64 if op.key("is_64bit") else 32
    left, right = (integer(emitter, operand) for operand in op.inputs)
    _lines(emitter, wrapped(_variable(emitter, target), alu(op.key("op"), left, right, bits), bits))


def emit_load(emitter: Emitter, op: TensorLoadOp) -> None:
    """One element: integers extended by their own dtype, float32 bit by bit, other floats as float32 bits."""
    (source,), (target,) = op.inputs, op.outputs
    assert isinstance(source, MemoryAccess)
    dtype, bits = source.dtype, _bits(target)
    if dtype in _WORDS and (bits == 32 or dtype is not DType.uint32):
        value = register(f"{emitter.window(source, dtype=np.dtype(np.int32))}.item()")
    elif dtype in _LONGS:
        value = register(f"{emitter.window(source, dtype=np.dtype(np.int64))}.item()", 64)
    elif dtype.is_integer or dtype is DType.fp4x4:
        value = element(f"{emitter.window(source)}.item()", *integer_range(dtype))
    else:
        value = register(f"float_bits({emitter.window(source)}.item())")
    _lines(emitter, wrapped(_variable(emitter, target), value, bits))


def emit_save(emitter: Emitter, op: TensorSaveOp) -> None:
    """The other way round: low bits into integers and float32, the float32 value into other floats."""
    (source,), (target,) = op.inputs, op.outputs
    assert isinstance(target, MemoryAccess)
    dtype = target.dtype
    value = integer(emitter, source)
    if dtype in _WORDS:
        window, value = emitter.window(target, dtype=np.dtype(np.int32)), low_bits(value, 32, True)
    elif dtype in _LONGS:
        window, value = emitter.window(target, dtype=np.dtype(np.int64)), low_bits(value, 64, True)
    elif dtype.is_integer or dtype is DType.fp4x4:
        window, value = emitter.window(target), low_bits(value, *integer_range(dtype))
    else:
        window, value = emitter.window(target), register(f"bits_float({low_bits(value, 32, True).text})")
    emitter.source.line(f"{window}.fill({value.text})")


def branch_condition(emitter: Emitter, op: CompareAndBranchOp) -> str:
    """The comparison, in the dtype of the left operand."""
    left, right = op.inputs
    assert isinstance(left, RegisterAccess)
    return condition(op.comp_op.data, _read(emitter, left, left.dtype), _read(emitter, right, left.dtype))


def _read(emitter: Emitter, operand: Operand, dtype: DType) -> str:
    """A register, or an immediate, as a value of `dtype`."""
    if dtype.is_integer:
        width, is_signed = integer_range(dtype)
        return low_bits(_raw(emitter, operand), width, is_signed).text
    if dtype not in (DType.float32, DType.float32r):
        raise EvaluationError(f"a comparison of registers as {dtype} is not supported yet.")
    if isinstance(operand, Immediate):
        return f"float({str(float(operand.value))!r})"
    return f"bits_float({_raw(emitter, operand).text})"


def integer(emitter: Emitter, operand: Operand) -> Number:
    """An operand of arithmetic: an immediate, or a register read as its dtype says."""
    if isinstance(operand, RegisterAccess) and operand.dtype.is_integer:
        width, is_signed = integer_range(operand.dtype)
        return low_bits(_raw(emitter, operand), width, is_signed)
    return _raw(emitter, operand)


def _raw(emitter: Emitter, operand: Operand) -> Number:
    if isinstance(operand, Immediate):
        return literal(int(operand.value))
    return register(_variable(emitter, operand), _bits(operand))


def immediate_bits(immediate: Immediate, bits: int) -> int:
    """The bits of an immediate as a signed integer."""
    value = immediate.value
    if immediate.dtype.is_integer:
        return signed(int(value), bits)
    return float_bits(value)


def _variable(emitter: Emitter, operand: Operand) -> str:
    assert isinstance(operand, RegisterAccess)
    assert isinstance(operand.register, SSAValue)
    return emitter.registers[operand.register]


def _bits(operand: Operand) -> int:
    assert isinstance(operand, RegisterAccess)
    assert isinstance(operand.register, SSAValue)
    assert isinstance(operand.register.owner, RegisterOp)
    return 32 * operand.register.owner.num_physical_regs.data


def _lines(emitter: Emitter, lines: list[str]) -> None:
    for line in lines:
        emitter.source.line(line)


EMIT: dict[type[DataInstruction], Callable[[Emitter, Any], None]] = {
    RegisterMoveOp: emit_move,
    RegisterAluOp: emit_alu,
    TensorLoadOp: emit_load,
    TensorSaveOp: emit_save,
}
