"""Rule for sorts: odd-even transposition, which compares and exchanges neighbours of all lines at the same time.

A line of n elements is in order after n rounds, of pairs that begin at even and at odd elements in turn. Neighbours
change places only if the second one belongs before the first, so that equal ones keep their order.
"""

from __future__ import annotations

from xdsl.ir import Block

from xneuron.dialects.hlo.attributes import int_list
from xneuron.dialects.hlo.reductions import SortOp
from xneuron.dialects.hlo.types import shape_of

from .computations import Lowering
from .dynamic import updatable
from .elementwise_choices import select
from .lifted import lifted, not_elementwise
from .patterns import Part, brought, transfer
from .regions import Region
from .rules import lowers
from .tiles import elementwise
from .values import Buffer, Splat, Tree, leaf_paths


@lowers(SortOp, check=lambda op: not_elementwise(op.to_apply), in_place=(0,))
def sort(low: Lowering, op: SortOp) -> Tree:
    """A static loop over pairs of rounds; operands move together."""
    result, whole, (dimension,) = op.results[0], Region.whole(shape_of(op.inputs[0].type)), int_list(op.dimensions)
    # In this order: the target of a later one may be the memory of an earlier one, which is read by then.
    outs = [updatable(low, op, number, path) for number, path in enumerate(leaf_paths(result.type))]
    extent = whole.extents[dimension]
    pairs = [_neighbours(whole, dimension, start) for start in (0, 1) if extent - start > 1]
    rounds = [(left, right, lifted(low, op.to_apply, left.count)) for left, right in pairs]
    if rounds:
        with low.builder.loop("round", -(-extent // 2)):
            for left, right, before in rounds:
                _exchange(low, outs, left, right, before)
    return tuple(outs) if len(outs) > 1 else outs[0]


def _neighbours(whole: Region, dimension: int, start: int) -> tuple[Region, Region]:
    """The first and the second elements of all pairs along a dimension, from `start` on."""
    extents, starts, steps = list(whole.extents), [0] * len(whole.extents), [1] * len(whole.extents)
    extents[dimension], steps[dimension] = (extents[dimension] - start) // 2, 2
    starts[dimension] = start
    left = whole.box(starts, extents, steps)
    starts[dimension] += 1
    return left, whole.box(starts, extents, steps)


def _exchange(low: Lowering, outs: list[Buffer], left: Region, right: Region, before: Block) -> None:
    """Pairs whose second element belongs before the first change places."""
    firsts, seconds = ([brought(low, out, region) for out in outs] for region in (left, right))
    arguments = [value for pair in zip(seconds, firsts, strict=True) for value in pair]
    (turned,) = low.block(before, arguments)
    assert isinstance(turned, Buffer | Splat)
    low.hold(turned)
    for out, first, second in zip(outs, firsts, seconds, strict=True):
        for region, choices in ((left, [second, first]), (right, [first, second])):
            chosen = low.scratch(out, region.count, in_dram=False)
            elementwise(low, chosen, [turned, *choices], select)
            transfer(low, Part(out, region), Part(chosen, Region.whole(region.extents)))
    low.drop(turned)
