"""The text dump of BIR functions, for reading: `xneuron-opt -t bir-text`. Loops look as in the compiler's debug output,
`for(<axis>: range(<lb>, <ub>, <stride>)) { … }`; everything else is ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.target import Target

from xneuron.dialects.bir.branches import CompareAndBranchOp, ContinueOp, UnconditionalBranchOp
from xneuron.dialects.bir.enums import Engine
from xneuron.dialects.bir.expressions import Expr
from xneuron.dialects.bir.functions import FuncOp, block_names
from xneuron.dialects.bir.instruction import DataInstruction, Instruction
from xneuron.dialects.bir.keyed import KeyedOp
from xneuron.dialects.bir.loops import AxisLoop, DoWhileOp, StructuredLoop, condition_pieces
from xneuron.dialects.bir.operands import Operand, operand_pieces
from xneuron.dialects.bir.storage import MemoryLocationOp, RegisterOp
from xneuron.dialects.bir.syntax import expr_pieces, render

_MARGIN = "  "


@dataclass(frozen=True)
class BirTextTarget(Target):
    """One block of text per BIR function; registers, locations and axes by their names."""

    name = "bir-text"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        for func in module.walk():
            if isinstance(func, FuncOp):
                output.writelines(f"{line}\n" for line in _function(func))


def _function(func: FuncOp) -> Iterator[str]:
    yield f"function {func.sym_name.data} {{"
    for op in func.entry.ops:
        if isinstance(op, RegisterOp):
            yield f"{_MARGIN}register {op.label}{_keys(op)}"
        elif isinstance(op, MemoryLocationOp):
            geometry = op.geometry
            yield f"{_MARGIN}{geometry.space} {op.label}: {geometry.dtype}{list(geometry.shape)}{_keys(op)}"
    yield from _blocks(func.body, _MARGIN)
    yield "}"


def _blocks(region: Region, margin: str) -> Iterator[str]:
    """Blocks by name; a single block without a name of its own needs none."""
    names = block_names(region)
    named = len(names) > 1 or any(block.name_hint for block in names)
    for block in region.blocks:
        if named:
            yield f"{margin}{names[block]}:"
        for op in block.ops:
            yield from _operation(op, names, margin + _MARGIN if named else margin)


def _operation(op: Operation, names: dict[Block, str], margin: str) -> Iterator[str]:
    if isinstance(op, StructuredLoop):
        yield f"{margin}{_label(op)}{_loop_head(op)} {{"
        yield from _blocks(op.body, margin + _MARGIN)
        yield f"{margin}}}{f' while({condition_text(op)})' if isinstance(op, DoWhileOp) else ''}"
    elif isinstance(op, Instruction):
        yield f"{margin}{_label(op)}{_instruction(op, names)}"
    elif isinstance(op, ContinueOp):
        yield f"{margin}continue"


def _label(op: Instruction) -> str:
    return f"{op.label}: " if op.label is not None else ""


def _loop_head(op: StructuredLoop) -> str:
    head = f"for({op.axis_name.data}: range({_bounds(op.bounds())}))" if isinstance(op, AxisLoop) else "do"
    return head + _keys(op) + _engine(op)


def _bounds(bounds: Iterable[Expr]) -> str:
    return ", ".join(map(expression_text, bounds))


def condition_text(op: DoWhileOp) -> str:
    """The register that a do-while tests."""
    return _text(condition_pieces(op.condition))


def expression_text(expr: Expr) -> str:
    """`4 * i + n`, with axes and registers by their names."""
    return _text(expr_pieces(expr))


def _instruction(op: Instruction, names: dict[Block, str]) -> str:
    outs, ins = (op.outputs, op.inputs) if isinstance(op, DataInstruction) else ((), ())
    target = f"{_operands(outs)} = " if outs else ""
    return f"{target}{op.OPCODE.name}({_operands(ins)}){_keys(op)}{_targets(op, names)}{_engine(op)}"


def _targets(op: Operation, names: dict[Block, str]) -> str:
    match op:
        case CompareAndBranchOp():
            return f" ? {names[op.on_true]} : {names[op.on_false]}"
        case UnconditionalBranchOp():
            return f" -> {names[op.target]}"
        case _:
            return ""


def _engine(op: Instruction) -> str:
    return "" if op.engine.data == Engine.Unassigned else f" @{op.engine.data}"


def _keys(op: KeyedOp) -> str:
    """The keys that are not at their default."""
    return "".join(f" {name}={_value(op.key(name))}" for name in op.key_definitions() if not op.is_default(name))


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _operands(operands: Sequence[Operand]) -> str:
    return ", ".join(_text(operand_pieces(operand)) for operand in operands)


def _text(pieces: Iterable[str | SSAValue]) -> str:
    return render(pieces, _name)


def _name(value: SSAValue) -> str:
    """What a handle or an induction variable is called in the program."""
    if isinstance(value.owner, RegisterOp | MemoryLocationOp):
        return value.owner.label
    loop = value.owner.parent_op() if isinstance(value.owner, Block) else None
    return loop.axis_name.data if isinstance(loop, AxisLoop) else "?"
