"""Rules for sorts: odd-even transposition, which compares and exchanges neighbours of all lines at the same time.

A line of n elements is in order after n rounds, of pairs that begin at even and at odd elements in turn. Neighbours
change places only if the second one belongs before the first, so that equal ones keep their order.
"""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Block
from xdsl.ir import Region as Computation

from xneuron.dialects.bir.enums import DType
from xneuron.dialects.hlo.attributes import int_list, int_of
from xneuron.dialects.hlo.control_flow import ReturnOp
from xneuron.dialects.hlo.elementwise import CompareOp
from xneuron.dialects.hlo.reductions import SortOp, TopKOp
from xneuron.dialects.hlo.types import PRED, S32, element_of, shape_of, tensor

from .computations import Lowering
from .copies import copy
from .dynamic import updatable
from .elementwise_choices import select
from .lifted import lifted, not_elementwise
from .movement import number
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
    _arrange(low, outs, whole, dimension, op.to_apply)
    return tuple(outs) if len(outs) > 1 else outs[0]


@lowers(TopKOp, check=lambda op: not_elementwise(_order(op)))
def top_k(low: Lowering, op: TopKOp) -> Tree:
    """The first elements of the array and its indices, sorted together."""
    whole, result = Region.whole(shape_of(op.operand.type)), op.results[0]
    last, source = len(whole.extents) - 1, low.leaf(op.operand)
    values = low.scratch(source, whole.count, in_dram=True)
    copy(low, values, source)
    indices = low.keep_for_now(low.storage.value("indices", DType.int32, whole.count, in_dram=True))
    number(low, indices, whole.extents, last)
    _arrange(low, [values, indices], whole, last, _order(op))
    extents = (*whole.extents[:-1], int_of(op.k))
    outs = [low.result(result, path) for path in leaf_paths(result.type)]
    for out, found in zip(outs, (values, indices), strict=True):
        transfer(low, Part(out, Region.whole(extents)), Part(found, whole.box([0] * len(extents), extents)))
    return tuple(outs)


def _order(op: TopKOp) -> Computation:
    """What says which of two elements comes first: `(a, b, index a, index b) -> a > b`, of floats in total order."""
    element = element_of(op.operand.type)
    block = Block(arg_types=[tensor(type) for type in (element.type, element.type, S32, S32)])
    properties: dict[str, Attribute] = {"direction": StringAttr("LT" if op.largest is None else "GT")}
    if element.kind == "float":
        properties["compare_type"] = StringAttr("TOTALORDER")
    first = CompareOp.create(operands=block.args[:2], result_types=[tensor(PRED)], properties=properties)
    block.add_ops([first, ReturnOp.create(operands=[first.results[0]])])
    return Computation(block)


def _arrange(low: Lowering, outs: list[Buffer], whole: Region, dimension: int, before: Computation) -> None:
    """All rounds, in place."""
    extent = whole.extents[dimension]
    pairs = [_neighbours(whole, dimension, start) for start in (0, 1) if extent - start > 1]
    rounds = [(left, right, lifted(low, before, left.count)) for left, right in pairs]
    if not rounds:
        return
    with low.builder.loop("round", -(-extent // 2)):
        for left, right, block in rounds:
            _exchange(low, outs, left, right, block)


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
