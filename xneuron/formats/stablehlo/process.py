"""MLIR at arm's length: asks the process of `worker.py`, started when first needed. Imports nothing of jaxlib."""

from __future__ import annotations

import atexit
import pickle
import subprocess
import sys
from importlib.metadata import version
from importlib.util import find_spec
from tempfile import TemporaryFile
from typing import IO, Any, cast

from xneuron.fastir import collector_off
from xneuron.formats.stablehlo.tree import Diagnostic, Op

WORKER = (sys.executable, "-m", "xneuron.formats.stablehlo.worker")
JAXLIB = "0.10"
NEEDS_EXTRA = "StableHLO is read and written by JAX's MLIR: pip install 'xneuron[jax]'"


class MissingExtra(ImportError):
    """JAX is not installed."""

    def __init__(self) -> None:
        super().__init__(NEEDS_EXTRA)


class Refused(Exception):
    """MLIR does not take a text; `diagnostics` say where and why."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__(diagnostics[0].message if diagnostics else "MLIR refused the module")
        self.diagnostics = diagnostics


class Aborted(Exception):
    """MLIR ended its process."""


def available() -> bool:
    """True where the extra is installed."""
    return all(find_spec(name) is not None for name in ("jax", "jaxlib"))


def require_extra() -> None:
    """Raises MissingExtra where JAX is not installed."""
    if not available():
        raise MissingExtra


def parse(content: bytes) -> Op:
    """The module in a text of any form, in bytecode or a portable artifact: verified, as plain data.

    Raises Refused for a module that is wrong, Aborted, MissingExtra.
    """
    return _ask("parse", content)


def pretty(text: str, locations: bool = False) -> str:
    """The text of a module, verified and printed as MLIR prints it. Raises as `parse` does."""
    return _ask("pretty", text, locations)


def _ask(*request: object) -> Any:
    require_extra()
    global _process
    process = _process = _process or _Process()
    try:
        verdict, result = process.ask(request)
    except (EOFError, BrokenPipeError, pickle.UnpicklingError):
        _process = None
        raise Aborted(process.end()) from None
    if verdict == "refused":
        raise Refused(result)
    return result


def _other_version() -> str:
    """What to say of a jaxlib that this was not written for: its MLIR is no public interface."""
    found = version("jaxlib")
    return "" if found.startswith(f"{JAXLIB}.") else f" (expected jaxlib {JAXLIB}, found {found})"


class _Process:
    def __init__(self) -> None:
        self._said: IO[bytes] = TemporaryFile()
        self._popen = subprocess.Popen(WORKER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said)
        atexit.register(self._stop)

    def ask(self, request: tuple[object, ...]) -> tuple[str, Any]:
        """The answer to a request. Raises EOFError, BrokenPipeError or UnpicklingError where the process ended."""
        requests, answers = cast("IO[bytes]", self._popen.stdin), cast("IO[bytes]", self._popen.stdout)
        pickle.dump(request, requests, pickle.HIGHEST_PROTOCOL)
        requests.flush()
        with collector_off():
            return pickle.load(answers)

    def end(self) -> str:
        """Ends the process; what it said last."""
        self._popen.wait()
        self._said.seek(0)
        lines = self._said.read().decode("utf-8", "replace").strip().splitlines()
        self._stop()
        code = self._popen.returncode
        silent = "killed, as happens where memory runs out" if code == -9 else "without a word"
        last = next((line.strip() for line in reversed(lines) if line.strip()), silent)
        return f"MLIR ended its process ({code}): {last}{_other_version()}"

    def _stop(self) -> None:
        atexit.unregister(self._stop)
        self._popen.kill()
        self._popen.communicate()
        self._said.close()


_process: _Process | None = None
