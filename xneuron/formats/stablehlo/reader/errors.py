"""What is wrong with a StableHLO module, where it stands, and where in the user's Python it comes from."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import NoReturn

from xdsl.utils.exceptions import DiagnosticException, ParseError, VerifyException
from xdsl.utils.lexer import Input, Span

from xneuron.formats.stablehlo.process import Refused
from xneuron.formats.stablehlo.tree import Op, Place


class StablehloError(DiagnosticException):
    """A module that came as bytecode, and so has no line to show, is wrong or cannot be translated."""


class Untranslatable(Exception):
    """An operation that the `hlo` dialect cannot express; `op` is the one to blame."""

    def __init__(self, op: Op, message: str) -> None:
        super().__init__(message)
        self.op = op

    @property
    def message(self) -> str:
        """The operation, what is the matter with it, and where JAX says it comes from."""
        return f"{self.op.name}: {self}{traced(self.op)}"


@contextmanager
def blamed(op: Op) -> Generator[None]:
    """Whatever is the matter inside is the matter with this operation: even a gap of ours has a line of the text."""
    try:
        yield
    except Untranslatable:
        raise
    except VerifyException as error:
        raise Untranslatable(op, str(error)) from None
    except RecursionError:
        raise Untranslatable(op, "expected less nesting of loops and computations") from None
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
        raise Untranslatable(op, f"expected an operation as JAX prints it, found one that fails by {found}") from error


def traced(op: Op) -> str:
    """`; traced as jit(f)/sin at model.py:7:24`, as far as it is known."""
    name, file, line, column = op.origin[:4]
    parts = [f" as {name}"] if name else []
    if line:
        parts.append(f" at {file}:{line}:{column}")
    return f"; traced{''.join(parts)}" if parts else ""


def fail(text: str | None, input_name: str, place: Place, message: str, word: str = "") -> NoReturn:
    """Raises ParseError at a place of the text (its begin where none is known), where `word` stands; StablehloError
    where there is no text."""
    if text is None:
        raise StablehloError(message) from None
    start = _offset(text, place) if place.line else 0
    # Some ops, in their own syntax, are said to stand behind their name.
    start -= len(word) if text.endswith(word, 0, start) else 0
    end = min(start + max(len(word), 1), len(text))
    raise ParseError(Span(start, end, Input(text, input_name)), message) from None


def refuse(text: str | None, input_name: str, error: Refused) -> NoReturn:
    """Raises what MLIR said first against the text."""
    first = error.diagnostics[0] if error.diagnostics else None
    if first is None or text is None:
        raise StablehloError(f"expected a StableHLO module in {input_name}: {error}") from None
    fail(text, input_name, first.place, _without_advice(first.message))


def _without_advice(message: str) -> str:
    # MLIR speaks to those who link dialects into tools.
    return message.partition(" If this is intended")[0].rstrip(" .")


def _offset(text: str, place: Place) -> int:
    start = 0
    for _ in range(place.line - 1):
        start = text.index("\n", start) + 1
    # MLIR counts bytes.
    line = text[start : start + place.column].encode()
    return start + len(line[: place.column - 1].decode(errors="ignore"))
