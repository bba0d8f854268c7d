"""A function as a chart: boxes of instructions, edges, loops as clusters. What `dot` and `mermaid` draw.

Structured and branched programs give the same kind of chart, since loops are opened up first
(`flow.py`); clusters are the natural loops of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import StringIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from xneuron.dialects.bir.functions import FuncOp
from xneuron.dialects.bir.loops import AxisLoop, DoWhileOp, StructuredLoop
from xneuron.dialects.bir.syntax import expr_pieces, index_pieces, print_pieces

from .cfg import CFG, NaturalLoop
from .flow import Segment, Step, flow_graph


@dataclass(frozen=True)
class Box:
    """A node: its title, and one line per instruction."""

    key: str
    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Edge:
    source: str
    target: str
    label: str
    back: bool


@dataclass
class Cluster:
    """A loop: its title, the boxes directly in it, the loops inside."""

    key: str
    title: str
    boxes: list[Box] = field(default_factory=list[Box])
    inner: list[Cluster] = field(default_factory=list["Cluster"])


@dataclass(frozen=True)
class Chart:
    """A function; `outside` is all that is in no loop."""

    name: str
    outside: Cluster
    edges: tuple[Edge, ...]


def charts(module: ModuleOp, max_lines: int) -> Iterator[Chart]:
    """One chart per BIR function; a box shows at most `max_lines` instructions."""
    for number, func in enumerate(op for op in module.walk() if isinstance(op, FuncOp)):
        yield _Drawing(func, f"f{number}", max_lines).chart()


class _Drawing:
    def __init__(self, func: FuncOp, prefix: str, max_lines: int):
        self.func = func
        self.prefix = prefix
        self.max_lines = max_lines
        self.graph: CFG[Segment] = flow_graph(func)
        self.keys = {segment: f"{prefix}n{number}" for number, segment in enumerate(self.graph.nodes)}
        # One printer for all boxes: a value has the same name everywhere.
        self.stream = StringIO()
        self.printer = Printer(self.stream)

    def chart(self) -> Chart:
        outside = Cluster(self.prefix, f"@{self.func.sym_name.data}")
        cluster_of: dict[NaturalLoop[Segment], Cluster] = {}
        innermost: dict[Segment, Cluster] = {}
        for number, loop in enumerate(self.graph.natural_loops()):
            cluster = Cluster(f"{self.prefix}c{number}", self._loop_title(loop))
            cluster_of[loop] = cluster
            (cluster_of[loop.parent] if loop.parent else outside).inner.append(cluster)
            innermost.update(dict.fromkeys(loop.nodes, cluster))
        for segment in self.graph.nodes:
            innermost.get(segment, outside).boxes.append(self._box(segment))
        return Chart(self.func.sym_name.data, outside, tuple(self._edges()))

    def _loop_title(self, loop: NaturalLoop[Segment]) -> str:
        last = loop.latch.steps[-1].op if loop.latch.steps else None
        return self._loop_text(last) if isinstance(last, StructuredLoop) else f"loop {loop.header}"

    def _loop_text(self, op: StructuredLoop) -> str:
        if isinstance(op, DoWhileOp):
            return f"do … while {self._text(lambda: print_pieces(self.printer, index_pieces(op.condition)))}"
        assert isinstance(op, AxisLoop)
        bounds = ", ".join(self._text(lambda b=b: print_pieces(self.printer, expr_pieces(b))) for b in op.bounds())
        return f"for {op.axis_name.data} in range({bounds})"

    def _text(self, write: Callable[[], object]) -> str:
        self.stream.seek(0)
        self.stream.truncate()
        write()
        return self.stream.getvalue()

    def _box(self, segment: Segment) -> Box:
        lines = [self._line(segment, step) for step in segment.steps]
        if (hidden := len(lines) - self.max_lines) > 0:
            lines = [*lines[: self.max_lines], f"… {hidden} more"]
        return Box(self.keys[segment], segment.name, tuple(lines))

    def _line(self, segment: Segment, step: Step) -> str:
        if isinstance(step.op, StructuredLoop):
            # The latch is inside the loop it belongs to, the entry is not.
            return "next trip" if segment.loop is step.op else self._loop_text(step.op)
        return self._text(lambda: self.printer.print_op(step.op)).removeprefix("bir.")

    def _edges(self) -> Iterator[Edge]:
        for source in self.graph.nodes:
            targets = self.graph.successors[source]
            labels = ("true", "false") if len(targets) == 2 and self._branches(source) else ("",) * len(targets)
            for target, label in zip(targets, labels, strict=True):
                back = self.graph.is_back_edge(source, target)
                yield Edge(self.keys[source], self.keys[target], label, back)

    @staticmethod
    def _branches(segment: Segment) -> bool:
        return bool(segment.steps and segment.steps[-1].op.successors)
