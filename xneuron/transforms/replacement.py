"""Replacing an instruction by a value that is already there, with what XLA's ReplaceInstruction takes care of."""

from __future__ import annotations

from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.traits import Pure

from xneuron.transforms.metadata import op_name


def can_replace(op: Operation, value: SSAValue) -> bool:
    """True if types are equal, layouts too, and shardings, where both sides have one, agree."""
    ours, theirs = op.attributes.get("sharding"), _attributes(value).get("sharding")
    return op.results[0].type == value.type and (ours is None or theirs is None or ours == theirs)


def replace(op: Operation, value: SSAValue) -> None:
    """Puts `value` in the place of the only result of `op`, control dependencies included, and erases `op`.

    A sharding, and metadata with an op_name, pass on to an instruction that has none.
    """
    if isinstance(value, OpResult):
        _inherit(op, value.op)
    op.results[0].replace_all_uses_with(value)
    erase(op)


def erase(op: Operation) -> None:
    """Erases an op whose results have no uses."""
    if (block := op.parent) is None:
        raise ValueError(f"expected {op.name} in a block")
    block.erase_op(op)


def _attributes(value: SSAValue) -> dict[str, Attribute]:
    return value.op.attributes if isinstance(value, OpResult) else {}


def _inherit(old: Operation, new: Operation) -> None:
    if (sharding := old.attributes.get("sharding")) is not None:
        new.attributes.setdefault("sharding", sharding)
    if op_name(old) and not op_name(new):
        new.attributes["metadata"] = old.attributes["metadata"]


def erase_unused(value: SSAValue) -> None:
    """Erases what makes a value that nothing uses, and what is then unused in turn, as far as it is pure."""
    waiting = [value]
    while waiting:
        top = waiting.pop()
        if not isinstance(top, OpResult) or top.first_use is not None or not top.op.has_trait(Pure):
            continue
        if top.op.parent is None:
            continue  # an operand twice
        waiting += top.op.operands
        erase(top.op)
