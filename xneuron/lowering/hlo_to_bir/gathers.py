"""Rules for gather and scatter: a static loop over the index vectors, and one DMA per window."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from xdsl.ir import Block, SSAValue

from xneuron.dialects.bir.enums import BranchCompareOp
from xneuron.dialects.bir.expressions import Affine, affine, constant
from xneuron.dialects.bir.operands import access
from xneuron.dialects.hlo.attributes import int_list
from xneuron.dialects.hlo.base import body_of, root_of
from xneuron.dialects.hlo.control_flow import TupleOp
from xneuron.dialects.hlo.index_rules import Addressing
from xneuron.dialects.hlo.indexing import GatherOp, ScatterOp
from xneuron.dialects.hlo.types import element_count, shape_of

from .computations import Lowering
from .dynamic import narrow, start_at, updatable
from .empty import is_nothing
from .lifted import lifted, not_elementwise
from .patterns import Part, brought, joined, part_of, transfer
from .regions import Region, Shape, plus, row_major
from .rules import lowers
from .values import Buffer, Splat, Tree, leaf_paths


class Place(NamedTuple):
    """One index vector: where its first component is, where its window is in the array of windows (the result of a
    gather, the updates of a scatter), and where the batching dimensions of the operand are."""

    vector: Affine
    window: Affine
    batch: Affine


@dataclass(frozen=True)
class Windows:
    """Which windows of an operand index vectors address."""

    how: Addressing
    operand: Region
    sizes: Shape
    indices: Shape
    windows: Region

    @contextmanager
    def each(self, low: Lowering) -> Generator[Place]:
        """What is emitted inside is done for each index vector, in row-major order."""
        with ExitStack() as loops:
            walked = joined(*self._batch())
            steps = [loops.enter_context(low.builder.loop("index", extent)) for extent in walked[0].extents]
            yield Place(*(_at(steps, region.strides) for region in walked))

    def _batch(self) -> tuple[Region, Region, Region]:
        """The dimensions that say which index vector, in the indices, in the windows, and in the operand."""
        steps, how = row_major(self.indices), self.how
        dims = [d for d in range(len(self.indices)) if d != how.index_vector_dim]
        batching = dict(zip(how.indices_batching, how.operand_batching, strict=True))
        extents = tuple(self.indices[d] for d in dims)
        operand = tuple(self.operand.strides[batching[d]] if d in batching else 0 for d in dims)
        rest = [d for d in range(len(self.windows.extents)) if d not in how.window_dims]
        return Region(extents, tuple(steps[d] for d in dims)), self.windows.pick(rest), Region(extents, operand)

    @property
    def lasts(self) -> list[int]:
        """The last start in each dimension that an index vector addresses, by component."""
        return [self.operand.extents[d] - self.sizes[d] for d in self.how.index_map]

    def positions(self, place: Place) -> list[Affine]:
        """Where the components of an index vector are."""
        vector, at = self.how.index_vector_dim, row_major(self.indices)
        step = at[vector] if vector < len(at) else 0
        return [plus(place.vector, constant(step * component)) for component in range(len(self.how.index_map))]

    def of_operand(self, place: Place, starts: Sequence[Affine]) -> Region:
        """The window in the operand."""
        found = [constant(0)] * len(self.sizes)
        for dimension, start in zip(self.how.index_map, starts, strict=True):
            found[dimension] = start
        window = self.operand.box(found, self.sizes).pick(self.how.kept_dims(len(self.sizes)))
        return window.moved(place.batch)

    def of_windows(self, place: Place) -> Region:
        """The same window in the array of windows."""
        return self.windows.pick(self.how.window_dims).moved(place.window)


def _at(steps: Sequence[SSAValue], strides: Shape) -> Affine:
    return plus(constant(0), *(affine(step, stride) for step, stride in zip(steps, strides, strict=True)))


def _reachable(low: Lowering, leaf: Buffer | Splat) -> Buffer | Splat:
    """An operand that is reached into in a loop: brought to DRAM in front of it."""
    return leaf if isinstance(leaf, Splat) or leaf.count == 1 else low.in_dram(leaf)


def _indices(low: Lowering, value: SSAValue) -> Buffer | Splat:
    leaf = low.leaf(value)
    return _reachable(low, narrow(low, leaf) if isinstance(leaf, Buffer) else leaf)


@lowers(GatherOp)
def gather(low: Lowering, op: GatherOp) -> Tree:
    """Registers hold the start of a window, clamped so that it fits."""
    source, result = low.leaf(op.operand), op.results[0]
    if isinstance(source, Splat):
        return Splat(source.value, source.dtype, element_count(result.type))
    operand, windows = (Region.whole(shape_of(value.type)) for value in (op.operand, result))
    found = Windows(op.addressing, operand, int_list(op.slice_sizes), shape_of(op.start_indices.type), windows)
    source, indices, out = _reachable(low, source), _indices(low, op.start_indices), low.result(result)
    with found.each(low) as place:
        starts = [
            start_at(low, indices, position, last)
            for position, last in zip(found.positions(place), found.lasts, strict=True)
        ]
        transfer(low, Part(out, found.of_windows(place)), part_of(low, source, found.of_operand(place, starts)))
    return out


def _replaces(op: ScatterOp) -> bool:
    """True if an update takes the place of what was there."""
    block, root = body_of(op.to_apply), root_of(op.to_apply)
    values = list(root.owner.operands) if isinstance(root.owner, TupleOp) else [root]
    return values == list(block.args[len(block.args) // 2 :])


def _problem(op: ScatterOp) -> str | None:
    if is_nothing(op.args[len(op.args) // 2].type) and not is_nothing(op.args[-1].type):
        return "its index vectors have no elements"
    return None if _replaces(op) else not_elementwise(op.to_apply)


@lowers(ScatterOp, check=_problem, in_place=(0,))
def scatter(low: Lowering, op: ScatterOp) -> Tree:
    """Window by window, in order; one that does not fit is skipped."""
    count, paths = len(op.args) // 2, leaf_paths(op.results[0].type)
    if is_nothing(op.args[-1].type):
        outs = [updatable(low, op, number, path) for number, path in enumerate(paths)]
        return tuple(outs) if count > 1 else outs[0]
    found, indices = _windows(op, count), _indices(low, op.args[count])
    updates = [_reachable(low, low.leaf(value)) for value in op.args[count + 1 :]]
    # In this order: the target of a later one may be the memory of an earlier one, which is read by then.
    outs = [updatable(low, op, number, path) for number, path in enumerate(paths)]
    combine = None if _replaces(op) else lifted(low, op.to_apply, prod(found.sizes))
    if not isinstance(indices, Splat) or all(0 <= indices.value <= last for last in found.lasts):
        with found.each(low) as place, _if_inside(low, found, indices, place) as starts:
            window = found.of_operand(place, starts)
            _update(low, [Part(out, window) for out in outs], updates, found.of_windows(place), combine)
    return tuple(outs) if count > 1 else outs[0]


def _windows(op: ScatterOp, count: int) -> Windows:
    operand, indices, updates = (shape_of(op.args[number].type) for number in (0, count, count + 1))
    how, sizes = op.addressing, [1] * len(operand)
    for dimension, at in zip(how.kept_dims(len(operand)), how.window_dims, strict=True):
        sizes[dimension] = updates[at]
    return Windows(how, Region.whole(operand), tuple(sizes), indices, Region.whole(updates))


@contextmanager
def _if_inside(low: Lowering, found: Windows, indices: Buffer | Splat, place: Place) -> Generator[list[Affine]]:
    """What is emitted inside is done if the window fits; gives where it starts."""
    if isinstance(indices, Splat):
        yield [constant(int(indices.value)) for _ in found.lasts]
        return
    builder, starts = low.builder, list[Affine]()
    after = builder.new_block("after")
    for position, last in zip(found.positions(place), found.lasts, strict=True):
        register = builder.load(access(indices.handle, position, [(1, 1)]), "start")
        for compare, number in ((BranchCompareOp.IS_LTIMM, 0), (BranchCompareOp.IS_GTIMM, last)):
            inside = builder.new_block("inside")
            builder.branch(compare, register, number, after, inside)
            builder.start(inside)
        starts.append(affine(register) if last else constant(0))
    yield starts
    builder.go_to(after)
    builder.start(after)


def _update(
    low: Lowering, old: list[Part], updates: list[Buffer | Splat], window: Region, combine: Block | None
) -> None:
    """One window of each operand: replaced, or combined with the update where computations can have both."""
    if combine is None:
        for part, update in zip(old, updates, strict=True):
            transfer(low, part, part_of(low, update, window))
        return
    before = [brought(low, part.buffer, part.region) for part in old]
    values = [brought(low, update, window) for update in updates]
    low.block(combine, [*before, *values], [tuple(before) if len(before) > 1 else before[0]])
    for part, buffer in zip(old, before, strict=True):
        assert isinstance(buffer, Buffer)
        transfer(low, part, Part(buffer, Region.whole(part.region.extents)))
