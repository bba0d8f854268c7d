"""Translations of collectives that are started and awaited."""

from __future__ import annotations

from xdsl.ir import Attribute, Operation, OpResult, Region, SSAValue

from xneuron.dialects.hlo import collectives as hlo
from xneuron.dialects.hlo.control_flow import AsyncDoneOp, AsyncStartOp
from xneuron.dialects.hlo.types import tuple_of
from xneuron.formats.stablehlo.reader.builder import Builder
from xneuron.formats.stablehlo.reader.regions import region_of
from xneuron.formats.stablehlo.reader.table import translates
from xneuron.formats.stablehlo.reader.values import packed

_STARTS: dict[type[Operation], type[Operation]] = {
    hlo.AllGatherOp: hlo.AllGatherStartOp,
    hlo.AllReduceOp: hlo.AllReduceStartOp,
    hlo.CollectivePermuteOp: hlo.CollectivePermuteStartOp,
}
"""Collectives whose start HLO has an opcode for."""
_DONES: dict[type[Operation], type[Operation]] = {
    hlo.AllGatherStartOp: hlo.AllGatherDoneOp,
    hlo.AllReduceStartOp: hlo.AllReduceDoneOp,
    hlo.CollectivePermuteStartOp: hlo.CollectivePermuteDoneOp,
    AsyncStartOp: AsyncDoneOp,
}


@translates("stablehlo.async_start")
def async_start(builder: Builder) -> None:
    """The start of a collective, by its own opcode where HLO has one; else of the computation around it."""
    operands = builder.operands
    region = region_of(builder, builder.op.regions[0])
    inner = _alone(region)
    if inner is None or type(inner) not in _STARTS:
        state = tuple_of((tuple_of(tuple(value.type for value in operands)), region.block.last_op.operands[0].type))  # pyright: ignore[reportOptionalMemberAccess]
        builder.finish(builder.emit(AsyncStartOp, operands, state, {}, [region]))
        return
    start = _STARTS[type(inner)]
    bodies = [inner.detach_region(body) for body in list(inner.regions)]
    builder.finish(builder.emit(start, operands, _state(start, operands, inner), dict(inner.properties), bodies))


def _alone(region: Region) -> Operation | None:
    """The only operation of a computation, which does all that it does."""
    block = region.block
    first, last = block.first_op, block.last_op
    if first is None or last is None or first.next_op is not last:
        return None
    return first if tuple(first.operands) == block.args and last.operands[0] is first.results[0] else None


def _state(start: type[Operation], operands: list[SSAValue], inner: Operation) -> Attribute:
    result = inner.results[0].type
    if start is hlo.AllReduceStartOp:
        return result
    return tuple_of((packed([value.type for value in operands]), result))


@translates("stablehlo.async_done")
def async_done(builder: Builder) -> None:
    """What ends the start."""
    (started,) = builder.operands
    owner = type(started.op) if isinstance(started, OpResult) else None
    if owner not in _DONES:
        raise builder.untranslatable("expected what an async_start of the same computation gives")
    builder.finish(builder.emit(_DONES[owner], [started]))
