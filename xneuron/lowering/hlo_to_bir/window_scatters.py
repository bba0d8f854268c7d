"""Rule for select-and-scatter: in each window one element is chosen, and a source value combined into it.

All windows are looked at together, element by element: first for the number of the element that each of them chooses,
then to combine the source values of those that chose it. No two windows have the same element at the same number.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from xdsl.ir import Block

from xneuron.dialects.bir.enums import AluOpType, DType
from xneuron.dialects.hlo.attributes import WindowDimension
from xneuron.dialects.hlo.reductions import SelectAndScatterOp
from xneuron.dialects.hlo.types import shape_of

from .computations import Lowering
from .copies import copy
from .elementwise_choices import select
from .lifted import lifted, not_elementwise
from .movement import spread
from .patterns import Part, brought, transfer
from .regions import Region
from .rules import lowers
from .tiles import Chip, Operand, Tile, elementwise
from .values import Buffer, Splat, Tree
from .windows import needs_padding, padded, swept


def _window(op: SelectAndScatterOp) -> Sequence[WindowDimension]:
    rank = len(shape_of(op.operand.type))
    return (op.window.dimensions if op.window else ()) or (WindowDimension(1),) * rank


def _problem(op: SelectAndScatterOp) -> str | None:
    if any(d.padding_low < 0 or d.padding_high < 0 for d in _window(op)):
        return "its windows leave out the edges of the array"
    return not_elementwise(op.select) or not_elementwise(op.scatter)


@lowers(SelectAndScatterOp, check=_problem)
def select_and_scatter(low: Lowering, op: SelectAndScatterOp) -> Tree:
    """Two static instruction sequences per element of the window."""
    window, extents = _window(op), shape_of(op.operand.type)
    operand, whole = padded(low, low.leaf(op.operand), extents, window, 0)
    begins, steps = swept(whole, window, shape_of(op.source.type))
    elements = [begins.moved(steps.box(at, (1,) * len(at)).offset) for at in product(*map(range, steps.extents))]
    exists = padded(low, Splat(1, DType.uint8, prod(extents)), extents, window, 0)[0] if needs_padding(window) else None
    chosen = _choose(low, lifted(low, op.select, begins.count), operand, exists, elements)
    total = low.scratch(low.leaf(op.operand), whole.count, in_dram=True)
    spread(low, total, low.leaf(op.init_value))
    _combine(low, lifted(low, op.scatter, begins.count), total, low.leaf(op.source), chosen, elements)
    out = low.result(op.results[0])
    kept = whole.box([d.padding_low for d in window], extents, [d.base_dilation for d in window])
    transfer(low, Part(out, Region.whole(extents)), Part(total, kept))
    return out


def _choose(
    low: Lowering, keeps: Block, operand: Buffer | Splat, exists: Buffer | Splat | None, elements: list[Region]
) -> Buffer:
    """The number of the element that each window chooses, -1 if it has none: it keeps one as long as `keeps` holds."""
    count = elements[0].count
    chosen = low.keep_for_now(low.storage.value("chosen", DType.int32, count, in_dram=False))
    copy(low, chosen, Splat(-1, DType.int32, count))
    kept = low.scratch(operand, count, in_dram=False)
    copy(low, kept, Splat(0, operand.dtype, count))
    for number, region in enumerate(elements):
        new = brought(low, operand, region)
        (stays,) = low.block(keeps, [kept, new])
        assert isinstance(stays, Buffer | Splat)
        low.hold(stays)
        there = Splat(1, DType.uint8, count) if exists is None else brought(low, exists, region)
        moves = low.keep_for_now(low.storage.value("moves", DType.uint8, count, in_dram=False))
        elementwise(low, moves, [stays, chosen, there], _moves)
        low.drop(stays)
        elementwise(low, kept, [moves, new, kept], select)
        elementwise(low, chosen, [moves, Splat(number, DType.int32, count), chosen], select)
    return chosen


def _moves(tile: Tile, out: Chip, stays: Operand, chosen: Operand, there: Operand) -> None:
    """1 where the element is there, and the window has none yet or does not keep it."""
    has_one = tile.alu(AluOpType.is_ge, tile.temporary(DType.uint8), chosen, 0)
    stays = tile.alu(AluOpType.bitwise_and, has_one, has_one, stays)
    goes = tile.alu(AluOpType.is_equal, has_one, stays, 0)
    tile.alu(AluOpType.bitwise_and, out, goes, there)


def _combine(
    low: Lowering, combine: Block, total: Buffer, source: Buffer | Splat, chosen: Buffer, elements: list[Region]
) -> None:
    """The source values into the elements that were chosen, window element by window element."""
    hit = low.keep_for_now(low.storage.value("hit", DType.uint8, chosen.count, in_dram=False))
    for number, region in enumerate(elements):
        old = brought(low, total, region)
        new = low.scratch(total, region.count, in_dram=False)
        low.block(combine, [source, old], [new])
        elementwise(low, hit, [chosen, Splat(number, DType.int32, chosen.count)], _equal)
        elementwise(low, new, [hit, new, old], select)
        transfer(low, Part(total, region), Part(new, Region.whole(region.extents)))


def _equal(tile: Tile, out: Chip, x: Operand, y: Operand) -> None:
    tile.alu(AluOpType.is_equal, out, x, y)
