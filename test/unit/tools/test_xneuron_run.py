"""`xneuron-run` in this process: parameters, random values, and a check that can fail."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.universe import Universe

from xneuron.dialects.hlo.elementwise import AddOp, MultiplyOp
from xneuron.formats.arrays import load_arrays, save_arrays
from xneuron.formats.hlo_text import parse_hlo
from xneuron.tools.diagnostics import UsageError
from xneuron.tools.run_inputs import inputs_from_file, parameters_of, random_inputs
from xneuron.tools.xneuron_run import run

NESTED = """
ENTRY main {
  x = (f32[2], (bf16[], token[])) parameter(0)
  n = s32[] parameter(1)
  ROOT a = f32[2] get-tuple-element(x), index=0
}
"""
TWICE = """
ENTRY main {
  x = f32[2,2] parameter(0)
  ROOT t = f32[2,2] add(x, x)
}
"""


@dataclass(frozen=True)
class Square(ModulePass):
    """Multiplies where the program adds: a pass that is wrong."""

    name = "square"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for add in [inner for inner in op.walk() if isinstance(inner, AddOp)]:
            product = MultiplyOp.create(operands=add.operands, result_types=add.result_types)
            PatternRewriter(add).replace(add, product)


@pytest.fixture
def with_square(monkeypatch: pytest.MonkeyPatch) -> None:
    everything = Universe.get_multiverse()
    everything.all_passes["square"] = lambda: Square
    monkeypatch.setattr(Universe, "get_multiverse", lambda: everything)


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], str]:
    def write(text: str) -> str:
        path = tmp_path / "program.hlo"
        path.write_text(text)
        return str(path)

    return write


def parameters(text: str) -> Any:
    module = parse_hlo(text)
    return parameters_of(next(iter(module.ops)))


def test_a_wrong_pass_is_found(
    with_square: None, program: Callable[[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs = tmp_path / "in.npz"
    save_arrays(inputs, {"x": np.array([[2, 0], [3, 2]], np.float32)})
    arguments = [program(TWICE), "--inputs", str(inputs), "--check-pipeline", "square"]
    assert run(arguments) == 1
    assert capsys.readouterr().out == "output 0[1, 0] differs: 6.0 before, 9.0 after (1 of 4 elements differ)\n"
    assert run([*arguments, "--tolerance", "10"]) == 0
    assert run([*arguments, "-p", "square"]) == 0  # squaring what is squared already changes nothing


def test_outputs(program: Callable[[str], str], tmp_path: Path) -> None:
    inputs, outputs = tmp_path / "in.npz", tmp_path / "out.npz"
    save_arrays(inputs, {"0": np.array([[1, 2], [3, 4]], np.float32)})
    assert run([program(TWICE), "--inputs", str(inputs), "--outputs", str(outputs)]) == 0
    assert load_arrays(outputs)["0"].tolist() == [[2, 4], [6, 8]]


def test_parameters_have_names_and_positions() -> None:
    found = [(leaf.name, leaf.position, str(leaf)) for p in parameters(NESTED) for leaf in p.leaves()]
    assert found == [
        ("x.0", "0.0", "x.0: f32[2]"),
        ("x.1.0", "0.1.0", "x.1.0: bf16[]"),
        ("n", "1", "n: s32[]"),
    ]


def test_inputs_by_name_and_position(tmp_path: Path) -> None:
    half = np.array(1.5, ml_dtypes.bfloat16)
    save_arrays(tmp_path / "in.npz", {"x.0": np.zeros(2, np.float32), "0.1.0": half, "n": np.int32(3)})
    (first, (second, token)), n = inputs_from_file(parameters(NESTED), str(tmp_path / "in.npz"))[0]
    assert (first.tolist(), second, token, n) == ([0, 0], 1.5, None, 3)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({}, r"has no array 'x' or '0' for x: f32\[2,2\]"),
        ({"x": np.zeros((2, 2), np.float64)}, r"expected x: f32\[2,2\], found float64\[2,2\]"),
        ({"x": np.zeros(4, np.float32)}, r"expected x: f32\[2,2\], found float32\[4\]"),
        ({"x": np.zeros((2, 2), np.float32), "xs": np.zeros(1)}, "has an array 'xs', which is no parameter; did you"),
    ],
)
def test_wrong_inputs(arrays: dict[str, Any], message: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", **arrays)
    with pytest.raises(UsageError, match=message):
        inputs_from_file(parameters(TWICE), str(tmp_path / "in.npz"))


def test_a_file_that_is_no_archive(tmp_path: Path) -> None:
    (tmp_path / "in.npz").write_text("text")
    with pytest.raises(UsageError, match=r"expected an \.npz file of arrays"):
        inputs_from_file(parameters(TWICE), str(tmp_path / "in.npz"))


@pytest.mark.parametrize("type", ["pred", "s2", "u2", "s8", "u64", "bf16", "f8e4m3fn", "f64", "c64"])
def test_random_values(type: str) -> None:
    text = f"ENTRY main {{ ROOT x = {type}[50] parameter(0) }}"
    ((value,),), ((again,),), ((other,),) = (random_inputs(parameters(text), seed) for seed in (1, 1, 2))
    assert value.shape == (50,)
    assert value.tobytes() == again.tobytes() != other.tobytes()
    if value.dtype.kind in "iu":
        assert 0 <= value.min()
        assert value.max() < 10


def test_random_scalars_and_tuples() -> None:
    (first, (second, token)), n = random_inputs(parameters(NESTED), 0)[0]
    assert (np.shape(first), np.shape(second), token, np.shape(n)) == ((2,), (), None, ())


SUMMED = """
HloModule summed, replica_count=3
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[2] parameter(0)
  n = bf16[] parameter(1)
  r = f32[2] all-reduce(x), to_apply=sum
  t = f32[2] add(r, r)
  ROOT pair = (f32[2], bf16[]) tuple(t, n)
}
"""


def participants_inputs(path: Path, **arrays: Any) -> list[list[Any]]:
    save_arrays(path, arrays)
    return inputs_from_file(parameters(SUMMED), str(path), 3)


def test_inputs_of_participants(tmp_path: Path) -> None:
    """One for all, one more axis, or a key for one participant."""
    own = np.array([7, 8], np.float32)
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    numbers = np.array([1, 2, 3]).astype(ml_dtypes.bfloat16)
    found = participants_inputs(tmp_path / "in.npz", **{"x": rows, "0@2": own, "n": numbers[0], "n@1": numbers[1]})
    assert [x.tolist() for x, _ in found] == [[0, 1], [2, 3], [7, 8]]
    assert [float(n) for _, n in found] == [1, 2, 1]


def test_a_participant_without_inputs(tmp_path: Path) -> None:
    own = np.array([7, 8], np.float32)
    with pytest.raises(UsageError, match=r"has no array 'x' or '0' for x: f32\[2\] of participant 1"):
        participants_inputs(tmp_path / "in.npz", **{"x@0": own, "x@2": own, "n": np.array(1, ml_dtypes.bfloat16)})
    with pytest.raises(UsageError, match="has an array 'x@3', which is no parameter"):
        participants_inputs(tmp_path / "in.npz", **{"x": own, "x@3": own, "n": np.array(1, ml_dtypes.bfloat16)})


def test_random_inputs_of_participants() -> None:
    """Floats differ, integers do not: they are often loop bounds."""
    first, second = random_inputs(parameters(NESTED), 0, 2)
    assert not np.array_equal(first[0][0], second[0][0])
    assert first[1] == second[1]
    assert first[0][0].tolist() == random_inputs(parameters(NESTED), 0)[0][0][0].tolist()


def test_outputs_of_participants(program: Callable[[str], str], tmp_path: Path) -> None:
    path = tmp_path / "out.npz"
    assert run([program(SUMMED), "--random", "1", "--outputs", str(path)]) == 0
    outputs = load_arrays(path)
    assert sorted(outputs) == ["0@0", "0@1", "0@2", "1@0", "1@1", "1@2"]
    assert outputs["1@2"].dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(outputs["0@0"], outputs["0@2"])


@pytest.mark.usefixtures("with_square")
def test_the_check_names_the_participant(program: Callable[[str], str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([program(SUMMED), "--random", "1", "--check-pipeline", "square"]) == 1
    assert capsys.readouterr().out.startswith("replica 0, output 0[0] differs: ")


def test_replicas_are_not_for_bir(program: Callable[[str], str], capsys: pytest.CaptureFixture[str]) -> None:
    source = Path(__file__).parents[3] / "examples" / "bir"
    file = next(source.glob("*.mlir"))
    assert run([str(file), "--replicas", "2"]) == 2
    assert "--replicas is for HLO programs, found a bir.func" in capsys.readouterr().err
