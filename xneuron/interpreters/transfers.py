"""Sends and receives between participants.

Pairs of source and target are the frontend attribute `_xla_send_recv_source_target_pairs`; they are replicas on channel
0 and partitions on any other (XLA's p2p_thunk_common.cc). Without it, a program with one participant sends to itself.
Send n from one participant to another on a channel belongs to receive n. A start never waits; a done waits for the
start on the other side. Who has no source receives zeros.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.attributes import int_of, text_of
from xneuron.dialects.hlo.base import opcode_of
from xneuron.dialects.hlo.channels import TransferOp
from xneuron.dialects.hlo.collectives import RecvDoneOp, RecvOp, SendOp
from xneuron.dialects.hlo.group_modes import GroupMode, participant_groups
from xneuron.dialects.hlo.replica_groups import expand
from xneuron.dialects.hlo.types import elements_of, spelled
from xneuron.execution.errors import EvaluationError, instruction
from xneuron.interpreters.kernels.traffic import size_of
from xneuron.interpreters.replicas import Exchanges, Participants, Request
from xneuron.interpreters.values import described, fits, zeros

PAIRS = "_xla_send_recv_source_target_pairs"

Resume = Callable[[Any], None]
_Side = dict[tuple[int, int, int], "deque[_Transfer]"]


@dataclass
class _Transfer:
    """A transfer of which one start at least has run; `waiting`: done ops that came before the other start."""

    source: int
    target: int
    value: Any = None
    complete: bool = False
    waiting: list[tuple[int, Request, Resume]] = field(default_factory=list[tuple[int, Request, Resume]])


class Transfers:
    """All transfers of one run. The u32 in the state of a transfer is the number of its start."""

    def __init__(self, participants: Participants, exchanges: Exchanges) -> None:
        self._participants = participants
        self._exchanges = exchanges
        self._pairs: dict[Operation, tuple[dict[int, int], dict[int, int]]] = {}
        self._sent: _Side = {}
        self._awaited: _Side = {}
        self._starts: dict[int, _Transfer | None] = {}
        self._serial = count()

    def post(self, participant: int, request: Request, resume: Resume) -> None:
        """Hands in a start, which is answered at once, or a done."""
        op = request.op
        if isinstance(op, TransferOp) and op.is_host_transfer is not None:
            raise EvaluationError(f"no meaning for {_named(op)}, to or from the host", op)
        if isinstance(op, SendOp):
            resume((request.operands[0], self._send(participant, op, request.operands[0]), None))
        elif isinstance(op, RecvOp):
            resume((zeros(elements_of(op.results[0].type)[0]), self._receive(participant, op), None))
        else:
            self._done(participant, request, resume)

    # Starts

    def _send(self, source: int, op: SendOp, value: Any) -> Any:
        target = self._peers(op)[0].get(source)
        if target is None:
            return self._number(None)
        key = (int_of(op.channel_id), source, target)
        moved = size_of(value) if source != target else 0
        self._exchanges.count("send", moved)
        if not (awaited := self._awaited.get(key)):
            transfer = _Transfer(source, target, value)
            self._sent.setdefault(key, deque()).append(transfer)
            return self._number(transfer)
        transfer = awaited.popleft()
        transfer.value = value
        number = self._number(transfer)
        _complete(transfer)
        return number

    def _receive(self, target: int, op: RecvOp) -> Any:
        source = self._peers(op)[1].get(target)
        if source is None:
            return self._number(None)
        key = (int_of(op.channel_id), source, target)
        if not (sent := self._sent.get(key)):
            transfer = _Transfer(source, target)
            self._awaited.setdefault(key, deque()).append(transfer)
            return self._number(transfer)
        transfer = sent.popleft()
        number = self._number(transfer)
        _complete(transfer)
        return number

    def _number(self, transfer: _Transfer | None) -> Any:
        number = next(self._serial) % (1 << 32)
        self._starts[number] = transfer
        return np.uint32(number)

    def _peers(self, op: SendOp | RecvOp) -> tuple[dict[int, int], dict[int, int]]:
        """The target of each source, and the source of each target."""
        if op not in self._pairs:
            pairs = self._source_target_pairs(op)
            self._pairs[op] = {s: t for s, t in pairs}, {t: s for s, t in pairs}
        return self._pairs[op]

    def _source_target_pairs(self, op: SendOp | RecvOp) -> tuple[tuple[int, ...], ...]:
        if (text := source_target_pairs(op)) is None:
            if len(self._participants) == 1:
                return ((0, 0),)
            raise EvaluationError(f"{_named(op)} does not say between whom: expected frontend attribute {PAIRS}", op)
        mode = GroupMode.CROSS_PARTITION if int_of(op.channel_id) else GroupMode.CROSS_REPLICA
        try:
            pairs = expand(text.replace(" ", ""))
        except VerifyException as error:
            raise EvaluationError(f"{_named(op)}: in {PAIRS}: {error}", op) from None
        if any(len(pair) != 2 for pair in pairs):
            raise EvaluationError(f"{_named(op)}: expected pairs in {PAIRS}, found {text}", op)
        try:
            return participant_groups(mode, pairs, self._participants.replicas, self._participants.partitions)
        except ValueError as error:
            raise EvaluationError(f"{_named(op)} {error}", op) from None

    # Ends

    def _done(self, participant: int, request: Request, resume: Resume) -> None:
        number = int(request.operands[0][1])
        if number not in self._starts:
            raise EvaluationError(f"{_named(request.op)} ends a transfer that is not under way", request.op)
        transfer = self._starts.pop(number)
        if transfer is None or transfer.complete:
            resume(_result(request.op, transfer))
        else:
            transfer.waiting.append((participant, request, resume))

    # Nobody can go on

    def waiting(self) -> Iterator[tuple[int, Request]]:
        """Who waits at a done op."""
        for side in (self._sent, self._awaited):
            for transfers in side.values():
                for transfer in transfers:
                    yield from ((participant, request) for participant, request, _ in transfer.waiting)

    def awaited(self, participant: int, request: Request) -> str:
        """Whom somebody waits for at a done op."""
        receiving = isinstance(request.op, RecvDoneOp)
        side = self._awaited if receiving else self._sent
        found = next(t for ts in side.values() for t in ts if any(r is request for _, r, _ in t.waiting))
        if receiving:
            return f", for a send from {self._participants.name(found.source)}"
        return f", for a receive by {self._participants.name(found.target)}"


def source_target_pairs(op: SendOp | RecvOp) -> str | None:
    """The text of the pairs of a transfer, None where there is none."""
    attributes = op.attributes.get("frontend_attributes")
    found: Attribute | None = attributes.data.get(PAIRS) if isinstance(attributes, DictionaryAttr) else None
    return None if found is None else text_of(found)


def _complete(transfer: _Transfer) -> None:
    transfer.complete = True
    for _, request, resume in transfer.waiting:
        resume(_result(request.op, transfer))


def _result(op: Operation, transfer: _Transfer | None) -> Any:
    """What a done op gives; without a transfer, zeros."""
    if not isinstance(op, RecvDoneOp):
        return None
    type = elements_of(op.results[0].type)[0]
    if transfer is None:
        return zeros(type), None
    if not fits(transfer.value, type):
        raise EvaluationError(f"{_named(op)}: expected {spelled(type)}, found {described(transfer.value)} sent", op)
    return transfer.value, None


def _named(op: Operation) -> str:
    return f"{opcode_of(op.name)} {instruction(op)}"
