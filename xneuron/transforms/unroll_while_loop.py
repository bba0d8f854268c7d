"""Pass `unroll-while-loop`: every loop whose number of iterations is known becomes that many calls."""

from __future__ import annotations

from collections.abc import Iterable
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
from xneuron.transforms.waiting_loops import WAITS, WaitingLoops, is_marked, marked, through_loops

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
    A loop whose count depends on another that is unrolled (a triangular nest) waits, and is then unrolled copy by copy.

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
        with collector_off():
            pattern = self.pattern(op)
            pattern.unroll(pattern.counts)
            while pattern.waiting.originals and self._unroll_copies(op, pattern):
                pass
            pattern.unroll(pattern.waiting.release(CallGraph(op)))  # says why they stay

    def pattern(self, module: ModuleOp) -> UnrollCounted:
        """The rewrite for the loops of a module, which it lists in the order in which it wants to meet them."""
        calls = CallGraph(module)
        slicer = Slicer(calls)
        found = [loop for function in calls.callees_first() for loop in loops(function)]
        counts = {loop: self._count(loop, slicer) for loop in found}
        return UnrollCounted(module, slicer, counts, self.max_instructions)

    def _count(self, loop: WhileOp, slicer: Slicer) -> TripCount | Unknown:
        return trip_count(loop, self.max_trip_count_simulation, slicer)

    def _unroll_copies(self, module: ModuleOp, pattern: UnrollCounted) -> bool:
        """Unrolls loops that waited and can be counted by now; false if there are none.

        A loop is asked when those in front of it are unrolled, so that this is needed once for each loop around.
        """
        calls = CallGraph(module)
        slicer = through_loops(calls)
        pattern.look_at(module, calls)
        loops = marked(calls)
        pattern.unroll(loop for loop in loops if pattern.learn(loop, self._count(loop, slicer)))
        return not all(map(is_marked, loops))


class UnrollCounted(RewritePattern):
    """Unrolls the loops that have a count in `counts`; those made on the way have none."""

    def __init__(
        self, module: ModuleOp, slicer: Slicer, counts: dict[WhileOp, TripCount | Unknown], max_instructions: int
    ) -> None:
        self.look_at(module, slicer.calls)
        self.counts = counts
        self.left = max_instructions
        self.limit = max_instructions
        possible = {loop: count for loop, count in counts.items() if self._structure.refusal(loop) is None}
        blocked = {loop: count.on for loop, count in possible.items() if isinstance(count, Unknown)}
        counted = {loop for loop, count in possible.items() if isinstance(count, TripCount) and count.count}
        self.waiting = WaitingLoops(slicer, counted, blocked)

    def look_at(self, module: ModuleOp, calls: CallGraph) -> None:
        """Takes the module as it is now."""
        self.cloner = Cloner(module, calls)
        self._structure = Unrollable(module, calls)

    def learn(self, loop: WhileOp, count: TripCount | Unknown) -> bool:
        """Takes note of a waiting loop's count; true if it need not wait any longer."""
        self.counts[loop] = count
        return isinstance(count, TripCount)

    def unroll(self, loops: Iterable[WhileOp]) -> None:
        """Unrolls loops, each when it is asked for, then drops the functions that are of no use any more."""
        for loop in loops:
            self.match_and_rewrite(loop, PatternRewriter(loop))
        self.cloner.remove_left()

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
            return _missed(op, refusal.code, refusal.text)
        if isinstance(count, Unknown) and is_marked(op):
            text = f"{count.detail}: asked again when that is unrolled"
            remark("analysis", UnrollWhileLoop.name, WAITS, op, text)
            return None
        if isinstance(count, Unknown):
            return _missed(op, count.reason, count.detail)
        where = self.waiting.resume(op)
        template = self.cloner.template(op.body.block)
        before = 1 + template.size + instruction_count(op.cond)
        if count.count == 0:
            facts = {**facts_of(count), "ops_before": before, "ops_after": 0}
            remark("passed", UnrollWhileLoop.name, NEVER_RUNS, op, f"{where}never runs", **facts)
            return template
        made = count.count * (self.cloner.size(template) + grown + 1)
        facts = {**facts_of(count), "ops_before": before, "ops_after": made}
        if made > self.left:
            text = f"{where}would make {made} instructions, with {self.left} of {self.limit} left"
            remark("missed", UnrollWhileLoop.name, TOO_LARGE, op, text, **facts, budget=self.limit)
            return None
        self.left -= made
        text = f"{where}unrolled {count.count} iteration{'' if count.count == 1 else 's'}"
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
