"""What there is to know about a loop, in plain English: one short paragraph."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from functools import reduce

from xneuron.analysis.cost import Amount, Communication, Traffic, spelled_bytes
from xneuron.analysis.loop_form import WRITTEN, DoWhile, Dynamic, LoopForm, Operand, Static, slot_text
from xneuron.analysis.trip_count import NEVER_EXITS, TripCount, Unknown
from xneuron.remarks import Remark, name_of
from xneuron.tools.explain_loops import Loop

WIDTH = 100
INDENT = 4


def wrapped(text: str, depth: int) -> str:
    """A paragraph in lines of at most 100 columns (a longer word has a line of its own), moved in by its depth."""
    margin = " " * INDENT * depth
    return textwrap.fill(
        text,
        max(WIDTH, len(margin) + 40),
        initial_indent=margin,
        subsequent_indent=margin + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def as_text(loop: Loop) -> str:
    """The paragraph of a loop."""
    sentences = [
        f"{loop.name}{placed(loop.location, loop.source, loop.op_name)} {_runs(loop.trips, loop.form)}.",
        *_unrollers(loop.verdicts),
        _lowering(loop),
        _communication(loop.iteration.communication, loop.run.communication),
        _work(loop),
    ]
    return wrapped(" ".join(sentences), loop.depth)


def placed(location: str, *more: str) -> str:
    """` (line 12, model.py:33)`, without what is empty."""
    line = location.rsplit(":", 2)[-2] if location else ""
    said = ", ".join(filter(None, (f"line {line}" if line else "", *more)))
    return f" ({said})" if said else ""


# Trips


def _runs(trips: TripCount | Unknown, form: LoopForm) -> str:
    if isinstance(trips, TripCount):
        return times(trips.count) + _counted(trips)
    if trips.reason == NEVER_EXITS:
        return f"never ends: {trips.detail}"
    match form:
        case Static():
            return f"{times(form.count)}, as the ranges of its counter and its bound show"
        case Dynamic():
            return f"runs {_condition(form)}, in steps of {form.step}; {_at_run_time(form)}"
        case DoWhile():
            return f"runs as often as only a run can tell: {form.reason}"


def _condition(form: Dynamic) -> str:
    return f"while slot {slot_text(form.slot)} {WRITTEN[form.compare]} {_operand(form.bound)}"


def _at_run_time(form: Dynamic) -> str:
    if isinstance(form.bound, int):
        return "the start is known at run time"
    if isinstance(form.start, int):
        return f"it starts at {form.start}, and the bound is known at run time"
    return "start and bound are known at run time"


def times(count: int) -> str:
    """`runs 3 times`."""
    return {0: "never runs", 1: "runs once", 2: "runs twice"}.get(count, f"runs {count} times")


def _counted(trips: TripCount) -> str:
    slot = "" if trips.slot is None else f"slot {trips.slot} of its state"
    if trips.how == "simulated":
        what = f"{slot}, from {trips.init}," if slot else "what its condition needs"
        return f", counted by running {what} and nothing else of it"
    if not slot or trips.step is None:
        return ", by closed form"
    if trips.compare is None:
        return f", by closed form: {slot} goes from {trips.init} in steps of {trips.step}"
    step = f"i -= {-trips.step}" if trips.step < 0 else f"i += {trips.step}"
    return f": i = {trips.init}; i {WRITTEN[trips.compare]} {trips.bound}; {step}, where i is {slot}"


# Unrollers


def _unrollers(verdicts: Mapping[str, Remark]) -> Iterator[str]:
    refusals = [said for said in verdicts.values() if said.kind == "missed"]
    if len(refusals) == len(verdicts) == 2 and refusals[0].code == refusals[1].code:
        yield f"Neither unroller would touch it [{refusals[0].code}]: {_clause(refusals[0].message)}."
        return
    if {said.code for said in verdicts.values()} == {"waits"}:
        yield f"Both unrollers would {_verdict(next(iter(verdicts.values())))}."
        return
    for name, said in verdicts.items():
        yield f"{name} would {_verdict(said)}."


def _verdict(said: Remark) -> str:
    facts = said.facts
    match said.code:
        case "unrolled":
            calls = _number(facts["trips"], "call")
            return f"replace it by {calls} of its body, {_number(facts['ops_after'], 'instruction')} in all"
        case "unrolled-wrapped":
            copies, size = _number(facts["copies"], "copy", "copies"), facts["body_instructions"]
            return f"put {copies} of its body, {size} instructions each, into a loop that runs once"
        case "never-runs" | "loop-dropped":
            return "put its initial value in its place"
        case "runs-once":
            return "leave it as it is, since it runs once already"
        case "waits":
            return "ask again, copy by copy, once the loop that its count depends on is unrolled"
        case code:
            return f"leave it alone [{code}]: {_clause(said.message)}"


def _clause(message: str) -> str:
    return message.rstrip(".")


# Lowering


def _lowering(loop: Loop) -> str:
    if isinstance(loop.form, Static) and not loop.form.count:
        return "In BIR nothing is left of it."
    if loop.refused is None:
        return f"In BIR it is {_form(loop.form)}"
    op, reason = loop.refused
    refusal = f"But {op.name.removeprefix('hlo.').replace('_', '-')} {name_of(op)} cannot be lowered: {reason}."
    return f"In BIR it would be {_form(loop.form)} {refusal}"


def _form(form: LoopForm) -> str:
    match form:
        case Static():
            return f"a bir.loop over range(0, {form.count}, 1)."
        case Dynamic():
            bounds = f"range({form.lb}, {_upper(form)}, {form.stride})"
            return f"a bir.dynamic_for_loop over {bounds}, where {_register(form)}.{_guards(form)}"
        case DoWhile():
            return f"a guard and a bir.do_while [{form.reason_code}]."


LETTERS = {"bound": "n", "start": "s", "distance": "d"}
"""What the register is called."""


def _upper(form: Dynamic) -> str:
    """`n`, `n + 1`, `10 - n`."""
    letter = LETTERS[form.register]
    if form.coeff < 0:
        return f"{form.const} - {letter}" if form.const else f"-{letter}"
    return letter + (f" {'-' if form.const < 0 else '+'} {abs(form.const)}" if form.const else "")


def _register(form: Dynamic) -> str:
    if form.distance is None:
        slot = form.bound if form.register == "bound" else form.start
        return f"{LETTERS[form.register]} is {_operand(slot)}, read into a register when the loop begins"
    far, near = (form.bound, form.start) if form.rising else (form.start, form.bound)
    steps = f"d = {_operand(far)} - {_operand(near)}{' + 1' if form.distance.extra else ''}"
    if form.distance.mask is not None:
        steps += f" modulo {form.distance.mask + 1}"
    if form.distance.tested:
        steps += f" (0 unless {_operand(form.start)} {WRITTEN[form.compare]} {_operand(form.bound)})"
    return f"{steps} is computed in a register"


def _operand(operand: Operand) -> str:
    return str(operand) if isinstance(operand, int) else f"slot {slot_text(operand)}"


def _guards(form: Dynamic) -> str:
    guards: list[str] = []
    if form.never_ends is not None:
        guards.append(
            f"{_operand(form.bound)} = {form.never_ends}, with which it never ends, goes to a loop without end"
        )
    if form.too_far:
        guards.append("a distance of 2**31 or more goes to bir.exit")
    return f" In front of it, {' and '.join(guards)}." if guards else ""


# Costs


def _communication(iteration: Communication, run: Communication) -> str:
    if not iteration:
        return "It has no collectives."
    parts = _listed([_traffic(opcode, traffic) for opcode, traffic in iteration.items()])
    return f"An iteration runs {parts}; a run of the loop moves {_bytes(_sum(run))}."


def _sum(communication: Communication) -> Amount:
    return reduce(Amount.__add__, (traffic.bytes for traffic in communication.values()), Amount())


def _traffic(opcode: str, traffic: Traffic) -> str:
    runs = _constant(traffic.runs)
    if runs is None:
        return f"{opcode} {traffic.runs} times ({_bytes(traffic.bytes)})"
    return f"{_number(runs, opcode)} ({_bytes(traffic.bytes)})"


def _work(loop: Loop) -> str:
    one, all = loop.iteration.work, loop.run.work
    text = f"An iteration executes {_instructions(one.instructions)}, computes {_operations(one.flops)}"
    text += f" and moves {_bytes(one.bytes)}"
    trips = loop.trips.count if isinstance(loop.trips, TripCount) else None
    if trips in (0, 1) or (isinstance(loop.trips, Unknown) and loop.trips.reason == NEVER_EXITS):
        return f"{text}."
    if trips is None:
        return f"{text}, times trips({loop.name})."
    run = f"{_instructions(all.instructions)}, {_operations(all.flops)} and {_bytes(all.bytes)}"
    return f"{text}; all {trips} together {run}."


def _instructions(amount: Amount) -> str:
    number = _constant(amount)
    return f"{amount} instructions" if number is None else _number(number, "instruction")


def _operations(amount: Amount) -> str:
    number = _constant(amount)
    return f"{amount} flops" if number is None else spelled_flops(number)


def _bytes(amount: Amount) -> str:
    number = _constant(amount)
    return f"{amount} bytes" if number is None else spelled_bytes(number)


def _constant(amount: Amount) -> int | None:
    """The number that an amount is, None for a formula."""
    return None if any(amount.terms) else amount.terms.get((), 0)


def spelled_flops(number: int) -> str:
    """`12.3 Mflops`; exact below ten thousand."""
    if number < 10_000:
        return _number(number, "flop")
    power = min((len(str(number)) - 1) // 3, 4)
    return f"{number / 10 ** (3 * power):.1f} {'kMGT'[power - 1]}flops"


def _number(count: object, noun: str, nouns: str = "") -> str:
    return f"{count} {noun if count == 1 else nouns or noun + 's'}"


def _listed(parts: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
