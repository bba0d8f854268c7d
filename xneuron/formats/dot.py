"""Graphviz output of BIR functions: `xneuron-opt -t dot program.mlir | dot -Tsvg`."""

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
class DotTarget(Target):
    """One digraph per function; loops are clusters, back edges dashed. `max_lines` instructions a box."""

    name = "dot"

    max_lines: int = 12

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        from xneuron.analysis.flow_chart import charts

        for chart in charts(module, self.max_lines):
            output.write("\n".join(_lines(chart)) + "\n")


def _lines(chart: Chart) -> Iterator[str]:
    yield f"digraph {_quoted(chart.name)} {{"
    yield '  node [shape=box, fontname="monospace"];'
    yield from _inside(chart.outside, "  ")
    for edge in chart.edges:
        yield f"  {edge.source} -> {edge.target}{_style(edge)};"
    yield "}"


def _inside(cluster: Cluster, margin: str) -> Iterator[str]:
    for box in cluster.boxes:
        yield f"{margin}{box.key} [label={_label(box)}];"
    for inner in cluster.inner:
        yield f"{margin}subgraph cluster_{inner.key} {{"
        yield f"{margin}  label={_quoted(inner.title)};"
        yield from _inside(inner, margin + "  ")
        yield f"{margin}}}"


def _label(box: Box) -> str:
    # `\l` ends a line and sets it flush left.
    text = "".join(f"{line}\n" for line in (f"{box.title}:", *box.lines))
    return _quoted(text).replace("\n", "\\l")


def _style(edge: Edge) -> str:
    parts = [f"label={_quoted(edge.label)}"] if edge.label else []
    if edge.back:
        parts += ["style=dashed", 'xlabel="back edge"']
    return f" [{', '.join(parts)}]" if parts else ""


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
