"""Pass `all-gather-trip-count`: all-gathers of one slice per iteration become one all-gather in front of the loop."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xneuron.analysis.cost import Communication, CommunicationCost
from xneuron.analysis.loop_facts import LoopFacts
from xneuron.remarks import declare, remark
from xneuron.transforms.aws_neuron_rewrite_all_gather_trip_count import widen_all_gathers
from xneuron.transforms.hlo_dce import eliminate_dead_code
from xneuron.transforms.neuron_move_all_gather_while_loop import move_all_gathers
from xneuron.transforms.tuple_simplifier import simplify_tuples

COMMUNICATION = declare("communication", "How many collectives run, and what they move, before and after.")


@dataclass(frozen=True)
class AllGatherTripCount(ModulePass):
    """Runs `aws_neuron_rewrite_all_gather_trip_count`, `neuron_move_all_gather_while_loop`, then cleans up.

        %w = hlo.while(%t) body {                  %y = hlo.all_gather(%x) {dimensions = g + 1}
          %s = hlo.dynamic_slice(%x, %i, …)        %w = hlo.while(%t) body {
          %r = hlo.reshape(%s)                       %s = hlo.dynamic_slice(%y, %i, …)
          %g = hlo.all_gather(%r) … }                %r = hlo.reshape(%s) … }

    n gathers become one, of the same bytes in all: fewer starts, for the memory of the gathered tensor.
    Refuses what the two refuse, each with its remark. Options: theirs.
    """

    name = "all-gather-trip-count"
    max_gathered_bytes: int | None = None
    replicated_parameters: tuple[int, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        facts = LoopFacts(op, self.replicated_parameters)
        before = _communication(op, facts)
        changed = widen_all_gathers(op, facts, limit=self.max_gathered_bytes)
        changed |= move_all_gathers(op, facts, self.max_gathered_bytes)
        if not changed:
            return
        simplify_tuples(op)
        eliminate_dead_code(op)
        facts.forget()
        _report(op, before, _communication(op, facts))


def _communication(module: ModuleOp, facts: LoopFacts) -> Communication:
    return CommunicationCost(module, facts.slicer).of_program()


def _report(module: ModuleOp, before: Communication, after: Communication) -> None:
    for opcode, old in before.items():
        if old != (new := after.get(opcode)):
            text = f"{opcode}: before {old}, after {new or 'none'}"
            remark("analysis", AllGatherTripCount.name, COMMUNICATION, module, text)
