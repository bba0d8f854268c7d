"""Instructions: which operands, on which engine, in which memory."""

from __future__ import annotations

from collections.abc import Sequence

from ..compute import MatmultOp
from ..enums import Engine, MemorySpace
from ..instruction import DataInstruction, Takes
from ..movement import DMA_ISSUERS
from ..operands import Immediate, MemoryAccess, Operand, RegisterAccess, geometry_of
from ..registers import TensorLoadOp, TensorSaveOp
from .accesses import check_access, check_immediate
from .diagnostics import BirError
from .rules import RULES
from .values import check_register

_WORDS = {
    Takes.CHIP: "memory in SB or PSUM",
    Takes.DRAM: "memory in DRAM",
    Takes.REGISTER: "a register",
    Takes.IMMEDIATE: "an immediate",
}


def verify_instruction(op: DataInstruction) -> None:
    """Raises BirError on the first broken rule: operands, engine, memories, then the rules of its opcode."""
    inputs, outputs = op.inputs, op.outputs
    _check_operands(op, "input", inputs, op.INPUTS, op.OPTIONAL)
    _check_operands(op, "output", outputs, op.OUTPUTS, 0)
    _check_engine(op)
    for operand in (*inputs, *outputs):
        if isinstance(operand, MemoryAccess):
            _check_memory(op, operand)
    if rule := RULES.get(type(op)):
        rule(op)


def _check_operands(
    op: DataInstruction, what: str, operands: Sequence[Operand], takes: Sequence[Takes], optional: int
) -> None:
    if not len(takes) - optional <= len(operands) <= len(takes):
        wanted = f"{len(takes) - optional} to {len(takes)}" if optional else str(len(takes))
        raise BirError("operand", f"expected {wanted} {what}s of {op.name} but got {len(operands)}")
    for number, (operand, kinds) in enumerate(zip(operands, takes, strict=False)):
        _check_operand(op, f"{what} {number} of {op.name}", operand, kinds)


def _check_operand(op: DataInstruction, where: str, operand: Operand, kinds: Takes) -> None:
    if not _kind(operand) & kinds:
        raise BirError("operand", f"expected {_wanted(kinds)} as {where} but got {_found(operand)}")
    match operand:
        case MemoryAccess():
            location = check_access(op, operand, _through_engine(op))
            if not (Takes.CHIP if location.geometry.on_chip else Takes.DRAM) & kinds:
                raise BirError("310", f"expected {_wanted(kinds)} as {where} but got {location.geometry.space}")
        case RegisterAccess():
            _check_width(op, operand)
        case Immediate():
            check_immediate(operand)


def _kind(operand: Operand) -> Takes:
    match operand:
        case MemoryAccess():
            return Takes.MEMORY
        case RegisterAccess():
            return Takes.REGISTER
        case Immediate():
            return Takes.IMMEDIATE


def _wanted(kinds: Takes) -> str:
    if Takes.MEMORY in kinds:
        return "memory"
    return " or ".join(word for kind, word in _WORDS.items() if kind in kinds)


def _found(operand: Operand) -> str:
    match operand:
        case MemoryAccess():
            return "memory"
        case RegisterAccess():
            return "a register"
        case Immediate(value):
            return f"the immediate {value}"


def _through_engine(op: DataInstruction) -> bool:
    """Whether an engine reads the memory itself, and not a DMA or the sequencer for it."""
    return op.ENGINES is not DMA_ISSUERS and not isinstance(op, TensorLoadOp | TensorSaveOp)


def _check_width(op: DataInstruction, operand: RegisterAccess) -> None:
    register = check_register(op, operand.register)
    pair = register.num_physical_regs.data == 2
    if pair != (operand.dtype.nbytes == 8):
        width = 64 if pair else 32
        raise BirError("register-width", f"register {register.label!r} of {width} bits is used as {operand.dtype}")


def _check_engine(op: DataInstruction) -> None:
    if op.engine.data in (Engine.ALL, Engine.Unassigned) or op.engine.data in op.ENGINES:
        return
    valid = ", ".join(sorted(op.ENGINES))
    raise BirError("400", f"engine {op.engine.data} cannot run {op.name}; valid engines are {valid}")


def _check_memory(op: DataInstruction, access: MemoryAccess) -> None:
    """PSUM is out of reach of the Pool engine and of TensorSave, and where a Matmult writes."""
    geometry = geometry_of(access.memory)
    space = geometry.space if geometry else None
    if space == MemorySpace.PSUM and op.engine.data == Engine.Pool:
        raise BirError("310", "engine Pool cannot access PSUM")
    if space == MemorySpace.PSUM and isinstance(op, TensorSaveOp):
        raise BirError("310", "bir.tensor_save cannot write to PSUM")
    if isinstance(op, MatmultOp) and (space == MemorySpace.PSUM) != (access in op.outputs):
        raise BirError("310", f"expected bir.matmult to read SB and write PSUM but got {space}")
