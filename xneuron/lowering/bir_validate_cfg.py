"""Pass `bir-validate-cfg`: the topology rules of BIR, for every function and every loop body."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from xneuron.analysis.bir_cost import loop_name
from xneuron.analysis.cfg import CFG, TopologyError
from xneuron.dialects.bir.functions import FuncOp
from xneuron.dialects.bir.loops import StructuredLoop
from xneuron.remarks import declare, remark

VALID = declare("topology-valid", "The control flow graph follows the topology rules of BIR.")


@dataclass(frozen=True)
class BirValidateCfg(ModulePass):
    """Fails on the first block list, of a function or of a loop in it, that breaks one of the four topology rules.

        ^a: … ^c   ^b: … ^c   ^c: … ^b      -->   error[419]: … ^c -> ^b enters a loop that has another entry

    The rules (`CFG.validate_topology`; reference bir.md, section f): edges are listed at both ends, every block is
    reached, an edge that goes back is the one recorded for its header, nothing precedes the entry and something exits.
    The program stays as it is.
    """

    name = "bir-validate-cfg"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.walk():
            if isinstance(func, FuncOp):
                self._validate(func)

    def _validate(self, func: FuncOp) -> None:
        graphs = [(where, CFG[Block].of_region(region)) for where, region in _block_lists(func)]
        for where, graph in graphs:
            try:
                graph.validate_topology()
            except TopologyError as error:
                raise PassFailedException(f"{where}: {error}") from error
        blocks = sum(len(graph.nodes) for _, graph in graphs)
        back_edges = sum(len(graph.back_edges) for _, graph in graphs)
        text = f"the block lists of @{func.sym_name.data} follow the rules"
        facts = {"block_lists": len(graphs), "blocks": blocks, "back_edges": back_edges}
        remark("analysis", self.name, VALID, func, text, **facts)


def _block_lists(func: FuncOp) -> Iterator[tuple[str, Region]]:
    """The function's own blocks, then those of each loop inside, with what an error calls them."""
    where = f"@{func.sym_name.data}"
    yield where, func.body
    for op in func.walk():
        if isinstance(op, StructuredLoop):
            yield f"{where}, body of loop {loop_name(op)}", op.body
