"""What keeps a loop from being copied iteration by iteration, however often it runs: one list for all unrollers.

Order and texts: neuron-hlo-passes.md §4. The reference's other unroller has no such checks (W4); ours has them both.
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult

from xneuron.analysis.call_graph import CallGraph
from xneuron.analysis.contents import Contents
from xneuron.analysis.control_dependencies import is_ordered
from xneuron.analysis.effects import Effects
from xneuron.analysis.slices import Opaque
from xneuron.dialects.hlo.collectives import TransferOp
from xneuron.dialects.hlo.control_flow import TupleOp, WhileOp
from xneuron.remarks import declare, name_of

SEVERAL_OPERANDS = declare(
    "several-operands", "The loop has not exactly one operand (`tuple-while-operands` packs them)."
)
CONTROL_DEPENDENCY = declare("control-dependency", "A control dependency orders the loop as a whole.")
TRANSFER = declare("send-recv", "A send or recv in the loop belongs to a partner outside; copies would have none.")
OPERAND_NOT_TUPLE = declare("operand-not-tuple", "The loop does not start from a tuple instruction.")
CONDITION_EFFECTS = declare("condition-side-effects", "The condition does more than decide, so it cannot be dropped.")


class Refusal(NamedTuple):
    """Why a loop stays: a remark code, the reference's text, and what would have to be known, if that is the reason."""

    code: str
    text: str
    on: Opaque | None = None


class Unrollable:
    """Answers for the loops of one module. A rewrite that only copies and drops iterations may go on asking."""

    def __init__(self, module: ModuleOp, calls: CallGraph) -> None:
        self._effects = Effects(module, calls)
        self._transfers = Contents(calls, lambda op: isinstance(op, TransferOp))

    def refusal(self, loop: WhileOp, from_tuple: bool = False) -> Refusal | None:
        """Why the loop may not be unrolled, None if it may. `from_tuple`: its operand must be a tuple instruction."""
        name = name_of(loop)
        if len(loop.inits) != 1:
            text = "While loop must have a single tuple operand, instead has more than one operand"
            return Refusal(SEVERAL_OPERANDS, f"Cannot unroll while loop {name}. {text}: {len(loop.inits)}")
        skipping = f"Not attempting to unroll {name}"
        if is_ordered(loop):
            text = f"{skipping} due to control dependency: it waits, or something waits for it"
            return Refusal(CONTROL_DEPENDENCY, text)
        if self._transfers.inside(loop.body) or self._transfers.inside(loop.cond):
            text = f"{skipping} because it contains a send/recv node: in its body or condition, or in what they call"
            return Refusal(TRANSFER, text)
        if from_tuple and not (isinstance(init := loop.inits[0], OpResult) and isinstance(init.op, TupleOp)):
            made_by = name_of(init.op) if isinstance(init, OpResult) else "a parameter"
            return Refusal(OPERAND_NOT_TUPLE, f"{skipping} because the operand is not a tuple: {made_by}")
        return self._condition_refusal(loop)

    def _condition_refusal(self, loop: WhileOp) -> Refusal | None:
        acting = next((op for op in loop.cond.block.ops if self._effects.must_stay(op)), None)
        if acting is None:
            return None
        text = "Not attempting to remove while loop whose condition contains side-effecting instructions"
        return Refusal(CONDITION_EFFECTS, f"{text}: {name_of(acting)}")
