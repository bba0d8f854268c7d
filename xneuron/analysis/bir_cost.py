"""What a program costs, as a polynomial in the trip counts of its dynamic loops.

Instructions of one block are placed in program order on one timeline per engine: each starts when its
engine is free and what it touches is ready; the block ends when the last timeline does. A loop, and each of
its trips, waits for all engines. A loop costs its body: a static one times its trip count, a dynamic one
times `trips(axis)`, plus a fence per trip. Where a region branches, all of its blocks are added up: an upper
estimate. Flow that goes back without a loop instruction cannot be costed: cost a program before its loops
are lowered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.ir import Block, Region, SSAValue

from xneuron.dialects.bir.axes import DynamicForLoopAxis, calculate_tripcount
from xneuron.dialects.bir.enums import Engine
from xneuron.dialects.bir.expressions import (
    Affine,
    Environment,
    Expr,
    FloorDiv,
    evaluate,
    fold,
)
from xneuron.dialects.bir.functions import FuncOp
from xneuron.dialects.bir.instruction import DataInstruction
from xneuron.dialects.bir.loops import DynamicForLoopOp, LoopOp, StructuredLoop
from xneuron.dialects.bir.movement import DMA_ISSUERS

from .bir_latency import Hwm
from .cfg import CFG

FENCE_NS = 10_400
"""Drain, barrier and semaphore reset of one dynamic iteration: 17.9 us against 7.5 us in the NKI docs' example."""


class CostError(Exception):
    """A program whose cost has no closed form here."""


@dataclass(frozen=True)
class Cost:
    """Nanoseconds: a constant (key `()`) and products of trip counts, each with its coefficient."""

    terms: Mapping[tuple[StructuredLoop, ...], int] = field(default_factory=dict[tuple[StructuredLoop, ...], int])

    @staticmethod
    def constant(nanoseconds: int) -> Cost:
        return Cost({(): nanoseconds} if nanoseconds else {})

    def __add__(self, other: Cost) -> Cost:
        terms = dict(self.terms)
        for loops, coefficient in other.terms.items():
            terms[loops] = terms.get(loops, 0) + coefficient
        return Cost(terms)

    def scaled(self, times: int) -> Cost:
        return Cost({loops: times * coefficient for loops, coefficient in self.terms.items() if times})

    def repeated(self, loop: StructuredLoop) -> Cost:
        """The cost of `loop` when this is the cost of one trip."""
        return Cost({(loop, *loops): coefficient for loops, coefficient in self.terms.items()})

    def __str__(self) -> str:
        """`12 * trips(i) * trips(j) + 340`, in nanoseconds."""
        parts: list[str] = []
        for loops, coefficient in sorted(self.terms.items(), key=lambda item: -len(item[0])):
            parts.append(" * ".join([str(coefficient), *(f"trips({loop_name(loop)})" for loop in loops)]))
        return " + ".join(parts) or "0"

    def bound(self) -> int | None:
        """The cost at the declared maximum of every trip count, None when one declares none."""
        total = 0
        for loops, coefficient in self.terms.items():
            for loop in loops:
                most = loop.axis.get_max_tripcount() if isinstance(loop, DynamicForLoopOp) else None
                if most is None:
                    return None
                coefficient *= most
            total += coefficient
        return total

    def evaluate(self, registers: Mapping[SSAValue, int]) -> int:
        """The cost when bounds are read from `registers` (as at the entry of the program)."""
        total = 0
        for loops, coefficient in self.terms.items():
            for loop in loops:
                coefficient *= max(0, evaluate(_trips_of(loop), Environment({}, registers)))
            total += coefficient
        return total

    def in_register(self) -> Expr | None:
        """The cost as an affine expression of one register, None when it is not one.

        Holds where the loop has any trips: a negative trip count is no trips.
        """
        total = Affine((), self.terms.get((), 0))
        for loops, coefficient in self.terms.items():
            if not loops:
                continue
            trips = fold(_trips_of(loops[0]))
            if len(loops) > 1 or not isinstance(trips, Affine):
                return None
            scaled = tuple((idx, coeff * coefficient) for idx, coeff in trips.terms)
            total = Affine((*total.terms, *scaled), total.c + trips.c * coefficient)
        merged = fold(total)
        return merged if isinstance(merged, Affine) and len(merged.terms) <= 1 else None


def loop_name(loop: StructuredLoop) -> str:
    """The axis, or the instruction's own name."""
    if isinstance(loop, LoopOp | DynamicForLoopOp):
        return loop.axis_name.data
    return loop.label or "do_while"


def _trips_of(loop: StructuredLoop) -> Expr:
    if not isinstance(loop, DynamicForLoopOp):
        raise CostError(f"the trip count of {loop_name(loop)} is known only when it runs")
    return trip_expression(loop.axis)


def trip_expression(axis: DynamicForLoopAxis) -> Expr:
    """`ceil((c + coeff * register - lb) / stride)`, before it is cut off at 0."""
    assert isinstance(axis.lb, Affine)
    assert isinstance(axis.ub, Affine)
    assert isinstance(axis.stride, Affine)
    stride = axis.stride.c
    distance = Affine(axis.ub.terms, axis.ub.c - axis.lb.c + stride - 1)
    return distance if stride == 1 else FloorDiv(distance, stride)


def cost_of_function(func: FuncOp, hardware: Hwm) -> Cost:
    """The cost of one call."""
    return cost_of_region(func.body, hardware)


def cost_of_region(region: Region, hardware: Hwm) -> Cost:
    """The cost of going through a region once."""
    graph = CFG[Block].of_region(region)
    if graph.backward_edges:
        raise CostError("flow goes back without a loop instruction; cost the program before its loops are lowered")
    total = Cost()
    for block in graph.order:
        total += cost_of_block(block, hardware)
    return total


def cost_of_block(block: Block, hardware: Hwm) -> Cost:
    """Straight-line stretches by timelines, loops by their bodies."""
    total = Cost()
    timelines = _Timelines(hardware)
    for op in block.ops:
        if isinstance(op, StructuredLoop):
            total += Cost.constant(timelines.end()) + cost_of_loop(op, hardware)
            timelines = _Timelines(hardware)
        elif isinstance(op, DataInstruction):
            timelines.place(op)
    return total + Cost.constant(timelines.end())


def cost_of_loop(op: StructuredLoop, hardware: Hwm) -> Cost:
    """The body times the trips; a dynamic trip pays the fence, too."""
    body = cost_of_region(op.body, hardware)
    if isinstance(op, LoopOp):
        axis = op.axis
        return body.scaled(1 if op.runs_once else calculate_tripcount(axis.lb, axis.ub, axis.stride))
    return (body + Cost.constant(FENCE_NS)).repeated(op)


class _Timelines:
    """When each engine is free, and when each handle was last read and written."""

    def __init__(self, hardware: Hwm):
        self.hardware = hardware
        self.free: dict[object, int] = {}
        self.read: dict[SSAValue, int] = {}
        self.written: dict[SSAValue, int] = {}

    def place(self, op: DataInstruction) -> None:
        reads, writes = op.reads(), op.writes()
        engine = Engine.DMA if op.ENGINES is DMA_ISSUERS else self.hardware.engine_of(op)
        ready = [self.free.get(engine, 0)]
        ready += [self.written.get(value, 0) for value in reads | writes]
        ready += [self.read.get(value, 0) for value in writes]
        done = max(ready) + self.hardware.get_latency(op)
        self.free[engine] = done
        self.read.update((value, max(done, self.read.get(value, 0))) for value in reads)
        self.written.update(dict.fromkeys(writes, done))

    def end(self) -> int:
        return max(self.free.values(), default=0)
