"""One way to tell a user what is wrong: `path:line:col: error: message`, the line, a caret."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir import Operation
from xdsl.utils.exceptions import DiagnosticException, ParseError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xdsl.utils.lexer import Span

    from xneuron.tools.sources import Sources

WIDTH = 120
"""Longest excerpt of a line; HLO lines can be very long."""


class UsageError(Exception):
    """The command was called wrongly (exit code 2)."""


class ProgramError(Exception):
    """The program given is wrong (exit code 1). `op`, where known, is the operation to blame."""

    def __init__(self, message: str, op: Operation | None = None) -> None:
        super().__init__(message)
        self.op = op


@dataclass(frozen=True)
class Place:
    """A position in a text: line and column count from 1, `length` characters are underlined."""

    file: str
    line: int
    column: int
    text: str
    length: int = 1

    def excerpt(self) -> str:
        """The line, cut to a window around the column, and a caret line below it."""
        start = max(0, min(self.column - 1 - WIDTH // 2, len(self.text) - WIDTH))
        shown = self.text[start : start + WIDTH]
        at = min(max(self.column - 1 - start, 0), len(shown))
        # Tabs stay tabs, so that the caret stands under its character.
        indent = "".join("\t" if c == "\t" else " " for c in shown[:at])
        carets = "^" * max(1, min(self.length, len(shown) - at))
        before = "…" if start else ""
        after = "…" if start + WIDTH < len(self.text) else ""
        return f"  {before}{shown}{after}\n  {' ' * len(before)}{indent}{carets}"


def render(error: Exception, sources: Sources) -> str:
    """The message of a wrong program. `sources` is what was read so far, by name, for excerpts."""
    if isinstance(error, ParseError):
        place = _of_span(error.span)
        return _located(place, error.msg)
    op = getattr(error, "op", None)
    place = _of_op(op, sources) if isinstance(op, Operation) else None
    return _located(place, _message(error)) + ("" if place or op is None else _quoted(op))


def _message(error: Exception) -> str:
    # An evaluation error carries its plain text apart, since `str` of it begins with the position.
    text = getattr(error, "message", None)
    return text if isinstance(text, str) else str(error) or type(error).__name__


def _located(place: Place | None, message: str) -> str:
    message = message.strip()
    if place is None:
        return f"error: {message}"
    return f"{place.file}:{place.line}:{place.column}: error: {message}\n{place.excerpt()}"


def _of_span(span: Span[str] | Span[bytes]) -> Place:
    where = span.get_location()
    start = span.input.get_start_of_line(span.start)
    line = span.input.content[start : span.input.get_end_of_line(span.start)]
    if isinstance(line, bytes):
        line = line.decode("utf-8", "replace")
    return Place(where.file, where.line, where.col, line.rstrip("\r"), len(span))


def _of_op(op: Operation, sources: Sources) -> Place | None:
    if not isinstance(loc := op.location, FileLineColLoc):
        return None
    file, line, column = loc.filename.data, loc.line.data, loc.column.data
    lines = sources[file].text().splitlines() if file in sources else []
    return Place(file, line, column, lines[line - 1] if 0 < line <= len(lines) else "")


def _quoted(op: Operation) -> str:
    """The operation itself, where nobody knows its line; without what is inside it."""
    first = str(op).splitlines()[0].rstrip()
    return f"\n  {first[:WIDTH]}{'…' if len(first) > WIDTH else ''}"


def culprit(module: Operation) -> Operation | None:
    """The innermost operation that does not verify; None if each does on its own."""
    for op in module.walk(region_first=True):
        try:
            op.verify(verify_nested_ops=False)
        except DiagnosticException:
            return op
    return None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?`, or nothing where no name is close."""
    close = get_close_matches(word, list(known), n=1)
    return f"; did you mean '{close[0]}'?" if close else ""
