"""Rule for bitcast, which keeps the bytes of an array in memory: layouts say which elements these are."""

from __future__ import annotations

from xneuron.dialects.hlo.data_movement import BitcastOp
from xneuron.dialects.hlo.types import element_count

from .aliases import keeps_type
from .bits import bitcast_convert, unreadable
from .computations import Lowering
from .patterns import Part, part_of, transfer
from .regions import Region, in_memory, keeps_order
from .rules import lowers
from .values import Splat, Tree


def _problem(op: BitcastOp) -> str | None:
    if keeps_type(op):
        return None
    return unreadable(op) if keeps_order(op) else "it reorders elements by their layouts, and changes their type"


@lowers(BitcastOp, check=_problem)
def bitcast(low: Lowering, op: BitcastOp) -> Tree:
    """Nothing between descending layouts; else the elements in the order of memory, and back to row-major order."""
    if not keeps_type(op):
        return bitcast_convert(low, op)
    source, result = low.leaf(op.operand), op.results[0]
    if isinstance(source, Splat):
        return Splat(source.value, source.dtype, element_count(result.type))
    if keeps_order(op):
        return source
    before, after = in_memory(op.operand.type), in_memory(result.type)
    stored = low.scratch(source, source.count, in_dram=True)
    transfer(low, Part(stored, Region.whole(before.extents)), part_of(low, source, before))
    out = low.result(result)
    order = sorted(range(len(after.extents)), key=lambda d: -after.strides[d])
    transfer(low, Part(out, after.pick(order)), Part(stored, Region.whole(after.extents).pick(order)))
    return out
