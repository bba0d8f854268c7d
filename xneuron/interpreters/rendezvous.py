"""The world outside a participant: collects requests, and answers those for which everybody needed has come.

Members of a collective meet by channel id and group, or by instruction and group where there is no channel id. A
participant may wait at several instructions at once; those on one channel meet in the order in which they were handed
in. Whoever meets must be at the same instruction, in the same iteration of the loops around it: anything else is an
error.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from xdsl.ir import Operation

from xneuron.dialects.hlo.attributes import int_of
from xneuron.dialects.hlo.base import opcode_of
from xneuron.dialects.hlo.channels import ChannelOp, GroupedOp, PermuteOp, TransferOp
from xneuron.dialects.hlo.collectives import CollectiveBroadcastOp, PartitionIdOp, ReplicaIdOp
from xneuron.dialects.hlo.group_modes import group_mode, participant_groups
from xneuron.execution.errors import EvaluationError, instruction
from xneuron.execution.plan import At
from xneuron.interpreters.kernels.registry import no_meaning
from xneuron.interpreters.replicas import Exchanges, Participants, Request
from xneuron.interpreters.transfers import Transfers
from xneuron.interpreters.values import zeros

Resume = Callable[[Any], None]
Handler = Callable[[int, Request, Resume], None]


class Waiting(NamedTuple):
    """A participant that waits, and what to do with the answer."""

    participant: int
    request: Request
    resume: Resume


class World:
    """One run of a program by all its participants. Costs a dictionary look-up a request."""

    def __init__(self, participants: Participants, exchanges: Exchanges) -> None:
        self.participants = participants
        self._exchanges = exchanges
        self._handlers: dict[Operation, Handler] = {}
        self._groups: dict[Operation, dict[int, tuple[int, ...]]] = {}
        self._meetings: dict[Hashable, dict[int, deque[Waiting]]] = {}
        self._transfers = Transfers(participants, exchanges)
        self._finished: set[int] = set()

    def post(self, participant: int, request: Request, resume: Resume) -> None:
        """Hands in a request; `resume(answer)` is called once it is answered, perhaps at once.

        Raises EvaluationError for a request that can never be answered, and where those who meet do not fit.
        """
        handler = self._handlers.get(request.op)
        if handler is None:
            handler = self._handlers[request.op] = self._handler(request.op)
        handler(participant, request, resume)

    def _handler(self, op: Operation) -> Handler:
        """What answers requests of an op; found once."""
        if isinstance(op, ReplicaIdOp):
            return lambda participant, _, resume: resume(np.uint32(self.participants.replica(participant)))
        if isinstance(op, PartitionIdOp):
            return lambda participant, _, resume: resume(np.uint32(self.participants.partition(participant)))
        if isinstance(op, TransferOp):
            return self._transfers.post
        if isinstance(op, GroupedOp | PermuteOp):
            return partial(self._meet, op, channel_id(op))
        raise EvaluationError(no_meaning(op), op)

    def finished(self, participant: int) -> None:
        """The participant has run to its end."""
        self._finished.add(participant)

    # Collectives

    def _meet(
        self, op: GroupedOp | PermuteOp, channel: int | None, participant: int, request: Request, resume: Resume
    ) -> None:
        group = self._group(op, participant)
        if not group:
            resume(zeros(op.results[0].type))
            return
        key = ((op, request.calls) if channel is None else channel, group)
        present = self._meetings.setdefault(key, {})
        present.setdefault(participant, deque()).append(Waiting(participant, request, resume))
        if len(present) < len(group):
            return
        members = [present[member].popleft() for member in group]
        for member in group:
            if not present[member]:
                del present[member]
        if not present:
            del self._meetings[key]
        self._expect_alike(members)
        answers = self._exchanges.exchange(op, [member.request.operands for member in members])
        for member, answer in zip(members, answers, strict=True):
            member.resume(answer)

    def _group(self, op: GroupedOp | PermuteOp, participant: int) -> tuple[int, ...]:
        """The group in which a participant runs the op; empty if it only gets zeros."""
        groups = self._groups.get(op)
        if groups is None:
            groups = self._groups[op] = {member: group for group in self._all_groups(op) for member in group}
        found = groups.get(participant, ())
        if not found and not isinstance(op, CollectiveBroadcastOp):
            name = self.participants.name(participant)
            raise EvaluationError(f"{_named(op)} is run by {name}, which is in none of its groups", op)
        return found

    def _all_groups(self, op: GroupedOp | PermuteOp) -> tuple[tuple[int, ...], ...]:
        ids = op.replica_groups.groups if isinstance(op, GroupedOp) and op.replica_groups is not None else ()
        try:
            return participant_groups(group_mode(op), ids, self.participants.replicas, self.participants.partitions)
        except ValueError as error:
            raise EvaluationError(f"{_named(op)} {error}", op) from None

    def _expect_alike(self, members: list[Waiting]) -> None:
        first = members[0].request
        for member in members:
            other = member.request
            if other.op is not first.op or other.at != first.at or other.calls != first.calls:
                where = "".join(f"\n  {self._line(waiting)}" for waiting in members)
                raise EvaluationError(f"{_difference(first, other)}:{where}", other.op)

    # Nobody can go on

    def stuck(self) -> EvaluationError:
        """The error for a run in which nobody can go on; says who waits where, and who has finished."""
        waiting = sorted(self._waiting(), key=lambda each: each.participant)
        count = len({each.participant for each in waiting})
        lines = [f"{self._line(each)}{self._for(each)}" for each in waiting]
        lines += [f"{self.participants.name(each)} has finished" for each in sorted(self._finished)]
        listed = "".join(f"\n  {line}" for line in lines)
        op = waiting[0].request.op if waiting else None
        return EvaluationError(f"deadlock: {count} of {len(self.participants)} wait and nobody can go on{listed}", op)

    def _waiting(self) -> Iterator[Waiting]:
        for present in self._meetings.values():
            for queue in present.values():
                yield from queue
        for participant, request in self._transfers.waiting():
            yield Waiting(participant, request, _nobody)

    def _line(self, waiting: Waiting) -> str:
        return f"{self.participants.name(waiting.participant)} waits at {_place(waiting.request)}"

    def _for(self, waiting: Waiting) -> str:
        """Whom somebody waits for."""
        op = waiting.request.op
        if not isinstance(op, GroupedOp | PermuteOp):
            return self._transfers.awaited(waiting.participant, waiting.request)
        group = self._group(op, waiting.participant)
        present = self._meetings[_meeting_point(waiting.request), group]
        missing = [self.participants.name(member) for member in group if member not in present]
        return f", for {', '.join(missing)}"


def _nobody(answer: Any) -> None:
    """Nothing to do."""


def _meeting_point(request: Request) -> Hashable:
    channel = channel_id(request.op)
    return (request.op, request.calls) if channel is None else channel


def channel_id(op: Operation) -> int | None:
    """The channel of an instruction; a done op may leave it to its start."""
    if not isinstance(op, ChannelOp):
        return None
    if op.channel_id is not None:
        return int_of(op.channel_id)
    return channel_id(op.operands[0].owner) if _is_done(op) and isinstance(op.operands[0].owner, ChannelOp) else None


def _is_done(op: Operation) -> bool:
    return isinstance(op, TransferOp) and op.name.endswith("_done")


def _difference(first: Request, other: Request) -> str:
    """What is wrong with two requests that meet."""
    channel = channel_id(other.op)
    if first.op.name != other.op.name:
        return f"channel {channel} joins different opcodes"
    if [value.type for value in first.op.operands] != [value.type for value in other.op.operands]:
        return f"channel {channel} joins different shapes"
    if first.op is not other.op:
        return f"channel {channel} joins different instructions"
    point = f"{_named(other.op)}" if channel is None else f"channel {channel}"
    return f"{point} joins different {'iterations' if first.at != other.at else 'calls'}"


def _named(op: Operation) -> str:
    return f"{opcode_of(op.name)} {instruction(op)}"


def _place(request: Request) -> str:
    """`all-gather %ag on channel 3 in iteration 2.0, called by %c`."""
    channel = channel_id(request.op)
    at = f" on channel {channel}" if channel is not None else ""
    return f"{_named(request.op)}{at}{_iteration(request.at)}{_called(request.calls)}"


def _iteration(at: At) -> str:
    return f" in iteration {'.'.join(map(str, at))}" if at else ""


def _called(calls: tuple[Operation, ...]) -> str:
    return f", called by {' in '.join(instruction(call) for call in reversed(calls))}" if calls else ""
