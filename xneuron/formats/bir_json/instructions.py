"""Block lists and the instructions in them, from JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import IndexType, StringAttr
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.traits import IsTerminator

from xneuron.dialects.bir import INSTRUCTIONS
from xneuron.dialects.bir.branches import CompareAndBranchOp, ContinueOp, ReturnOp, UnconditionalBranchOp
from xneuron.dialects.bir.enums import Engine
from xneuron.dialects.bir.instruction import DataInstruction, Instruction, header, store
from xneuron.dialects.bir.loops import DoWhileOp, DynamicForLoopOp, LoopOp
from xneuron.dialects.bir.operands import Encoder, Immediate, Operand
from xneuron.dialects.bir.storage import hint
from xneuron.dialects.bir.types import LongAttr
from xneuron.formats.bir_json.document import JSON, Fields, Node, Object
from xneuron.formats.bir_json.expressions import read_expr
from xneuron.formats.bir_json.kept import keep, nested, positional, refuse_unmodelled
from xneuron.formats.bir_json.keys import read_keys
from xneuron.formats.bir_json.operands import read_operand
from xneuron.formats.bir_json.scope import Scope

_BY_OPCODE = {cls.OPCODE.name: cls for cls in INSTRUCTIONS}
_EDGES = {"dependencies": "Unknown dependency", "loop_carried_dependencies": "Unknown loop-carried dependency"}
_SUFFIXES = re.compile(r"(_\d+)+$")


def check_names(nodes: Sequence[Node], what: str) -> None:
    """Refuses two things of one name in one place: a reference to the name would be open."""
    seen: set[str] = set()
    for node in nodes:
        if (name := (place := node.fields().need("name")).text()) in seen:
            place.error(f"there is another {what} '{name}'")
        seen.add(name)


def read_function_body(nodes: Sequence[Node], scope: Scope) -> tuple[Region, JSON]:
    """The blocks of a function, which returns where they end; and what to keep of them."""
    return _read_blocks(nodes, scope, None, ReturnOp)


def _read_loop_body(fields: Fields, scope: Scope, axis: str | None) -> tuple[Region, JSON]:
    """The blocks of a loop: a trip ends with them, which a body of one block need not say."""
    nodes = fields.items("blocks", "basic_blocks")
    return _read_blocks(nodes, scope, axis, ContinueOp if len(nodes) > 1 else None)


def _read_blocks(
    nodes: Sequence[Node], scope: Scope, axis: str | None, ending: Callable[[], Operation] | None
) -> tuple[Region, JSON]:
    check_names(nodes, "block")
    region = Region([Block(arg_types=[IndexType()] if axis is not None else []), *(Block() for _ in nodes[1:])])
    blocks = list(region.blocks)
    names = [node.fields().need("name").text() for node in nodes]
    inside = replace(scope, blocks=dict(zip(names, blocks, strict=False)))
    if axis is not None:
        blocks[0].args[0].name_hint = hint(axis)
        inside = replace(inside, axes={**scope.axes, axis: blocks[0].args[0]})
    rests = [_read_block(node, block, inside) for node, block in zip(nodes, blocks, strict=False)]
    _close(blocks, ending)
    if _enter_by_branch(region):
        rests = [{}, *rests]
    return region, positional(rests)


def _read_block(node: Node, block: Block, scope: Scope) -> Object:
    fields = node.fields()
    _name_block(block, fields.need("name").text())
    for item in fields.items("instructions"):
        if block.last_op and block.last_op.has_trait(IsTerminator):
            item.error(f"expected no instruction behind the {_opcode(block.last_op)} of this block")
        block.add_op(_read_instruction(item, scope))
    refuse_unmodelled(fields)
    return fields.rest


def _opcode(op: Operation) -> str:
    return op.OPCODE.name if isinstance(op, Instruction) else op.name


def _name_block(block: Block, name: str) -> None:
    """MLIR's block names end in no numbers of their own, and a default name is no name."""
    stem = _SUFFIXES.sub("", hint(name))
    if stem and not Block.is_default_block_name(stem):
        block.name_hint = stem


def _close(blocks: Sequence[Block], ending: Callable[[], Operation] | None) -> None:
    """A block without a terminator is followed by the next one; the last by the end of the list."""
    following = [*blocks[1:], None]
    for block, after in zip(blocks, following, strict=True):
        if block.last_op and block.last_op.has_trait(IsTerminator):
            continue
        if after is not None:
            block.add_op(UnconditionalBranchOp(after))
        elif ending is not None:
            block.add_op(ending())


def _enter_by_branch(region: Region) -> bool:
    """In MLIR no branch goes to the first block: if one does, another block goes in front."""
    first = region.blocks[0]
    if not any(block.last_op and first in block.last_op.successors for block in region.blocks):
        return False
    entry = Block(arg_types=first.arg_types)
    for old, new in zip(first.args, entry.args, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
        first.erase_arg(old)
    entry.add_op(UnconditionalBranchOp(first))
    region.insert_block(entry, 0)
    return True


def _read_instruction(node: Node, scope: Scope) -> Instruction:
    fields = node.fields()
    opcode = fields.need("opcode", "instruction_type")
    if (cls := _BY_OPCODE.get(opcode.text())) is None:
        opcode.error(f"Unknown Instruction type encountered! The bir dialect cannot represent '{opcode.text()}'")
    label, engine = fields.take("name"), fields.take("engine")
    common = header(engine.word(Engine) if engine else Engine.Unassigned, label.text() if label else None)
    _note_references(fields, scope, label)
    op, kept = _READERS.get(cls, _read_plain)(cls, fields, scope)
    op.properties |= common | read_keys(fields, cls, cls.key_definitions())
    _note_queue(node, op, scope)
    refuse_unmodelled(fields)
    keep(op, fields.rest | kept)
    scope.pending.placed.append((op, node))
    return op


def _note_references(fields: Fields, scope: Scope, label: Node | None) -> None:
    """The name that others may depend on, and the names that this instruction depends on."""
    if label:
        scope.pending.names.add(label.text())
    for key, unknown in _EDGES.items():
        if key not in fields.rest:
            continue
        edges = Node(fields.rest[key], fields.node, key)
        if not isinstance(edges.value, list):
            edges.error(f"'{key}' must be a JSON array")
        scope.pending.dependencies += [(_edge_target(edge), unknown) for edge in edges.items()]


def _edge_target(node: Node) -> Node:
    """`name`, `[name, kind]` or `{id, kind}`."""
    if isinstance(node.value, dict):
        return node.fields().need("id", "name")
    if isinstance(node.value, list):
        return node.items()[0] if node.value else node.wrong("a name and a kind")
    return node


def _note_queue(node: Node, op: Instruction, scope: Scope) -> None:
    if isinstance(queue := op.properties.get("queue"), StringAttr):
        scope.pending.queues.append(Node(queue.data, node, "queue"))


def _read_plain(cls: type[Instruction], fields: Fields, scope: Scope) -> tuple[Instruction, Object]:
    """Whatever has operands and no blocks."""
    ins, kept_ins = _read_operands(fields, "ins", scope)
    outs, kept_outs = _read_operands(fields, "outs", scope)
    # An immediate is an input wherever it stands.
    ins += [operand for operand in outs if isinstance(operand, Immediate)]
    outs = [operand for operand in outs if not isinstance(operand, Immediate)]
    values, stored = store(outs, ins)
    if not issubclass(cls, DataInstruction):
        _refuse_operands(cls, fields.node, bool(ins or outs))
        stored = {}
    op = cls.create(operands=values, properties=stored, successors=_read_targets(cls, fields, scope))
    return op, nested(ins=kept_ins, outs=kept_outs)


def _refuse_operands(cls: type[Instruction], node: Node, found: bool) -> None:
    if found:
        node.error(f"expected no operands of {cls.OPCODE.name}")


def _read_operands(fields: Fields, key: str, scope: Scope) -> tuple[list[Operand], JSON]:
    found = [read_operand(item, scope) for item in fields.items(key)]
    return [operand for operand, _ in found], positional([rest for _, rest in found])


def _read_targets(cls: type[Instruction], fields: Fields, scope: Scope) -> list[Block]:
    if cls is CompareAndBranchOp:
        return [scope.block(fields.need("on_true", "onTrue")), scope.block(fields.need("on_false", "onFalse"))]
    return [scope.block(fields.need("target"))] if cls is UnconditionalBranchOp else []


def _read_loop(cls: type[Instruction], fields: Fields, scope: Scope) -> tuple[Instruction, Object]:
    axis = fields.need("LoopAxis").fields()
    name = axis.need("name").text()
    bounds: dict[str, Attribute] = {}
    for key in ("lb", "ub", "stride"):
        bound = axis.take(key)
        bounds[key] = LongAttr(bound.integer() if bound else 0)
    return _make_loop(cls, fields, scope, name, Encoder(), bounds, nested(LoopAxis=axis.rest))


def _read_dynamic_loop(cls: type[Instruction], fields: Fields, scope: Scope) -> tuple[Instruction, Object]:
    axis = fields.need("DynamicForLoopAxis").fields()
    name = axis.need("name").text()
    encoder = Encoder()
    bounds: dict[str, Attribute] = {
        key: encoder.expr(read_expr(axis.need(key), scope)) for key in ("lb", "ub", "stride")
    }
    return _make_loop(cls, fields, scope, name, encoder, bounds, nested(DynamicForLoopAxis=axis.rest))


def _read_do_while(cls: type[Instruction], fields: Fields, scope: Scope) -> tuple[Instruction, Object]:
    encoder = Encoder()
    cond = encoder.expr(read_expr(fields.need("cond"), scope))
    return _make_loop(cls, fields, scope, None, encoder, {"cond": cond}, {})


def _make_loop(
    cls: type[Instruction],
    fields: Fields,
    scope: Scope,
    axis: str | None,
    encoder: Encoder,
    properties: dict[str, Attribute],
    kept: Object,
) -> tuple[Instruction, Object]:
    _refuse_operands(cls, fields.node, any(fields.items("ins") + fields.items("outs")))
    if axis is not None:
        properties = {"axis_name": StringAttr(axis), **properties}
    region, rest = _read_loop_body(fields, scope, axis)
    op = cls.create(operands=encoder.values, properties=properties, regions=[region])
    return op, kept | nested(blocks=rest)


_READERS: dict[type[Instruction], Callable[[type[Instruction], Fields, Scope], tuple[Instruction, Object]]] = {
    LoopOp: _read_loop,
    DynamicForLoopOp: _read_dynamic_loop,
    DoWhileOp: _read_do_while,
}
