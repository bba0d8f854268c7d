"""Kernels of decompositions, Fourier transforms and batch normalisation."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

from typing import Any

import numpy as np

from xneuron.dialects.hlo import contractions as hlo
from xneuron.dialects.hlo.attributes import int_list, int_of, text_of
from xneuron.execution.errors import EvaluationError
from xneuron.interpreters.kernels.registry import Context, Kernel, kernel
from xneuron.interpreters.values import dtype_of, static_shape


def _transposed(x: Any) -> Any:
    return np.swapaxes(x, -1, -2)


@kernel(hlo.CholeskyOp)
def cholesky(op: hlo.CholeskyOp, context: Context) -> Kernel:
    """Column by column, for all matrices of the batch; not positive definite gives NaN (cholesky_expander.cc).

    Reads one triangle, and fills the other with zeros.
    """
    lower, size = op.lower is not None, static_shape(op.operand.type)[-1]

    def run(a: Any) -> Any:
        matrix = a if lower else _transposed(a).conj()
        factor = np.zeros_like(matrix)
        for j in range(size):
            row = factor[..., j, :j]
            rest = matrix[..., j:, j] - np.einsum("...ik,...k->...i", factor[..., j:, :j], row.conj())
            diagonal = np.sqrt(rest[..., :1].real)
            factor[..., j:, j] = np.concatenate([diagonal, rest[..., 1:] / diagonal], -1)
        return factor if lower else _transposed(factor).conj()

    return run


@kernel(hlo.TriangularSolveOp)
def triangular_solve(op: hlo.TriangularSolveOp, context: Context) -> Kernel:
    """Substitution, one row of the solution at a time, for all systems of the batch."""
    left, unit = op.left_side is not None, op.unit_diagonal is not None
    how = text_of(op.transpose_a, "NO_TRANSPOSE")
    flipped = how in ("TRANSPOSE", "ADJOINT")
    turned = flipped != (not left)
    lower = (op.lower is not None) != turned
    size = static_shape(op.a.type)[-1]
    order = range(size) if lower else range(size - 1, -1, -1)

    def run(a: Any, b: Any) -> Any:
        matrix = a.conj() if how == "ADJOINT" else a
        matrix = _transposed(matrix) if turned else matrix
        known = b if left else _transposed(b)
        solution = np.zeros_like(known)
        for i in order:
            row = slice(0, i) if lower else slice(i + 1, size)
            rest = known[..., i, :] - np.einsum("...k,...kj->...j", matrix[..., i, row], solution[..., row, :])
            solution[..., i, :] = rest if unit else rest / matrix[..., i, i, np.newaxis]
        return solution if left else _transposed(solution)

    return run


@kernel(hlo.FftOp)
def fft(op: hlo.FftOp, context: Context) -> Kernel:
    """Over the last dimensions; inverse transforms divide by the number of elements."""
    lengths = int_list(op.fft_length)
    axes = tuple(range(-len(lengths), 0))
    dtype = dtype_of(op.result.type)
    transforms = {"FFT": np.fft.fftn, "IFFT": np.fft.ifftn, "RFFT": np.fft.rfftn, "IRFFT": np.fft.irfftn}
    if (transform := transforms.get(text_of(op.fft_type))) is None:
        raise EvaluationError(f"expected FFT, IFFT, RFFT or IRFFT, found {text_of(op.fft_type)}", op)
    return lambda x: transform(x, lengths, axes).astype(dtype)


class Normalization:
    """Shapes and constants of a batch normalisation; statistics are computed in f32 or wider.

    `spread` puts a vector of one number per feature along the feature dimension.
    """

    def __init__(self, op: hlo.BatchNormOp) -> None:
        operand = op.operands[0].type
        self.dtype = dtype_of(operand)
        self.rank, self.feature = len(static_shape(operand)), int_of(op.feature_index)
        self.axes = tuple(d for d in range(self.rank) if d != self.feature)
        self.wide = np.dtype(np.float64 if self.dtype == np.float64 else np.float32)
        self.epsilon = self.wide.type(op.epsilon.value.data)

    def widen(self, *operands: Any) -> list[Any]:
        """The operands in the type of the computation, vectors spread."""
        return [self.spread(x.astype(self.wide)) for x in operands]

    def spread(self, x: Any) -> Any:
        """A vector along the feature dimension; an operand of full rank as it is."""
        return x if x.ndim == self.rank > 1 else x.reshape([-1 if d == self.feature else 1 for d in range(self.rank)])

    def narrow(self, x: Any) -> Any:
        """Back to the operand's type."""
        return x.astype(self.dtype)


@kernel(hlo.BatchNormInferenceOp)
def batch_norm_inference(op: hlo.BatchNormInferenceOp, context: Context) -> Kernel:
    """(operand - mean) / sqrt(variance + epsilon) * scale + offset."""
    norm = Normalization(op)

    def run(*operands: Any) -> Any:
        x, scale, offset, mean, variance = norm.widen(*operands)
        return norm.narrow((x - mean) / np.sqrt(variance + norm.epsilon) * scale + offset)

    return run


@kernel(hlo.BatchNormTrainingOp)
def batch_norm_training(op: hlo.BatchNormTrainingOp, context: Context) -> Kernel:
    """(normalised operand, mean, variance), the variance of the batch itself (divided by the count)."""
    norm = Normalization(op)

    def run(*operands: Any) -> Any:
        x, scale, offset = norm.widen(*operands)
        mean, variance = x.mean(norm.axes), x.var(norm.axes)
        centred = x - norm.spread(mean)
        output = centred / np.sqrt(norm.spread(variance) + norm.epsilon) * scale + offset
        return norm.narrow(output), norm.narrow(mean), norm.narrow(variance)

    return run


@kernel(hlo.BatchNormGradOp)
def batch_norm_grad(op: hlo.BatchNormGradOp, context: Context) -> Kernel:
    """Gradients of operand, scale and offset (batchnorm_expander.cc)."""
    norm = Normalization(op)

    def run(*operands: Any) -> Any:
        x, scale, mean, variance, gradient = norm.widen(*operands)
        count = norm.wide.type(x.size / mean.size)
        centred, root = x - mean, np.sqrt(variance + norm.epsilon)
        by_offset = gradient.sum(norm.axes)
        by_scale = (gradient * centred / root).sum(norm.axes)
        inner = centred / (variance + norm.epsilon) * norm.spread((gradient * centred).sum(norm.axes))
        by_operand = scale / root / count * (count * gradient - norm.spread(by_offset) - inner)
        return norm.narrow(by_operand), norm.narrow(by_scale), norm.narrow(by_offset)

    return run
