"""Pass `neuron_unique_channel_id_enforcer` (#82): no two collectives on one channel."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from xneuron.analysis.call_graph import CallGraph
from xneuron.analysis.channels import channel_of, next_channel_id, shared_channels
from xneuron.analysis.contents import Contents
from xneuron.dialects.hlo.attributes import integer
from xneuron.dialects.hlo.base import opcode_of
from xneuron.dialects.hlo.channels import TransferOp
from xneuron.remarks import declare, name_of, remark
from xneuron.transforms.flatten_call_graph import flatten_call_graph

RENUMBERED = declare("renumbered", "a collective got a channel id of its own")


@dataclass(frozen=True)
class NeuronUniqueChannelIdEnforcer(ModulePass):
    """Gives each collective on a channel that another one has already a fresh channel id, in module order.

        %a = hlo.all_gather(%x) {channel_id = 1}     %a = hlo.all_gather(%x) {channel_id = 1}
        %b = hlo.all_gather(%y) {channel_id = 1}     %b = hlo.all_gather(%y) {channel_id = 2}

    A function that holds channels and is called several times is cloned for each call. Leaves alone: sends and
    receives, whose pairs share an id, and collectives without an id, since one would change who meets whom.

    `assert-unique`: change nothing, and fail where an id would change. Rules: neuron-hlo-passes.md §9.
    """

    name = "neuron_unique_channel_id_enforcer"
    assert_unique: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.assert_unique:
            expect_unique_channels(op)
        else:
            make_channels_unique(op)


def expect_unique_channels(module: ModuleOp) -> None:
    """Raises PassFailedException for the first collective that would get another id."""
    for channel, ops in shared_channels(module):
        if collectives := [op for op in ops if not isinstance(op, TransferOp)]:
            raise PassFailedException(
                f"Duplicate channel ID {channel} found on instruction: "
                f"{opcode_of(collectives[-1].name)} {name_of(collectives[-1])}"
            )


def make_channels_unique(module: ModuleOp) -> bool:
    """Renumbers; true if anything changed."""
    calls = CallGraph(module)
    contents = Contents(calls, _is_collective)
    changed = flatten_call_graph(module, lambda function: contents.inside(function.body))
    fresh = count(next_channel_id(module))
    seen = {channel_of(op) for op in module.walk() if isinstance(op, TransferOp)}
    for op in module.walk():
        if not _is_collective(op):
            continue
        if (channel := channel_of(op)) in seen:
            _renumber(op, channel or 0, next(fresh))
            changed = True
        seen.add(channel)
    return changed


def _is_collective(op: Operation) -> bool:
    return channel_of(op) is not None and not isinstance(op, TransferOp)


def _renumber(op: Operation, old: int, new: int) -> None:
    op.properties["channel_id"] = integer(new)
    remark(
        "passed",
        NeuronUniqueChannelIdEnforcer.name,
        RENUMBERED,
        op,
        f"channel {old} is another collective's: {new}",
        old_channel=old,
        new_channel=new,
    )
