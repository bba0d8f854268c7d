"""What is wrong with a StableHLO module, by message and place; what becomes of MLIR that ends or is not there."""

from __future__ import annotations

import sys

import pytest
from xdsl.utils.exceptions import ParseError

from xneuron.formats.stablehlo import process
from xneuron.formats.stablehlo.parser import parse_stablehlo
from xneuron.formats.stablehlo.reader.errors import StablehloError
from xneuron.formats.stablehlo.reader.table import TABLE


def main(signature: str, *lines: str) -> str:
    """A module with one function; its first line of operations is line 3."""
    body = "\n".join(lines)
    return f"module {{\nfunc.func @main({signature}) {{\n{body}\n return\n}}\n}}"


F = "%x: tensor<4xf32>"
WRONG = {
    "no function called main": (
        "module { func.func @f() { return } func.func @g() { return } }",
        (1, 1, "builtin.module: expected a function @main, or one public function, found @f, @g"),
    ),
    "a function without a body": (
        "module { func.func private @main() }",
        (1, 10, "func.func: expected a function with a body"),
    ),
    "several blocks": (
        main("%x: tensor<4xf32>", "cf.br ^next", "^next:"),
        (2, 1, "func.func: expected a region of one block, found 2"),
    ),
    "text that is no MLIR": ("module { foo }", (1, 10, "custom op 'foo' is unknown (tried 'builtin.foo' as well)")),
    "an unknown dialect": (
        main(F, "%0 = foo.add %x, %x : tensor<4xf32>"),
        (3, 6, "Dialect `foo' not found for custom op 'foo.add'"),
    ),
    "a verifier of MLIR": (
        main(F, "%0 = stablehlo.transpose %x, dims = [1] : (tensor<4xf32>) -> tensor<4xf32>"),
        (3, 6, "attribute permutation must be a permutation of [0] but got 1"),
    ),
    "an operation of another dialect": (
        main("%x: f32", "%0 = arith.addf %x, %x : f32"),
        (2, 1, "func.func: expected a type that HLO has, found f32"),
    ),
    "an element type that HLO does not have": (
        main("%x: tensor<4xi7>"),
        (2, 1, "func.func: expected elements of a type that HLO has, found i7"),
    ),
    "an operation that HLO does not have": (
        main(F, "%0 = math.sin %x : tensor<4xf32>"),
        (3, 6, "math.sin: expected an operation that HLO can express"),
    ),
    "a reducer that uses a value from around": (
        main(
            "%x: tensor<4xf32>, %y: tensor<f32>",
            '%0 = "stablehlo.reduce"(%x, %y) <{dimensions = array<i64: 0>}> ({',
            "^bb0(%a: tensor<f32>, %b: tensor<f32>):",
            " %s = stablehlo.add %a, %y : tensor<f32>",
            " stablehlo.return %s : tensor<f32>",
            "}) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>",
        ),
        (5, 7, "stablehlo.add: expected a region that uses only its own values, and constants from around"),
    ),
    "sizes known at run time": (
        main(
            "%n: tensor<1xi64>",
            "%0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi64>) -> tensor<?xi32>",
            "stablehlo.custom_call @use(%0) {has_side_effect = true} : (tensor<?xi32>) -> ()",
        ),
        (3, 6, "stablehlo.dynamic_iota: expected a result of static shape; HLO cannot say this one"),
    ),
    "a padding known at run time": (
        main(
            "%x: tensor<4xf32>, %n: tensor<1xi64>, %z: tensor<f32>",
            "%0 = stablehlo.dynamic_pad %x, %z, %n, %n, %n : "
            "(tensor<4xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>",
            "stablehlo.custom_call @use(%0) {has_side_effect = true} : (tensor<?xf32>) -> ()",
        ),
        (3, 6, "stablehlo.dynamic_pad: expected sizes that are constants; HLO cannot say others"),
    ),
    "an einsum of more than one dot": (
        main(
            "%x: tensor<2x3xf32>",
            '%0 = stablehlo.einsum %x, %x, config = "ab,cd->ac" : '
            "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>",
        ),
        (3, 6, "stablehlo.einsum: expected an einsum that one dot can do, found ab,cd->ac"),
    ),
    "a custom call of a function that is not there": (
        main(F, "stablehlo.custom_call @t() {called_computations = [@gone]} : () -> ()"),
        (3, 1, "stablehlo.custom_call: expected a function of the module, found @gone"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_text(name: str) -> None:
    text, (line, column, message) = WRONG[name]
    with pytest.raises(ParseError) as caught:
        parse_stablehlo(text, "wrong.mlir")
    where = caught.value.span.get_location()
    assert (where.file, where.line, where.col, caught.value.msg) == ("wrong.mlir", line, column, message)


MESH = 'sdy.mesh @mesh = <["x"=2]>\n'
PART = (
    "sdy.manual_computation(%x) in_shardings=[{inside}] out_shardings=[{out}] manual_axes={{\"x\"}} "
    "(%p: tensor<2xf32>) {{\n sdy.return %p : tensor<2xf32>\n}} : (tensor<4xf32>) -> tensor<4xf32>"
)  # fmt: skip
SPLIT, WHOLE = '<@mesh, [{"x"}]>', "<@mesh, [{}]>"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "%1 = stablehlo.reverse %0, dims = [0] : tensor<4xf32>",
            "stablehlo.reverse: expected a dimension of which a device always holds the same part, "
            "found one split by {x} and whole; sdy.manual_computation cannot be expressed otherwise",
        ),
        (
            '%1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : '
            "tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>",
            "stablehlo.all_gather: expected it inside of sdy.manual_computation, where a device does it, "
            "found it outside",
        ),
        (
            f"%1 = {PART.format(inside=WHOLE, out=WHOLE)}".replace("2xf32", "4xf32").replace("(%x)", "(%0)"),
            "sdy.manual_computation: expected a dimension of which a device always holds the same part, "
            "found one split by {x} and whole; sdy.manual_computation cannot be expressed otherwise",
        ),
    ],
)
def test_manual_computation_that_has_no_program_per_device(line: str, message: str) -> None:
    text = main(F, f"%0 = {PART.format(inside=SPLIT, out=SPLIT)}", line)
    with pytest.raises(ParseError) as caught:
        parse_stablehlo(text.replace("module {\n", f"module {{ {MESH}", 1), "wrong.mlir")
    assert caught.value.msg == message
    assert caught.value.span.get_location().line == 6


def test_place_in_a_line_with_wide_characters() -> None:
    """MLIR counts bytes, we characters."""
    text = main(F, 'stablehlo.custom_call @t() {a = "äöü"} : () -> () %0 = foo.bar')
    with pytest.raises(ParseError) as caught:
        parse_stablehlo(text)
    assert caught.value.span.get_location().col == text.split("\n")[2].index("foo") + 1


LOCATED = """#op = loc("jit(f)/sin"(callsite("f"("model.py":7:24) at "main"("main.py":1:2))))
module { func.func @main(%x: tensor<4xf32>) {
  %0 = math.sin %x : tensor<4xf32> loc(#op)
  return
} }"""


def test_line_of_python() -> None:
    """The innermost frame: the function that called the operation."""
    with pytest.raises(ParseError) as caught:
        parse_stablehlo(LOCATED)
    assert caught.value.msg.endswith("; traced as jit(f)/sin at model.py:7:24")
    assert caught.value.span.get_location().line == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"ML\xefR rubbish", "expected a StableHLO module in x: bytecode version"),
        (b"ML\xefR\rStableHLO_v9.9.9\0rubbish", "expected a StableHLO module in x: expected a StableHLO artifact"),
        (
            b"module { func.func @main() { %0 = stablehlo.constant dense_resource<__elided__> : tensor<9xf32> "
            b"return } }",
            "expected the elements of dense_resource<__elided__>, found a module without them",
        ),
        (b"module { \xff }", "expected UTF-8 text, found byte 0xff at 9"),
    ],
)
def test_wrong_bytes(content: bytes, message: str) -> None:
    with pytest.raises((StablehloError, ParseError)) as caught:
        parse_stablehlo(content, "x")
    assert message in str(caught.value)


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "available", lambda: False)
    with pytest.raises(
        StablehloError, match=r"^StableHLO is read and written by JAX's MLIR: pip install 'xneuron\[jax\]'$"
    ):
        parse_stablehlo("module {}")


def test_mlir_that_aborts_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the next text gets a new process."""
    abort = "import os, sys; sys.stdin.buffer.read(1); os.write(2, b'LLVM ERROR: out of luck\\n'); os.abort()"
    monkeypatch.setattr(process, "_process", None)
    with monkeypatch.context() as patched:
        patched.setattr(process, "WORKER", (sys.executable, "-c", abort))
        with pytest.raises(StablehloError, match=r"^MLIR ended its process \(-6\): LLVM ERROR: out of luck$"):
            parse_stablehlo("module {}")
    assert parse_stablehlo("module { func.func @main() { return } }").verify() is None


def test_mlir_that_is_killed_says_why_that_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    kill = "import os, sys; sys.stdin.buffer.read(1); os.kill(os.getpid(), 9)"
    monkeypatch.setattr(process, "_process", None)
    monkeypatch.setattr(process, "WORKER", (sys.executable, "-c", kill))
    with pytest.raises(StablehloError, match=r"^MLIR ended its process \(-9\): killed, as happens where memory runs"):
        parse_stablehlo("module {}")


def test_another_jaxlib_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_process", None)
    monkeypatch.setattr(process, "WORKER", (sys.executable, "-c", "import jaxlib.mlir.gone"))
    monkeypatch.setattr(process, "version", lambda name: "0.4.30")
    with pytest.raises(StablehloError, match=r"No module named .* \(expected jaxlib 0.10, found 0.4.30\)$"):
        parse_stablehlo("module {}")


def test_a_gap_of_ours_has_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def gap(builder: object) -> None:
        raise KeyError("permutation")

    monkeypatch.setitem(TABLE, "stablehlo.sine", gap)
    with pytest.raises(ParseError) as caught:
        parse_stablehlo(LOCATED.replace("math.sin", "stablehlo.sine"))
    assert caught.value.msg.startswith(
        "stablehlo.sine: expected an operation as JAX prints it, found one that fails by"
    )
    assert caught.value.msg.endswith("KeyError: 'permutation'; traced as jit(f)/sin at model.py:7:24")
    assert caught.value.span.get_location().line == 3
