"""Which registers hold a value that is still needed, and whether an engine has enough of them.

Backward liveness over the opened-up flow graph, with one integer as the set of live registers. A register
occupies a physical one where it is live or written; a dead one is free for the next. A loop occupies its
counter and, when dynamic, its limit. 62 registers per engine (reference `bir.md`, section b).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

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
        steps = [step for segment in self.graph.nodes for step in segment.steps]
        self.registers = list(dict.fromkeys(r for step in steps for r in (*step.uses, *step.defs)))
        self._bit = {register: 1 << number for number, register in enumerate(self.registers)}
        self.live_out = self._solve()

    def _solve(self) -> dict[Segment, int]:
        effects = {segment: self._effect(segment.steps) for segment in self.graph.nodes}
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

    def _effect(self, steps: Sequence[Step]) -> tuple[int, int]:
        """Registers read before they are written, and registers written."""
        uses = defs = 0
        for step in reversed(steps):
            written, read = self._set(step.defs), self._set(step.uses)
            uses, defs = (uses & ~written) | read, defs | written
        return uses, defs

    def _set(self, registers: Iterable[Register]) -> int:
        return sum(self._bit[register] for register in registers)

    def pressure(self) -> dict[Engine, Pressure]:
        """The highest pressure of every engine."""
        # Engines that hold the same registers share the count: usually there is one group.
        groups: dict[tuple[int, int], list[Engine]] = {}
        for engine in DATA_PATH_ENGINES:
            groups.setdefault(self._masks(engine), []).append(engine)
        peaks: dict[tuple[int, int], tuple[int, Step | None, int]] = dict.fromkeys(groups, (0, None, 0))
        for step, occupied in self._points():
            for singles, pairs in groups:
                count = (occupied & singles).bit_count() + (occupied & pairs).bit_count()
                if count > peaks[singles, pairs][0]:
                    peaks[singles, pairs] = count, step, occupied & singles
        return {
            engine: Pressure(engine, count, step, self._labels(live))
            for masks, (count, step, live) in peaks.items()
            for engine in groups[masks]
        }

    def _masks(self, engine: Engine) -> tuple[int, int]:
        """The registers that `engine` holds, and those of them that are pairs."""
        held = [(register, _width(register, engine)) for register in self.registers]
        return self._set(r for r, width in held if width), self._set(r for r, width in held if width == 2)

    def _points(self) -> Iterator[tuple[Step | None, int]]:
        """Every step with the registers occupied while it writes, and the start of every segment."""
        for segment in self.graph.nodes:
            live = self.live_out[segment]
            for step in reversed(segment.steps):
                written = self._set(step.defs)
                yield step, live | written
                live = (live & ~written) | self._set(step.uses)
            yield next(iter(segment.steps), None), live

    def _labels(self, live: int) -> tuple[str, ...]:
        return tuple(sorted(label(register) for register in self.registers if live & self._bit[register]))


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
