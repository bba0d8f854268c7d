"""The bir dialect: loops on a register machine. Start reading at `loops.py`; the words are in `docs/bir.md`."""

from __future__ import annotations

from xdsl.ir import Dialect

from .branches import BreakOp, CompareAndBranchOp, ContinueOp, ExitOp, ReturnOp, UnconditionalBranchOp
from .compute import (
    ActivationOp,
    IotaOp,
    MatmultOp,
    MemsetOp,
    ReciprocalOp,
    SelectOp,
    TensorReduceOp,
    TensorScalarOp,
    TensorScalarPtrOp,
    TensorTensorOp,
)
from .enums import ENUM_ATTRIBUTES
from .functions import FuncOp
from .loops import DoWhileOp, DynamicForLoopOp, LoopOp
from .movement import AllEngineBarrierOp, DMACopyOp, LoadOp, NoOpOp, SaveOp, TensorCopyOp
from .operands import ExprAttr, OperandAttr
from .registers import RegisterAluOp, RegisterMoveOp, TensorLoadOp, TensorSaveOp
from .storage import MemoryLocationOp, RegisterOp
from .types import FlagAttr, IntsAttr, LongAttr, MemoryType, NumberAttr, RegisterType

INSTRUCTIONS = (
    RegisterMoveOp,
    RegisterAluOp,
    TensorLoadOp,
    TensorSaveOp,
    TensorTensorOp,
    TensorScalarOp,
    TensorScalarPtrOp,
    ActivationOp,
    MemsetOp,
    TensorReduceOp,
    IotaOp,
    SelectOp,
    ReciprocalOp,
    MatmultOp,
    TensorCopyOp,
    LoadOp,
    SaveOp,
    DMACopyOp,
    NoOpOp,
    AllEngineBarrierOp,
    LoopOp,
    DynamicForLoopOp,
    DoWhileOp,
    CompareAndBranchOp,
    UnconditionalBranchOp,
    ReturnOp,
    ExitOp,
    BreakOp,
)
"""Every instruction class; `OPCODE.name` is its wire name."""

BIR = Dialect(
    "bir",
    [FuncOp, RegisterOp, MemoryLocationOp, ContinueOp, *INSTRUCTIONS],
    [
        RegisterType,
        MemoryType,
        ExprAttr,
        OperandAttr,
        FlagAttr,
        LongAttr,
        NumberAttr,
        IntsAttr,
        *ENUM_ATTRIBUTES,
    ],
)
