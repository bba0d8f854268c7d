"""Instructions on registers.

A 32-bit register is a pattern of 32 bits; each use says how to read it (`int32` unless written otherwise).
Arithmetic wraps at 32 bits (64 for a pair). `divide` and `mod` round towards minus infinity and give 0 for a
zero divisor; shift counts are taken modulo the width. These three rules are ours (reference, Z 10).
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition, prop_def

from .enums import AluOpAttr, Opcode
from .instruction import DataInstruction, Takes
from .types import FlagAttr


@irdl_op_definition
class RegisterMoveOp(DataInstruction):
    """`dst = src`, a register or an immediate; a pair takes an int64 immediate only.

    bir.register_move %r = 5
    """

    name = "bir.register_move"
    OPCODE: ClassVar = Opcode.RegisterMove
    INPUTS: ClassVar = (Takes.REGISTER | Takes.IMMEDIATE,)
    OUTPUTS: ClassVar = (Takes.REGISTER,)


@irdl_op_definition
class RegisterAluOp(DataInstruction):
    """`dst = op(src1, src2)`; src1 is a register, src2 a register or an immediate.

    bir.register_alu %limit = mult(%n, 4)
    """

    name = "bir.register_alu"
    OPCODE: ClassVar = Opcode.RegisterAlu
    HEAD: ClassVar = "op"
    INPUTS: ClassVar = (Takes.REGISTER, Takes.REGISTER | Takes.IMMEDIATE)
    OUTPUTS: ClassVar = (Takes.REGISTER,)

    op = prop_def(AluOpAttr)
    is_64bit = prop_def(FlagAttr, default_value=FlagAttr(False))


@irdl_op_definition
class TensorLoadOp(DataInstruction):
    """Loads one element of memory into a register, sign- or zero-extended to 32 bits (floats keep their bits).

    bir.tensor_load %r = %n[0][[1, 1]]
    """

    name = "bir.tensor_load"
    OPCODE: ClassVar = Opcode.TensorLoad
    INPUTS: ClassVar = (Takes.MEMORY,)
    OUTPUTS: ClassVar = (Takes.REGISTER,)


@irdl_op_definition
class TensorSaveOp(DataInstruction):
    """Stores a register into one element of memory: low bits, or the float32 value into other floats; never into PSUM.

    bir.tensor_save %n[0][[1, 1]] = %r
    """

    name = "bir.tensor_save"
    OPCODE: ClassVar = Opcode.TensorSave
    INPUTS: ClassVar = (Takes.REGISTER,)
    OUTPUTS: ClassVar = (Takes.MEMORY,)
