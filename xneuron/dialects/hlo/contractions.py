"""Chapter: contractions and linear algebra. Dot, convolution, decompositions, FFT, batch normalisation."""

from __future__ import annotations

from abc import ABC

from xdsl.dialects.builtin import ArrayAttr, Float64Type, FloatAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, traits_def
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.attributes import DimLabelsAttr, Int, Ints, WindowAttr, int_list, int_of, text_of
from xneuron.dialects.hlo.base import PureUnlessWaiting, ValueOp
from xneuron.dialects.hlo.contraction_rules import (
    ConvolutionGroups,
    DotDimensions,
    contracted,
    convolved,
    expect_accumulated,
    expect_precision,
    expect_scale,
    ragged_contracted,
    square,
    transformed,
)
from xneuron.dialects.hlo.shape_rules import (
    FLOATING,
    INTEGRAL,
    array,
    array_of,
    expect,
    expect_dimension,
    expect_one_of,
    fits,
)
from xneuron.dialects.hlo.types import Tensor, same_extents, shape_of, spelled, tensor, tuple_of

CONVOLUTION_KINDS = ("unset", "fprop", "wgrad", "dgrad")
TRANSPOSES = ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")
FFT_TYPES = ("FFT", "IFFT", "RFFT", "IRFFT")
_SIDES = {-2: "left", -1: "right"}


class DotLikeOp(ValueOp, ABC):
    """What the dots share: which dimensions contract, which are batch."""

    lhs_contracting_dims = opt_prop_def(Ints)
    rhs_contracting_dims = opt_prop_def(Ints)
    lhs_batch_dims = opt_prop_def(Ints)
    rhs_batch_dims = opt_prop_def(Ints)
    operand_precision = opt_prop_def(ArrayAttr[StringAttr])
    algorithm = opt_prop_def(StringAttr)
    traits = traits_def(PureUnlessWaiting())

    @property
    def dims(self) -> DotDimensions:
        """The dimension numbers."""
        return DotDimensions(
            int_list(self.lhs_contracting_dims),
            int_list(self.rhs_contracting_dims),
            int_list(self.lhs_batch_dims),
            int_list(self.rhs_batch_dims),
        )

    def result_rule(self, expected: Attribute | None, actual: Attribute) -> None:
        expect_accumulated(expected, actual)


@irdl_op_definition
class DotOp(DotLikeOp):
    """Sum of products over the contracting dimensions; result: batch, lhs free, rhs free."""

    name = "hlo.dot"
    lhs = operand_def()
    rhs = operand_def()

    def shape_rule(self) -> Attribute:
        expect_precision(self.operand_precision, self.algorithm)
        return contracted(self.dims, array(self.lhs.type, "lhs"), array(self.rhs.type, "rhs"))


@irdl_op_definition
class RaggedDotOp(DotLikeOp):
    """A dot in which rows of the lhs belong to groups, each with its own rhs."""

    name = "hlo.ragged_dot"
    lhs = operand_def()
    rhs = operand_def()
    group_sizes = operand_def()
    lhs_ragged_dims = opt_prop_def(Ints)
    rhs_group_dims = opt_prop_def(Ints)

    def shape_rule(self) -> Attribute:
        expect_precision(self.operand_precision, self.algorithm)
        groups = shape_of(array_of(INTEGRAL, self.group_sizes.type, "group sizes"))
        if not groups:
            raise VerifyException("expected group sizes of rank 1 or more, found a scalar")
        lhs, rhs = array(self.lhs.type, "lhs"), array(self.rhs.type, "rhs")
        ragged, group = int_list(self.lhs_ragged_dims), int_list(self.rhs_group_dims)
        return ragged_contracted(self.dims, lhs, rhs, ragged, group, groups[-1])


@irdl_op_definition
class ScaledDotOp(DotLikeOp):
    """A dot of block-scaled operands."""

    name = "hlo.scaled_dot"
    lhs = operand_def()
    rhs = operand_def()
    lhs_scale = operand_def()
    rhs_scale = operand_def()

    def shape_rule(self) -> Attribute:
        expect_precision(self.operand_precision, self.algorithm)
        lhs, rhs = array(self.lhs.type, "lhs"), array(self.rhs.type, "rhs")
        for scale, scaled in ((self.lhs_scale, lhs), (self.rhs_scale, rhs)):
            expect_scale(array(scale.type, "scale"), scaled)
        return contracted(self.dims, lhs, rhs)


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
    traits = traits_def(PureUnlessWaiting())

    def shape_rule(self) -> Attribute:
        expect_precision(self.operand_precision, self.algorithm)
        expect_one_of(text_of(self.convolution_kind, "unset"), CONVOLUTION_KINDS, "convolution_kind")
        groups = ConvolutionGroups(int_of(self.feature_group_count, 1), int_of(self.batch_group_count, 1))
        lhs, rhs = array(self.lhs.type, "lhs"), array(self.rhs.type, "rhs")
        return convolved(self.dim_labels, self.window, groups, lhs, rhs)

    def result_rule(self, expected: Attribute | None, actual: Attribute) -> None:
        expect_accumulated(expected, actual)


@irdl_op_definition
class CholeskyOp(ValueOp):
    """Cholesky factor of the last two dimensions; `lower` or upper."""

    name = "hlo.cholesky"
    operand = operand_def()
    lower = opt_prop_def(UnitAttr)
    traits = traits_def(PureUnlessWaiting())

    def shape_rule(self) -> Attribute:
        return square(self.operand.type, "operand")


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
    traits = traits_def(PureUnlessWaiting())

    def shape_rule(self) -> Attribute:
        expect_one_of(text_of(self.transpose_a, "NO_TRANSPOSE"), TRANSPOSES, "transpose_a")
        a, b = square(self.a.type, "a"), array(self.b.type, "b")
        shape, at = list(shape_of(b)), -2 if self.left_side is not None else -1
        if len(shape) != len(shape_of(a)) or a.element_type != b.element_type:
            raise VerifyException(f"expected b of the rank and elements of {spelled(a)}, found {spelled(b)}")
        if not same_extents(shape[:-2], shape_of(a)[:-2]) or not fits(shape[at], shape_of(a)[-1]):
            raise VerifyException(f"expected b to fit {spelled(a)} on the {_SIDES[at]}, found {spelled(b)}")
        return b


@irdl_op_definition
class FftOp(ValueOp):
    """Fourier transform of the last dimensions. `fft_type`: FFT, IFFT, RFFT, IRFFT."""

    name = "hlo.fft"
    operand = operand_def()
    fft_type = prop_def(StringAttr)
    fft_length = prop_def(Ints)
    traits = traits_def(PureUnlessWaiting())

    def shape_rule(self) -> Attribute:
        expect_one_of(self.fft_type.data, FFT_TYPES, "fft_type")
        return transformed(self.fft_type.data, int_list(self.fft_length), array(self.operand.type))


class BatchNormOp(ValueOp, ABC):
    """What the batch normalisations share."""

    epsilon = prop_def(FloatAttr[Float64Type])
    feature_index = prop_def(Int)
    traits = traits_def(PureUnlessWaiting())

    def per_feature(self, operand: Attribute, *values: SSAValue) -> tuple[Tensor, Tensor]:
        """The operand's type and that of a value per feature, once the others are seen to have it."""
        normalised = array_of(FLOATING, operand)
        shape = shape_of(normalised)
        feature = expect_dimension(int_of(self.feature_index), len(shape), "feature_index")
        one_each = tensor(normalised.element_type, (shape[feature],))
        for value in values:
            expect(one_each, value.type, "a value per feature,")
        return normalised, one_each


@irdl_op_definition
class BatchNormInferenceOp(BatchNormOp):
    """Normalises with given mean and variance."""

    name = "hlo.batch_norm_inference"
    operand = operand_def()
    scale = operand_def()
    offset = operand_def()
    mean = operand_def()
    variance = operand_def()

    def shape_rule(self) -> Attribute:
        return self.per_feature(self.operand.type, *self.operands[1:])[0]


@irdl_op_definition
class BatchNormTrainingOp(BatchNormOp):
    """Normalises with the batch's own mean and variance; result (output, mean, variance)."""

    name = "hlo.batch_norm_training"
    operand = operand_def()
    scale = operand_def()
    offset = operand_def()

    def shape_rule(self) -> Attribute:
        output, one_each = self.per_feature(self.operand.type, *self.operands[1:])
        return tuple_of((output, one_each, one_each))


@irdl_op_definition
class BatchNormGradOp(BatchNormOp):
    """Gradient of training; result (operand, scale, offset gradients)."""

    name = "hlo.batch_norm_grad"
    operand = operand_def()
    scale = operand_def()
    mean = operand_def()
    variance = operand_def()
    grad_output = operand_def()

    def shape_rule(self) -> Attribute:
        operand, one_each = self.per_feature(self.operand.type, *self.operands[1:4])
        expect(operand, self.grad_output.type, "gradient of the output")
        return tuple_of((operand, one_each, one_each))


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
