"""Traces: a record per executed instruction, and one per trip of a loop that says which memory the trip wrote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Operation

from xneuron.interpreters.trace import SCHEMA, Record, Tracer, summary
from xneuron.simulator.dtypes import Array
from xneuron.simulator.sites import Frame, loop_name


@dataclass(frozen=True)
class Site:
    """An instruction to trace: the loops around it, and the names of the registers and memories it touches."""

    op: Operation
    name: str | None
    frames: tuple[Frame, ...]
    registers: tuple[str, ...]
    memories: tuple[str, ...]


class Recorder:
    """Makes the records of one program. `written`: the memory written since the last trip of a loop ended."""

    def __init__(self, tracer: Tracer) -> None:
        self._emit = tracer
        self.written: dict[str, None] = {}

    def reset(self) -> None:
        """A new run begins."""
        self.written.clear()

    def instruction(
        self, site: Site, at: Sequence[int], registers: Sequence[int | None], outputs: Sequence[Array]
    ) -> None:
        """One executed instruction: iterations and induction values around it, registers and outputs after it."""
        self.written.update(dict.fromkeys(site.memories))
        memories = {name: summary(array) for name, array in zip(site.memories, outputs, strict=True)}
        self._record(
            site.op.name.removeprefix("bir."),
            site.frames,
            at,
            name=site.name,
            registers=dict(zip(site.registers, registers, strict=True)),
            memories=memories,
        )

    def trip(self, op: Operation, frames: Sequence[Frame], at: Sequence[int], clears: bool) -> None:
        """The end of a trip of `op`; dynamic and do-while loops clear the set (reference `bir.md`, section g)."""
        self._record("trip", frames, at, name=loop_name(op), written=list(self.written))
        if clears:
            self.written.clear()

    def trips(
        self, values: Iterable[int], op: Operation, frames: Sequence[Frame], at: Sequence[int], clears: bool
    ) -> Iterator[int]:
        """The values of a loop, with the end of each trip recorded; one that leaves the loop has none."""
        for value in values:
            yield value
            self.trip(op, frames, (*at, value), clears)

    def _record(self, kind: str, frames: Sequence[Frame], at: Sequence[int], **rest: Any) -> None:
        pairs = list(zip(frames, at, strict=True))
        record: Record = {
            "schema": SCHEMA,
            "at": [frame.iteration(value) for frame, value in pairs],
            "axes": {frame.name: value for frame, value in pairs if frame.is_axis},
            "opcode": kind,
            **rest,
        }
        self._emit(record)
