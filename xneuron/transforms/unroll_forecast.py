"""What the unrollers would do to each loop of a module, without doing it.

Both decide loop by loop, innermost first; what a decision needs to know of the loops inside is how much larger they
have made the body. That is added up here instead of made: to the instruction for calls, without the few instructions
around copies that `while_loop_unroller` adds or finds dead. So only a nest that is that close to a budget is forecast
wrongly.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ModuleOp

from xneuron.analysis.computations import instruction_count, loops
from xneuron.analysis.trip_count import TripCount
from xneuron.analysis.unrollable import Refusal
from xneuron.dialects.hlo.attributes import int_of, integer
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.fastir import collector_off
from xneuron.remarks import Remark, collect
from xneuron.transforms.unroll_while_loop import UnrollWhileLoop
from xneuron.transforms.while_loop_unroller import WhileLoopUnroller

Forecast: TypeAlias = Mapping[WhileOp, Remark]
"""What a pass would say of each loop; loops of which it would say nothing are missing."""

NUMBER = "xneuron.forecast"
"""The attribute by which a loop of the copy is known."""


def forecasts(module: ModuleOp) -> dict[str, Forecast]:
    """By pass, with default options. The module stays as it is."""
    return {
        UnrollWhileLoop.name: forecast_calls(module, UnrollWhileLoop()),
        WhileLoopUnroller.name: forecast_copies(module, WhileLoopUnroller()),
    }


def forecast_calls(module: ModuleOp, unroller: UnrollWhileLoop) -> Forecast:
    """For `unroll-while-loop`."""
    pattern, grown = unroller.pattern(module), Growth()
    verdicts: dict[WhileOp, Remark] = {}
    for loop, count in pattern.counts.items():
        with collect() as said:
            template = pattern.decide(loop, grown.inside(loop))
        verdict = verdicts[loop] = said[-1]
        if template is None:
            grown.becomes(loop, grown.inside(loop))
            continue
        # Functions with channels are copied with their calls, others are shared.
        after = verdict.facts["ops_after"] if template.specials else cast(TripCount, count).count
        grown.becomes(loop, cast(int, after) - cast(int, verdict.facts["ops_before"]))
    for loop in pattern.waiting.originals:
        pattern.waiting.resume(loop)
    return verdicts


def forecast_copies(module: ModuleOp, unroller: WhileLoopUnroller) -> Forecast:
    """For `while_loop_unroller`, which inlines calls first: of a loop in a function with several calls, the first."""
    copy, originals = _numbered_copy(module)
    verdicts: dict[WhileOp, Remark] = {}
    grown = Growth()
    with collector_off():
        _, counted, _ = unroller.prepare(copy)
    for loop, count in counted.items():
        original = originals[int_of(loop.attributes[NUMBER])]
        verdict, growth = _forecast_copies(unroller, loop, count, grown.inside(loop))
        verdicts.setdefault(original, verdict)
        grown.becomes(loop, growth)
    return verdicts


def _forecast_copies(
    unroller: WhileLoopUnroller, loop: WhileOp, count: TripCount | Refusal, grown: int
) -> tuple[Remark, int]:
    """What becomes of a loop, and by how many instructions that makes the computation around it larger."""
    before = instruction_count(loop.body)
    with collect() as said:
        if isinstance(count, Refusal):
            plan = unroller.refuse(loop, count)
        else:
            plan = unroller.decide(loop, count, before + grown)
    if plan is None:
        return said[-1], grown
    around = 0 if plan.trips else 1 + instruction_count(loop.cond)
    return said[-1], plan.all_copies * (before + grown) - before - around


class Growth:
    """By how many instructions loops have made, or would have made, the computations around them larger."""

    def __init__(self) -> None:
        self._inside: defaultdict[WhileOp, int] = defaultdict(int)

    def inside(self, loop: WhileOp) -> int:
        """By how much the loop's computations have grown."""
        return self._inside[loop]

    def becomes(self, loop: WhileOp, growth: int) -> None:
        """The loop, with all that is in it, has grown, or what took its place has more instructions."""
        around = loop.parent_op()
        while around is not None and not isinstance(around, WhileOp):
            around = around.parent_op()
        if around is not None:
            self._inside[around] += growth


def _numbered_copy(module: ModuleOp) -> tuple[ModuleOp, list[WhileOp]]:
    """A copy of a module whose loops have numbers, and the loops of those numbers."""
    copy = module.clone()
    for number, loop in enumerate(loops(copy)):
        loop.attributes[NUMBER] = integer(number)
    return copy, list(loops(module))
