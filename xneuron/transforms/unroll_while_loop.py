"""Pass `unroll-while-loop`: every loop whose number of iterations is known becomes that many calls."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xneuron.analysis.call_graph import CallGraph
from xneuron.analysis.computations import instruction_count, loops
from xneuron.analysis.slices import Slicer
from xneuron.analysis.trip_count import TripCount, Unknown, facts_of, trip_count
from xneuron.analysis.unrollable import Unrollable
from xneuron.dialects.hlo.base import opcode_of
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.fastir import Template, collector_off
from xneuron.remarks import declare, remark
from xneuron.transforms.cloning import (
    Cloner,
    annotations_kept,
    call,
    computation_info,
    computation_name,
    function_around,
    in_layout,
)

UNROLLED = declare("unrolled", "Each iteration of the loop became a call of a copy of its body.")
NEVER_RUNS = declare("never-runs", "The loop runs zero times: its initial value took its place.")
TOO_LARGE = declare("max-instructions", "Unrolling would make more instructions than the memory guard allows.")


@dataclass(frozen=True)
class UnrollWhileLoop(ModulePass):
    """Replaces each loop with a known number of iterations by a chain of calls, one per iteration.

        %w = hlo.while(%t) cond {…} body {B}        %0 = func.call @B.clone(%t)
                                                    %1 = func.call @B.clone.1(%0)
                                                    %w = func.call @B.clone.2(%1)

    Innermost loops first, in program order. A loop that never runs becomes its initial value. Each copy has channel
    ids of its own; functions that the body calls are shared, unless they hold channels. `call-inliner` flattens it all.

    Refuses: several-operands, control-dependency, send-recv, condition-side-effects, max-instructions, and each reason
    for which a count is unknown (`analysis/trip_count.py`).

    `max-trip-count-simulation`: iterations after which a loop without a closed form is given up; others have no limit.
    `max-instructions`: how many instructions all loops together may become, a guard for the memory.
    Rules: neuron-hlo-passes.md §3, §9.
    """

    name = "unroll-while-loop"
    max_trip_count_simulation: int = 128
    max_instructions: int = 10_000_000

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pattern = self.pattern(op)
        with collector_off():
            for loop in list(pattern.counts):
                pattern.match_and_rewrite(loop, PatternRewriter(loop))
            pattern.cloner.remove_left()

    def pattern(self, module: ModuleOp) -> UnrollCounted:
        """The rewrite for the loops of a module, which it lists in the order in which it wants to meet them."""
        calls = CallGraph(module)
        slicer = Slicer(calls)
        found = [loop for function in calls.callees_first() for loop in loops(function)]
        counts = {loop: trip_count(loop, self.max_trip_count_simulation, slicer) for loop in found}
        return UnrollCounted(module, calls, counts, self.max_instructions)


class UnrollCounted(RewritePattern):
    """Unrolls the loops that have a count in `counts`; those made on the way have none."""

    def __init__(
        self, module: ModuleOp, calls: CallGraph, counts: dict[WhileOp, TripCount | Unknown], max_instructions: int
    ) -> None:
        self.cloner = Cloner(module, calls)
        self.counts = counts
        self.left = max_instructions
        self.limit = max_instructions
        self._structure = Unrollable(module, calls)

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: WhileOp, rewriter: PatternRewriter, /) -> None:
        if (template := self.decide(op)) is None:
            return
        count = self.counts[op]
        assert isinstance(count, TripCount)
        chain = self._calls(op, count.count, template) if count.count else []
        rewriter.replace(op, chain, chain[-1].results if chain else op.inits)

    def decide(self, op: WhileOp, grown: int = 0) -> Template | None:
        """Says what becomes of a loop, as a remark. If it is unrolled, its body, made ready to be copied.

        `grown`: instructions by which loops inside would have made the body larger, where they were only decided upon.
        """
        if (count := self.counts.get(op)) is None:
            return None
        if refusal := self._structure.refusal(op):
            return _missed(op, *refusal)
        if isinstance(count, Unknown):
            return _missed(op, count.reason, count.detail)
        template = self.cloner.template(op.body.block)
        before = 1 + template.size + instruction_count(op.cond)
        if count.count == 0:
            facts = {**facts_of(count), "ops_before": before, "ops_after": 0}
            remark("passed", UnrollWhileLoop.name, NEVER_RUNS, op, "never runs", **facts)
            return template
        made = count.count * (self.cloner.size(template) + grown + 1)
        facts = {**facts_of(count), "ops_before": before, "ops_after": made}
        if made > self.left:
            text = f"would make {made} instructions, with {self.left} of {self.limit} left"
            remark("missed", UnrollWhileLoop.name, TOO_LARGE, op, text, **facts, budget=self.limit)
            return None
        self.left -= made
        text = f"unrolled {count.count} iteration{'' if count.count == 1 else 's'}"
        remark("passed", UnrollWhileLoop.name, UNROLLED, op, text, **facts)
        return template

    def _calls(self, loop: WhileOp, count: int, template: Template) -> list[Operation]:
        info = computation_info(loop, 1)
        name = loop.results[0].name_hint or opcode_of(loop.name)
        body = computation_name(loop, 1, f"{name}.body")
        around = function_around(loop)
        state = loop.inits[0]
        chain: list[Operation] = []
        for iteration in range(count):
            function = self.cloner.function(template, body, info.info if info else DictionaryAttr({}), around)
            operand = _as_type(state, function.function_type.inputs.data[0], chain)
            label = name if iteration == count - 1 else f"{name}.iteration.{iteration}"
            chain.append(call(function, [operand], annotations_kept(loop), label, loop.location))
            state = chain[-1].results[0]
        _as_type(state, loop.results[0].type, chain)
        return chain


def _as_type(value: SSAValue, type: Attribute, chain: list[Operation]) -> SSAValue:
    if value.type == type:
        return value
    chain.append(in_layout(value, type))
    return chain[-1].results[0]


def _missed(loop: WhileOp, code: str, why: str) -> None:
    remark("missed", UnrollWhileLoop.name, code, loop, why)
