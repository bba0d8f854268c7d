"""Pass `while-loop-constant-sinking`: constants that a loop only carries around move into it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, OpResult, SSAValue, Use
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from xneuron.analysis.boundary_markers import behind_markers
from xneuron.analysis.computations import computations_outside_in, loops
from xneuron.analysis.control_dependencies import control_predecessors
from xneuron.dialects.hlo.attributes import int_of
from xneuron.dialects.hlo.base import root_of
from xneuron.dialects.hlo.control_flow import ControlDependencyOp, GetTupleElementOp, TupleOp, WhileOp
from xneuron.dialects.hlo.data_movement import BroadcastOp, ConstantOp
from xneuron.dialects.hlo.shape_rules import is_scalar
from xneuron.remarks import declare, remark
from xneuron.transforms.replacement import erase

SUNK = declare("constants-sunk", "Constants that the loop carried unchanged now stand inside it.")
NO_TUPLE = declare("sinking-needs-tuple", "The loop's operand or its body's root is no tuple instruction.")


@dataclass(frozen=True)
class WhileLoopConstantSinking(ModulePass):
    """Copies constants that a loop carries unchanged into its body and condition.

        %c = hlo.constant {value = 2}              body {
        %t = hlo.tuple(%i, %c)                       %c.sunk = hlo.constant {value = 2}
        %w = hlo.while(%t) body {                    %n = hlo.add(%i, %c.sunk)
          %k = hlo.get_tuple_element(%p) {index = 1}   …
          %n = hlo.add(%i, %k) …                   }

    The slot stays, now with no use but handing it on. Outer loops first, so that one run reaches inner ones.
    Refuses: an operand or a root that is no tuple instruction. Leaves alone: slots whose initial value is no constant,
    elements in a control dependency.

    `sink_broadcast_of_constants`: also broadcasts of constants. `sink_only_scalar_constants`: nothing but scalars.
    Rules: xla-semantics.md c.1; the two defaults are XLA's.
    """

    name = "while-loop-constant-sinking"
    sink_broadcast_of_constants: bool = False
    sink_only_scalar_constants: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        sink_constants(op, self.sink_broadcast_of_constants, self.sink_only_scalar_constants)
        for loop in loops(op):
            if _packed(loop) is None:
                remark("missed", self.name, NO_TUPLE, loop, "operand or body root is not a tuple instruction")


def sink_constants(module: ModuleOp, broadcasts: bool = False, only_scalars: bool = False) -> bool:
    """Sinks into all loops of the module, outer ones first; true if anything changed."""
    changed = False
    for block in computations_outside_in(module):
        for op in block.ops:
            if type(op) is WhileOp:
                changed |= _sink(op, broadcasts, only_scalars)
    return changed


def _sink(loop: WhileOp, broadcasts: bool, only_scalars: bool) -> bool:
    if (packed := _packed(loop)) is None:
        return False
    init, root = packed
    sunk = 0
    in_body, in_condition = _elements(loop.body.block), _elements(loop.cond.block)
    for slot, value in enumerate(root.operands):
        if slot >= len(init.operands) or not _is_handed_on(value, in_body.get(slot, ())):
            continue
        chain = _constant(init.operands[slot], broadcasts)
        if not chain or (only_scalars and not is_scalar(init.operands[slot].type)):
            continue
        used = [use for use in _uses(in_body[slot], chain) if (use.operation, use.index) != (root, slot)]
        sunk += _give(loop.body.block, used, chain)
        sunk += _give(loop.cond.block, _uses(in_condition.get(slot, ()), chain), chain)
    if sunk:
        remark("passed", "while-loop-constant-sinking", SUNK, loop, "sank constants", constants=sunk)
    return sunk > 0


def _packed(loop: WhileOp) -> tuple[TupleOp, TupleOp] | None:
    """The tuple instructions that a loop starts from and that its body ends with."""
    if len(loop.inits) != 1:
        return None
    init, root = loop.inits[0], behind_markers(root_of(loop.body))
    if not (isinstance(init, OpResult) and isinstance(root, OpResult)):
        return None
    return (init.op, root.op) if isinstance(init.op, TupleOp) and isinstance(root.op, TupleOp) else None


def _elements(block: Block) -> dict[int, list[GetTupleElementOp]]:
    """The elements taken from a computation's parameter, by index."""
    found: dict[int, list[GetTupleElementOp]] = {}
    for use in block.args[0].uses:
        if isinstance(op := use.operation, GetTupleElementOp):
            found.setdefault(int_of(op.index), []).append(op)
    return found


def _is_handed_on(value: SSAValue, elements: Sequence[Operation]) -> bool:
    return any(value is element.results[0] for element in elements)


def _constant(value: SSAValue, broadcasts: bool) -> list[Operation]:
    """The instructions that make up a constant, in order; none if `value` is not one."""
    if not isinstance(value, OpResult):
        return []
    if isinstance(value.op, ConstantOp):
        return [value.op]
    if not (broadcasts and isinstance(value.op, BroadcastOp)):
        return []
    inner = _constant(value.op.operand, False)
    return [*inner, value.op] if inner else []


def _uses(elements: Sequence[Operation], chain: Sequence[Operation]) -> list[Use]:
    """Uses that may take the constant instead of the element: not of one that waits for another instruction."""
    type = chain[-1].results[0].type
    free = [op.results[0] for op in elements if op.results[0].type == type and not control_predecessors(op)]
    return [use for value in free for use in value.uses if not isinstance(use.operation, ControlDependencyOp)]


def _give(block: Block, uses: Sequence[Use], chain: Sequence[Operation]) -> bool:
    """Copies the constant to the front of the computation and lets all `uses` take it."""
    if not uses:
        return False
    constant = _copy_to_front(block, chain)
    for use in uses:
        element = use.operation.operands[use.index]
        use.operation.operands[use.index] = constant
        if element.first_use is None and isinstance(element, OpResult):
            erase(element.op)
    return True


def _copy_to_front(block: Block, chain: Sequence[Operation]) -> SSAValue:
    before, copies = block.first_op, dict[SSAValue, SSAValue]()
    for op in chain:
        copy = op.clone(copies)
        if hint := op.results[0].name_hint:
            copy.results[0].name_hint = f"{hint}.sunk"
        Rewriter.insert_op(copy, InsertPoint(block, before))
    return copies[chain[-1].results[0]]
