"""The one error of running a program."""

from __future__ import annotations

from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir import Operation


class EvaluationError(Exception):
    """A program that cannot be run, or went wrong while running; `message` says what was expected and found.

    `op`, where known, is the instruction concerned: its source position is put in front of the message.
    """

    def __init__(self, message: str, op: Operation | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.op = op

    @property
    def location(self) -> str:
        """`file:line:column` of the instruction, empty where unknown."""
        return "" if self.op is None else location_of(self.op)

    def __str__(self) -> str:
        return f"{self.location}: {self.message}" if self.location else self.message


def location_of(op: Operation) -> str:
    """`file:line:column` of an op that a reader placed, empty for any other."""
    where = getattr(op, "location", None)
    if not isinstance(where, FileLineColLoc):
        return ""
    return f"{where.filename.data}:{where.line.data}:{where.column.data}"


def instruction(op: Operation) -> str:
    """How messages name an instruction: `%name`, or its opcode where it has no name."""
    name = op.results[0].name_hint if op.results else None
    return f"%{name}" if name else op.name.removeprefix("hlo.").replace("_", "-")
