"""Instructions that compute on tensors in SB and PSUM.

Element streams pair up in access-pattern order: every tensor operand of an instruction has the same number
of elements, whatever its shape. Arithmetic is in float32 unless the operation is bitwise or all operands
are integers; comparisons give 1 or 0; integers wrap (reference, section i).
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition, prop_def

from .enums import (
    AccumulateFlag,
    AccumulateFlagAttr,
    ActivationFunctionAttr,
    AluOpAttr,
    AluOpType,
    Engine,
    MemsetMode,
    MemsetModeAttr,
    Opcode,
    ReduceAxes,
    ReduceAxesAttr,
)
from .instruction import DataInstruction, Takes
from .types import FlagAttr, IntsAttr, LongAttr, NumberAttr

VECTOR = frozenset({Engine.DVE, Engine.Pool})
"""NKI's pages on tensor_tensor and tensor_reduce; iota (there GpSimd alone) and select are ours."""
VECTOR_OR_SCALAR = VECTOR | {Engine.Activation}
"""NKI's pages on tensor_scalar and tensor_copy; memset and reciprocal (there fewer engines) are ours."""


@irdl_op_definition
class TensorTensorOp(DataInstruction):
    """`out[i] = op(in0[i], in1[i])`.

    bir.tensor_tensor %z = add(%x, %y) on DVE
    """

    name = "bir.tensor_tensor"
    OPCODE: ClassVar = Opcode.TensorTensor
    HEAD: ClassVar = "op"
    INPUTS: ClassVar = (Takes.CHIP, Takes.CHIP)
    OUTPUTS: ClassVar = (Takes.CHIP,)
    ENGINES: ClassVar = VECTOR

    op = prop_def(AluOpAttr)
    acc = prop_def(AccumulateFlagAttr, default_value=AccumulateFlagAttr(AccumulateFlag.Idle))


@irdl_op_definition
class TensorScalarOp(DataInstruction):
    """`out = op1(op0(x, const0), const1)`; `reverseN` swaps the operands of stage N.

    bir.tensor_scalar %y = %x <op0 = mult, const0 = 2.0, op1 = add, const1 = 1.0> on DVE
    """

    name = "bir.tensor_scalar"
    OPCODE: ClassVar = Opcode.TensorScalar
    INPUTS: ClassVar = (Takes.CHIP,)
    OUTPUTS: ClassVar = (Takes.CHIP,)
    ENGINES: ClassVar = VECTOR_OR_SCALAR

    op0 = prop_def(AluOpAttr)
    const0 = prop_def(NumberAttr, default_value=NumberAttr(0.0))
    reverse0 = prop_def(FlagAttr, default_value=FlagAttr(False))
    op1 = prop_def(AluOpAttr, default_value=AluOpAttr(AluOpType.bypass))
    const1 = prop_def(NumberAttr, default_value=NumberAttr(0.0))
    reverse1 = prop_def(FlagAttr, default_value=FlagAttr(False))


@irdl_op_definition
class TensorScalarPtrOp(DataInstruction):
    """TensorScalar whose scalars are the second and third input: one value per partition.

    bir.tensor_scalar_ptr %y = %x, %mean <op0 = subtract> on DVE
    """

    name = "bir.tensor_scalar_ptr"
    OPCODE: ClassVar = Opcode.TensorScalarPtr
    INPUTS: ClassVar = (Takes.CHIP, Takes.CHIP, Takes.CHIP)
    OPTIONAL: ClassVar = 1
    OUTPUTS: ClassVar = (Takes.CHIP,)
    ENGINES: ClassVar = VECTOR_OR_SCALAR

    op0 = prop_def(AluOpAttr)
    reverse0 = prop_def(FlagAttr, default_value=FlagAttr(False))
    op1 = prop_def(AluOpAttr, default_value=AluOpAttr(AluOpType.bypass))
    reverse1 = prop_def(FlagAttr, default_value=FlagAttr(False))


@irdl_op_definition
class ActivationOp(DataInstruction):
    """`out = func(x * scale + bias)`; the optional second input is the bias, one value per partition.

    bir.activation %y = Exp(%x, %bias) <scale = 2.0> on Activation
    """

    name = "bir.activation"
    OPCODE: ClassVar = Opcode.Activation
    HEAD: ClassVar = "func"
    INPUTS: ClassVar = (Takes.CHIP, Takes.CHIP | Takes.IMMEDIATE)
    OPTIONAL: ClassVar = 1
    OUTPUTS: ClassVar = (Takes.CHIP,)
    ENGINES: ClassVar = frozenset({Engine.Activation})

    func = prop_def(ActivationFunctionAttr)
    scale = prop_def(NumberAttr, default_value=NumberAttr(1.0))
    alpha = prop_def(NumberAttr, default_value=NumberAttr(0.0))
    acc = prop_def(AccumulateFlagAttr, default_value=AccumulateFlagAttr(AccumulateFlag.Idle))
    can_read_uninit = prop_def(FlagAttr, default_value=FlagAttr(False))


@irdl_op_definition
class MemsetOp(DataInstruction):
    """Fills the output with `constant` (the value, in the output's dtype) or with random values.

    bir.memset %x <constant = 1.0> on Pool
    """

    name = "bir.memset"
    OPCODE: ClassVar = Opcode.Memset
    OUTPUTS: ClassVar = (Takes.CHIP,)
    ENGINES: ClassVar = VECTOR_OR_SCALAR

    mode = prop_def(MemsetModeAttr, default_value=MemsetModeAttr(MemsetMode.Const))
    constant = prop_def(NumberAttr, default_value=NumberAttr(0))


@irdl_op_definition
class TensorReduceOp(DataInstruction):
    """Collapses the innermost dimensions named by `axis` with `op`, then negates if asked to.

    bir.tensor_reduce %sum = add(%x) <axis = X> on DVE
    """

    name = "bir.tensor_reduce"
    OPCODE: ClassVar = Opcode.TensorReduce
    HEAD: ClassVar = "op"
    INPUTS: ClassVar = (Takes.CHIP,)
    OUTPUTS: ClassVar = (Takes.CHIP,)
    ENGINES: ClassVar = VECTOR

    op = prop_def(AluOpAttr)
    axis = prop_def(ReduceAxesAttr, default_value=ReduceAxesAttr(ReduceAxes.X))
    apply_transpose = prop_def(FlagAttr, default_value=FlagAttr(False))
    negate = prop_def(FlagAttr, default_value=FlagAttr(False))


@irdl_op_definition
class IotaOp(DataInstruction):
    """`out[p, i, …] = base + p * channel_multiplier + sum(i * step)`; `pattern` is step, num, step, num, ….

    bir.iota %x <pattern = [1, 128], channel_multiplier = 128> on Pool
    """

    name = "bir.iota"
    OPCODE: ClassVar = Opcode.Iota
    OUTPUTS: ClassVar = (Takes.CHIP,)
    ENGINES: ClassVar = VECTOR

    base = prop_def(LongAttr, default_value=LongAttr(0))
    pattern = prop_def(IntsAttr)
    channel_multiplier = prop_def(LongAttr, default_value=LongAttr(0))


@irdl_op_definition
class SelectOp(DataInstruction):
    """`out[i] = in1[i] if in0[i] != 0 else in2[i]`.

    bir.select %z = %mask, %x, %y on DVE
    """

    name = "bir.select"
    OPCODE: ClassVar = Opcode.Select
    INPUTS: ClassVar = (Takes.CHIP, Takes.CHIP, Takes.CHIP)
    OUTPUTS: ClassVar = (Takes.CHIP,)
    ENGINES: ClassVar = VECTOR


@irdl_op_definition
class ReciprocalOp(DataInstruction):
    """`out[i] = 1 / in0[i]`.

    bir.reciprocal %y = %x on DVE
    """

    name = "bir.reciprocal"
    OPCODE: ClassVar = Opcode.Reciprocal
    INPUTS: ClassVar = (Takes.CHIP,)
    OUTPUTS: ClassVar = (Takes.CHIP,)
    ENGINES: ClassVar = VECTOR_OR_SCALAR


@irdl_op_definition
class MatmultOp(DataInstruction):
    """`out[m, n] += sum over k of stationary[k, m] * moving[k, n]`, in float32, out in PSUM.

    The first input is the moving tensor [K, N], the second the stationary one [K, M]; K is the partition.
    `start_tensor_calc` overwrites the output instead of adding to it.

    bir.matmult %psum = %moving, %stationary <start_tensor_calc = false> on PE
    """

    name = "bir.matmult"
    OPCODE: ClassVar = Opcode.Matmult
    INPUTS: ClassVar = (Takes.CHIP, Takes.CHIP)
    OUTPUTS: ClassVar = (Takes.CHIP,)
    ENGINES: ClassVar = frozenset({Engine.PE})

    start_tensor_calc = prop_def(FlagAttr, default_value=FlagAttr(True))
    stop_tensor_calc = prop_def(FlagAttr, default_value=FlagAttr(True))
    is_transpose = prop_def(FlagAttr, default_value=FlagAttr(False))
