"""Translations of what is sent, received, fed in and out."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DictionaryAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, SSAValue

from xneuron.dialects.hlo import collectives as hlo
from xneuron.dialects.hlo.attributes import integer
from xneuron.dialects.hlo.control_flow import GetTupleElementOp
from xneuron.dialects.hlo.types import TOKEN, U32, elements_of, tensor, tuple_of
from xneuron.formats.stablehlo.reader.builder import Builder
from xneuron.formats.stablehlo.reader.collectives import channel_of
from xneuron.formats.stablehlo.reader.table import translates
from xneuron.formats.stablehlo.reader.values import numbers_of, packed
from xneuron.formats.stablehlo.tree import Dense


def transfer_of(builder: Builder) -> dict[str, Attribute]:
    """Channel of a transfer, and whether the other end is the host."""
    host: dict[str, Attribute] = (
        {"is_host_transfer": UnitAttr()} if builder.op.attributes.get("is_host_transfer") else {}
    )
    return {**channel_of(builder), **host}


def pairs_of(builder: Builder) -> dict[str, Attribute]:
    """The pairs of a transfer, as the frontend attribute in which XLA keeps them."""
    table = builder.op.attributes.get("source_target_pairs")
    if not isinstance(table, Dense) or not table.type.shape[0]:
        return {}
    text = ",".join(f"{{{a},{b}}}" for a, b in numbers_of(table))
    return {"frontend_attributes": DictionaryAttr({"_xla_send_recv_source_target_pairs": StringAttr(f"{{{text}}}")})}


@translates("stablehlo.send")
def send(builder: Builder) -> None:
    """A send and its end; several values go as a tuple."""
    *data, token = builder.operands
    value = builder.single(data)
    properties, pairs = transfer_of(builder), pairs_of(builder)
    context = tuple_of((value.type, tensor(U32), TOKEN))
    started = builder.emit(hlo.SendOp, [value, token], context, properties, attributes=pairs)
    builder.finish(builder.emit(hlo.SendDoneOp, [started], TOKEN, dict(properties), attributes=pairs))


@translates("stablehlo.recv")
def recv(builder: Builder) -> None:
    """A receive and its end; several values come as a tuple."""
    properties, pairs = transfer_of(builder), pairs_of(builder)
    data = packed(builder.types[:-1])
    context = tuple_of((data, tensor(U32), TOKEN))
    started = builder.emit(hlo.RecvOp, builder.operands, context, properties, attributes=pairs)
    ended = builder.emit(hlo.RecvDoneOp, [started], tuple_of((data, TOKEN)), dict(properties), attributes=pairs)
    _received(builder, ended)


@translates("stablehlo.infeed")
def infeed(builder: Builder) -> None:
    """Values from the host."""
    data = tuple_of(tuple(builder.types[:-1]))
    config = str(builder.op.attributes.get("infeed_config", ""))
    properties: dict[str, Attribute] = {"infeed_config": StringAttr(config)} if config else {}
    fed = builder.emit(hlo.InfeedOp, builder.operands, tuple_of((data, TOKEN)), properties)
    _received(builder, fed, always_tuple=True)


@translates("stablehlo.outfeed")
def outfeed(builder: Builder) -> None:
    """Values for the host, as a tuple."""
    *data, token = builder.operands
    value = builder.tuple(data)
    properties: dict[str, Attribute] = {"outfeed_shape": value.type}
    if config := str(builder.op.attributes.get("outfeed_config", "")):
        properties["outfeed_config"] = StringAttr(config)
    builder.finish(builder.emit(hlo.OutfeedOp, [value, token], TOKEN, properties))


def _received(builder: Builder, pair: SSAValue, always_tuple: bool = False) -> None:
    """Takes (data, token) apart: results are the values, then the token."""
    *results, token = builder.op.results
    types = elements_of(pair.type)
    data, end = (
        builder.helper(GetTupleElementOp, [pair], type, {"index": integer(at)}) for at, type in enumerate(types)
    )
    values: Sequence[SSAValue] = builder.elements(data) if always_tuple or len(results) > 1 else [data][: len(results)]
    builder.scope.values.update(zip((*results, token), (*values, end), strict=True))
