"""What there is to know about each loop of a BIR program: range, trips, nanoseconds by the static cost model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, Region

from xneuron.analysis.bir_cost import (
    FENCE_NS,
    Cost,
    CostError,
    cost_of_loop,
    cost_of_region,
    loop_name,
    trip_expression,
)
from xneuron.analysis.bir_latency import HARDWARE, Hwm
from xneuron.dialects.bir.functions import FuncOp
from xneuron.dialects.bir.loops import AxisLoop, DoWhileOp, DynamicForLoopOp, LoopOp, StructuredLoop
from xneuron.formats.bir_text import condition_text, expression_text
from xneuron.remarks import location_of
from xneuron.tools.explain_text import placed, times, wrapped


@dataclass(frozen=True)
class BirLoop:
    """One structured loop. `trips` is a number, or an expression of the register; None if only a run can tell.

    `trip` and `run`: the cost of one trip and of all; None where it cannot be told.
    """

    name: str
    location: str
    parent: BirLoop | None
    form: str
    range: str
    trips: int | str | None
    most: int | None
    hardware: str
    trip: Cost | None
    run: Cost | None

    @property
    def depth(self) -> int:
        """How many loops are around it."""
        return 0 if self.parent is None else self.parent.depth + 1


@dataclass(frozen=True)
class BirFunction:
    """A function. `run`: the cost of one call; None where it cannot be told."""

    name: str
    hardware: str
    run: Cost | None


def functions(module: ModuleOp, hardware: str) -> list[BirFunction]:
    """The functions of a module in program order."""
    found = (op for op in module.walk() if isinstance(op, FuncOp))
    return [BirFunction(op.sym_name.data, hardware, _cost_of(op.body, HARDWARE[hardware])) for op in found]


def explained(module: ModuleOp, hardware: str) -> list[BirLoop]:
    """The loops of a module in program order, each after the loop around it."""
    return list(_loops(module, None, hardware))


def _loops(op: Operation, parent: BirLoop | None, hardware: str) -> Iterator[BirLoop]:
    for region in op.regions:
        for block in region.blocks:
            for inner in block.ops:
                loop = parent
                if isinstance(inner, StructuredLoop):
                    loop = _loop(inner, parent, hardware)
                    yield loop
                yield from _loops(inner, loop, hardware)


def _loop(op: StructuredLoop, parent: BirLoop | None, hardware: str) -> BirLoop:
    trip, run = _costs(op, HARDWARE[hardware])
    return BirLoop(
        name=loop_name(op),
        location=location_of(op),
        parent=parent,
        form=op.name,
        range=_range(op),
        trips=_trips(op),
        most=op.axis.get_max_tripcount() if isinstance(op, DynamicForLoopOp) else None,
        hardware=hardware,
        trip=trip,
        run=run,
    )


def _range(op: StructuredLoop) -> str:
    """`range(0, n, 1)`; what a do-while tests."""
    if isinstance(op, AxisLoop):
        return f"range({', '.join(map(expression_text, op.bounds()))})"
    return condition_text(op) if isinstance(op, DoWhileOp) else ""


def _trips(op: StructuredLoop) -> int | str | None:
    if isinstance(op, LoopOp):
        return 1 if op.runs_once else op.axis.get_tripcount()
    if isinstance(op, DynamicForLoopOp):
        return expression_text(trip_expression(op.axis))
    return None


def _costs(op: StructuredLoop, hardware: Hwm) -> tuple[Cost | None, Cost | None]:
    trip = _cost_of(op.body, hardware)
    return trip, None if trip is None else cost_of_loop(op, hardware)


def _cost_of(region: Region, hardware: Hwm) -> Cost | None:
    try:
        return cost_of_region(region, hardware)
    except CostError:
        return None


def as_json(loop: BirLoop) -> dict[str, Any]:
    """A loop as JSON; keys are those of docs/tools.md, and stay."""
    return {
        "name": loop.name,
        "location": loop.location,
        "parent": loop.parent.name if loop.parent else None,
        "depth": loop.depth,
        "form": loop.form,
        "range": loop.range,
        "trips": loop.trips,
        "max_trips": loop.most,
        "hardware": loop.hardware,
        "trip_ns": _nanoseconds(loop.trip),
        "run_ns": _nanoseconds(loop.run),
    }


def function_as_json(function: BirFunction) -> dict[str, Any]:
    """The same for a function."""
    return {"name": function.name, "hardware": function.hardware, "run_ns": _nanoseconds(function.run)}


def _nanoseconds(cost: Cost | None) -> int | str | None:
    if cost is None:
        return None
    return str(cost) if any(cost.terms) else cost.terms.get((), 0)


def as_text(loop: BirLoop) -> str:
    """The paragraph of a loop."""
    return wrapped(f"{loop.name}{placed(loop.location)} is a {loop.form} {_runs(loop)}. {_cost(loop)}", loop.depth)


def function_as_text(function: BirFunction) -> str:
    """The sentence about a function."""
    if function.run is None:
        return wrapped(
            f"@{function.name}: the cost cannot be told, since flow goes back without a loop instruction.", 0
        )
    return wrapped(f"@{function.name} takes {_nanoseconds(function.run)} ns on {function.hardware}.", 0)


def _runs(loop: BirLoop) -> str:
    if loop.trips is None:
        return f"that runs until {loop.range} is 0, at least once"
    if isinstance(loop.trips, int):
        return f"over {loop.range}: it {times(loop.trips)}"
    most = f"; the program promises that it is at most {loop.most}" if loop.most is not None else ""
    return f"over {loop.range}: it runs max(0, {loop.trips}) times{most}"


def _cost(loop: BirLoop) -> str:
    if loop.trip is None or loop.run is None:
        return "Its cost cannot be told, since flow goes back in it without a loop instruction."
    fence = "" if isinstance(loop.trips, int) else f" and a fence of {FENCE_NS}"
    trip, run = _nanoseconds(loop.trip), _nanoseconds(loop.run)
    return f"On {loop.hardware} a trip takes {trip} ns{fence}, a run of the loop {run} ns."
