"""Pass `tuple-simplifier`: values go around tuples instead of through them."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass

from xneuron.analysis.computations import computations
from xneuron.analysis.control_dependencies import control_predecessors, is_ordered
from xneuron.dialects.hlo.attributes import int_of
from xneuron.dialects.hlo.control_flow import GetTupleElementOp, TupleOp, WhileOp
from xneuron.dialects.hlo.functions import is_private
from xneuron.transforms.replacement import can_replace, erase, replace


@dataclass(frozen=True)
class TupleSimplifier(ModulePass):
    """Takes elements from where the tuple got them, and tuples from where their elements came.

        %t = hlo.tuple(%a, %b)                      uses of %e become uses of %a
        %e = hlo.get_tuple_element(%t) {index = 0}

        %x = hlo.get_tuple_element(%t) {index = 0}  uses of %u become uses of %t
        %y = hlo.get_tuple_element(%t) {index = 1}
        %u = hlo.tuple(%x, %y)

    Leaves alone: types that differ (also in layout), shardings that disagree, an element that has to wait for
    another instruction (handing the order on could close a cycle), a repacked tuple in any control dependency.

    `exclude_entry`: leaves the public functions' own blocks alone. `keep_loop_operands`: leaves a tuple alone that a
    loop starts from, since a loop whose operand is no tuple instruction is not unrolled. Rules: xla-semantics.md c.2.
    """

    name = "tuple-simplifier"
    exclude_entry: bool = False
    keep_loop_operands: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        simplify_tuples(op, self.exclude_entry, self.keep_loop_operands)


def simplify_tuples(module: ModuleOp, exclude_entry: bool = False, keep_loop_operands: bool = False) -> bool:
    """Simplifies all computations; true if anything changed. One walk: what a rewrite allows lies ahead of it."""
    changed = False
    for block in computations(module):
        if not (exclude_entry and _is_entry(block)):
            changed |= _simplify(block, keep_loop_operands)
    return changed


def _is_entry(block: Block) -> bool:
    owner = block.parent_op()
    return isinstance(owner, FuncOp) and not is_private(owner)


def _simplify(block: Block, keep_loop_operands: bool) -> bool:
    changed = False
    for op in block.ops:
        if type(op) is GetTupleElementOp:
            changed |= forward_element(op)
        elif type(op) is TupleOp and not (keep_loop_operands and _starts_loop(op)):
            changed |= _forward(op, _whole(op))
    return changed


def forward_element(op: GetTupleElementOp) -> bool:
    """Takes the element from where the tuple got it, and erases the tuple if nothing else uses it."""
    return _forward(op, _element(op))


def _forward(op: Operation, source: SSAValue | None) -> bool:
    if source is None or not can_replace(op, source) or _is_bound(op):
        return False
    packed = op.operands[0]
    replace(op, source)
    if isinstance(packed, OpResult) and packed.first_use is None and isinstance(packed.op, TupleOp):
        erase(packed.op)
    return True


def _is_bound(op: Operation) -> bool:
    return is_ordered(op) if isinstance(op, TupleOp) else bool(control_predecessors(op))


def _element(op: GetTupleElementOp) -> SSAValue | None:
    if not (isinstance(packed := op.operand, OpResult) and isinstance(packed.op, TupleOp)):
        return None
    return packed.op.operands[int_of(op.index)]


def _starts_loop(op: TupleOp) -> bool:
    return any(isinstance(use.operation, WhileOp) for use in op.results[0].uses)


def _whole(op: TupleOp) -> SSAValue | None:
    """The tuple whose elements `op` packs again, all and in order."""
    source: SSAValue | None = None
    for index, value in enumerate(op.operands):
        if not (isinstance(value, OpResult) and isinstance(element := value.op, GetTupleElementOp)):
            return None
        if int_of(element.index) != index or (source or element.operand) is not element.operand:
            return None
        source = element.operand
    return source
