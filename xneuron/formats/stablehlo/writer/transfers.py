"""Chapter: tokens, and what talks to the world outside: StableHLO sends and receives in one operation each."""

from __future__ import annotations

from typing import cast

from xdsl.ir import Operation

from xneuron.dialects.hlo import collectives as hlo
from xneuron.dialects.hlo.attributes import flag, int_of
from xneuron.dialects.hlo.channels import TransferOp
from xneuron.dialects.hlo.control_flow import AddDependencyOp, AfterAllOp
from xneuron.dialects.hlo.types import TOKEN, elements_of
from xneuron.formats.stablehlo.writer.emitter import Tree, string_attribute, tree_of
from xneuron.formats.stablehlo.writer.module import Rule, Writer, single
from xneuron.formats.stablehlo.writer.text import boolean, leaf_types

_DEVICE_TO_DEVICE, _DEVICE_TO_HOST, _HOST_TO_DEVICE = 1, 2, 3
_NO_CONTEXT: Tree = ()


def _after_all(writer: Writer, op: AfterAllOp) -> Tree:
    tokens = writer.leaves(op.inputs)
    return single(writer.emit("stablehlo.after_all" if tokens else "stablehlo.create_token", tokens, [TOKEN]))


def _add_dependency(writer: Writer, op: AddDependencyOp) -> Tree:
    return single(writer.emit("mhlo.add_dependency", writer.leaves(op.operands), op.result_types))


def _channel(op: TransferOp, to_host: int) -> dict[str, str]:
    host = flag(op.is_host_transfer)
    handle = f"handle = {int_of(op.channel_id)}, type = {to_host if host else _DEVICE_TO_DEVICE}"
    return {"channel_handle": f"#stablehlo.channel_handle<{handle}>", "is_host_transfer": boolean(host)}


def _send(writer: Writer, op: hlo.SendOp) -> Tree:
    data = writer.trees[op.inputs[0]]
    sent = writer.emit("stablehlo.send", writer.leaves(op.inputs), [TOKEN], _channel(op, _DEVICE_TO_HOST))
    return data, _NO_CONTEXT, single(sent)


def _send_done(writer: Writer, op: hlo.SendDoneOp) -> Tree:
    return cast("tuple[Tree, ...]", writer.trees[op.inputs[0]])[2]


def _recv(writer: Writer, op: hlo.RecvOp) -> Tree:
    data = elements_of(op.results[0].type)[0]
    results = [*leaf_types(data), TOKEN]
    made = writer.emit("stablehlo.recv", writer.leaves(op.inputs), results, _channel(op, _HOST_TO_DEVICE))
    return tree_of(data, iter(made)), _NO_CONTEXT, made[-1]


def _recv_done(writer: Writer, op: hlo.RecvDoneOp) -> Tree:
    data, _, token = cast("tuple[Tree, ...]", writer.trees[op.inputs[0]])
    return data, token


def _infeed(writer: Writer, op: hlo.InfeedOp) -> Tree:
    config = {"infeed_config": string_attribute(op.infeed_config)}
    return writer.packed(op, writer.emit("stablehlo.infeed", [writer.leaf(op.token)], writer.flat(op), config))


def _outfeed(writer: Writer, op: hlo.OutfeedOp) -> Tree:
    config = {"outfeed_config": string_attribute(op.outfeed_config)}
    return single(writer.emit("stablehlo.outfeed", writer.leaves(op.inputs), [TOKEN], config))


RULES: dict[type[Operation], Rule] = {
    AfterAllOp: _after_all,
    AddDependencyOp: _add_dependency,
    hlo.SendOp: _send,
    hlo.SendDoneOp: _send_done,
    hlo.RecvOp: _recv,
    hlo.RecvDoneOp: _recv_done,
    hlo.InfeedOp: _infeed,
    hlo.OutfeedOp: _outfeed,
}
