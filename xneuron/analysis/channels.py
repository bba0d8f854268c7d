"""Channel ids: what names the meeting point of collectives and transfers (neuron-hlo-passes.md §9)."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from xneuron.analysis.call_graph import CallGraph, function_of
from xneuron.dialects.hlo.attributes import int_of
from xneuron.dialects.hlo.channels import TransferOp
from xneuron.dialects.hlo.collectives import RecvDoneOp, RecvOp, SendDoneOp, SendOp


def channel_of(op: Operation) -> int | None:
    """The channel id of an op, None if it has none."""
    attribute = op.properties.get("channel_id")
    return None if attribute is None else int_of(attribute)


def next_channel_id(module: Operation) -> int:
    """One more than the largest channel id in the module, at least 1; looks at every op."""
    return 1 + max((channel_of(op) or 0 for op in module.walk()), default=0)


class Shared(NamedTuple):
    """A channel on which several instructions meet, in program order."""

    channel: int
    ops: list[Operation]


def shared_channels(module: ModuleOp) -> list[Shared]:
    """Channels on which instructions can meet that do not belong together.

    That is each channel with two collectives, two sends or two receives; an instruction of a function counts once
    for each way to call it. A send and a receive belong together, and a done to its start.
    """
    times = _ways_to_call(CallGraph(module))
    found: defaultdict[int, Counter[Operation]] = defaultdict(Counter)
    for op in module.walk():
        if (channel := channel_of(op)) is not None and _meets(op):
            found[channel][op] = times.get(function_of(op), 1)
    return [Shared(channel, list(ops)) for channel, ops in found.items() if _collide(ops)]


def _meets(op: Operation) -> bool:
    """False for the done of a transfer, which belongs to its start."""
    return not isinstance(op, TransferOp) or isinstance(op, SendOp | RecvOp)


def _collide(ops: Counter[Operation]) -> bool:
    sends = sum(times for op, times in ops.items() if isinstance(op, SendOp))
    receives = sum(times for op, times in ops.items() if isinstance(op, RecvOp))
    collectives = ops.total() - sends - receives
    return max(sends, receives, collectives) > 1 or (collectives > 0 and collectives < ops.total())


def _ways_to_call(calls: CallGraph) -> dict[str, int]:
    """In how many ways each function is reached from one that nobody calls."""
    ways: dict[str, int] = {}
    for function in reversed(list(calls.callees_first())):
        name = function.sym_name.data
        callers = calls.callers.get(name, [])
        ways[name] = sum(ways.get(function_of(call), 1) for call in callers) or 1
    return ways


def verify_channels(module: ModuleOp) -> None:
    """Fails for the done of a send or receive on another channel than its start, as XLA's verifier does.

    Collectives may share a channel there, and here: JAX puts all of a program on channel 1. In program order they meet
    as they should; `shared_channels` finds them. Rules: VerifyChannels in hlo_verifier.cc. Raises VerifyException.
    """
    for op in module.walk():
        if not isinstance(op, SendDoneOp | RecvDoneOp) or (channel := channel_of(op)) is None:
            continue
        start = op.inputs[0].owner if op.inputs else None
        if isinstance(start, SendOp | RecvOp) and channel_of(start) not in (None, channel):
            raise VerifyException(f"expected channel {channel_of(start)} of the start, found {channel} on its done")
