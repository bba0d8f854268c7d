"""Which registers hold a value that is still needed, and whether an engine has enough of them.

Backward liveness over the opened-up flow graph. Sets between segments are integers, with a bit for each register that
is live between segments at all; inside a segment registers are counted one step at a time, so that the cost of a step
does not depend on how many registers the function has. A register occupies a physical one where it is live or
written; a dead one is free for the next. A loop occupies its counter and, when dynamic, its limit. 62 registers per
engine (reference `bir.md`, section b).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from xdsl.ir import Block, SSAValue

from xneuron.dialects.bir.enums import DATA_PATH_ENGINES, Engine
from xneuron.dialects.bir.functions import FuncOp
from xneuron.dialects.bir.loops import AxisLoop
from xneuron.dialects.bir.storage import MAX_REGISTERS_PER_ENGINE, RegisterOp

from .cfg import CFG
from .flow import Register, Segment, Step, flow_graph


class RegisterPressureError(Exception):
    """More registers live at once than an engine has."""


@dataclass(frozen=True)
class Pressure:
    """The point of an engine where most physical registers are taken, and by what."""

    engine: Engine
    count: int
    step: Step | None
    live: tuple[str, ...]


class RegisterLiveness:
    """Live registers at every point of a function."""

    def __init__(self, func: FuncOp, graph: CFG[Segment] | None = None):
        self.graph = flow_graph(func) if graph is None else graph
        self._effects = {segment: _effect(segment.steps) for segment in self.graph.nodes}
        # What no segment needs from the ones before it is never live between two.
        self._crossing = list(dict.fromkeys(r for uses, _ in self._effects.values() for r in uses))
        self._bit = {register: 1 << number for number, register in enumerate(self._crossing)}
        self._live_out = self._solve()

    def _solve(self) -> dict[Segment, int]:
        effects = {node: (self._set(uses), self._set(defs)) for node, (uses, defs) in self._effects.items()}
        live_in = dict.fromkeys(self.graph.nodes, 0)
        live_out = dict.fromkeys(self.graph.nodes, 0)
        work = list(self.graph.nodes)
        while work:
            segment = work.pop()
            for successor in self.graph.successors[segment]:
                live_out[segment] |= live_in[successor]
            uses, defs = effects[segment]
            before = uses | (live_out[segment] & ~defs)
            if before != live_in[segment]:
                live_in[segment] = before
                work.extend(self.graph.predecessors[segment])
        return live_out

    def _set(self, registers: Iterable[Register]) -> int:
        return sum(self._bit[register] for register in set(registers) if register in self._bit)

    def live_out(self, segment: Segment) -> set[Register]:
        """Registers that something after the segment reads."""
        live = self._live_out[segment]
        return {register for register in self._crossing if live & self._bit[register]} if live else set()

    def pressure(self) -> dict[Engine, Pressure]:
        """The highest pressure of every engine."""
        peaks = [(0, self.graph.entry, 0)] * len(DATA_PATH_ENGINES)
        widths: dict[Register, tuple[int, ...]] = {}
        for segment in self.graph.nodes:
            taken = [0] * len(DATA_PATH_ENGINES)
            for number, point in enumerate(self._points(segment)):
                for sign, registers in ((1, point.added), (-1, point.removed)):
                    for register in registers:
                        for at, width in enumerate(_cached_widths(register, widths)):
                            taken[at] += sign * width
                for at, count in enumerate(taken):
                    if count > peaks[at][0]:
                        peaks[at] = count, segment, number
        return {engine: self._pressure(engine, *peak) for engine, peak in zip(DATA_PATH_ENGINES, peaks, strict=True)}

    def _points(self, segment: Segment) -> Iterator[_Point]:
        """Backward: each step while it writes, then the start of the segment."""
        live = self.live_out(segment)
        added, removed = set(live), set[Register]()
        for step in reversed(segment.steps):
            added |= step.defs - live
            live |= step.defs
            yield _Point(step, live, added, removed)
            removed, added = set(step.defs - step.uses), set(step.uses - live)
            live -= removed
            live |= added
        yield _Point(next(iter(segment.steps), None), live, added, removed)

    def _pressure(self, engine: Engine, count: int, segment: Segment, number: int) -> Pressure:
        if not count:
            return Pressure(engine, 0, None, ())
        # Names are looked up once, at the peak.
        point = next(islice(self._points(segment), number, None))
        names = sorted(label(register) for register in point.live if _width(register, engine))
        return Pressure(engine, count, point.step, tuple(names))


class _Point(NamedTuple):
    """Registers occupied at one point, and how they differ from the point behind it."""

    step: Step | None
    live: set[Register]
    added: set[Register]
    removed: set[Register]


def _effect(steps: Sequence[Step]) -> tuple[set[Register], set[Register]]:
    """Registers read before they are written, and registers written."""
    uses, defs = set[Register](), set[Register]()
    for step in reversed(steps):
        uses -= step.defs
        uses |= step.uses
        defs |= step.defs
    return uses, defs


def _cached_widths(register: Register, known: dict[Register, tuple[int, ...]]) -> tuple[int, ...]:
    """Physical registers that it takes of each engine."""
    if (found := known.get(register)) is None:
        found = known[register] = tuple(_width(register, engine) for engine in DATA_PATH_ENGINES)
    return found


def _width(register: Register, engine: Engine) -> int:
    """Physical registers of `engine` that it takes; counters and limits are on every engine."""
    owner = register.owner if isinstance(register, SSAValue) else None
    if not isinstance(owner, RegisterOp):
        return 1
    return owner.num_physical_regs.data if owner.engine.data in (engine, Engine.ALL) else 0


def label(register: Register) -> str:
    """The register's name; counters and limits by their axis."""
    if isinstance(register, AxisLoop):
        return f"{register.axis_name.data} (limit)"
    owner = register.owner if isinstance(register, SSAValue) else None
    if isinstance(owner, RegisterOp):
        return owner.label
    loop = owner.parent_op() if isinstance(owner, Block) else None
    return f"{loop.axis_name.data} (counter)" if isinstance(loop, AxisLoop) else "a register"


def check_registers(func: FuncOp, limit: int = MAX_REGISTERS_PER_ENGINE) -> dict[Engine, Pressure]:
    """The pressure of every engine; raises RegisterPressureError, which names the live set, above `limit`."""
    peaks = RegisterLiveness(func).pressure()
    for engine, peak in peaks.items():
        if peak.count > limit:
            where = f" at {peak.step.op.name}" if peak.step else ""
            raise RegisterPressureError(
                f"cannot allocate registers of engine {engine} in @{func.sym_name.data}: expected at most {limit} "
                f"live at once but got {peak.count}{where}: {', '.join(peak.live)}"
            )
    return peaks
