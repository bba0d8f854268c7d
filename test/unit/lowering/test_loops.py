"""Forms of loops that are rare: very long ones, guards, and bounds on both sides."""

from __future__ import annotations

import lowered
import numpy as np
import pytest
from xdsl.context import Context

from xneuron.execution.errors import EvaluationError
from xneuron.formats.hlo_text import parse_hlo
from xneuron.interpreters.evaluator import Program as Evaluator
from xneuron.lowering.convert_hlo_to_bir import lower
from xneuron.remarks import collect
from xneuron.simulator.program import Program as Simulator

INT_MIN, INT_MAX = -(2**31), 2**31 - 1


def loop(type: str, direction: str, update: str, start: str = "first", bound: str = "last") -> str:
    """Counts its iterations: `first` and `last` are parameters, the result is the counter and the count."""
    state = f"({type}, {type}, s32[])"
    return f"""HloModule m
cond {{ p = {state} parameter(0)
  i = {type} get-tuple-element(p), index=0
  n = {type} get-tuple-element(p), index=1
  ROOT c = pred[] compare(i, n), direction={direction} }}
body {{ p = {state} parameter(0)
  i = {type} get-tuple-element(p), index=0
  n = {type} get-tuple-element(p), index=1
  count = s32[] get-tuple-element(p), index=2
  one = s32[] constant(1)
  more = s32[] add(count, one)
  step = {type} constant({update.split()[1]})
  next = {type} {update.split()[0]}(i, step)
  ROOT t = {state} tuple(next, n, more) }}
ENTRY e {{
  first = {type} parameter(0)
  last = {type} parameter(1)
  zero = s32[] constant(0)
  start = {type} {start if "(" in start else f"copy({start})"}
  bound = {type} {bound if "(" in bound else f"copy({bound})"}
  t = {state} tuple(start, bound, zero)
  w = {state} while(t), condition=cond, body=body
  i = {type} get-tuple-element(w), index=0
  n = s32[] get-tuple-element(w), index=2
  ROOT r = ({type}, s32[]) tuple(i, n) }}"""


def opcodes(text: str) -> set[str]:
    return {op.name for op in lowered.lowered(text).walk()}


def remarks(text: str) -> list[tuple[str, str]]:
    with collect() as found:
        lower(Context(), parse_hlo(text, "m.hlo"))
    return [(remark.code, str(remark.facts.get("reason", ""))) for remark in found if remark.code.startswith("lowered")]


EDGES = [-5, -1, 0, 1, 3, 7]


def agree_on(text: str, ends: list[tuple[np.generic, np.generic]]) -> None:
    """As `lowered.agree`, for many inputs of one program."""
    module, structured = parse_hlo(text, "m.hlo"), lowered.lowered(text)
    evaluator, forms = Evaluator(module), [structured, lowered.branched(structured)]
    simulators = [Simulator(form, strict=True) for form in forms]
    for first, last in ends:
        expected = list(lowered.flat(evaluator.run(first, last)))
        for simulator in simulators:
            found = simulator.run({"first": np.array([first]), "last": np.array([last])}).outputs.values()
            assert [x.item() for x in expected] == [x.item() for x in found], (first, last)


@pytest.mark.parametrize(
    ("direction", "update"),
    [("LT", "add 1"), ("GT", "subtract 1"), ("LE", "add 1"), ("GE", "subtract 1"), ("NE", "add 1"), ("NE", "add -1")],
)
def test_both_ends_at_run_time(direction: str, update: str) -> None:
    text = loop("s32[]", direction, update)
    assert "bir.dynamic_for_loop" in opcodes(text)
    falls = "subtract" in update or "-1" in update
    ends = [(first, last) for first in EDGES for last in EDGES]
    if direction == "NE":  # the other way round there are nearly 2**32 iterations
        ends = [(first, last) for first, last in ends if first == last or (first > last) == falls]
    agree_on(text, [(np.int32(first), np.int32(last)) for first, last in ends])


@pytest.mark.parametrize(
    ("direction", "update", "first", "last"),
    [
        ("LT", "add 1", INT_MAX - 3, INT_MAX),
        ("GT", "subtract 1", INT_MIN + 3, INT_MIN),
        ("LE", "add 1", INT_MAX - 4, INT_MAX - 1),
        ("GE", "subtract 1", INT_MIN + 4, INT_MIN + 1),
        ("NE", "add 1", INT_MAX - 2, INT_MIN + 2),  # wraps, in five iterations
        ("NE", "subtract 1", INT_MIN + 2, INT_MAX - 2),
    ],
)
def test_the_ends_of_the_integers(direction: str, update: str, first: int, last: int) -> None:
    lowered.agree(loop("s32[]", direction, update), np.int32(first), np.int32(last))


@pytest.mark.parametrize("type", ["s8[]", "s16[]", "u8[]", "u16[]"])
def test_narrow_counters(type: str) -> None:
    dtype = np.dtype({"s": "int", "u": "uint"}[type[0]] + type[1:-2])
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    text = loop(type, "LT", "add 1")
    assert "bir.dynamic_for_loop" in opcodes(text)
    ends = [(high - 3, high), (low, low + 4), (5, 2), (0, 0)]
    agree_on(text, [(dtype.type(first), dtype.type(last)) for first, last in ends])


def test_a_loop_that_never_ends_never_ends_on_any_level() -> None:
    """`i <= INT_MAX` is always true."""
    text = loop("s32[]", "LE", "add 1")
    ends = np.int32(0), np.int32(INT_MAX)
    structured = lowered.lowered(text)
    for module in (structured, lowered.branched(structured)):
        with pytest.raises(EvaluationError, match="did not end after 1000 iterations"):
            lowered.run_bir(module, ends, [np.int32(0)] * 2, max_iterations=1000)


def test_a_distance_that_no_register_holds_is_an_abort() -> None:
    text = loop("s32[]", "LT", "add 1")
    with pytest.raises(EvaluationError, match="InstExit"):
        lowered.run_bir(lowered.lowered(text), (np.int32(INT_MIN), np.int32(INT_MAX)), [np.int32(0)] * 2)


def test_a_step_that_may_step_over_the_end_is_tested_each_time() -> None:
    text = loop("s32[]", "LT", "add 3")
    assert remarks(text) == [("lowered-to-do-while", "counter-may-wrap")]
    agree_on(text, [(np.int32(first), np.int32(last)) for first, last in [(0, 10), (5, 5), (-4, 4), (9, 3)]])


def test_a_bound_of_known_range_allows_larger_steps() -> None:
    text = loop("s32[]", "LT", "add 3", bound="and(last, hundred)").replace(
        "  bound =", "  hundred = s32[] constant(127)\n  bound ="
    )
    assert "bir.dynamic_for_loop" in opcodes(text)
    agree_on(text, [(np.int32(first), np.int32(last)) for first, last in [(0, 10), (5, 5), (-4, 4), (9, 3), (0, -1)]])


def test_more_trips_than_an_axis_has() -> None:
    """A counted loop of 2**31 iterations: known, but no bound of a `bir.loop`."""
    text = loop("s32[]", "NE", "add 1", start="constant(0)", bound="constant(-2147483648)")
    assert remarks(text) == [("lowered-to-do-while", "trips-beyond-axis")]


@pytest.mark.parametrize(("start", "bound"), [("first", "constant(4294967294)"), ("constant(4294967293)", "last")])
def test_a_number_that_only_an_unsigned_register_holds(start: str, bound: str) -> None:
    """The distance of u32 counters wraps, so it is the same by signed numbers."""
    text = loop("u32[]", "NE", "add 1", start, bound)
    assert "bir.dynamic_for_loop" in opcodes(text)
    lowered.agree(text, np.uint32(4294967290), np.uint32(1))
