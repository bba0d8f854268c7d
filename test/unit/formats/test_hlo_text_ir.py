"""What the reader of HLO text makes of a program, and what the writer refuses."""

import pytest
from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import Builtin, FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo import HLO
from xneuron.dialects.hlo.control_flow import FusionOp, WhileOp
from xneuron.dialects.hlo.literal import LiteralAttr
from xneuron.formats.hlo_text import parse_hlo, print_hlo

REDUCES = """HloModule m
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}
ENTRY e {
  v = f32[8] parameter(0)
  z = f32[] constant(0)
  a = f32[] reduce(v, z), dimensions={0}, to_apply=add
  b = f32[] reduce(v, a), dimensions={0}, to_apply=add
  ROOT c = f32[] add(a, b)
}
"""


def ops(module: ModuleOp, kind: str) -> list[Operation]:
    return [op for op in module.walk() if op.name == kind]


def read_mlir(text: str) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, func.Func, arith.Arith, HLO):
        context.load_dialect(dialect)
    return Parser(context, text).parse_module()


def test_names_are_kept_as_they_are() -> None:
    module = parse_hlo(
        "ENTRY e { get-tuple-element.12 = f32[] parameter(0) ROOT add_12 = f32[] copy(%get-tuple-element.12) }"
    )
    (copy,) = ops(module, "hlo.copy")
    assert copy.results[0].name_hint == "add_12"
    assert copy.operands[0].name_hint == "get-tuple-element.12"


def test_locations_are_line_and_column_of_the_name() -> None:
    module = parse_hlo(
        "ENTRY e {\n  p = f32[] parameter(0)\n\n  ROOT %c = f32[] add(p,\n     f32[] copy(p))\n}\n", "m.hlo"
    )
    found = {op.name: op.location for op in module.walk()}
    assert found["hlo.add"] == FileLineColLoc(StringAttr("m.hlo"), IntAttr(4), IntAttr(8))
    assert found["hlo.copy"] == FileLineColLoc(StringAttr("m.hlo"), IntAttr(5), IntAttr(6))


def test_each_owner_has_a_region_of_its_own() -> None:
    module = parse_hlo(REDUCES)
    module.verify()
    first, second = ops(module, "hlo.reduce")
    assert first.regions[0].block is not second.regions[0].block
    assert len(ops(module, "func.func")) == 1


def test_equal_regions_of_one_name_are_one_computation_in_text() -> None:
    assert print_hlo(parse_hlo(REDUCES)).count("%add (") == 1


def test_regions_that_became_different_get_names_of_their_own() -> None:
    module = parse_hlo(REDUCES)
    second = ops(module, "hlo.reduce")[1].regions[0].block
    (inner,) = [op for op in second.ops if op.name == "hlo.add"]
    inner.operands = [second.args[1], second.args[0]]
    text = print_hlo(module)
    assert "%add (x: f32[], y: f32[])" in text
    assert "%add.1 (x.1: f32[], y.1: f32[])" in text
    assert "ROOT %s.1 = f32[] add(%y.1, %x.1)" in text
    assert print_hlo(parse_hlo(text)) == text


def test_a_computation_may_be_called_and_owned() -> None:
    text = """f { ROOT n = f32[] negate(f32[] parameter(0)) }
    ENTRY e {
      p = f32[] parameter(0)
      a = f32[] fusion(p), kind=kLoop, calls=f
      b = f32[] call(a), to_apply=f
      ROOT c = f32[] fusion(b), kind=kLoop, calls=f
    }"""
    module = parse_hlo(text)
    module.verify()
    assert [str(f.sym_name.data) for f in ops(module, "func.func") if isinstance(f, func.FuncOp)] == ["f", "e"]
    assert print_hlo(module).count("negate(") == 1


def test_calls_adapt_layouts_by_copies() -> None:
    """`func.call` wants the function's types to the letter; XLA ignores layouts here."""
    text = """f { ROOT p = f32[2,3]{1,0} parameter(0) }
    ENTRY e {
      a = f32[2,3]{0,1} parameter(0)
      ROOT b = f32[2,3]{0,1} call(a), to_apply=f
    }"""
    module = parse_hlo(text)
    module.verify()
    printed = print_hlo(module)
    assert "%copy = f32[2,3]{1,0} copy(%a)" in printed
    assert "ROOT %b = f32[2,3]{0,1} copy(%call)" in printed
    assert print_hlo(parse_hlo(printed)) == printed


def test_parameters_may_come_in_any_order() -> None:
    module = parse_hlo(
        "ENTRY e { c = f32[3] parameter(2) a = f32[1] parameter(0) b = f32[2] parameter(1), sharding={manual} }"
    )
    (entry,) = ops(module, "func.func")
    assert [arg.name_hint for arg in entry.regions[0].block.args] == ["a", "b", "c"]
    assert isinstance(entry, func.FuncOp)
    assert entry.arg_attrs is not None
    assert [list(attributes.data) for attributes in entry.arg_attrs.data] == [[], ["sharding"], []]


def test_long_vectors_keep_every_bit() -> None:
    numbers = [0.1 * i for i in range(1000)]
    module = parse_hlo(f"ENTRY e {{ k = f64[1000] constant({{{', '.join(map(repr, numbers))}}}) }}")
    (constant,) = ops(module, "hlo.constant")
    value = constant.properties["value"]
    assert isinstance(value, LiteralAttr)
    assert value == LiteralAttr.of(value.type, *numbers)


def test_a_body_in_place_is_a_region() -> None:
    module = parse_hlo(
        "ENTRY e { s = s32[] parameter(0) ROOT w = s32[] while(s), "
        "condition={ c = s32[] parameter(0) ROOT f = pred[] constant(false) }, body={ ROOT b = s32[] parameter(0) } }"
    )
    module.verify()
    (loop,) = ops(module, "hlo.while")
    assert isinstance(loop, WhileOp)
    assert [arg.name_hint for region in loop.regions for arg in region.block.args] == ["c", "b"]
    text = print_hlo(module)
    assert "condition=%_, body=%_.1" in text
    assert print_hlo(parse_hlo(text)) == text


def test_shape_of_the_entry_is_kept_up_to_date() -> None:
    module = parse_hlo(
        "HloModule m, entry_computation_layout={(f32[2]{0:T(2)})->f32[2]}\nENTRY e { a = f32[2] parameter(0) }"
    )
    assert "entry_computation_layout={(f32[2]{0:T(2)})->f32[2]{0}}" in print_hlo(module)
    module = parse_hlo("HloModule m, entry_computation_layout={(f32[3])->f32[3]}\nENTRY e { a = f32[2] parameter(0) }")
    assert "entry_computation_layout={(f32[2]{0})->f32[2]{0}}" in print_hlo(module)


def test_names_from_elsewhere_are_made_valid() -> None:
    module = read_mlir("""
      func.func @"a b"(%f32: tensor<f32>) -> tensor<f32> {
        %0 = hlo.negate(%f32) : (tensor<f32>) -> tensor<f32>
        %1 = hlo.negate(%0) : (tensor<f32>) -> tensor<f32>
        func.return %1 : tensor<f32>
      }""")
    assert (
        print_hlo(module)
        == """HloModule module, entry_computation_layout={(f32[])->f32[]}

ENTRY %a_b (f32_: f32[]) -> f32[] {
  %f32_ = f32[] parameter(0)
  %negate = f32[] negate(%f32_)
  ROOT %negate.1 = f32[] negate(%negate)
}
"""
    )


def test_a_fusion_without_a_name_gets_one() -> None:
    module = parse_hlo(
        "ENTRY e { a = f32[] parameter(0) ROOT b = f32[] fusion(a), kind=kLoop, calls={ p = f32[] parameter(0) } }"
    )
    (fusion,) = ops(module, "hlo.fusion")
    assert isinstance(fusion, FusionOp)
    del fusion.properties["computations"]
    assert "calls=%fusion_computation" in print_hlo(module)


REFUSED = {
    "func.func @f() -> i32 { %a = arith.constant 1 : i32 func.return %a : i32 }": (
        "expected an operation that HLO text can express, found arith.constant"
    ),
    "func.func @f(%a: tensor<f32>) { func.return }": (
        "expected a computation that returns one value; HLO text cannot express others"
    ),
    "func.func @f(%a: tensor<f32>) -> tensor<f32> { func.return %a : tensor<f32> }\n"
    "func.func @g(%a: tensor<f32>) -> tensor<f32> { func.return %a : tensor<f32> }": (
        "expected one public function as entry computation, found f, g"
    ),
    "func.func private @f(%a: tensor<f32>) -> tensor<f32> { func.return %a : tensor<f32> }": (
        "expected one public function as entry computation, found none"
    ),
    "func.func @f(%a: index) -> index { func.return %a : index }": "expected a type of HLO, found index",
    "func.func @f(%a: tensor<f32>) -> tensor<f32> {\n"
    "  %b = func.call @f(%a) : (tensor<f32>) -> tensor<f32> func.return %b : tensor<f32> }": (
        "expected calls without recursion, found a call of f in f"
    ),
    "func.func private @d(tensor<f32>) -> tensor<f32>\n"
    "func.func @f(%a: tensor<f32>) -> tensor<f32> { func.return %a : tensor<f32> }": (
        "expected one block in the computation of d, found 0"
    ),
    "func.func @f(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {\n"
    '  %c, %d = "hlo.while"(%a, %b) ({^bb0(%x: tensor<f32>, %y: tensor<f32>): hlo.return(%x) : (tensor<f32>) -> ()}, '
    "{^bb0(%x: tensor<f32>, %y: tensor<f32>): hlo.return(%x, %y) : (tensor<f32>, tensor<f32>) -> ()})"
    " : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>) func.return %c : tensor<f32> }": (
        "expected an operation with one result, found hlo.while with 2 results"
    ),
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_text_cannot_say_is_refused(text: str) -> None:
    with pytest.raises(VerifyException) as caught:
        print_hlo(read_mlir(text))
    assert str(caught.value) == REFUSED[text]
