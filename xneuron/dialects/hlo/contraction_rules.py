"""Shape rules of dots, convolutions and Fourier transforms.

Rules: XLA's InferDotOpShape, InferRaggedDotOpShape, InferConvolveShape, InferFftShape in shape_inference.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.attributes import DimLabelsAttr, WindowAttr
from xneuron.dialects.hlo.shape_rules import (
    FLOATING_OR_COMPLEX,
    array,
    array_of,
    expect_count,
    expect_dimensions,
    expect_one_of,
    fits,
    listed,
    windowed,
)
from xneuron.dialects.hlo.types import (
    BY_NAME,
    DYNAMIC,
    Element,
    Tensor,
    element_of,
    same_extents,
    shape_of,
    spelled,
    tensor,
    with_element,
)

PRECISIONS = ("default", "high", "highest", "packed_nibble")
ALGORITHMS = (
    "unset",
    "dot_any_f8_any_f8_f32",
    "dot_any_f8_any_f8_f32_fast_accum",
    "dot_f16_f16_f16",
    "dot_f16_f16_f32",
    "dot_bf16_bf16_bf16",
    "dot_bf16_bf16_f32",
    "dot_bf16_bf16_f32_x3",
    "dot_bf16_bf16_f32_x6",
    "dot_bf16_bf16_f32_x9",
    "dot_tf32_tf32_f32",
    "dot_tf32_tf32_f32_x3",
    "dot_f32_f32_f32",
    "dot_f64_f64_f64",
)


def expect_precision(precisions: ArrayAttr[StringAttr] | None, algorithm: StringAttr | None) -> None:
    """Fails for a precision, or an algorithm of dots, that XLA does not have."""
    for precision in precisions or ():
        expect_one_of(precision.data, PRECISIONS, "operand_precision")
    if algorithm is not None:
        expect_one_of(algorithm.data, ALGORITHMS, "algorithm")


class DotDimensions(NamedTuple):
    """Which dimensions contract, which are batch; pairs by position."""

    lhs_contracting: Sequence[int]
    rhs_contracting: Sequence[int]
    lhs_batch: Sequence[int]
    rhs_batch: Sequence[int]


def accumulator(lhs: Tensor, rhs: Tensor) -> Attribute:
    """Element type of a product where the program names none: of the wider operand, of floats before integers."""
    left, right = element_of(lhs), element_of(rhs)
    return max(left, right, key=_precision).type


def _precision(row: Element) -> tuple[int, int]:
    return ("pred", "uint", "int", "float", "complex").index(row.kind), row.bits


def contracted(dims: DotDimensions, lhs: Tensor, rhs: Tensor) -> Tensor:
    """Result type of a dot: batch, then what is free of the lhs, then of the rhs."""
    left, right = shape_of(lhs), shape_of(rhs)
    expect_dimensions((*dims.lhs_contracting, *dims.lhs_batch), len(left), "lhs dimension numbers")
    expect_dimensions((*dims.rhs_contracting, *dims.rhs_batch), len(right), "rhs dimension numbers")
    for mine, theirs, what in (
        (dims.lhs_contracting, dims.rhs_contracting, "contracting"),
        (dims.lhs_batch, dims.rhs_batch, "batch"),
    ):
        if not same_extents([left[d] for d in mine], [right[d] for d in theirs]):
            raise VerifyException(f"expected {what} dimensions of equal sizes, found {_picked(lhs, mine, rhs, theirs)}")
    batch = [left[d] for d in dims.lhs_batch]
    free = _free(left, (*dims.lhs_contracting, *dims.lhs_batch))
    return tensor(accumulator(lhs, rhs), (*batch, *free, *_free(right, (*dims.rhs_contracting, *dims.rhs_batch))))


def _free(shape: Sequence[int], taken: Sequence[int]) -> list[int]:
    return [extent for dimension, extent in enumerate(shape) if dimension not in taken]


def _picked(lhs: Tensor, mine: Sequence[int], rhs: Tensor, theirs: Sequence[int]) -> str:
    return f"{listed(mine)} of {spelled(lhs)} and {listed(theirs)} of {spelled(rhs)}"


def ragged_contracted(
    dims: DotDimensions, lhs: Tensor, rhs: Tensor, ragged: Sequence[int], group: Sequence[int], groups: int
) -> Tensor:
    """Result type of a ragged dot, by whether the ragged dimension of the lhs is free, contracting or batch."""
    expect_count(1, expect_dimensions(ragged, len(shape_of(lhs)), "lhs_ragged_dims"), "lhs_ragged_dims")
    if ragged[0] in dims.lhs_batch or ragged[0] in dims.lhs_contracting:
        expect_count(0, group, "rhs_group_dims where the ragged dimension is not free")
        plain = contracted(dims, lhs, rhs)
        grouped = (groups,) if ragged[0] in dims.lhs_contracting else ()
        return tensor(plain.element_type, (*grouped, *shape_of(plain)))
    expect_count(1, group, "rhs_group_dims where the ragged dimension is free")
    taken = (*dims.rhs_contracting, *dims.rhs_batch, *group)
    expect_dimensions(taken, len(shape_of(rhs)), "rhs dimension numbers")
    if not fits(shape_of(rhs)[group[0]], groups):
        raise VerifyException(f"expected {groups} groups of the rhs, found {shape_of(rhs)[group[0]]}")
    whole = contracted(dims, lhs, rhs)
    at = len(shape_of(lhs)) - len(dims.lhs_contracting) + sum(d not in taken for d in range(group[0]))
    return tensor(whole.element_type, shape_of(whole)[:at] + shape_of(whole)[at + 1 :])


def expect_scale(scale: Tensor, scaled: Tensor) -> None:
    """Fails unless a block scale is a scalar, or has for each dimension a divisor of the extent it scales."""
    blocks, shape = shape_of(scale), shape_of(scaled)
    whole = len(blocks) == len(shape) and all(_divides(b, e) for b, e in zip(blocks, shape, strict=True))
    if blocks and not whole:
        raise VerifyException(f"expected a scale of blocks of {spelled(scaled)}, found {spelled(scale)}")


def _divides(divisor: int, extent: int) -> bool:
    return DYNAMIC in (divisor, extent) or divisor == extent or (divisor > 0 and extent % divisor == 0)


def expect_accumulated(expected: Attribute | None, actual: Attribute) -> None:
    """Fails unless the result has the expected extents; its elements may be of another, not narrower, type."""
    inferred, result = array(expected or actual), array(actual, "result")
    narrower = element_of(result).bits < element_of(inferred).bits and element_of(inferred).kind != "float"
    if narrower or not same_extents(shape_of(inferred), shape_of(result)):
        raise VerifyException(f"expected result {spelled(inferred)}, found {spelled(result)}")


class ConvolutionGroups(NamedTuple):
    """`feature_group_count` and `batch_group_count`."""

    feature: int
    batch: int


def convolved(
    labels: DimLabelsAttr, window: WindowAttr | None, groups: ConvolutionGroups, lhs: Tensor, rhs: Tensor
) -> Tensor:
    """Result type of a convolution."""
    dims, left, right = labels.dimensions, shape_of(lhs), shape_of(rhs)
    spatial = len(dims.input_spatial)
    if not len(left) == len(right) == spatial + 2:
        raise VerifyException(f"expected operands of rank {spatial + 2}, found {spelled(lhs)} and {spelled(rhs)}")
    outputs = right[dims.kernel_output_feature]
    _expect_groups(groups, left[dims.input_batch], left[dims.input_feature], right[dims.kernel_input_feature], outputs)
    positions = windowed([left[d] for d in dims.input_spatial], window)
    sizes = [d.size for d in window.dimensions] if window is not None else []
    if not same_extents(sizes, [right[d] for d in dims.kernel_spatial]):
        raise VerifyException(f"expected a window of the size of {spelled(rhs)}, found {listed(sizes)}")
    batch = left[dims.input_batch]
    extents = {dims.output_batch: DYNAMIC if batch == DYNAMIC else batch // groups.batch, dims.output_feature: outputs}
    extents.update(zip(dims.output_spatial, positions, strict=True))
    return tensor(accumulator(lhs, rhs), tuple(extents[d] for d in range(spatial + 2)))


def _expect_groups(groups: ConvolutionGroups, batch: int, features: int, kernel_features: int, outputs: int) -> None:
    if groups.feature < 1 or groups.batch < 1 or (groups.feature > 1 and groups.batch > 1):
        raise VerifyException(
            f"expected positive group counts, at most one above 1, found {groups.feature}, {groups.batch}"
        )
    for extent, count, what in (
        (features, groups.feature, "input features"),
        (outputs, groups.feature, "output features"),
        (batch, groups.batch, "input batch"),
        (outputs, groups.batch, "output features"),
    ):
        if extent % count and extent != DYNAMIC:
            raise VerifyException(f"expected {what} to be a multiple of the group count {count}, found {extent}")
    if DYNAMIC not in (features, kernel_features) and features // groups.feature != kernel_features:
        raise VerifyException(
            f"expected {features // groups.feature} input features of the kernel, found {kernel_features}"
        )


def square(type: Attribute, what: str) -> Tensor:
    """The type, if it is a batch of square matrices."""
    matrix = array_of(FLOATING_OR_COMPLEX, type, what)
    shape = shape_of(matrix)
    if len(shape) < 2 or not fits(shape[-1], shape[-2]):
        raise VerifyException(f"expected {what} to be square in its last two dimensions, found {spelled(matrix)}")
    return matrix


def transformed(kind: str, length: Sequence[int], operand: Tensor) -> Tensor:
    """Result type of a Fourier transform: real ones keep half of the last dimension."""
    shape, element = shape_of(operand), element_of(operand).name
    allowed = ("f32", "f64") if kind == "RFFT" else ("c64", "c128")
    if element not in allowed:
        raise VerifyException(f"expected {kind} of {' or '.join(allowed)}, found {spelled(operand)}")
    if not 1 <= len(length) <= 3 or len(length) > len(shape) or min(length) < 0:
        raise VerifyException(f"expected fft_length of 1 to 3 dimensions of {spelled(operand)}, found {listed(length)}")
    half = length[-1] // 2 + 1 if length[-1] else 0
    inner = (*length[:-1], half if kind == "IRFFT" else length[-1])
    if not same_extents(inner, shape[-len(length) :]):
        raise VerifyException(f"expected last dimensions {listed(inner)}, found {spelled(operand)}")
    if kind in ("FFT", "IFFT"):
        return operand
    other = {"f32": "c64", "f64": "c128", "c64": "f32", "c128": "f64"}[element]
    last = length[-1] if kind == "IRFFT" else half
    return with_element(tensor(operand.element_type, (*shape[:-1], last)), BY_NAME[other].type)
