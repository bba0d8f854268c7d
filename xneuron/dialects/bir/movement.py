"""Instructions that move data: element stream of the input, in pattern order, to the output, with a cast."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import StringAttr
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def

from .compute import VECTOR_OR_SCALAR
from .enums import DGEType, DGETypeAttr, DMACopyMode, DMACopyModeAttr, Engine, Opcode
from .instruction import DataInstruction, Takes
from .types import FlagAttr

DMA_ISSUERS = frozenset({Engine.DMA, Engine.SP, Engine.Activation, Engine.Pool})
"""Engines that may start a DMA (ours; NKI names the sync, scalar and gpsimd engines as queue owners)."""


@irdl_op_definition
class TensorCopyOp(DataInstruction):
    """On-chip copy.

    bir.tensor_copy %y = %x on DVE
    """

    name = "bir.tensor_copy"
    OPCODE: ClassVar = Opcode.TensorCopy
    INPUTS: ClassVar = (Takes.CHIP,)
    OUTPUTS: ClassVar = (Takes.CHIP,)
    ENGINES: ClassVar = VECTOR_OR_SCALAR

    can_read_uninit = prop_def(FlagAttr, default_value=FlagAttr(False))


@irdl_op_definition
class LoadOp(DataInstruction):
    """DMA from DRAM onto the chip.

    bir.load %tile = %x[128 * %i][[512, 128], [1, 4]] on DMA
    """

    name = "bir.load"
    OPCODE: ClassVar = Opcode.Load
    INPUTS: ClassVar = (Takes.DRAM,)
    OUTPUTS: ClassVar = (Takes.CHIP,)
    ENGINES: ClassVar = DMA_ISSUERS

    can_read_uninit = prop_def(FlagAttr, default_value=FlagAttr(False))
    queue = opt_prop_def(StringAttr)
    dge_type = prop_def(DGETypeAttr, default_value=DGETypeAttr(DGEType.Unassigned))


@irdl_op_definition
class SaveOp(DataInstruction):
    """DMA from the chip to DRAM.

    bir.save %y = %tile on DMA
    """

    name = "bir.save"
    OPCODE: ClassVar = Opcode.Save
    INPUTS: ClassVar = (Takes.CHIP,)
    OUTPUTS: ClassVar = (Takes.DRAM,)
    ENGINES: ClassVar = DMA_ISSUERS

    can_read_uninit = prop_def(FlagAttr, default_value=FlagAttr(False))
    queue = opt_prop_def(StringAttr)
    dge_type = prop_def(DGETypeAttr, default_value=DGETypeAttr(DGEType.Unassigned))


@irdl_op_definition
class DMACopyOp(DataInstruction):
    """DMA between any two locations; this dialect gives a meaning to mode `Copy`.

    bir.dma_copy %y = %x on DMA
    """

    name = "bir.dma_copy"
    OPCODE: ClassVar = Opcode.DMACopy
    INPUTS: ClassVar = (Takes.MEMORY,)
    OUTPUTS: ClassVar = (Takes.MEMORY,)
    ENGINES: ClassVar = DMA_ISSUERS

    mode = prop_def(DMACopyModeAttr, default_value=DMACopyModeAttr(DMACopyMode.Copy))
    can_read_uninit = prop_def(FlagAttr, default_value=FlagAttr(False))
    queue = opt_prop_def(StringAttr)


@irdl_op_definition
class NoOpOp(DataInstruction):
    """Does nothing.

    bir.no_op on SP
    """

    name = "bir.no_op"
    OPCODE: ClassVar = Opcode.NoOp


@irdl_op_definition
class AllEngineBarrierOp(DataInstruction):
    """Every engine waits for all others; instructions run in program order here, so it does nothing.

    bir.all_engine_barrier on ALL
    """

    name = "bir.all_engine_barrier"
    OPCODE: ClassVar = Opcode.AllEngineBarrier
