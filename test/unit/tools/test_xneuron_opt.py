"""`xneuron-opt` in this process: what happens to the output when something fails."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.exceptions import PassFailedException, ShrinkException

from xneuron.remarks import CODES, declare, remark
from xneuron.tools.xneuron_opt import run

PROGRAM = "func.func @f() {\n  func.return\n}\n"


def failing(error: Exception) -> type[ModulePass]:
    @dataclass(frozen=True)
    class Failing(ModulePass):
        name = "failing"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            remark("missed", self.name, declare("seen-before", "A remark made before the pass failed."), op, "careful")
            raise error

    return Failing


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "program.mlir"
    path.write_text(PROGRAM)
    return str(path)


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Callable[[Exception], None]:
    """Makes pass `failing` raise an error."""
    monkeypatch.setitem(CODES, "seen-before", "A remark made before the pass failed.")
    everything = Universe.get_multiverse()

    def register(error: Exception) -> None:
        everything.all_passes["failing"] = lambda: failing(error)
        monkeypatch.setattr(Universe, "get_multiverse", lambda: everything)

    return register


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (PassFailedException("cannot do that"), 1, "error: failing: cannot do that\n"),
        (KeyError("x"), 70, "internal error: KeyError: 'x' (in pass failing); --debug shows where\n"),
        (AssertionError(""), 70, "internal error: AssertionError (in pass failing); --debug shows where\n"),
    ],
)
def test_a_pass_that_fails_leaves_no_output(
    use: Callable[[Exception], None],
    program: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
    code: int,
    message: str,
) -> None:
    use(error)
    output, remarks = tmp_path / "out.mlir", tmp_path / "remarks.jsonl"
    assert run([program, "-p", "cse,failing,dce", "-o", str(output), f"--remarks={remarks}"]) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.endswith(message)
    assert shown.err.count("\n") == 1
    assert not output.exists()
    assert '"message": "careful"' in remarks.read_text()


def test_shrink(use: Callable[[Exception], None], program: str, capsys: pytest.CaptureFixture[str]) -> None:
    """xdsl-opt's protocol with shrinkray: success if the exception came, else failure after the output."""
    use(ShrinkException())
    assert run([program, "-p", "failing", "--shrink"]) == 0
    assert capsys.readouterr().out == "Success, can shrink\n"
    assert run([program, "--shrink"]) == 1
    assert capsys.readouterr().out.endswith("Failure, can't shrink\n")
