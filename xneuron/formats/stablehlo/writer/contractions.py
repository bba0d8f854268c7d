"""Chapter: contractions and linear algebra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Operation

from xneuron.dialects.hlo import contractions as hlo
from xneuron.dialects.hlo.attributes import ConvolutionDimensions, WindowDimension, flag, int_list, int_of, text_of
from xneuron.dialects.hlo.types import Element, Tensor, element_of, with_element
from xneuron.formats.stablehlo.writer.emitter import Inexpressible, Leaf, Tree
from xneuron.formats.stablehlo.writer.module import Rule, Writer, single
from xneuron.formats.stablehlo.writer.text import boolean, booleans, dimensions, i64, i64s, matrix

# Types of both operands and of the sum, operations per product.
_ALGORITHMS = {
    "dot_any_f8_any_f8_f32": ("f8E5M2", "f32", 1),
    "dot_any_f8_any_f8_f32_fast_accum": ("f8E5M2", "f32", 1),
    "dot_f16_f16_f16": ("f16", "f16", 1),
    "dot_f16_f16_f32": ("f16", "f32", 1),
    "dot_bf16_bf16_bf16": ("bf16", "bf16", 1),
    "dot_bf16_bf16_f32": ("bf16", "f32", 1),
    "dot_bf16_bf16_f32_x3": ("bf16", "f32", 3),
    "dot_bf16_bf16_f32_x6": ("bf16", "f32", 6),
    "dot_bf16_bf16_f32_x9": ("bf16", "f32", 9),
    "dot_tf32_tf32_f32": ("tf32", "f32", 1),
    "dot_tf32_tf32_f32_x3": ("tf32", "f32", 3),
    "dot_f32_f32_f32": ("f32", "f32", 1),
    "dot_f64_f64_f64": ("f64", "f64", 1),
}


def _precision(op: Operation, precisions: ArrayAttr[StringAttr] | None, dialect: str = "stablehlo") -> str:
    names = [text.data.upper() for text in precisions] if precisions is not None else []
    names += ["DEFAULT"] * (2 - len(names))
    if "PACKED_NIBBLE" in names:
        raise Inexpressible(op, "it has no precision packed_nibble")
    return f"[{', '.join(f'#{dialect}<precision {name}>' for name in names)}]"


def _algorithm(name: str) -> str:
    operand, sum, count = _ALGORITHMS[name]
    fields = {
        "lhs_precision_type": operand,
        "rhs_precision_type": operand,
        "accumulation_type": sum,
        "lhs_component_count": 1,
        "rhs_component_count": 1,
        "num_primitive_operations": count,
        "allow_imprecise_accumulation": boolean(name.endswith("fast_accum")),
    }
    return f"#stablehlo.dot_algorithm<{', '.join(f'{key} = {value}' for key, value in fields.items())}>"


def _dot_dimensions(op: hlo.DotLikeOp, dialect: str = "stablehlo") -> str:
    lists = {
        "lhs_batching_dimensions": op.lhs_batch_dims,
        "rhs_batching_dimensions": op.rhs_batch_dims,
        "lhs_contracting_dimensions": op.lhs_contracting_dims,
        "rhs_contracting_dimensions": op.rhs_contracting_dims,
    }
    shown = [f"{key} = {dimensions(value)}" for key, value in lists.items() if int_list(value)]
    return f"#{dialect}.dot<{', '.join(shown)}>"


def _dot(writer: Writer, op: hlo.DotOp) -> Tree:
    properties = {
        "dot_dimension_numbers": _dot_dimensions(op),
        "precision_config": _precision(op, op.operand_precision),
    }
    if (algorithm := text_of(op.algorithm, "unset")) != "unset":
        properties["algorithm"] = _algorithm(algorithm)
    return single(writer.emit("stablehlo.dot_general", writer.leaves(op.operands), op.result_types, properties))


def _ragged_dot(writer: Writer, op: hlo.RaggedDotOp) -> Tree:
    fields = {
        "lhs_batching_dimensions": op.lhs_batch_dims,
        "rhs_batching_dimensions": op.rhs_batch_dims,
        "lhs_contracting_dimensions": op.lhs_contracting_dims,
        "rhs_contracting_dimensions": op.rhs_contracting_dims,
        "lhs_ragged_dimensions": op.lhs_ragged_dims,
        "rhs_group_dimensions": op.rhs_group_dims,
    }
    shown = ", ".join(f"{key} = {dimensions(value)}" for key, value in fields.items())
    properties = {
        "ragged_dot_dimension_numbers": f"#chlo.ragged_dot<{shown}>",
        "precision_config": _precision(op, op.operand_precision, "chlo"),
    }
    return single(writer.emit("chlo.ragged_dot", writer.leaves(op.operands), op.result_types, properties))


def _convolution(writer: Writer, op: hlo.ConvolutionOp) -> Tree:
    if op.sparsity_config is not None:
        raise Inexpressible(op, "it has no sparsity_config")
    windows: Sequence[WindowDimension] = op.window.dimensions if op.window is not None else ()
    properties = {
        "window_strides": i64s(d.stride for d in windows),
        "padding": matrix([(d.padding_low, d.padding_high) for d in windows], 2),
        "lhs_dilation": i64s(d.base_dilation for d in windows),
        "rhs_dilation": i64s(d.window_dilation for d in windows),
        "window_reversal": booleans(d.reversal for d in windows),
        "dimension_numbers": _convolution_dimensions(op.dim_labels.dimensions),
        "feature_group_count": i64(int_of(op.feature_group_count, 1)),
        "batch_group_count": i64(int_of(op.batch_group_count, 1)),
        "precision_config": _precision(op, op.operand_precision),
    }
    operands = _of_one_element_type(writer, writer.leaf(op.lhs), writer.leaf(op.rhs))
    return single(writer.emit("stablehlo.convolution", operands, op.result_types, properties))


def _convolution_dimensions(dims: ConvolutionDimensions) -> str:
    lhs = _labelled({dims.input_batch: "b", dims.input_feature: "f"}, dims.input_spatial)
    rhs = _labelled({dims.kernel_input_feature: "i", dims.kernel_output_feature: "o"}, dims.kernel_spatial)
    output = _labelled({dims.output_batch: "b", dims.output_feature: "f"}, dims.output_spatial)
    return f"#stablehlo.conv<{lhs}x{rhs}->{output}>"


def _labelled(labels: dict[int, str], spatial: Sequence[int]) -> str:
    labels = labels | {dimension: str(number) for number, dimension in enumerate(spatial)}
    return f"[{', '.join(labels[dimension] for dimension in sorted(labels))}]"


def _of_one_element_type(writer: Writer, lhs: Leaf, rhs: Leaf) -> list[Leaf]:
    """Both operands in the wider of their element types: StableHLO's convolution wants one, HLO's does not."""
    left, right = element_of(lhs.type), element_of(rhs.type)
    if left == right:
        return [lhs, rhs]
    if _width(left) < _width(right):
        return [_converted(writer, lhs, right), rhs]
    return [lhs, _converted(writer, rhs, left)]


def _width(row: Element) -> tuple[bool, int]:
    return row.kind in ("float", "complex"), row.bits


def _converted(writer: Writer, leaf: Leaf, row: Element) -> Leaf:
    return single(writer.help("stablehlo.convert", [leaf], [with_element(cast(Tensor, leaf.type), row.type)]))


def _cholesky(writer: Writer, op: hlo.CholeskyOp) -> Tree:
    lower = {"lower": boolean(flag(op.lower))}
    return single(writer.emit("stablehlo.cholesky", writer.leaves(op.operands), op.result_types, lower))


def _triangular_solve(writer: Writer, op: hlo.TriangularSolveOp) -> Tree:
    properties = {
        "left_side": boolean(flag(op.left_side)),
        "lower": boolean(flag(op.lower)),
        "unit_diagonal": boolean(flag(op.unit_diagonal)),
        "transpose_a": f"#stablehlo<transpose {text_of(op.transpose_a, 'NO_TRANSPOSE')}>",
    }
    return single(writer.emit("stablehlo.triangular_solve", writer.leaves(op.operands), op.result_types, properties))


def _fft(writer: Writer, op: hlo.FftOp) -> Tree:
    properties = {
        "fft_type": f"#stablehlo<fft_type {op.fft_type.data}>",
        "fft_length": i64s(int_list(op.fft_length)),
    }
    return single(writer.emit("stablehlo.fft", writer.leaves(op.operands), op.result_types, properties))


def _batch_norm(writer: Writer, op: hlo.BatchNormOp) -> Tree:
    properties = {
        "epsilon": f"{op.epsilon.value.data:.17e} : f32",
        "feature_index": i64(int_of(op.feature_index)),
    }
    made = writer.emit(op.name.replace("hlo.", "stablehlo."), writer.leaves(op.operands), writer.flat(op), properties)
    return writer.packed(op, made)


RULES: dict[type[Operation], Rule] = {
    hlo.DotOp: _dot,
    hlo.RaggedDotOp: _ragged_dot,
    hlo.ConvolutionOp: _convolution,
    hlo.CholeskyOp: _cholesky,
    hlo.TriangularSolveOp: _triangular_solve,
    hlo.FftOp: _fft,
    hlo.BatchNormInferenceOp: _batch_norm,
    hlo.BatchNormTrainingOp: _batch_norm,
    hlo.BatchNormGradOp: _batch_norm,
}
