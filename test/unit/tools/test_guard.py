"""Exit codes and messages of everything that can go wrong."""

from collections.abc import Callable

import pytest
from xdsl.utils.exceptions import PassFailedException, VerifyException

from xneuron.execution.errors import EvaluationError
from xneuron.tools.diagnostics import ProgramError, UsageError
from xneuron.tools.guard import guarded
from xneuron.tools.sources import Sources


def raising(error: BaseException) -> Callable[[Sources], int]:
    def work(_: Sources) -> int:
        print("written before")
        raise error

    return work


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (UsageError("no such thing"), 2, "tool: error: no such thing\n"),
        (ProgramError("wrong"), 1, "error: wrong\n"),
        (VerifyException("wrong"), 1, "error: wrong\n"),
        (PassFailedException("cannot"), 1, "error: cannot\n"),
        (EvaluationError("no kernel"), 1, "error: no kernel\n"),
        (RecursionError("deep"), 1, "error: the program is nested too deeply\n"),
        (KeyboardInterrupt(), 130, ""),
        (ValueError("bug\nmore"), 70, "tool: internal error: ValueError: bug; --debug shows where\n"),
    ],
)
def test_codes(error: BaseException, code: int, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded("tool", raising(error), []) == code
    assert capsys.readouterr() == ("written before\n", message)


def test_success_is_the_work_s_own_code() -> None:
    assert [guarded("tool", lambda _, code=code: code, []) for code in (0, 1, 3)] == [0, 1, 3]


def test_debug_shows_where(capsys: pytest.CaptureFixture[str]) -> None:
    error = KeyError("bug")
    error.add_note("in pass some-pass")
    assert guarded("tool", raising(error), ["--debug"]) == 70
    shown = capsys.readouterr().err
    assert "Traceback" in shown
    assert shown.endswith("tool: internal error: KeyError: 'bug' (in pass some-pass)\n")
