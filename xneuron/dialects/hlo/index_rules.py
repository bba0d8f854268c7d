"""Shape rules of gather and scatter, which share how indices address an operand.

Rules: XLA's InferGatherShape and InferScatterShape in shape_inference.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.shape_rules import (
    INTEGRAL,
    array_of,
    expect_count,
    expect_dimension,
    expect_dimensions,
    expect_within,
    fits,
    listed,
)
from xneuron.dialects.hlo.types import Tensor, same_extents, shape_of, with_shape


class Addressing(NamedTuple):
    """How index vectors address windows of an operand; gather's and scatter's dimension numbers under one name.

    | here | gather | scatter |
    |---|---|---|
    | `window_dims` (of result or updates) | offset_dims | update_window_dims |
    | `dropped_dims` (of the operand) | collapsed_slice_dims | inserted_window_dims |
    | `index_map` | start_index_map | scatter_dims_to_operand_dims |
    | `operand_batching` | operand_batching_dims | input_batching_dims |
    | `indices_batching` | start_indices_batching_dims | scatter_indices_batching_dims |
    """

    window_dims: Sequence[int]
    dropped_dims: Sequence[int]
    index_map: Sequence[int]
    operand_batching: Sequence[int]
    indices_batching: Sequence[int]
    index_vector_dim: int

    def kept_dims(self, rank: int) -> list[int]:
        """Operand dimensions that remain in a window."""
        return [d for d in range(rank) if d not in self.dropped_dims and d not in self.operand_batching]


def batch_extents(how: Addressing, indices: Attribute, operand: Tensor) -> list[int]:
    """Extents of the indices without their vectors, once all that does not depend on the window is checked."""
    extents = list(shape_of(array_of(INTEGRAL, indices, "indices")))
    at = expect_dimension(how.index_vector_dim, len(extents) + 1, "index_vector_dim")
    vector = extents.pop(at) if at < len(extents) else 1
    shape = shape_of(operand)
    expect_dimensions(how.index_map, len(shape), "start_index_map or scatter_dims_to_operand_dims")
    if not fits(len(how.index_map), vector):
        raise VerifyException(f"expected {vector} dimensions mapped by index vectors, found {listed(how.index_map)}")
    expect_dimensions(how.dropped_dims, len(shape), "collapsed or inserted dimensions", ascending=True)
    _expect_batching(how, shape, shape_of(indices))
    expect_count(len(how.kept_dims(len(shape))), how.window_dims, "offset or window dimensions")
    expect_dimensions(how.window_dims, len(how.window_dims) + len(extents), "offset or window dims", ascending=True)
    return extents


def _expect_batching(how: Addressing, operand: Sequence[int], indices: Sequence[int]) -> None:
    expect_dimensions(how.operand_batching, len(operand), "batching dimensions of the operand", ascending=True)
    expect_dimensions(how.indices_batching, len(indices), "batching dimensions of the indices")
    expect_count(len(how.operand_batching), how.indices_batching, "batching dimensions of the indices")
    if taken := set(how.operand_batching) & {*how.dropped_dims, *how.index_map}:
        raise VerifyException(f"expected batching dimensions of their own, found {listed(sorted(taken))} used twice")
    if how.index_vector_dim in how.indices_batching:
        raise VerifyException(f"expected batching dimensions without index_vector_dim, found {how.index_vector_dim}")
    for mine, theirs in zip(how.operand_batching, how.indices_batching, strict=True):
        if not fits(operand[mine], indices[theirs]):
            raise VerifyException(
                f"expected batching dimensions of one extent, found {operand[mine]} and {indices[theirs]}"
            )


def gathered(how: Addressing, sizes: Sequence[int], operand: Tensor, indices: Attribute) -> Tensor:
    """Result type of a gather of slices of these sizes."""
    batch = iter(batch_extents(how, indices, operand))
    expect_within(sizes, shape_of(operand), "slice_sizes")
    for dropped in (*how.dropped_dims, *how.operand_batching):
        if sizes[dropped] > 1:
            raise VerifyException(
                f"expected slice size 0 or 1 in collapsed dimension {dropped}, found {sizes[dropped]}"
            )
    window = iter([sizes[d] for d in how.kept_dims(len(sizes))])
    rank = len(shape_of(indices)) + len(how.window_dims) - (how.index_vector_dim < len(shape_of(indices)))
    return with_shape(operand, [next(window) if d in how.window_dims else next(batch) for d in range(rank)])


def expect_scattered(how: Addressing, operand: Tensor, indices: Attribute, updates: Tensor) -> None:
    """Fails unless the updates are windows of the operand, one per index vector."""
    batch, shape = batch_extents(how, indices, operand), shape_of(updates)
    if len(shape) != len(batch) + len(how.window_dims):
        raise VerifyException(f"expected updates of rank {len(batch) + len(how.window_dims)}, found {len(shape)}")
    extents = shape_of(operand)
    expect_within([shape[d] for d in how.window_dims], [extents[d] for d in how.kept_dims(len(extents))], "updates")
    scattered = [extent for d, extent in enumerate(shape) if d not in how.window_dims]
    if not same_extents(scattered, batch):
        raise VerifyException(f"expected updates for indices {listed(batch)}, found {listed(scattered)}")
