"""Where programs come from, and what they look like."""

import io
from pathlib import Path

import pytest

from xneuron.tools.diagnostics import UsageError
from xneuron.tools.sources import Source, read_source, sniff, split


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("HloModule m\n", "hlo"),
        ("\n// a comment\n/* another\n one */ HloModule m, is_scheduled=true", "hlo"),
        ("%f (p: f32[]) -> f32[] {\n  ROOT %p = f32[] parameter(0)\n}\n\nENTRY %e {", "hlo"),
        ("  ENTRY e {\n", "hlo"),
        ("builtin.module {\n}", "mlir"),
        ('#loc = loc(unknown)\nmodule @jit_f attributes {a = "HloModule"} {', "mlir"),
        ("// HloModule in a comment\nfunc.func @f() { return }", "mlir"),
        ('\n{\n  "version": 2', "bir-json"),
        ("{}", "bir-json"),
        ("{-# dialect_resources: {} #-}", "mlir"),
        ("", "mlir"),
        ("module @m {\n  func.func @main() {\n    %0 = stablehlo.constant dense<1> : tensor<i32>", "stablehlo"),
        ('"builtin.module"() ({\n %1 = "chlo.erf"(%0) : (tensor<f32>) -> tensor<f32>', "stablehlo"),
        ('#loc = loc("hlo.add")\nmodule {\n  sdy.mesh @mesh = <["x"=2]>', "stablehlo"),
        ("module @m {\n  %0 = hlo.constant()\n  %1 = stablehlo.constant dense<1> : tensor<i32>", "mlir"),
        ('"builtin.module"() ({\n  %0 = "hlo.constant"() {note = "= stablehlo.add"}', "mlir"),
        ("module {\n  bir.function @f", "mlir"),
        ("module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {\n", "stablehlo"),
        ('// %0 = stablehlo.add\n%1 = "hlo.add"(%x, %x)', "mlir"),
        ('%0 = "foo.bar"() {note = "= stablehlo.add"}\n%1 = hlo.add(%x, %x)', "mlir"),
        ("%a, %b = stablehlo.while(%0)", "stablehlo"),
    ],
)
def test_sniff(text: str, format: str) -> None:
    assert sniff(text.encode()) == format


def test_extension_decides_where_it_is_a_format() -> None:
    known = frozenset({"hlo", "mlir"})
    assert Source("a.hlo", b"func.func", "hlo").format(known) == "hlo"
    assert Source("module_0001.txt", b"HloModule m", "txt").format(known) == "hlo"


def test_bytecode_is_stablehlo() -> None:
    assert sniff(b"ML\xefR\rMLIR23.0.0git\0") == "stablehlo"


def test_mlir_files_may_be_stablehlo() -> None:
    known = frozenset({"mlir", "stablehlo"})
    assert Source("a.mlir", b"%0 = stablehlo.add %a, %b", "mlir").format(known) == "stablehlo"
    assert Source("a.mlir", b"%0 = hlo.add(%a, %b)", "mlir").format(known) == "mlir"
    assert Source("a.mlir", b"HloModule m", "mlir").format(known) == "mlir"
    assert Source("a.stablehlo", b"module {}", "stablehlo").format(known) == "stablehlo"


@pytest.mark.parametrize("path", [None, "-"])
def test_standard_input(path: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"HloModule m")))
    assert read_source(path) == Source("stdin", b"HloModule m", "")


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*nowhere: No such file"):
        read_source(str(tmp_path / "nowhere"))
    with pytest.raises(UsageError, match="Is a directory"):
        read_source(str(tmp_path))


def test_split_keeps_line_numbers() -> None:
    parts = split(b"a\nb // -----\n// -----\nc\n// -----  \nd")
    assert parts == [b"a\nb // -----\n", b"\n\n\nc\n", b"\n\n\n\n\nd"]
    assert split(b"alone") == [b"alone"]
