"""From a module to a document.

What JSON needs and a program may lack is made up: unique names of instructions and blocks, and a block at the end of
a list for trips that end elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.bir.branches import CompareAndBranchOp, ContinueOp, UnconditionalBranchOp
from xneuron.dialects.bir.enums import Engine
from xneuron.dialects.bir.functions import FuncOp, block_names
from xneuron.dialects.bir.instruction import DataInstruction, Instruction, instructions_of
from xneuron.dialects.bir.loops import AxisLoop, DoWhileOp, DynamicForLoopOp, LoopOp, StructuredLoop
from xneuron.formats.bir_json.document import JSON, Object
from xneuron.formats.bir_json.expressions import write_expr
from xneuron.formats.bir_json.kept import with_kept
from xneuron.formats.bir_json.keys import ALWAYS_WRITTEN, write_keys
from xneuron.formats.bir_json.operands import SetSizes, write_operand
from xneuron.formats.bir_json.reader import DEFAULTS
from xneuron.formats.bir_json.storage import set_sizes, write_allocations

MAIN = "main"
"""The function and the block of this name come first (reference `bir.md`, section a)."""


def write_module(module: ModuleOp) -> JSON:
    """The document of a module of BIR functions. Raises VerifyException for anything else in it."""
    if others := [op.name for op in module.body.block.ops if not isinstance(op, FuncOp)]:
        raise VerifyException(f"expected a module of bir.func only, found {others[0]}")
    functions = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
    functions.sort(key=lambda func: func.sym_name.data != MAIN)
    own: Object = {"version": 2, "functions": [_Function(func).write() for func in functions]}
    document = DEFAULTS | with_kept(own, module)
    if queues := _queues(document.get("queues"), functions):
        document["queues"] = queues
    return document


def _queues(kept: JSON, functions: Iterable[FuncOp]) -> list[JSON]:
    """Declarations of queues: those that were kept, then what else is in use, in order of use."""
    declared = kept if isinstance(kept, list) else []
    names = [item.get("name") for item in declared if isinstance(item, dict)]
    used = (op.key("queue") for func in functions for op in instructions_of(func) if "queue" in op.properties)
    return [*declared, *({"name": name} for name in dict.fromkeys(used) if name not in names)]


def _unique(stem: str, taken: set[str]) -> str:
    """A name that is not taken, and is from now on: `stem`, or with a decimal suffix."""
    name, suffix = stem, 0
    while name in taken:
        suffix += 1
        name = f"{stem}_{suffix}"
    taken.add(name)
    return name


class _Function:
    def __init__(self, func: FuncOp) -> None:
        self.func = func
        self.sizes: SetSizes = set_sizes(func)
        self.labels = {label for op in instructions_of(func) if (label := op.label) is not None}
        self.given = set[str]()
        self.taken = set(self.labels)
        self.count = 0

    def write(self) -> JSON:
        own: Object = {
            "name": self.func.sym_name.data,
            "attributes": [],
            "allocations": write_allocations(self.func),
            "blocks": self.blocks(self.func.body),
        }
        return with_kept(own, self.func)

    def blocks(self, region: Region) -> JSON:
        """A block list. A trip that ends in another block than the last one goes to an empty last block."""
        names = _block_names(region)
        *earlier, last = region.blocks
        end = names[last]
        inner = any(isinstance(block.last_op, ContinueOp) for block in earlier)
        added = inner and not isinstance(last.first_op, ContinueOp)
        if added:
            end = _unique("end", set(names.values()))
        found: list[JSON] = []
        for block in region.blocks:
            is_end = block is last and not added
            instructions = [*self.instructions(block, names, None if is_end else end)]
            found.append({"name": names[block], "instructions": instructions})
        return [*found, {"name": end, "instructions": []}] if added else found

    def instructions(self, block: Block, names: dict[Block, str], end: str | None) -> Iterator[JSON]:
        """The instructions of a block; `end` is where a trip goes to end, None where it ends by itself."""
        for op in block.ops:
            if isinstance(op, Instruction):
                yield self.instruction(op, names)
            elif isinstance(op, ContinueOp) and end is not None:
                yield self.header("UnconditionalBranch", Engine.Unassigned, None) | {"target": end}

    def header(self, opcode: str, engine: Engine, label: str | None) -> Object:
        return {"name": self.name(label), "opcode": opcode, "engine": engine.value, "ins": [], "outs": []}

    def name(self, label: str | None) -> str:
        """The instruction's own name, the first time it is met; else a new one."""
        if label is not None and label not in self.given:
            self.given.add(label)
            return label
        if label is not None:
            return _unique(label, self.taken)
        self.count += 1
        return _unique(f"I-{self.count}", self.taken)

    def instruction(self, op: Instruction, names: dict[Block, str]) -> JSON:
        own = self.header(op.OPCODE.name, op.engine.data, op.label)
        own |= write_keys(op, op.key_definitions(), isinstance(op, ALWAYS_WRITTEN))
        own |= _targets(op, names)
        if isinstance(op, DataInstruction):
            own["ins"] = [write_operand(operand, self.sizes) for operand in op.inputs]
            own["outs"] = [write_operand(operand, self.sizes) for operand in op.outputs]
        if isinstance(op, StructuredLoop):
            own |= _loop(op)
            own["blocks"] = self.blocks(op.body)
        return self.without_lost_edges(with_kept(own, op))

    def without_lost_edges(self, document: Object) -> Object:
        """Leaves out dependencies on instructions that are gone: passes know nothing of kept keys."""
        for key in ("dependencies", "loop_carried_dependencies"):
            if isinstance(edges := document.get(key), list):
                document[key] = [edge for edge in edges if _edge_name(edge) in self.labels]
        return document


def _edge_name(edge: JSON) -> str | None:
    if isinstance(edge, dict):
        edge = edge.get("id", edge.get("name"))
    elif isinstance(edge, list):
        edge = edge[0] if edge else None
    return edge if isinstance(edge, str) else None


def _block_names(region: Region) -> dict[Block, str]:
    """Names of blocks; `main` is the first one's alone, since readers put it first."""
    names = block_names(region)
    taken = {*names.values(), MAIN}
    first = region.blocks.first
    return {
        block: _unique(name, taken) if name == MAIN and block is not first else name for block, name in names.items()
    }


def _targets(op: Operation, names: dict[Block, str]) -> Object:
    match op:
        case CompareAndBranchOp():
            return {"on_true": names[op.on_true], "on_false": names[op.on_false]}
        case UnconditionalBranchOp():
            return {"target": names[op.target]}
        case _:
            return {}


def _loop(op: StructuredLoop) -> Object:
    match op:
        case LoopOp():
            return {"LoopAxis": _axis(op, op.lb.data, op.ub.data, op.stride.data)}
        case DynamicForLoopOp():
            return {"DynamicForLoopAxis": _axis(op, *map(write_expr, op.bounds()))}
        case DoWhileOp():
            return {"cond": write_expr(op.condition)}
        case _:
            raise AssertionError(op.name)


def _axis(op: AxisLoop, lb: JSON, ub: JSON, stride: JSON) -> JSON:
    return {"name": op.axis_name.data, "lb": lb, "ub": ub, "stride": stride}
