"""Kernels of `dialects/hlo/contractions.py`; the decompositions are in `linear_algebra.py`.

Products are summed in f32 or wider (exactly, wrapping, for integers) and rounded once to the result's type, in the
order that numpy's matrix product chooses.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from xdsl.ir import Attribute

from xneuron.dialects.hlo import contractions as hlo
from xneuron.dialects.hlo.attributes import ConvolutionDimensions, int_list, int_of
from xneuron.dialects.hlo.types import Element, element_of
from xneuron.execution.errors import EvaluationError
from xneuron.interpreters.kernels import linear_algebra
from xneuron.interpreters.kernels.registry import Context, Kernel, kernel
from xneuron.interpreters.kernels.windows import positions
from xneuron.interpreters.values import DType, as_value, dtype_of, static_shape

__all__ = ["linear_algebra"]


class Product:
    """The arithmetic of one contraction: how operands are widened, and sums of `terms` brought to the result's type.

    Integers that wrap are summed in 64 bits; in f64, whose products are many times faster, where all sums are exact.
    """

    def __init__(self, lhs: Attribute, rhs: Attribute, result: Attribute, terms: int) -> None:
        elements = [element_of(type) for type in (lhs, rhs, result)]
        self.kind = elements[2].kind
        self.result = dtype_of(result)
        self.integral = all(element.kind in ("int", "uint", "pred") for element in elements)
        exact = self.integral and elements[0].bits + elements[1].bits + terms.bit_length() <= 53
        self.dtype = np.dtype(np.float64) if exact else _accumulator(elements)

    def widen(self, x: Any) -> Any:
        """An operand, ready to be multiplied."""
        return np.asarray(x).astype(self.dtype)

    def finish(self, x: Any) -> Any:
        """The result from the accumulator."""
        if self.kind == "pred":
            return as_value(x != 0)
        return as_value((x.astype(np.int64) if self.integral else x).astype(self.result))


def _accumulator(elements: Sequence[Element]) -> DType:
    """The widest type among operands, result and f32; s64 for integers."""
    kinds = {element.kind for element in elements}
    if kinds <= {"int", "uint", "pred"}:
        return np.dtype(np.int64)
    wide = any(element.bits >= (128 if element.kind == "complex" else 64) for element in elements)
    if "complex" in kinds:
        return np.dtype(np.complex128 if wide else np.complex64)
    return np.dtype(np.float64 if wide else np.float32)


class Contraction:
    """A dot of widened operands as one batched matrix product; its result is (batch, lhs free, rhs free)."""

    def __init__(self, lhs: Sequence[int], rhs: Sequence[int], batch: Pair, contracted: Pair) -> None:
        free = [
            [d for d in range(len(extents)) if d not in batch[side] and d not in contracted[side]]
            for side, extents in enumerate((lhs, rhs))
        ]
        self.orders = [[*batch[side], *free[side], *contracted[side]] for side in (0, 1)]
        self.shapes = [
            [prod(extents[d] for d in group) for group in (batch[side], free[side], contracted[side])]
            for side, extents in enumerate((lhs, rhs))
        ]
        self.shape = [lhs[d] for d in (*batch[0], *free[0])] + [rhs[d] for d in free[1]]

    def __call__(self, a: Any, b: Any) -> Any:
        x = a.transpose(self.orders[0]).reshape(self.shapes[0])
        y = b.transpose(self.orders[1]).reshape(self.shapes[1])
        return np.matmul(x, y.swapaxes(-1, -2)).reshape(self.shape)


Pair = tuple[Sequence[int], Sequence[int]]


def _dimensions(op: hlo.DotLikeOp) -> tuple[Pair, Pair]:
    """(batch, contracted) dimensions of (lhs, rhs)."""
    batch = int_list(op.lhs_batch_dims), int_list(op.rhs_batch_dims)
    return batch, (int_list(op.lhs_contracting_dims), int_list(op.rhs_contracting_dims))


def _product(op: hlo.DotLikeOp) -> Product:
    lhs = static_shape(op.operands[0].type)
    terms = prod(lhs[d] for d in int_list(op.lhs_contracting_dims))
    return Product(op.operands[0].type, op.operands[1].type, op.result.type, terms)


@kernel(hlo.DotOp)
def dot(op: hlo.DotLikeOp, context: Context) -> Kernel:
    """The sum of products over the contracted dimensions, for each batch."""
    product = _product(op)
    lhs, rhs = static_shape(op.operands[0].type), static_shape(op.operands[1].type)
    contract = Contraction(lhs, rhs, *_dimensions(op))
    return lambda a, b: product.finish(contract(product.widen(a), product.widen(b)))


@kernel(hlo.ScaledDotOp)
def scaled_dot(op: hlo.ScaledDotOp, context: Context) -> Kernel:
    """Each scale multiplies a block of its operand, as many as extents divide (scaled_dot_rewriter.cc)."""
    plain = dot(op, context)

    def scaled(x: Any, scale: Any) -> Any:
        scale = np.asarray(scale).astype(np.float32)
        for axis, (extent, blocks) in enumerate(zip(x.shape, scale.shape, strict=False)):
            scale = np.repeat(scale, extent // blocks, axis)
        return x.astype(np.float32) * scale

    return lambda a, b, a_scale, b_scale: plain(scaled(a, a_scale), scaled(b, b_scale))


@kernel(hlo.RaggedDotOp)
def ragged_dot(op: hlo.RaggedDotOp, context: Context) -> Kernel:
    """The ragged dimension of the lhs is cut into groups, by sizes for all or for each batch.

    Free: each group has its own rhs, rows outside all groups are 0. Contracted: one result per group, in front.
    Batch: a plain dot.
    """
    (ragged,) = int_list(op.lhs_ragged_dims)
    batch, contracted = _dimensions(op)
    if ragged in batch[0]:
        plain = dot(op, context)
        return lambda a, b, sizes: plain(a, b)
    if len(static_shape(op.group_sizes.type)) not in (1, 1 + len(batch[0])):
        raise EvaluationError("expected group sizes for all or for each batch", op)
    return _ragged_contracted(op, ragged) if ragged in contracted[0] else _ragged_free(op, ragged)


def _ragged_free(op: hlo.RaggedDotOp, ragged: int) -> Kernel:
    product = _product(op)
    batch, contracted = _dimensions(op)
    (group,) = int_list(op.rhs_group_dims)
    inner = tuple([d - (d > group) for d in dims] for dims in (batch[1], contracted[1]))
    lhs, rhs = static_shape(op.lhs.type), static_shape(op.rhs.type)
    contract = Contraction(lhs, [*rhs[:group], *rhs[group + 1 :]], (batch[0], inner[0]), (contracted[0], inner[1]))
    row = contract.orders[0].index(ragged)
    batches, rank = range(len(batch[0])), len(contract.shape)

    def run(a: Any, b: Any, sizes: Any) -> Any:
        x, y = product.widen(a), np.moveaxis(product.widen(b), group, 0)
        result = np.zeros(contract.shape, product.dtype)
        for index, members in enumerate(_memberships(sizes, lhs[ragged])):
            chosen = _along(members, [*batches, row] if members.ndim > 1 else [row], rank)
            result = np.where(chosen, contract(x, y[index]), result)
        return product.finish(result)

    return run


def _ragged_contracted(op: hlo.RaggedDotOp, ragged: int) -> Kernel:
    product = _product(op)
    batch, contracted = _dimensions(op)
    lhs, rhs = static_shape(op.lhs.type), static_shape(op.rhs.type)
    contract = Contraction(lhs, rhs, batch, contracted)
    partner = contracted[1][list(contracted[0]).index(ragged)]

    def run(a: Any, b: Any, sizes: Any) -> Any:
        x, y = product.widen(a), product.widen(b)
        zero = product.dtype.type(0)
        results: list[Any] = []
        for members in _memberships(sizes, lhs[ragged]):
            several = members.ndim > 1
            left = _along(members, [*batch[0], ragged] if several else [ragged], len(lhs))
            right = _along(members, [*batch[1], partner] if several else [partner], len(rhs))
            results.append(contract(np.where(left, x, zero), np.where(right, y, zero)))
        return product.finish(np.stack(results))

    return run


def _memberships(sizes: Any, extent: int) -> list[Any]:
    """Per group, which of `extent` elements belong to it (for each batch, if sizes have batches)."""
    ends = np.cumsum(np.asarray(sizes).astype(np.int64), -1)[..., np.newaxis]
    starts = ends - np.asarray(sizes).astype(np.int64)[..., np.newaxis]
    numbers = np.arange(extent)
    members = (starts <= numbers) & (numbers < ends)
    return list(np.moveaxis(members, -2, 0))


def _along(x: Any, dimensions: Sequence[int], rank: int) -> Any:
    """An array whose dimensions become the given ones of a larger rank, for broadcasting."""
    order = sorted(range(len(dimensions)), key=lambda i: dimensions[i])
    shape = [1] * rank
    for extent, dimension in zip(x.shape, dimensions, strict=True):
        shape[dimension] = extent
    return x.transpose(order).reshape(shape)


@kernel(hlo.ConvolutionOp)
def convolution(op: hlo.ConvolutionOp, context: Context) -> Kernel:
    """Per position of the kernel, one matrix product for all places; groups are a batch dimension of it."""
    roles = op.dim_labels.dimensions
    groups, batch_groups = int_of(op.feature_group_count, 1), int_of(op.batch_group_count, 1)
    lhs, rhs, out = (static_shape(t) for t in (op.lhs.type, op.rhs.type, op.result.type))
    product = Product(op.lhs.type, op.rhs.type, op.result.type, prod(rhs))
    window = op.window.dimensions if op.window else ()
    cells = positions(window, [lhs[d] for d in roles.input_spatial], [out[d] for d in roles.output_spatial])
    spatial = [out[d] for d in roles.output_spatial]
    many = groups * batch_groups
    rows, columns = out[roles.output_batch], out[roles.output_feature] // many
    back = _output_order(roles)

    def run(a: Any, b: Any) -> Any:
        x, y = (
            _grouped_input(product.widen(a), roles, groups, batch_groups),
            _grouped_kernel(product.widen(b), roles, many),
        )
        total = np.zeros((many, rows, *spatial, columns), product.dtype)
        for position, places, elements in cells:
            at = tuple(d.size - 1 - p if d.reversal else p for d, p in zip(window, position, strict=True))
            seen = x[(slice(None), slice(None), *elements)]
            part = np.matmul(seen.reshape(many, -1, seen.shape[-1]), y[(slice(None), *at)])
            total[(slice(None), slice(None), *places)] += part.reshape(*seen.shape[:-1], columns)
        merged = np.moveaxis(total, 0, -2).reshape(rows, *spatial, many * columns)
        return product.finish(merged.transpose(back))

    return run


def _grouped_input(x: Any, roles: ConvolutionDimensions, groups: int, batch_groups: int) -> Any:
    """(group, batch, spatial…, features of the group)."""
    x = x.transpose([roles.input_batch, *roles.input_spatial, roles.input_feature])
    if batch_groups > 1:
        return x.reshape(batch_groups, -1, *x.shape[1:])
    return np.moveaxis(x.reshape(*x.shape[:-1], groups, -1), -2, 0)


def _grouped_kernel(y: Any, roles: ConvolutionDimensions, groups: int) -> Any:
    """(group, spatial…, input features, output features of the group)."""
    y = y.transpose([*roles.kernel_spatial, roles.kernel_input_feature, roles.kernel_output_feature])
    return np.moveaxis(y.reshape(*y.shape[:-1], groups, -1), -2, 0)


def _output_order(roles: ConvolutionDimensions) -> list[int]:
    """From (batch, spatial…, feature) to the result's order."""
    held = [roles.output_batch, *roles.output_spatial, roles.output_feature]
    return [held.index(d) for d in range(len(held))]
