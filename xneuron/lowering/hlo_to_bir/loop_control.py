"""How often a loop's body runs: a static loop, a loop up to a register, or a guard and a do-while."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import SSAValue

from xneuron.dialects.bir.enums import BranchCompareOp
from xneuron.dialects.hlo.control_flow import WhileOp

from .computations import Lowering
from .values import Tree


def repeat(
    low: Lowering, op: WhileOp, state: Tree, body: Callable[[], object], test: Callable[[SSAValue], None]
) -> None:
    """Runs `body` as often as the loop does; `test` puts the condition of the present state in a register."""
    _while(low, op, body, test)


def _while(low: Lowering, op: WhileOp, body: Callable[[], object], test: Callable[[SSAValue], None]) -> None:
    """```text
    test r; if r == 0 goto after else enter; enter: do { body; test r } while r; after:
    ```
    """
    builder = low.builder
    again = builder.register("again")
    enter, after = builder.new_block("enter"), builder.new_block("after")
    test(again)
    builder.branch(BranchCompareOp.IS_EQIMM, again, 0, after, enter)
    builder.start(enter)
    with builder.do_while(again):
        body()
        test(again)
    builder.go_to(after)
    builder.start(after)
