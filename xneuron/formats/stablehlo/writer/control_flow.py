"""Chapter: control flow. Tuples go, calls and loops become variadic, branches use values from outside."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.func import CallOp
from xdsl.ir import Block, Operation

from xneuron.dialects.hlo import control_flow as hlo
from xneuron.dialects.hlo.attributes import ComputationAttr, int_of
from xneuron.dialects.hlo.types import element_of
from xneuron.formats.stablehlo.writer.common import frontend_attributes
from xneuron.formats.stablehlo.writer.emitter import BlockWriter, Inexpressible, Tree
from xneuron.formats.stablehlo.writer.module import Rule, Writer
from xneuron.formats.stablehlo.writer.text import quoted


def _tuple(writer: Writer, op: hlo.TupleOp) -> Tree:
    return tuple([writer.trees[value] for value in op.elements])


def _get_tuple_element(writer: Writer, op: hlo.GetTupleElementOp) -> Tree:
    return cast("tuple[Tree, ...]", writer.trees[op.operand])[int_of(op.index)]


def _while(writer: Writer, op: hlo.WhileOp) -> Tree:
    bodies = [writer.computation(op.cond), writer.computation(op.body)]
    return writer.packed(op, writer.emit("stablehlo.while", writer.leaves(op.inits), writer.flat(op), None, bodies))


def _conditional(writer: Writer, op: hlo.ConditionalOp) -> Tree:
    index = writer.leaf(op.args[0])
    name = "stablehlo.if" if element_of(index.type).kind == "pred" else "stablehlo.case"
    bodies = [
        _branch(writer, branch.block, writer.trees[value])
        for branch, value in zip(op.branches, op.args[1:], strict=True)
    ]
    return writer.packed(op, writer.emit(name, [index], writer.flat(op), None, bodies))


def _branch(writer: Writer, block: Block, operand: Tree) -> BlockWriter:
    """A branch takes nothing: it uses what was handed to it where it is."""

    def written() -> None:
        writer.trees[block.args[0]] = operand
        writer.body(block)

    return written


def _call(writer: Writer, op: CallOp) -> Tree:
    callee = quoted(writer.functions[op.callee.string_value()])
    composite = frontend_attributes(op.attributes, composite=True)
    name = composite.get("composite.name")
    if "is_composite" not in op.attributes or name is None:
        return _called(writer, op, callee)
    properties = {
        "name": quoted(name),
        "composite_attributes": composite.get("composite.attributes", "{}"),
        "decomposition": f"@{callee}",
        "version": f"{int(composite.get('composite.version', 0))} : i32",
    }
    operands = writer.leaves(op.operands)
    return writer.packed(op, writer.emit("stablehlo.composite", operands, writer.flat(op), properties))


def _called(writer: Writer, op: Operation, callee: str) -> Tree:
    operands, properties = writer.leaves(op.operands), {"callee": f"@{callee}"}
    return writer.packed(op, writer.emit("func.call", operands, writer.flat(op), properties))


def computation_name(op: Operation, index: int, otherwise: str) -> str:
    """What the program calls a computation that an op owns."""
    infos = op.properties.get("computations")
    known = list(cast("tuple[ComputationAttr, ...]", infos)) if infos is not None else []
    return known[index].computation_name.data if index < len(known) else otherwise


def _fusion(writer: Writer, op: hlo.FusionOp) -> Tree:
    """A call: what is fused is the compiler's business."""
    return _called(writer, op, quoted(writer.outlined(computation_name(op, 0, "fused_computation"), op.calls)))


def _opt_barrier(writer: Writer, op: hlo.OptBarrierOp) -> Tree:
    operands = writer.leaves(op.operands)
    if not operands:
        return writer.trees[op.operand]
    return writer.packed(op, writer.emit("stablehlo.optimization_barrier", operands, writer.flat(op)))


def _domain(writer: Writer, op: hlo.DomainOp) -> Tree:
    raise Inexpressible(op, "it has no sharding domains")


RULES: dict[type[Operation], Rule] = {
    hlo.TupleOp: _tuple,
    hlo.GetTupleElementOp: _get_tuple_element,
    hlo.WhileOp: _while,
    hlo.ConditionalOp: _conditional,
    CallOp: _call,
    hlo.FusionOp: _fusion,
    hlo.OptBarrierOp: _opt_barrier,
    hlo.DomainOp: _domain,
}
