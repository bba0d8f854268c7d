"""Pass `while_loop_unroller`: loops whose iterations can be counted in closed form, unrolled within a budget."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xneuron.analysis.call_graph import CallGraph
from xneuron.analysis.computations import instruction_count, loops
from xneuron.analysis.slices import Slicer
from xneuron.analysis.trip_count import (
    BOUND_NOT_CONSTANT,
    CONDITION_OPAQUE,
    INIT_NOT_CONSTANT,
    NOT_SCALAR,
    TOO_MANY_ITERATIONS,
    UPDATE_OPAQUE,
    TripCount,
    Unknown,
    facts_of,
    trip_count,
)
from xneuron.analysis.unroll_requests import skip_request
from xneuron.analysis.unrollable import Refusal, Unrollable
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.fastir import collector_off
from xneuron.remarks import declare, name_of, remark
from xneuron.transforms.call_inliner import inline_calls
from xneuron.transforms.canonicalize_loops import canonicalize
from xneuron.transforms.hlo_dce import eliminate_dead_code
from xneuron.transforms.loop_rewrites import LoopRewrites, Plan
from xneuron.transforms.neuron_add_boundary_marker import LoopMarkers, markers_enabled
from xneuron.transforms.waiting_loops import WAITS, WaitingLoops, is_marked, marked, number_of, through_loops

CANONICALIZED = declare("canonicalized", "Constants were sunk, tuples simplified or equal scalars merged.")
COLLECTED = declare("loops-collected", "How many loops of the module may be unrolled, before budgets.")
MARKERS = declare("boundary-markers", "Whether unrolled iterations end in boundary markers.")
UNROLLED_IN_FULL = declare("unrolled-in-full", "Copies of the body, one per iteration, took the loop's place.")
UNROLLED_WRAPPED = declare("unrolled-wrapped", "All iterations now stand in the body of a loop that runs once.")
UNROLLED_BY_FACTOR = declare(
    "unrolled-by-factor", "Each trip does several iterations; those left over follow the loop."
)
DROPPED = declare("loop-dropped", "The loop never runs: its initial value took its place.")
RUNS_ONCE = declare("runs-once", "The loop runs once, which is what wrapping would make of it.")
NO_INDUCTION_VARIABLE = declare("no-induction-variable", "No single element of the loop's state counts its iterations.")
NO_CLOSED_FORM = declare("no-closed-form", "The loop's iterations can only be counted by running it.")
BODY_TOO_LARGE = declare("max-body-instructions", "The body has more instructions than the budget allows.")
TOO_MANY_TRIPS = declare("max-trip-count", "Unrolling needs more copies of the body than the budget allows.")
RESULT_TOO_LARGE = declare("max-total-instructions", "All copies together would have too many instructions.")
SKIP_REQUESTED = declare("skip-requested", "The program asks to leave the loop alone.")
NOT_CHOSEN = declare("not-chosen", "`only-loops` does not name the loop.")
NO_SUCH_LOOP = declare("no-such-loop", "`only-loops` names a loop that the module does not have.")

FULL = -1


@dataclass(frozen=True)
class WhileLoopUnroller(ModulePass):
    """Inlines calls, brings loops to canonical form, then unrolls those that can be counted and fit the budget.

        %w = hlo.while(%t) cond {%i < 3} body {B}      in full            B(0) B(1) B(2)
                                                       wrapped (default)  while {%i <= 0} {B(0) B(1) B(2)}
                                                       by a factor of 2   while {%i <= 0} {B(%i) B(%i + 1)}  B(2)

    In each copy B the counter is a constant, or in a loop by a factor an add, everywhere but in the counter's own
    update. Innermost loops first, in program order; a body is measured when its inner loops have grown. A loop that
    never runs becomes its initial value. A loop whose count depends on another that is unrolled (a triangular nest)
    waits, and is then unrolled copy by copy; all copies of it share one `max-total-instructions`.

    Copies have channels of their own, and end in boundary markers unless NEURON_DISABLE_BOUNDARY_MARKER=1. What is dead
    afterwards goes.

    `max-body-instructions`, `max-trip-count`, `max-total-instructions`: the largest body (with all inside it), number
    of copies, and product of both; more is refused, in this order. `unroll-factor`: copies per trip; -1, or a factor
    of at least the number of iterations, unrolls in full. `wrap-in-trivial-loop`: a full unroll that no factor asked
    for stays inside a loop that runs once. `only-loops`: names of the loops to unroll, in quotes where they have dots
    (`only-loops="while.5","while.9"`); all if there are none.

    Refuses, in this order: not-chosen, skip-requested (`analysis/unroll_requests.py`), several-operands,
    control-dependency, send-recv, operand-not-tuple, condition-side-effects, each reason for which a count is
    unknown, no-induction-variable, no-closed-form, and the three budgets. Where it would wrap, it leaves alone a loop
    that runs once.
    Rules and texts: neuron-hlo-passes.md §4, xla-semantics.md (b); docs/diagnostics.md lists them all.
    """

    name = "while_loop_unroller"
    max_trip_count: int = 1000
    max_body_instructions: int = 100_000
    max_total_instructions: int = 800_000
    wrap_in_trivial_loop: bool = True
    unroll_factor: int = FULL
    only_loops: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.unroll_factor != FULL and self.unroll_factor < 1:
            raise ValueError(f"expected unroll-factor -1 (in full) or at least 1, found {self.unroll_factor}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        with collector_off():
            calls, counted, waiting = self.prepare(op)
            self._unroll(op, calls, {loop: count for loop, count in counted.items() if isinstance(count, TripCount)})
            left = dict.fromkeys(range(len(waiting.originals)), self.max_total_instructions)
            while left and self._unroll_copies(op, waiting, left):
                pass
            self._release(op, waiting)
            eliminate_dead_code(op)

    def prepare(self, module: ModuleOp) -> tuple[CallGraph, dict[WhileOp, TripCount | Refusal], WaitingLoops]:
        """Brings a module to canonical form; how often each loop runs, or why it may not be unrolled, budgets aside."""
        inline_calls(module)
        if canonicalize(module):
            text = "Applied constant sinking, tuple simplifier and hlo cse"
            remark("analysis", self.name, CANONICALIZED, module, text)
        calls = CallGraph(module)
        found = [loop for function in calls.callees_first() for loop in loops(function)]
        self._missing(module, found)
        slicer = Slicer(calls)
        counts = self._counted(module, slicer, found)
        waiting = self._waiting(counts, slicer)
        eligible = sum(isinstance(count, TripCount) for count in counts.values())
        text = f"Number of while instructions in the module to unroll: {eligible}"
        remark("analysis", self.name, COLLECTED, module, text, loops=len(found), eligible=eligible)
        return calls, counts, waiting

    def _missing(self, module: ModuleOp, found: list[WhileOp]) -> None:
        for name in sorted({*self.only_loops} - {name_of(loop) for loop in found}):
            remark("missed", self.name, NO_SUCH_LOOP, module, f"there is no loop named {name}")

    def _counted(self, module: ModuleOp, slicer: Slicer, found: list[WhileOp]) -> dict[WhileOp, TripCount | Refusal]:
        structure = Unrollable(module, slicer.calls)
        return {
            loop: self._unwanted(loop) or structure.refusal(loop, from_tuple=True) or _count(loop, slicer)
            for loop in found
        }

    def _waiting(self, counts: dict[WhileOp, TripCount | Refusal], slicer: Slicer) -> WaitingLoops:
        blocked = {loop: count.on for loop, count in counts.items() if isinstance(count, Refusal)}
        counted = {loop for loop, count in counts.items() if isinstance(count, TripCount) and count.count}
        waiting = WaitingLoops(slicer, counted, blocked)
        for loop, count in counts.items():
            if isinstance(count, Refusal):
                self.refuse(loop, count)
        return waiting

    def refuse(self, loop: WhileOp, refusal: Refusal) -> None:
        """Says that a loop stays, or that it waits."""
        if is_marked(loop):
            remark("analysis", self.name, WAITS, loop, f"{refusal.text}: asked again when that is unrolled")
        else:
            remark("missed", self.name, refusal.code, loop, refusal.text)

    def _unwanted(self, loop: WhileOp) -> Refusal | None:
        if self.only_loops and name_of(loop) not in self.only_loops:
            return Refusal(NOT_CHOSEN, f"only-loops does not name {name_of(loop)}")
        if request := skip_request(loop):
            return Refusal(SKIP_REQUESTED, f"{name_of(loop)} asks to be left alone: {request}")
        return None

    def _unroll(self, module: ModuleOp, calls: CallGraph, counts: dict[WhileOp, TripCount]) -> None:
        enabled = markers_enabled()
        text = f"Boundary markers {'enabled' if enabled else 'disabled'}"
        remark("analysis", self.name, MARKERS, module, text, enabled=enabled)
        plans = (self.decide(loop, count, instruction_count(loop.body)) for loop, count in counts.items())
        self._rewrite(module, calls, zip(counts, counts.values(), plans, strict=True))

    def _rewrite(
        self, module: ModuleOp, calls: CallGraph, planned: Iterable[tuple[WhileOp, TripCount, Plan | None]]
    ) -> None:
        """Rewrites loops, each when its plan is asked for: by then those in front of it and inside it are rewritten."""
        rewrites, markers = LoopRewrites(module, calls), LoopMarkers(module) if markers_enabled() else None
        for loop, count, plan in planned:
            if plan is None:
                continue
            if plan.all_copies == 0:
                rewrites.drop(loop)
                continue
            if markers:
                markers.mark(loop)
            rewrites.unroll(loop, count, plan)
        rewrites.cloner.remove_left()

    def _unroll_copies(self, module: ModuleOp, waiting: WaitingLoops, left: dict[int, int]) -> bool:
        """Unrolls loops that waited and can be counted by now; false if there are none.

        `left`: how many instructions the copies of each may still become. Needed once for each loop around.
        """
        calls = CallGraph(module)
        slicer, found = through_loops(calls), marked(calls)
        counts = ((loop, count) for loop in found if isinstance(count := _count(loop, slicer), TripCount))
        self._rewrite(
            module, calls, ((loop, count, self._plan_copy(loop, count, waiting, left)) for loop, count in counts)
        )
        return not all(map(is_marked, found))

    def _plan_copy(self, loop: WhileOp, count: TripCount, waiting: WaitingLoops, left: dict[int, int]) -> Plan | None:
        number, size = number_of(loop), instruction_count(loop.body)
        waiting.resume(loop)
        plan = replace(self, max_total_instructions=left[number]).decide(loop, count, size)
        if plan is not None:
            left[number] -= plan.all_copies * size
        return plan

    def _release(self, module: ModuleOp, waiting: WaitingLoops) -> None:
        """Says why loops stay that waited for nothing."""
        calls = CallGraph(module)
        slicer = through_loops(calls)
        for loop in waiting.release(calls):
            if isinstance(count := _count(loop, slicer), Refusal):
                self.refuse(loop, count)

    def decide(self, loop: WhileOp, count: TripCount, size: int) -> Plan | None:
        """Says what becomes of a loop whose body has `size` instructions. None if it stays, no copies if it goes."""
        if count.count == 0:
            remark("passed", self.name, DROPPED, loop, "never runs", **facts_of(count))
            return Plan(0, 0, 0)
        plan = self._plan(count)
        if plan.trips == plan.copies == 1:
            remark("analysis", self.name, RUNS_ONCE, loop, "runs once already", **facts_of(count))
            return None
        if refusal := self._over_budget(plan, size):
            facts = {**facts_of(count), "body_instructions": size, "copies": plan.all_copies}
            remark("missed", self.name, refusal.code, loop, refusal.text, **facts)
            return None
        self._report(loop, plan, count, size)
        return plan

    def _plan(self, count: TripCount) -> Plan:
        trips = count.count
        if self.unroll_factor == FULL and self.wrap_in_trivial_loop:
            return Plan(1, trips, 0)
        if self.unroll_factor == FULL or self.unroll_factor >= trips:
            return Plan(0, 0, trips)
        return Plan(trips // self.unroll_factor, self.unroll_factor, trips % self.unroll_factor)

    def _over_budget(self, plan: Plan, size: int) -> Refusal | None:
        copies = plan.all_copies
        if size > self.max_body_instructions:
            text = (
                f"Cannot unroll while loop. Too many instructions in the body: {size} vs {self.max_body_instructions}"
            )
            return Refusal(BODY_TOO_LARGE, text)
        if copies > self.max_trip_count:
            text = "Cannot unroll while loop. The trip count is greater than the threshold"
            return Refusal(TOO_MANY_TRIPS, f"{text}: {copies} vs {self.max_trip_count}")
        if copies * size > self.max_total_instructions:
            text = "Not attempting to unroll due to instruction count increase explosion. New instruction count"
            return Refusal(RESULT_TOO_LARGE, f"{text}: {copies * size} vs {self.max_total_instructions}")
        return None

    def _report(self, loop: WhileOp, plan: Plan, count: TripCount, size: int) -> None:
        code, form = UNROLLED_BY_FACTOR, f" (by {plan.copies})"
        if plan.trips == 0:
            code, form = UNROLLED_IN_FULL, ""
        elif self.unroll_factor == FULL:
            code, form = UNROLLED_WRAPPED, " (wrapped)"
        text = f"Unrolling{form} while instruction {name_of(loop)} with body instruction count {size}"
        facts = {**facts_of(count), "body_instructions": size, "copies": plan.all_copies, "left_over": plan.left_over}
        remark("passed", self.name, code, loop, text, **facts)


_NO_VARIABLE = (CONDITION_OPAQUE, UPDATE_OPAQUE, BOUND_NOT_CONSTANT, NOT_SCALAR)


def _count(loop: WhileOp, slicer: Slicer) -> TripCount | Refusal:
    """How often the loop runs, in closed form, or why that is not known."""
    count = trip_count(loop, 0, slicer)
    not_found = "Not attempting to unroll because induction variable could not be found."
    not_trivial = "Loop doesn't have trivial trip count"
    if isinstance(count, TripCount):
        if count.count == 0 or (count.slot is not None and count.step is not None):
            return count
        return Refusal(NO_INDUCTION_VARIABLE, f"{not_found} The counter is nested deeper in the state")
    if count.reason in _NO_VARIABLE:
        return Refusal(count.reason, f"{not_found} {_sentence(count)}", count.on)
    if count.reason == INIT_NOT_CONSTANT:
        return Refusal(count.reason, f"Couldn't evaluate induction variable init, {count.detail}", count.on)
    if count.reason == TOO_MANY_ITERATIONS:
        return Refusal(NO_CLOSED_FORM, f"{not_trivial}: it can only be counted by running the loop")
    return Refusal(count.reason, f"{not_trivial}: {count.detail}")


def _sentence(unknown: Unknown) -> str:
    return unknown.detail[:1].upper() + unknown.detail[1:]
