"""What every tool does around its work: exit codes, errors in one form, clean pipes.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | the program is wrong, or a check failed |
| 2 | the command was called wrongly |
| 3 | a required transformation was missed |
| 70 | internal error |
"""

from __future__ import annotations

import signal
import sys
import traceback
from collections.abc import Callable, Sequence

from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException, ParseError

from xneuron.execution.errors import EvaluationError
from xneuron.tools.diagnostics import ProgramError, UsageError, render
from xneuron.tools.sources import Sources

OK, WRONG_PROGRAM, USAGE, MISSED, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 70, 130


def guarded(tool: str, work: Callable[[Sources], int], argv: Sequence[str]) -> int:
    """Runs `work`, and turns what it raises into one message on stderr and an exit code.

    `work` is given a dictionary to put what it reads into, by name, for excerpts in messages.
    """
    sources: Sources = {}
    try:
        code = work(sources)
        sys.stdout.flush()
        return code
    except (UsageError, ArgSpecParseError) as error:
        return _fail(f"{tool}: error: {str(error).strip()}", USAGE)
    except RecursionError:
        return _fail("error: the program is nested too deeply", WRONG_PROGRAM)
    except (ParseError, DiagnosticException, EvaluationError, ProgramError) as error:
        return _fail(render(error, sources), WRONG_PROGRAM)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if "--debug" in argv:
            traceback.print_exc()
        hint = "" if "--debug" in argv else "; --debug shows where"
        notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
        text = f"{type(error).__name__}: {error}".partition("\n")[0].removesuffix(": ")
        return _fail(f"{tool}: internal error: {text}{notes}{hint}", INTERNAL)


def _fail(message: str, code: int) -> int:
    # What went to stdout before must not come after the message.
    sys.stdout.flush()
    print(message, file=sys.stderr)
    return code


def quiet_pipes() -> None:
    """A reader that goes away (`| head`) ends the tool as it ends `cat`: at once, without a word."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
