"""Rules for reductions: by one operation of the ALU in tiles, by any other computation on whole slices in a loop."""

from __future__ import annotations

from contextlib import ExitStack

from xdsl.ir import Block

from xneuron.dialects.bir.expressions import affine
from xneuron.dialects.hlo.attributes import int_list
from xneuron.dialects.hlo.reductions import ReduceOp, ReduceWindowOp
from xneuron.dialects.hlo.types import shape_of

from .computations import Lowering
from .elementwise_choices import select
from .empty import is_nothing
from .folds import Fold, word_of
from .lifted import lifted, not_elementwise
from .movement import spread
from .patterns import brought, joined
from .reducers import operation_of
from .region_folds import fold_region
from .regions import Region
from .rules import lowers
from .tiles import elementwise
from .values import Buffer, Splat, Tree, buffers, map_leaves, tree_of


def _problem(op: ReduceOp) -> str | None:
    return None if operation_of(op.to_apply) else not_elementwise(op.to_apply)


@lowers(ReduceOp, check=_problem)
def reduce(low: Lowering, op: ReduceOp) -> Tree:
    """By a TensorReduce where its computation is one operation, else slice by slice."""
    if is_nothing(op.args[0].type):
        return _initial(low, op)
    if (found := operation_of(op.to_apply)) is None:
        return fold_slices(low, op, [low.leaf(value) for value in op.args[: len(op.args) // 2]], *_halves(op))
    source, init = (low.leaf(value) for value in op.args)
    out = low.result(op.results[0])
    kept, reduced = _halves(op)
    fold_region(low, Fold(found, init, word_of(found, out.dtype)), out, source, kept, reduced)
    return out


def _halves(op: ReduceOp) -> tuple[Region, Region]:
    """The dimensions of the inputs that stay, and those that go."""
    whole, dims = Region.whole(shape_of(op.args[0].type)), sorted(int_list(op.dimensions))
    return whole.pick([d for d in range(len(whole.extents)) if d not in dims]), whole.pick(dims)


def _initial(low: Lowering, op: ReduceOp | ReduceWindowOp) -> Tree:
    """The results, with nothing in them yet but where they begin."""
    state = tree_of(op.results[0].type, lambda path, _: low.result(op.results[0], path))
    for total, init in zip(buffers(state), op.args[len(op.args) // 2 :], strict=True):
        spread(low, total, low.leaf(init))
    return state


def fold_slices(
    low: Lowering,
    op: ReduceOp | ReduceWindowOp,
    inputs: list[Buffer | Splat],
    kept: Region,
    reduced: Region,
    exists: Buffer | Splat | None = None,
) -> Tree:
    """A loop over the reduced indices, in row-major order; the computation is applied to all kept elements at once.

    `exists`: an array like the inputs that is 0 where an element is to be left out.
    """
    state = _initial(low, op)
    low.hold(state)
    totals = list(buffers(state))
    inputs = [leaf if isinstance(leaf, Splat) else low.in_dram(leaf) for leaf in inputs]
    body = lifted(low, op.to_apply, kept.count)
    (reduced,) = joined(reduced)
    with ExitStack() as loops:
        for extent, stride in zip(reduced.extents, reduced.strides, strict=True):
            kept = kept.moved(affine(loops.enter_context(low.builder.loop("term", extent)), stride))
        elements = [brought(low, leaf, kept) for leaf in inputs]
        if not isinstance(exists, Buffer):
            low.block(body, [*totals, *elements], [state])
        else:
            _where_it_exists(low, body, state, elements, brought(low, exists, kept))
    low.release([state])
    return state


def _where_it_exists(
    low: Lowering, body: Block, state: Tree, elements: list[Buffer | Splat], exists: Buffer | Splat
) -> None:
    """The computation's results where the mask is not 0, the old ones elsewhere."""
    new = map_leaves(state, lambda _, leaf: low.scratch(leaf, leaf.count, False) if isinstance(leaf, Buffer) else leaf)
    totals = list(buffers(state))
    low.block(body, [*totals, *elements], [new])
    for total, value in zip(totals, buffers(new), strict=True):
        elementwise(low, total, [exists, value, total], select)
