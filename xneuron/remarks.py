"""What happened to a loop, and why not: one record, many renderings.

A pass never stays silent: each rewrite and each refusal is a `Remark`. A pass emits into the collector
that is active (`collect()`); with none active a remark costs one function call and is dropped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from typing import Literal, TypeAlias

from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir import Operation

Kind: TypeAlias = Literal["passed", "missed", "analysis"]
Fact: TypeAlias = int | float | str | bool | None
SCHEMA = 1


@dataclass(frozen=True)
class Remark:
    """`code` is from the closed list `CODES`; `facts` are typed (counts are ints, units are in the name)."""

    kind: Kind
    pass_name: str
    code: str
    loop: str
    location: str
    message: str
    facts: Mapping[str, Fact] = field(default_factory=dict[str, Fact])

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"unknown remark code {self.code!r}")

    def as_json(self) -> str:
        """One line of JSON Lines; `schema` is the version of this record."""
        record = asdict(self)
        record["pass"] = record.pop("pass_name")
        return json.dumps({"schema": SCHEMA, **record})

    def as_text(self) -> str:
        """One line for people: `where: remark[passed/code]: pass: message (facts)`."""
        where = f"{self.location}: " if self.location else ""
        facts = ", ".join(f"{key}={_plain(value)}" for key, value in self.facts.items())
        tail = f" ({facts})" if facts else ""
        return f"{where}remark[{self.kind}/{self.code}]: {self.pass_name}: {self.loop}: {self.message}{tail}"


def _plain(value: Fact) -> str:
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)


CODES: dict[str, str] = {}
"""Every remark code with its meaning. A code without a test fails the suite."""


def declare(code: str, meaning: str) -> str:
    """Adds a code to the closed list; a pass module declares its own beside the pass."""
    if CODES.setdefault(code, meaning) != meaning:
        raise ValueError(f"remark code {code!r} is declared twice with different meanings")
    return code


Sink: TypeAlias = Callable[[Remark], None]
_sinks: ContextVar[tuple[Sink, ...]] = ContextVar("remark_sinks", default=())


@contextmanager
def collect(sink: Sink | None = None) -> Generator[list[Remark]]:
    """Collects the remarks made inside the `with` block, and hands each to `sink` as it is made."""
    found: list[Remark] = []
    token = _sinks.set((*_sinks.get(), found.append, *((sink,) if sink else ())))
    try:
        yield found
    finally:
        _sinks.reset(token)


def remark(kind: Kind, pass_name: str, code: str, op: Operation, message: str, /, **facts: Fact) -> None:
    """Records what `pass_name` did, or refused to do, to the loop `op`."""
    if not (sinks := _sinks.get()):
        return
    record = Remark(kind, pass_name, code, name_of(op), location_of(op), message, facts)
    for sink in sinks:
        sink(record)


def name_of(op: Operation) -> str:
    """The instruction's HLO name, or the op's name where it has none."""
    hint = op.results[0].name_hint if op.results else None
    return hint or op.name


def location_of(op: Operation) -> str:
    """`file:line:col` of the instruction, empty where the reader gave none."""
    if not isinstance(loc := op.location, FileLineColLoc):
        return ""
    return f"{loc.filename.data}:{loc.line.data}:{loc.column.data}"
