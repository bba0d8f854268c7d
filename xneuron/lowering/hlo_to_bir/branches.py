"""Conditionals: blocks, and a buffer for each leaf of the result that every branch writes."""

from __future__ import annotations

from xdsl.ir import Block

from xneuron.dialects.bir.enums import BranchCompareOp
from xneuron.dialects.hlo.control_flow import ConditionalOp
from xneuron.dialects.hlo.shape_rules import is_pred

from .computations import Lowering
from .rules import lowers
from .values import Splat, Tree


@lowers(ConditionalOp)
def conditional(low: Lowering, op: ConditionalOp) -> Tree:
    """One comparison per branch but the last, which also takes every other index.

    ```text
    load r, index; if r == 0 goto branch 0 else next; next: if r == 1 goto branch 1 else last; …; join:
    ```
    """
    index = low.leaf(op.args[0])
    if isinstance(index, Splat):
        return _known(low, op, int(index.value))
    builder = low.builder
    register = low.load(index, "which")
    # A pred is true for its first branch.
    numbers = [1, 0] if is_pred(op.args[0].type) else list(range(len(op.branches)))
    result = low.fresh(op.results[0])
    join = builder.new_block("join")
    for number, (branch, operand) in enumerate(zip(op.branches, op.args[1:], strict=True)):
        otherwise: Block | None = None
        if number + 1 < len(op.branches):
            then, otherwise = builder.new_block("branch"), builder.new_block("else")
            builder.branch(BranchCompareOp.IS_EQIMM, register, numbers[number], then, otherwise)
            builder.start(then)
        low.block(branch.block, [low.value(operand)], [result])
        builder.go_to(join)
        if otherwise is not None:
            builder.start(otherwise)
    builder.start(join)
    low.release([result])
    return result


def _known(low: Lowering, op: ConditionalOp, index: int) -> Tree:
    """Just the branch that is taken. Its result has memory of its own, since it is no known name of an operand."""
    if is_pred(op.args[0].type):
        number = 0 if index else 1
    else:
        number = index if 0 <= index < len(op.branches) else len(op.branches) - 1
    result = low.fresh(op.results[0])
    low.block(op.branches[number].block, [low.value(op.args[1 + number])], [result])
    low.release([result])
    return result
