"""Rule for convolutions: a dot of windows of the lhs with the kernel.

Rows are places of the window, terms its elements and the input features, columns the output features. Where windows
overlap, so do the regions, and the copy that puts them in order is the one that is known as im2col.
"""

from __future__ import annotations

from xneuron.dialects.hlo.attributes import WindowDimension, int_of
from xneuron.dialects.hlo.contractions import ConvolutionOp
from xneuron.dialects.hlo.types import element_of, shape_of

from .computations import Lowering
from .contractions import ordered, problem, product
from .patterns import Part, transfer
from .regions import Region
from .rules import lowers
from .values import Buffer, Splat, Tree
from .windows import padded, swept


@lowers(ConvolutionOp, check=problem)
def convolution(low: Lowering, op: ConvolutionOp) -> Tree:
    """The product, then its elements in the order that the dimension labels ask for."""
    lhs = ordered(low, *_windows(low, op))
    rhs = ordered(low, low.leaf(op.rhs), _kernel(op))
    is_pred = element_of(op.results[0].type).kind == "pred"
    out, target = low.result(op.results[0]), _result(op)
    if target.is_linear:
        product(low, out, lhs, rhs, is_pred)
        return out
    made = low.scratch(out, out.count, in_dram=True)
    product(low, made, lhs, rhs, is_pred)
    order = sorted(range(len(target.extents)), key=lambda d: -target.strides[d])
    transfer(low, Part(out, target.pick(order)), Part(made, Region.whole(target.extents).pick(order)))
    return out


def _many(op: ConvolutionOp) -> tuple[int, int]:
    """Groups of features, and of the batch; at most one of them is more than 1."""
    return int_of(op.feature_group_count, 1), int_of(op.batch_group_count, 1)


def _split(region: Region, dimension: int, outer: int) -> tuple[Region, Region]:
    """A dimension as `outer` groups, and one group of it."""
    extent, stride = region.extents[dimension] // outer, region.strides[dimension]
    return Region((outer,), (extent * stride,)), Region((extent,), (stride,))


def _windows(low: Lowering, op: ConvolutionOp) -> tuple[Buffer | Splat, list[Region]]:
    """The lhs, padded: its groups, rows (batch and places), terms (window and features)."""
    roles, (groups, batch_groups) = op.dim_labels.dimensions, _many(op)
    window = [WindowDimension(1)] * len(shape_of(op.lhs.type))
    for dimension, spatial in zip(roles.input_spatial, op.window.dimensions if op.window else (), strict=True):
        window[dimension] = spatial
    leaf, whole = padded(low, low.leaf(op.lhs), shape_of(op.lhs.type), window, 0)
    output = shape_of(op.results[0].type)
    spatial = whole.pick(roles.input_spatial)
    begins, steps = swept(
        spatial, [window[d] for d in roles.input_spatial], tuple(output[d] for d in roles.output_spatial)
    )
    feature_groups, features = _split(whole, roles.input_feature, groups)
    batch_group, batch = _split(whole, roles.input_batch, batch_groups)
    return leaf, [feature_groups if batch_groups == 1 else batch_group, batch.then(begins), steps.then(features)]


def _kernel(op: ConvolutionOp) -> list[Region]:
    """The rhs: its groups, columns (output features), terms (window and input features)."""
    roles, window = op.dim_labels.dimensions, op.window.dimensions if op.window else ()
    whole = Region.whole(shape_of(op.rhs.type))
    groups, columns = _split(whole, roles.kernel_output_feature, max(_many(op)))
    taps = whole.pick(roles.kernel_spatial)
    turned = [-1 if d.reversal else 1 for d in window]
    taps = taps.box([e - 1 if t < 0 else 0 for e, t in zip(taps.extents, turned, strict=True)], taps.extents, turned)
    return [groups, columns, taps.then(whole.pick([roles.kernel_input_feature]))]


def _result(op: ConvolutionOp) -> Region:
    """Where [group, batch, places, features of the group] are in the result."""
    roles, whole = op.dim_labels.dimensions, Region.whole(shape_of(op.results[0].type))
    groups, features = _split(whole, roles.output_feature, max(_many(op)))
    return groups.then(whole.pick([roles.output_batch, *roles.output_spatial])).then(features)
