"""What reductions compute, and whether their terms lie in one partition already."""

from __future__ import annotations

from xdsl.ir import Operation, Region

from xneuron.dialects.bir.enums import AluOpType
from xneuron.dialects.hlo.attributes import int_list
from xneuron.dialects.hlo.base import body_of, root_of
from xneuron.dialects.hlo.elementwise import AddOp, AndOp, MaximumOp, MinimumOp, MultiplyOp, OrOp, XorOp
from xneuron.dialects.hlo.reductions import ReduceOp
from xneuron.dialects.hlo.types import PRED, is_tensor, shape_of

from .regions import Region as Elements

_OPERATIONS: dict[type[Operation], AluOpType] = {
    AddOp: AluOpType.add,
    MultiplyOp: AluOpType.mult,
    MaximumOp: AluOpType.max,
    MinimumOp: AluOpType.min,
    AndOp: AluOpType.bitwise_and,
    OrOp: AluOpType.bitwise_or,
    XorOp: AluOpType.bitwise_xor,
}
_OF_PRED = {AluOpType.add: AluOpType.bitwise_or, AluOpType.mult: AluOpType.bitwise_and}
"""Sums and products of truth values stay truth values."""


def operation_of(computation: Region) -> AluOpType | None:
    """The operation that is all a computation does to its two parameters, in either order."""
    block, root = body_of(computation), root_of(computation)
    owner = root.owner
    if len(block.args) != 2 or not isinstance(owner, Operation) or set(owner.operands) != set(block.args):
        return None
    found = _OPERATIONS.get(type(owner))
    is_pred = is_tensor(root.type) and root.type.element_type == PRED
    return _OF_PRED.get(found, found) if found and is_pred else found


def folds_neighbours(op: ReduceOp) -> bool:
    """True if the terms of each element are neighbours, and one instruction folds them."""
    if operation_of(op.to_apply) is None:
        return False
    shape, dims = shape_of(op.args[0].type), set(int_list(op.dimensions))
    order = [*(d for d in range(len(shape)) if d not in dims), *sorted(dims)]
    return Elements.whole(shape).pick(order).is_linear or len(dims) == len(shape)
