"""Where operations say they come from, and what values are called."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir import Operation

from xneuron.formats.stablehlo import process
from xneuron.formats.stablehlo.mlir import without_locations
from xneuron.formats.stablehlo.parser import parse_stablehlo

TEXT = """#loc1 = loc("x")
module @m {
  func.func @main(%arg0: tensor<4xf32> loc("flat[0]"), %y: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
    %0 = stablehlo.sine %arg0 : tensor<4xf32> loc("jit(f)/sin"("f"("a.py":3:4 to 5:6)))
    %best, %at = chlo.top_k(%0, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>) loc(fused["b.py":8:9])
    %text = stablehlo.custom_call @t(%y) {backend_config = "loc(unknown) %z = loc("} : (tensor<4xf32>) -> tensor<4xf32>
    return %best, %at : tensor<2xf32>, tensor<2xi32> loc(unknown)
  } loc(#loc1)
} loc(unknown)
"""


@pytest.fixture(scope="module")
def ops() -> dict[str, Operation]:
    module = parse_stablehlo(TEXT, "m.mlir")
    return {op.name: op for op in module.walk()}


def place(op: Operation) -> tuple[str, int, int]:
    loc = op.location
    assert isinstance(loc, FileLineColLoc)
    return loc.filename.data, loc.line.data, loc.column.data


def test_places_are_those_of_the_text(ops: dict[str, Operation]) -> None:
    assert place(ops["hlo.sine"]) == ("m.mlir", 4, 10)
    assert place(ops["hlo.custom_call"]) == ("m.mlir", 6, 13)
    assert place(ops["func.func"]) == ("m.mlir", 3, 3)


def test_metadata_is_what_the_text_says(ops: dict[str, Operation]) -> None:
    def metadata(name: str) -> str:
        return str(ops[name].attributes.get("metadata"))

    assert metadata("hlo.sine") == (
        '{op_name = "jit(f)/sin", source_file = "a.py", source_line = 3 : i64, source_end_line = 5 : i64, '
        "source_column = 4 : i64, source_end_column = 6 : i64}"
    )
    assert 'source_file = "b.py", source_line = 8' in metadata("hlo.topk")
    assert metadata("hlo.custom_call") == "None"


def test_names_are_those_of_the_text(ops: dict[str, Operation]) -> None:
    """Numbers are no names; JAX's name of an argument is better than the text's."""
    main = ops["func.func"].regions[0].block
    assert [argument.name_hint for argument in main.args] == ["flat_0", "y"]
    assert ops["hlo.sine"].results[0].name_hint is None
    elements = [op.results[0].name_hint for op in main.ops if op.name == "hlo.get_tuple_element"]
    assert elements == ["best", "at"]
    assert ops["hlo.custom_call"].results[0].name_hint == "text"


def test_strings_are_no_locations(ops: dict[str, Operation]) -> None:
    assert str(ops["hlo.custom_call"].attributes["backend_config"]) == '"loc(unknown) %z = loc("'


def test_blanking_keeps_every_position() -> None:
    bare = without_locations(TEXT)
    assert len(bare) == len(TEXT)
    assert [line.rstrip() for line in bare.splitlines()][:4] == [
        "",
        "module @m {",
        "  func.func @main(%arg0: tensor<4xf32>               , %y: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>) {",
        "    %0 = stablehlo.sine %arg0 : tensor<4xf32>",
    ]
    assert without_locations(bare) is bare


def test_pretty_prints_what_it_verified() -> None:
    function = '"func.func"() <{function_type = () -> (), sym_name = "f"}> ({ "func.return"() : () -> () }) : () -> ()'
    generic = f'"builtin.module"() ({{ {function} }}) : () -> ()'
    assert process.pretty(generic) == "module {\n  func.func @f() {\n    return\n  }\n}\n"
    with pytest.raises(process.Refused, match="use of undeclared SSA value name"):
        process.pretty("module { func.func @f() { stablehlo.return %x : tensor<f32> } }")
