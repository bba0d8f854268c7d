"""Mermaid output of BIR functions, for Markdown pages: `xneuron-opt -t mermaid program.mlir`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

if TYPE_CHECKING:
    from xneuron.analysis.flow_chart import Box, Chart, Cluster, Edge


@dataclass(frozen=True)
class MermaidTarget(Target):
    """One flowchart, a subgraph per function and per loop, back edges dotted. `max_lines` instructions a box."""

    name = "mermaid"

    max_lines: int = 12

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        from xneuron.analysis.flow_chart import charts

        output.write("flowchart TD\n")
        for chart in charts(module, self.max_lines):
            output.write("\n".join(_lines(chart)) + "\n")


def _lines(chart: Chart) -> Iterator[str]:
    yield from _subgraph(chart.outside, "  ")
    for edge in chart.edges:
        yield f"  {edge.source} {_arrow(edge)} {edge.target}"


def _subgraph(cluster: Cluster, margin: str) -> Iterator[str]:
    yield f'{margin}subgraph {cluster.key}["{_escaped(cluster.title)}"]'
    for box in cluster.boxes:
        yield f'{margin}  {box.key}["{_label(box)}"]'
    for inner in cluster.inner:
        yield from _subgraph(inner, margin + "  ")
    yield f"{margin}end"


def _label(box: Box) -> str:
    return "<br/>".join(_escaped(line) for line in (f"{box.title}:", *box.lines))


def _arrow(edge: Edge) -> str:
    if edge.back:
        return f"-.->|{edge.label} back edge|" if edge.label else "-.->|back edge|"
    return f"-->|{edge.label}|" if edge.label else "-->"


def _escaped(text: str) -> str:
    # Mermaid reads HTML entities, written with # instead of &.
    return text.translate({ord("#"): "#35;", ord('"'): "#quot;", ord("<"): "#lt;", ord(">"): "#gt;"})
