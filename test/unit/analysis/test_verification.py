"""What holds of whole modules: values before uses, one entry, no recursion."""

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.cf import Cf
from xdsl.dialects.func import Func
from xdsl.dialects.scf import Scf
from xdsl.dialects.test import Test
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from xneuron.analysis.dominance import verify_dominance
from xneuron.analysis.verification import verify_module
from xneuron.dialects.hlo import HLO


def parsed(text: str) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, Cf, Func, HLO, Scf, Test):
        context.load_dialect(dialect)
    return Parser(context, text).parse_module()


def named(module: ModuleOp, name: str) -> Operation:
    """The op whose first result has this name."""
    return next(op for op in module.walk() if op.results and op.results[0].name_hint == name)


STRAIGHT = """
func.func @f(%a: tensor<f32>) -> tensor<f32> {
  %b = hlo.negate(%a) : (tensor<f32>) -> tensor<f32>
  %c = hlo.add(%b, %a) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %c : tensor<f32>
}
"""

LOOP = """
func.func @f(%a: tensor<i32>) -> tensor<i32> {
  %b = hlo.negate(%a) : (tensor<i32>) -> tensor<i32>
  %w = hlo.while(%b) cond {
  ^bb0(%i: tensor<i32>):
    %p = hlo.compare(%i, %i) {direction = "NE"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    hlo.return(%p) : (tensor<i1>) -> ()
  } body {
  ^bb0(%j: tensor<i32>):
    %k = hlo.negate(%j) : (tensor<i32>) -> tensor<i32>
    hlo.return(%k) : (tensor<i32>) -> ()
  } : (tensor<i32>) -> tensor<i32>
  func.return %w : tensor<i32>
}
"""


def test_order_in_a_block() -> None:
    module = parsed(STRAIGHT)
    verify_dominance(module)
    b, c = named(module, "b"), named(module, "c")
    b.detach()
    c.parent_block().insert_op_after(b, c)  # pyright: ignore[reportOptionalMemberAccess]
    with pytest.raises(VerifyException, match=r"^%b is used by hlo.add %c before it is defined$"):
        verify_dominance(module)


def test_own_result_is_not_there_yet() -> None:
    module = parsed(STRAIGHT)
    c = named(module, "c")
    c.operands[0] = c.results[0]
    with pytest.raises(VerifyException, match=r"%c is used by hlo.add %c before it is defined"):
        verify_dominance(module)


@pytest.mark.parametrize("outer", ["b", "w"])
def test_isolated_regions_do_not_see_out(outer: str) -> None:
    module = parsed(LOOP)
    verify_dominance(module)
    named(module, "k").operands[0] = named(module, outer).results[0]
    with pytest.raises(VerifyException, match=f"%{outer} is used by hlo.negate %k, where it is not defined"):
        verify_dominance(module)


def test_one_computation_does_not_see_another() -> None:
    module = parsed(LOOP)
    named(module, "k").operands[0] = named(module, "p").operands[0]
    with pytest.raises(VerifyException, match=r"%i is used by hlo.negate %k, where it is not defined"):
        verify_dominance(module)


def test_nothing_leaks_out_of_a_region() -> None:
    module = parsed(LOOP)
    named(module, "w").parent_block().last_op.operands[0] = named(module, "k").results[0]  # pyright: ignore
    with pytest.raises(VerifyException, match=r"%k is used by func.return, where it is not defined"):
        verify_dominance(module)


def test_a_region_that_is_not_isolated_sees_out() -> None:
    module = parsed(
        """
        func.func @f(%a: i32, %n: index) {
          scf.for %i = %n to %n step %n {
            "test.op"(%a, %i) : (i32, index) -> ()
          }
          func.return
        }
        """
    )
    verify_dominance(module)


DIAMOND = """
func.func @f(%p: i1) -> i32 {{
  %a = "test.op"() : () -> i32
  cf.cond_br %p, ^left, ^right
^left:
  %b = "test.op"(%a) : (i32) -> i32
  cf.br ^join
^right:
  "test.op"({right}) : (i32) -> ()
  cf.br ^join
^join:
  func.return {join} : i32
}}
"""


def test_blocks_see_what_dominates_them() -> None:
    verify_dominance(parsed(DIAMOND.format(right="%a", join="%a")))


@pytest.mark.parametrize(
    ("right", "join", "message"),
    [("%b", "%a", "%b is used by test.op, where it"), ("%a", "%b", "%b is used by func.return, where it")],
)
def test_blocks_do_not_see_others(right: str, join: str, message: str) -> None:
    module = parsed(DIAMOND.format(right=right, join=join))
    with pytest.raises(VerifyException, match=message):
        verify_dominance(module)


def test_blocks_that_are_never_reached_do_not_matter() -> None:
    verify_dominance(
        parsed(
            """
            func.func @f() {
              func.return
            ^dead:
              "test.op"(%a) : (i32) -> ()
              %a = "test.op"() : () -> i32
              cf.br ^dead
            }
            """
        )
    )


FUNCTION = """
func.func {visibility} @{name}(%a: tensor<f32>) -> tensor<f32> {{
  {body}
}}
"""
RETURN = "func.return %a : tensor<f32>"


def function(name: str, visibility: str = "private", calls: str | None = None) -> str:
    call = f"%{name} = func.call @{calls}(%a) : (tensor<f32>) -> tensor<f32>\n  " if calls else ""
    return FUNCTION.format(name=name, visibility=visibility, body=call + RETURN)


def module(*functions: str, attributes: str = "attributes {hlo.replica_count = 1 : i64}") -> ModuleOp:
    return parsed(f"builtin.module {attributes} {{ {''.join(functions)} }}")


def test_one_entry() -> None:
    verify_module(module(function("main", "public"), function("f")))


@pytest.mark.parametrize(
    ("functions", "found"), [([function("f")], "none"), ([function("f", "public"), function("g", "")], "f, g")]
)
def test_not_one_entry(functions: list[str], found: str) -> None:
    with pytest.raises(VerifyException, match=f"^expected one public function as entry computation, found {found}$"):
        verify_module(module(*functions))


def test_a_module_that_is_not_hlo_may_have_any_functions() -> None:
    verify_module(module(function("f", ""), function("g", ""), attributes=""))


def test_computations_return_one_value() -> None:
    text = "func.func private @f(%a: tensor<f32>) { func.return }"
    with pytest.raises(VerifyException, match="expected computation f to return one value, found 0"):
        verify_module(module(function("main", "public"), text))


def test_no_recursion() -> None:
    with pytest.raises(VerifyException, match=r"expected computations that do not call themselves, found .* -> .*"):
        verify_module(module(function("main", "public", "f"), function("f", calls="g"), function("g", calls="f")))


def test_operations_are_verified_too() -> None:
    wrong = parsed(STRAIGHT.replace("hlo.negate(%a) :", "hlo.not(%a) :"))
    with pytest.raises(VerifyException, match="not: expected element type of operand to be pred or integral"):
        verify_module(wrong)
