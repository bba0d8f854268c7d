"""Chapter: contractions and linear algebra. Dot, convolution, decompositions, FFT, batch normalisation."""

from __future__ import annotations

from abc import ABC

from xdsl.dialects.builtin import ArrayAttr, Float64Type, FloatAttr, StringAttr, UnitAttr
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, traits_def
from xdsl.traits import Pure

from xneuron.dialects.hlo.attributes import DimLabelsAttr, Int, Ints, WindowAttr
from xneuron.dialects.hlo.base import ValueOp


class DotLikeOp(ValueOp, ABC):
    """What the dots share: which dimensions contract, which are batch."""

    lhs_contracting_dims = opt_prop_def(Ints)
    rhs_contracting_dims = opt_prop_def(Ints)
    lhs_batch_dims = opt_prop_def(Ints)
    rhs_batch_dims = opt_prop_def(Ints)
    operand_precision = opt_prop_def(ArrayAttr[StringAttr])
    algorithm = opt_prop_def(StringAttr)
    traits = traits_def(Pure())


@irdl_op_definition
class DotOp(DotLikeOp):
    """Sum of products over the contracting dimensions; result: batch, lhs free, rhs free."""

    name = "hlo.dot"
    lhs = operand_def()
    rhs = operand_def()


@irdl_op_definition
class RaggedDotOp(DotLikeOp):
    """A dot in which rows of the lhs belong to groups, each with its own rhs."""

    name = "hlo.ragged_dot"
    lhs = operand_def()
    rhs = operand_def()
    group_sizes = operand_def()
    lhs_ragged_dims = opt_prop_def(Ints)
    rhs_group_dims = opt_prop_def(Ints)


@irdl_op_definition
class ScaledDotOp(DotLikeOp):
    """A dot of block-scaled operands."""

    name = "hlo.scaled_dot"
    lhs = operand_def()
    rhs = operand_def()
    lhs_scale = operand_def()
    rhs_scale = operand_def()


@irdl_op_definition
class ConvolutionOp(ValueOp):
    """Windowed sum of products; `dim_labels` say which dimension is what."""

    name = "hlo.convolution"
    lhs = operand_def()
    rhs = operand_def()
    window = opt_prop_def(WindowAttr)
    dim_labels = prop_def(DimLabelsAttr)
    feature_group_count = opt_prop_def(Int)
    batch_group_count = opt_prop_def(Int)
    operand_precision = opt_prop_def(ArrayAttr[StringAttr])
    algorithm = opt_prop_def(StringAttr)
    convolution_kind = opt_prop_def(StringAttr)
    sparsity_config = opt_prop_def(StringAttr)
    traits = traits_def(Pure())


@irdl_op_definition
class CholeskyOp(ValueOp):
    """Cholesky factor of the last two dimensions; `lower` or upper."""

    name = "hlo.cholesky"
    operand = operand_def()
    lower = opt_prop_def(UnitAttr)
    traits = traits_def(Pure())


@irdl_op_definition
class TriangularSolveOp(ValueOp):
    """Solves op(a) x = b (or x op(a) = b). `transpose_a`: NO_TRANSPOSE, TRANSPOSE, ADJOINT."""

    name = "hlo.triangular_solve"
    a = operand_def()
    b = operand_def()
    left_side = opt_prop_def(UnitAttr)
    lower = opt_prop_def(UnitAttr)
    unit_diagonal = opt_prop_def(UnitAttr)
    transpose_a = opt_prop_def(StringAttr)
    traits = traits_def(Pure())


@irdl_op_definition
class FftOp(ValueOp):
    """Fourier transform of the last dimensions. `fft_type`: FFT, IFFT, RFFT, IRFFT."""

    name = "hlo.fft"
    operand = operand_def()
    fft_type = prop_def(StringAttr)
    fft_length = prop_def(Ints)
    traits = traits_def(Pure())


class BatchNormOp(ValueOp, ABC):
    """What the batch normalisations share."""

    epsilon = prop_def(FloatAttr[Float64Type])
    feature_index = prop_def(Int)
    traits = traits_def(Pure())


@irdl_op_definition
class BatchNormInferenceOp(BatchNormOp):
    """Normalises with given mean and variance."""

    name = "hlo.batch_norm_inference"
    operand = operand_def()
    scale = operand_def()
    offset = operand_def()
    mean = operand_def()
    variance = operand_def()


@irdl_op_definition
class BatchNormTrainingOp(BatchNormOp):
    """Normalises with the batch's own mean and variance; result (output, mean, variance)."""

    name = "hlo.batch_norm_training"
    operand = operand_def()
    scale = operand_def()
    offset = operand_def()


@irdl_op_definition
class BatchNormGradOp(BatchNormOp):
    """Gradient of training; result (operand, scale, offset gradients)."""

    name = "hlo.batch_norm_grad"
    operand = operand_def()
    scale = operand_def()
    mean = operand_def()
    variance = operand_def()
    grad_output = operand_def()


OPS = [
    DotOp,
    RaggedDotOp,
    ScaledDotOp,
    ConvolutionOp,
    CholeskyOp,
    TriangularSolveOp,
    FftOp,
    BatchNormInferenceOp,
    BatchNormTrainingOp,
    BatchNormGradOp,
]
