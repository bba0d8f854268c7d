"""What there is to know about each while loop of an HLO module: typed facts, and the same as JSON.

Every fact is what the passes themselves go by: trip counts, forms and costs from `analysis`, verdicts of the unrollers
from the code that decides when they run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation

from xneuron.analysis.cost import Amount, Communication, CommunicationCost, Traffic
from xneuron.analysis.loop_form import DoWhile, Dynamic, LoopForm, Operand, Static
from xneuron.analysis.loop_forms import LoopForms
from xneuron.analysis.slices import Slicer
from xneuron.analysis.trip_count import TripCount, Unknown, facts_of, trip_count
from xneuron.analysis.work_cost import Work, WorkCost
from xneuron.dialects.hlo.base import HloOp
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.remarks import Remark, location_of, name_of
from xneuron.tools.source_lines import SourceLines, op_name_of


@dataclass(frozen=True)
class Loop:
    """One while loop. `parent` is the loop around it, behind calls too; `iteration` and `run` are what they cost.

    `refused`: the first instruction inside that BIR cannot express, and why.
    """

    name: str
    location: str
    source: str
    op_name: str
    parent: Loop | None
    trips: TripCount | Unknown
    verdicts: Mapping[str, Remark]
    form: LoopForm
    refused: tuple[Operation, str] | None
    iteration: Cost
    run: Cost

    @property
    def depth(self) -> int:
        """How many loops are around it."""
        return 0 if self.parent is None else self.parent.depth + 1


@dataclass(frozen=True)
class Cost:
    """What an iteration or a whole run of a loop takes, the loops inside included."""

    work: Work
    communication: Communication


def explained(module: ModuleOp) -> list[Loop]:
    """The loops of a module in program order, each after the loop around it. The module stays as it is."""
    from xneuron.transforms.unroll_forecast import forecasts

    explain = _Explanation(module, forecasts(module))
    return list(explain.loops())


class _Explanation:
    def __init__(self, module: ModuleOp, forecasts: Mapping[str, Mapping[WhileOp, Remark]]) -> None:
        self.module = module
        self.forecasts = forecasts
        self.forms = LoopForms(module)
        self.slicer: Slicer = self.forms.slicer
        self.work = WorkCost(module, self.slicer)
        self.communication = CommunicationCost(module, self.slicer)
        self.lines = SourceLines(module)
        self.entered: set[FuncOp] = set()

    def loops(self) -> Iterator[Loop]:
        """Public functions first, so that what they call is met where they call it; what nothing calls at the end."""
        functions = list(self.slicer.calls.functions.values())
        for function in sorted(functions, key=lambda each: each.sym_visibility is not None):
            yield from self._in_function(function, None)

    def _in_function(self, function: FuncOp, parent: Loop | None) -> Iterator[Loop]:
        if function in self.entered or not function.body.blocks:
            return
        self.entered.add(function)
        yield from self._in_block(function.body.block, parent)

    def _in_block(self, block: Block, parent: Loop | None) -> Iterator[Loop]:
        for op in block.ops:
            if isinstance(op, CallOp) and (callee := self.slicer.calls.callee(op)) is not None:
                yield from self._in_function(callee, parent)
            if isinstance(op, WhileOp):
                loop = self._loop(op, parent)
                yield loop
                yield from self._in_regions(op, loop)
            elif op.regions:
                yield from self._in_regions(op, parent)

    def _in_regions(self, op: Operation, parent: Loop | None) -> Iterator[Loop]:
        for region in op.regions:
            yield from self._in_block(region.block, parent)

    def _loop(self, op: WhileOp, parent: Loop | None) -> Loop:
        return Loop(
            name=name_of(op),
            location=location_of(op),
            source=self.lines.of(op),
            op_name=op_name_of(op),
            parent=parent,
            trips=trip_count(op, slicer=self.slicer),
            verdicts={name: said[op] for name, said in self.forecasts.items() if op in said},
            form=self.forms.of(op),
            refused=self._refused(op),
            iteration=Cost(self.work.iteration(op), self.communication.of_iteration(op)),
            run=Cost(self.work.loop(op), self.communication.of_loop(op)),
        )

    def _refused(self, op: WhileOp) -> tuple[Operation, str] | None:
        from xneuron.lowering.hlo_to_bir.rules import load_rules, problem

        load_rules()
        problems = ((inner, problem(inner)) for inner in self._inside(op, set()))
        return next(((inner, reason) for inner, reason in problems if reason), None)

    def _inside(self, op: Operation, entered: set[FuncOp]) -> Iterator[Operation]:
        """All instructions in the computations of an instruction, and in what they call."""
        for region in op.regions:
            for inner in region.block.ops:
                callee = self.slicer.calls.callee(inner) if isinstance(inner, CallOp) else None
                if isinstance(inner, HloOp):
                    yield inner
                elif callee is None or callee in entered or not callee.body.blocks:
                    continue
                else:
                    entered.add(callee)
                yield from self._inside(inner if callee is None else callee, entered)


def as_json(loop: Loop) -> dict[str, Any]:
    """A loop as JSON; keys are those of docs/tools.md, and stay."""
    return {
        "name": loop.name,
        "location": loop.location,
        "source": loop.source,
        "op_name": loop.op_name,
        "parent": loop.parent.name if loop.parent else None,
        "depth": loop.depth,
        "trips": _trips(loop.trips),
        "unrollers": {name: _verdict(said) for name, said in loop.verdicts.items()},
        "lowering": {**_form(loop.form), "refused": _refusal(loop.refused)},
        "iteration": _cost(loop.iteration),
        "run": _cost(loop.run),
    }


def _refusal(refused: tuple[Operation, str] | None) -> dict[str, str] | None:
    if refused is None:
        return None
    op, reason = refused
    return {"instruction": name_of(op), "location": location_of(op), "reason": reason}


def _trips(trips: TripCount | Unknown) -> dict[str, Any]:
    if isinstance(trips, Unknown):
        return {"count": None, "code": trips.reason, "reason": trips.detail}
    facts = facts_of(trips)
    return {"count": facts.pop("trips"), **facts}


def _verdict(said: Remark) -> dict[str, Any]:
    return {"kind": said.kind, "code": said.code, "message": said.message, "facts": dict(said.facts)}


def _form(form: LoopForm) -> dict[str, Any]:
    match form:
        case Static():
            return {"form": "bir.loop", "trips": form.count}
        case Dynamic():
            return {
                "form": "bir.dynamic_for_loop",
                "register": form.register,
                "start": _operand(form.start),
                "bound": _operand(form.bound),
                "compare": form.compare,
                "step": form.step,
                "lb": form.lb,
                "coeff": form.coeff,
                "const": form.const,
                "stride": form.stride,
                "distance": asdict(form.distance) if form.distance else None,
                "never_ends": form.never_ends,
                "too_far": form.too_far,
            }
        case DoWhile():
            return {"form": "bir.do_while", "code": form.reason_code, "reason": form.reason}


def _operand(operand: Operand) -> dict[str, Any]:
    return {"number": operand} if isinstance(operand, int) else {"slot": list(operand)}


def _cost(cost: Cost) -> dict[str, Any]:
    return {
        "instructions": _amount(cost.work.instructions),
        "flops": _amount(cost.work.flops),
        "bytes": _amount(cost.work.bytes),
        "collectives": {opcode: _traffic(traffic) for opcode, traffic in cost.communication.items()},
    }


def _traffic(traffic: Traffic) -> dict[str, Any]:
    return {"runs": _amount(traffic.runs), "bytes": _amount(traffic.bytes)}


def _amount(amount: Amount) -> int | str:
    """A number, or a formula in trip counts."""
    return str(amount) if any(amount.terms) else amount.terms.get((), 0)
