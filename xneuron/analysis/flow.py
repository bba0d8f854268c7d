"""The whole control flow of a function as one graph, structured loops opened up.

A block is cut at every loop it contains; a loop becomes an entry guard, its body and one latch with the
back edge, which is also the form that `bir-lower-loops-to-branches` produces. So questions about flow
(liveness, drawing) are asked once for structured and branched programs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, Region, SSAValue

from xneuron.dialects.bir.branches import BreakOp, ExitOp, ReturnOp
from xneuron.dialects.bir.functions import FuncOp, block_names
from xneuron.dialects.bir.instruction import DataInstruction, Instruction
from xneuron.dialects.bir.loops import AxisLoop, DoWhileOp, DynamicForLoopOp, LoopOp, StructuredLoop
from xneuron.dialects.bir.types import RegisterType

from .cfg import CFG

Register: TypeAlias = Hashable
"""A register handle, the counter of an axis (its induction variable), or the limit of an axis (the loop)."""


@dataclass(frozen=True)
class Step:
    """One instruction, or one part of a loop: what it reads, then what it writes."""

    op: Operation
    uses: frozenset[Register]
    defs: frozenset[Register]


@dataclass(eq=False)
class Segment:
    """Steps without control flow between them; `loop` is the innermost structured loop around it."""

    name: str
    loop: StructuredLoop | None
    steps: list[Step] = field(default_factory=list[Step])

    def __str__(self) -> str:
        return self.name


def flow_graph(func: FuncOp) -> CFG[Segment]:
    """The opened-up graph of a function; the entry is its first segment."""
    builder = _Builder()
    builder.region(func.body, None, None)
    return CFG(builder.segments, builder.edges)


@dataclass(frozen=True)
class _Loop:
    """A loop being opened: where a trip ends, and where a break goes."""

    op: StructuredLoop
    prefix: str
    latch: Segment
    after: Segment


class _Builder:
    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self.edges: list[tuple[Segment, Segment]] = []
        self.taken: Counter[str] = Counter()

    def region(self, region: Region, loop: _Loop | None, prefix: str | None) -> Segment:
        """Opens a list of blocks; returns its first segment."""
        heads = {
            block: Segment(self._name(f"{prefix}.{name}" if prefix else name), loop and loop.op)
            for block, name in _names(region, loop).items()
        }
        for block, head in heads.items():
            self.segments.append(head)
            last = self._fill(block, head)
            self.edges += [(last, target) for target in self._targets(block, heads, loop)]
        return next(iter(heads.values()))

    def _name(self, wanted: str) -> str:
        self.taken[wanted] += 1
        return wanted if self.taken[wanted] == 1 else f"{wanted}_{self.taken[wanted] - 1}"

    def _targets(self, block: Block, heads: dict[Block, Segment], loop: _Loop | None) -> list[Segment]:
        last = block.last_op
        if last is not None and last.successors:
            return [heads[successor] for successor in last.successors]
        if loop is None or (last is not None and isinstance(last, ReturnOp | ExitOp)):
            return []
        return [loop.after if isinstance(last, BreakOp) else loop.latch]

    def _fill(self, block: Block, segment: Segment) -> Segment:
        for op in block.ops:
            if isinstance(op, StructuredLoop):
                segment = self._open(op, segment)
            elif isinstance(op, DataInstruction):
                segment.steps.append(Step(op, _registers(op.reads()), _registers(op.writes())))
            elif isinstance(op, Instruction):
                segment.steps.append(Step(op, frozenset(), frozenset()))
        return segment

    def _open(self, op: StructuredLoop, before: Segment) -> Segment:
        prefix = self._name(op.axis_name.data if isinstance(op, AxisLoop) else "do")
        latch = Segment(f"{prefix}.latch", op)
        after = Segment(f"{prefix}.exit", before.loop)
        before.steps.append(_entry_step(op))
        latch.steps.append(_latch_step(op))
        head = self.region(op.body, _Loop(op, prefix, latch, after), prefix)
        self.edges += [(before, head), (latch, after)]
        if not _runs_at_least_once(op):
            self.edges.append((before, after))
        if not (isinstance(op, LoopOp) and op.runs_once):
            self.edges.append((latch, head))
        self.segments += [latch, after]
        return after


def _names(region: Region, loop: _Loop | None) -> dict[Block, str]:
    """Block names; the first block of a loop, when it has none of its own, is its body."""
    names = block_names(region)
    first = region.blocks[0]
    return names if loop is None or first.name_hint else {**names, first: "body"}


def _runs_at_least_once(op: StructuredLoop) -> bool:
    if isinstance(op, LoopOp):
        return op.runs_once or op.axis.get_tripcount() > 0
    return isinstance(op, DoWhileOp)


def _registers(values: Iterable[SSAValue]) -> frozenset[Register]:
    return frozenset(v for v in values if isinstance(v.type, RegisterType | IndexType))


def _own_registers(op: StructuredLoop) -> frozenset[Register]:
    """The counter of a loop with an axis, and the limit of one whose bound is read when it starts."""
    if not isinstance(op, AxisLoop) or (isinstance(op, LoopOp) and op.runs_once):
        return frozenset()
    return frozenset({op.induction_variable} | ({op} if isinstance(op, DynamicForLoopOp) else set[Register]()))


def _entry_step(op: StructuredLoop) -> Step:
    uses = frozenset[Register]() if isinstance(op, DoWhileOp) else _registers(op.reads())
    return Step(op, uses, _own_registers(op))


def _latch_step(op: StructuredLoop) -> Step:
    if isinstance(op, DoWhileOp):
        return Step(op, _registers(op.reads()), frozenset())
    own = _own_registers(op)
    return Step(op, own, own & {op.body.blocks[0].args[0]})
