"""What the two all-gather passes share: making a gather anew, in another place or of another shape."""

from __future__ import annotations

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xneuron.analysis.gathers import Gather
from xneuron.dialects.hlo.attributes import ints
from xneuron.dialects.hlo.types import tuple_of
from xneuron.fastir import build
from xneuron.remarks import declare
from xneuron.transforms.replacement import erase

ORDERED = declare("ordered-collective", "A control dependency orders the collective, so that it cannot be moved.")
TOO_LARGE = declare("gathered-too-large", "The tensor that would be made exceeds the limit that was given.")
SEVERAL = declare("gather-of-several", "The all-gather has several operands, or its start has other users than a done.")


def regather(gather: Gather, operand: SSAValue, type: Attribute, dimension: int, where: InsertPoint) -> SSAValue:
    """The same gather of `operand`: groups, channel, flags, metadata, and a done where the original has one.

    A sharding stays only if the result has the type it was written for.
    """
    left_out = "" if type == gather.result.type else "sharding"
    properties = {**gather.op.properties, "dimensions": ints((dimension,))}
    if gather.last is gather.op:
        return _again(gather.op, operand, type, properties, where, left_out)
    started = _again(gather.op, operand, tuple_of((operand.type, type)), properties, where, left_out)
    return _again(gather.last, started, type, {**gather.last.properties}, where, left_out)


def _again(
    op: Operation,
    operand: SSAValue,
    type: Attribute,
    properties: dict[str, Attribute],
    where: InsertPoint,
    left_out: str,
) -> SSAValue:
    attributes = {key: value for key, value in op.attributes.items() if key != left_out}
    copy = build(op.__class__, [operand], type, properties, attributes, op.results[0].name_hint, op.location)
    Rewriter.insert_op(copy, where)
    return copy.results[0]


def replace_gather(gather: Gather, value: SSAValue) -> None:
    """Puts `value` in the place of a gather and erases it."""
    gather.result.replace_all_uses_with(value)
    erase(gather.last)
    if gather.last is not gather.op:
        erase(gather.op)
