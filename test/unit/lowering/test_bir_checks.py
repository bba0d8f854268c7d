"""`bir-validate-cfg` and `bir-check-registers`: what they refuse, and that they name the place."""

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.parser import Parser
from xdsl.utils.exceptions import PassFailedException

from xneuron.dialects.bir import BIR
from xneuron.lowering.bir_check_registers import BirCheckRegisters
from xneuron.lowering.bir_validate_cfg import BirValidateCfg


def program(body: str) -> ModuleOp:
    ctx = Context()
    ctx.load_dialect(Builtin)
    ctx.load_dialect(BIR)
    module = Parser(ctx, f'bir.func @main {{ %n = bir.register "n" {body} }}').parse_module()
    module.verify()
    return module


SECOND_LATCH = """
    bir.unconditional_branch ^head
  ^head:
    bir.compare_and_branch IS_EQIMM(%n, 1) ^left, ^right
  ^left:
    bir.compare_and_branch IS_EQIMM(%n, 2) ^head, ^out
  ^right:
    bir.unconditional_branch ^head
  ^out:
"""
IRREDUCIBLE = """
    bir.compare_and_branch IS_EQIMM(%n, 1) ^left, ^right
  ^left:
    bir.compare_and_branch IS_EQIMM(%n, 2) ^right, ^out
  ^right:
    bir.unconditional_branch ^left
  ^out:
"""
UNREACHED = """
    bir.unconditional_branch ^out
  ^alone:
    bir.unconditional_branch ^out
  ^out:
"""
ENDLESS = """
    bir.unconditional_branch ^head
  ^head:
    bir.unconditional_branch ^latch
  ^latch:
    bir.unconditional_branch ^head
"""


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        (UNREACHED, r"error\[418\]: \^alone cannot be reached from the entry"),
        (SECOND_LATCH, r"error\[419\]: .*backEdgeAssertCondition: \^\w+ -> \^head is a second back edge beside \^\w+"),
        (IRREDUCIBLE, r"error\[419\]: .*\^\w+ -> \^\w+ enters a loop that has another entry"),
        (ENDLESS, r"error\[420\]: no block exits"),
    ],
)
def test_broken_rules_name_function_and_block(blocks: str, message: str) -> None:
    end = "" if blocks is ENDLESS else "bir.return"
    with pytest.raises(PassFailedException, match=f"^@main: {message}"):
        BirValidateCfg().apply(Context(), program(blocks + end))


def test_a_broken_loop_body_names_the_loop() -> None:
    body = f'bir.dynamic_for_loop for %i "i" in range(0, %n, 1) {{ {UNREACHED} bir.continue }} bir.return'
    with pytest.raises(PassFailedException, match=r"^@main, body of loop i: error\[418\]: \^alone cannot be reached"):
        BirValidateCfg().apply(Context(), program(body))


@pytest.mark.parametrize("limit", [1, 2])
def test_registers_above_the_limit_are_named(limit: int) -> None:
    """A counter, a limit and the register that is read after the loop."""
    body = 'bir.dynamic_for_loop for %i "i" in range(0, %n, 1) { } bir.register_alu %n = add(%n, 1) bir.return'
    message = rf"in @main: expected at most {limit} live at once but got 3 at .*: i \(counter\), i \(limit\), n$"
    with pytest.raises(PassFailedException, match=message):
        BirCheckRegisters(limit=limit).apply(Context(), program(body))
    BirCheckRegisters(limit=3).apply(Context(), program(body))
