"""What the passes that move collectives share: refusals, and making an all-gather anew in another place or shape."""

from __future__ import annotations

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xneuron.analysis.cost import bytes_of
from xneuron.analysis.gathers import Gather
from xneuron.dialects.hlo.attributes import ints
from xneuron.dialects.hlo.channels import GroupedOp
from xneuron.dialects.hlo.data_movement import CopyOp
from xneuron.dialects.hlo.types import DYNAMIC, Tensor, shape_of, tuple_of, with_shape
from xneuron.fastir import build
from xneuron.remarks import declare, name_of
from xneuron.transforms.replacement import erase

ORDERED = declare("ordered-collective", "A control dependency orders the collective, so that it cannot be moved.")
SEVERAL = declare("gather-of-several", "The all-gather has several operands, or its start has other users than a done.")
NO_STATE = declare("state-cannot-change", "The loop's state is no tuple, or says things about each of its elements.")
NO_COUNT = declare("no-trip-count", "How often the loop around the collective runs is not known.")
NOT_TRIPS = declare("slices-not-trips", "The sliced tensor has not one slice for each iteration.")
DYNAMIC_SHAPE = declare("dynamic-shape", "An array of the pattern has an extent that is known only at run time.")
NO_GROUPS = declare("group-size", "Groups have different sizes, or another size than shapes say.")
CONSTRAINED = declare("constrained-layout", "The collective fixes a layout that the new shape does not have.")
TOO_LARGE = declare("gathered-too-large", "The tensor that would be made exceeds the limit that was given.")


class NoMatch(Exception):
    """Why a collective stays where it is: a remark code, and what to say."""

    def __init__(self, code: str, why: str) -> None:
        self.code, self.why = code, why


def expect(holds: bool, code: str, why: str) -> None:
    """Raises NoMatch unless something holds."""
    if not holds:
        raise NoMatch(code, why)


def expect_size(op: Operation, type: Attribute, limit: int | None) -> None:
    """Raises NoMatch if a tensor of `type` is larger than `limit` bytes."""
    size = bytes_of(type)
    text = f"{name_of(op)} would give {size} bytes, more than max-gathered-bytes={limit}"
    expect(limit is None or size <= limit, TOO_LARGE, text)


def expect_slab_per_trip(stack: Tensor, count: int) -> None:
    """Raises NoMatch unless the first dimension of `stack` has an entry for each of `count` iterations."""
    leading = shape_of(stack)[0] if shape_of(stack) else None
    text = "Left-hand side dimension of the tensor being dynamic sliced does not match the trip count"
    expect(leading == count, NOT_TRIPS, f"{text}: {leading} and {count}")


def expect_shapes_can_change(op: GroupedOp, *types: Tensor) -> None:
    """Raises NoMatch for arrays of which a larger one would not be like them: dynamic ones, fixed layouts."""
    expect(not any(DYNAMIC in shape_of(type) for type in types), DYNAMIC_SHAPE, "an extent is dynamic")
    plain = all(type == with_shape(type, shape_of(type)) for type in types)
    expect(op.constrain_layout is None or plain, CONSTRAINED, "constrain_layout with a layout of its own")


def counted(number: int | str, noun: str) -> str:
    """`1 all-gather`, `8 all-gathers`, `trips(w) all-gathers`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def in_layout(value: SSAValue, type: Attribute, where: InsertPoint) -> SSAValue:
    """The value, copied if `type` has another layout."""
    if value.type == type:
        return value
    copy = build(CopyOp, [value], type, {}, {})
    Rewriter.insert_op(copy, where)
    return copy.results[0]


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
