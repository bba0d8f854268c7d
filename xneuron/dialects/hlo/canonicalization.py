"""What xDSL's `canonicalize` simplifies: ops whose result is a value that already exists.

Only exact matches, layout included; no op that carries a sharding of its own, since such a copy is a resharding; no
op that waits for another, since the value in its place must not wait.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xneuron.dialects.hlo.attributes import int_list, int_of
from xneuron.dialects.hlo.base import waits
from xneuron.dialects.hlo.control_flow import GetTupleElementOp, TupleOp
from xneuron.dialects.hlo.data_movement import (
    BitcastOp,
    BroadcastOp,
    ConcatenateOp,
    CopyOp,
    ReshapeOp,
    SliceOp,
    TransposeOp,
)
from xneuron.dialects.hlo.elementwise import ConvertOp
from xneuron.dialects.hlo.types import DYNAMIC, is_tensor, shape_of


class ReplaceByKnownValue(RewritePattern):
    """Replaces an op by the value that it equals."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        known = None if waits(op) else known_value(op)
        if known is not None and known.type == op.results[0].type:
            rewriter.replace(op, (), (known,))


class EraseSelfDependency(RewritePattern):
    """Erases `hlo.control_dependency(%a, %a)`, which `cse` leaves where it merged two ordered values."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if op.operands[0] is op.operands[1]:
            rewriter.erase(op)


def known_value(op: Operation) -> SSAValue | None:
    """The value that an op equals, provided it has the result's type; None where there is none."""
    match op:
        case GetTupleElementOp():
            return _packed(op.operand, int_of(op.index))
        case TupleOp():
            return _unpacked(op.operands)
        case _ if not op.operands or "sharding" in op.attributes:
            return None
        case CopyOp() | ConvertOp():
            return op.operands[0]
        case BitcastOp() | ReshapeOp() | SliceOp() | ConcatenateOp():
            return op.operands[0] if _is_static(op) else None
        case TransposeOp() | BroadcastOp():
            numbers = int_list(op.dimensions)
            return op.operand if _is_static(op) and numbers == tuple(range(len(numbers))) else None
        case _:
            return None


def _is_static(op: Operation) -> bool:
    type = op.results[0].type
    return is_tensor(type) and DYNAMIC not in shape_of(type)


def _packed(tuple: SSAValue, index: int) -> SSAValue | None:
    return tuple.owner.operands[index] if isinstance(tuple.owner, TupleOp) else None


def _unpacked(elements: Sequence[SSAValue]) -> SSAValue | None:
    """The tuple that these are all elements of, in order."""
    sources: set[SSAValue] = set()
    for position, element in enumerate(elements):
        if not isinstance(element.owner, GetTupleElementOp) or int_of(element.owner.index) != position:
            return None
        sources.add(element.owner.operand)
    return sources.pop() if len(sources) == 1 else None
