"""The world outside a participant: who answers the requests that computations make.

A computation that holds a collective runs as a generator. It yields a `Request` and is sent the answer. Whoever drives
the generators is the world: `run_alone` is the world of one participant. A world of many drives one generator per
participant and calls `Exchanges.exchange` with the operands of a whole group; the code is the same and is shared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from xdsl.ir import Operation

from xneuron.dialects.hlo.attributes import int_of, pair_list
from xneuron.dialects.hlo.base import opcode_of
from xneuron.dialects.hlo.channels import ChannelOp, GroupedOp, PermuteOp
from xneuron.dialects.hlo.collectives import (
    AllGatherStartOp,
    CollectivePermuteStartOp,
    PartitionIdOp,
    RecvDoneOp,
    RecvOp,
    ReplicaIdOp,
    SendDoneOp,
    SendOp,
)
from xneuron.dialects.hlo.types import elements_of
from xneuron.execution.errors import EvaluationError, instruction
from xneuron.execution.plan import At, Resumable
from xneuron.interpreters.kernels.registry import Context, exchange_of, no_meaning
from xneuron.interpreters.values import zeros


class Request(NamedTuple):
    """One instruction that needs the world: its operand values, and the iterations of the loops around it."""

    op: Operation
    operands: tuple[Any, ...]
    at: At


class Exchanges:
    """What collectives compute, for a whole group at once; one per run, shared by all participants."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._functions: dict[Operation, Callable[[Sequence[Sequence[Any]]], Sequence[Any]]] = {}

    def exchange(self, op: Operation, members: Sequence[Sequence[Any]]) -> list[Any]:
        """The result of `op` for each member of a group, given the operands of each, in the order of the group."""
        if op not in self._functions:
            self._functions[op] = exchange_of(op, self._context)
        results = self._functions[op](members)
        return [_started(op, operands, result) for operands, result in zip(members, results, strict=True)]


def _started(op: Operation, operands: Sequence[Any], result: Any) -> Any:
    """The result of a start op, whose type also holds the operands (xla-semantics.md d.6)."""
    if not isinstance(op, AllGatherStartOp | CollectivePermuteStartOp):
        return result
    given = operands[0] if len(operands) == 1 else tuple(operands)
    rest = elements_of(op.results[0].type)[2:]
    return (given, result, *map(zeros, rest))


def run_alone(resumable: Resumable, exchanges: Exchanges) -> Any:
    """Drives one participant to its end, with nobody else in the world; its value.

    Raises EvaluationError for a request that only others could answer.
    """
    world = _Alone(exchanges)
    answer = None
    while True:
        try:
            request = resumable.send(answer)
        except StopIteration as stop:
            return stop.value
        answer = world.answer(request)


class _Alone:
    """A world of one participant: it is replica 0 and partition 0, and every group is itself."""

    def __init__(self, exchanges: Exchanges) -> None:
        self._exchanges = exchanges
        self._sent: dict[int, list[Any]] = {}

    def answer(self, request: Request) -> Any:
        op = request.op
        if isinstance(op, ReplicaIdOp | PartitionIdOp):
            return np.uint32(0)
        if isinstance(op, GroupedOp | PermuteOp):
            _check_alone(op)
            return self._exchanges.exchange(op, [request.operands])[0]
        if isinstance(op, SendOp):
            return self._send(op, request.operands)
        if isinstance(op, RecvOp):
            return zeros(op.result.type)
        if isinstance(op, RecvDoneOp):
            return self._received(op)
        if isinstance(op, SendDoneOp):
            return None
        raise EvaluationError(no_meaning(op), op)

    def _send(self, op: SendOp, operands: tuple[Any, ...]) -> Any:
        self._sent.setdefault(int_of(op.channel_id), []).append(operands[0])
        return operands[0], np.uint32(0), None

    def _received(self, op: RecvDoneOp) -> Any:
        channel = _channel(op)
        if not (queue := self._sent.get(channel)):
            raise EvaluationError(f"{instruction(op)} waits on channel {channel}, where nothing was sent", op)
        return queue.pop(0), None


def _channel(op: RecvDoneOp) -> int:
    """The channel of a recv-done, which text may leave to its recv."""
    start = op.inputs[0].owner
    own = op.channel_id or (start.channel_id if isinstance(start, ChannelOp) else None)
    return int_of(own)


def _check_alone(op: GroupedOp | PermuteOp) -> None:
    """Raises EvaluationError if the op names participants other than 0."""
    named: Sequence[Sequence[int]]
    if isinstance(op, GroupedOp):
        named = op.replica_groups.groups if op.replica_groups is not None else ()
    else:
        named = pair_list(op.source_target_pairs)
    if others := sorted({id for group in named for id in group} - {0}):
        raise EvaluationError(
            f"{opcode_of(op.name)} {instruction(op)} names participants {others}, but the run has only one", op
        )
