"""`while_loop_unroller`: every form of a short loop computes what the loop computes; budgets, counters, memory."""

from dataclasses import replace

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xneuron.analysis.boundary_markers import is_loop_marker
from xneuron.analysis.trip_count import TripCount, trip_count
from xneuron.analysis.verification import verify_module
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.formats.hlo_text.parser import parse_hlo
from xneuron.formats.hlo_text.printer import print_hlo
from xneuron.interpreters.evaluator import Program
from xneuron.remarks import Remark, collect
from xneuron.transforms.neuron_add_boundary_marker import DISABLE
from xneuron.transforms.while_loop_unroller import WhileLoopUnroller

WRAPPED = WhileLoopUnroller()
FULL = WhileLoopUnroller(wrap_in_trivial_loop=False)


def by(factor: int) -> WhileLoopUnroller:
    return WhileLoopUnroller(unroll_factor=factor)


def program(type: str, init: int, step: int, direction: str, bound: int, operation: str = "add") -> str:
    """Records where the counter was: `s[slice] += x * i`, and a slot that is swapped with another each time."""
    return f"""HloModule recording
body {{
  p = (f32[3], {type}[], f32[3], s32[2]) parameter(0)
  s = f32[3] get-tuple-element(p), index=0
  i = {type}[] get-tuple-element(p), index=1
  x = f32[3] get-tuple-element(p), index=2
  v = s32[2] get-tuple-element(p), index=3
  c = f32[] convert(i)
  d = f32[3] broadcast(c), dimensions={{}}
  y = f32[3] multiply(s, d)
  z = f32[3] add(x, y)
  j = s32[] convert(i)
  l = s32[2] broadcast(j), dimensions={{}}
  three = s32[] constant(3)
  k = s32[2] broadcast(three), dimensions={{}}
  m = s32[2] multiply(v, k)
  w = s32[2] xor(m, l)
  by = {type}[] constant({step})
  n = {type}[] {operation}(i, by)
  ROOT t = (f32[3], {type}[], f32[3], s32[2]) tuple(x, n, z, w)
}}
condition {{
  p = (f32[3], {type}[], f32[3], s32[2]) parameter(0)
  i = {type}[] get-tuple-element(p), index=1
  b = {type}[] constant({bound})
  ROOT c = pred[] compare(i, b), direction={direction}
}}
ENTRY main {{
  s = f32[3] parameter(0)
  x = f32[3] parameter(1)
  v = s32[2] parameter(2)
  i = {type}[] constant({init})
  t = (f32[3], {type}[], f32[3], s32[2]) tuple(s, i, x, v)
  ROOT loop = (f32[3], {type}[], f32[3], s32[2]) while(t), condition=condition, body=body
}}
"""


def unrolled(text: str, options: WhileLoopUnroller) -> ModuleOp:
    module = parse_hlo(text)
    options.apply(Context(), module)
    verify_module(module)
    return module


def bits(module: ModuleOp) -> list[bytes]:
    x = np.array([1, -2, 0.5], np.float32)
    outputs = Program(module, max_iterations=10_000).run(x, x + 1, np.array([5, -7], np.int32))
    return [np.asarray(value).tobytes() for value in outputs]


def whiles(module: ModuleOp) -> list[WhileOp]:
    return [op for op in module.walk() if isinstance(op, WhileOp)]


def remarks_of(text: str, options: WhileLoopUnroller) -> list[Remark]:
    with collect() as found:
        unrolled(text, options)
    return [remark for remark in found if remark.pass_name == WhileLoopUnroller.name and remark.kind != "analysis"]


@pytest.fixture(params=["marked", "unmarked"])
def markers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setenv(DISABLE, "0" if request.param == "marked" else "1")
    return request.param == "marked"


@pytest.fixture
def unmarked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DISABLE, "1")


@pytest.mark.parametrize("trips", range(13))
def test_every_factor_of_short_loops(trips: int, markers: bool) -> None:
    """Same results; as many copies, trips and markers as the factor says."""
    text = program("s32", -1, 2, "LT", 2 * trips - 1)
    expected = bits(parse_hlo(text))
    for factor in (*range(1, trips + 2), None, -1):
        module = unrolled(text, WRAPPED if factor is None else replace(FULL, unroll_factor=factor))
        assert bits(module) == expected, factor
        copies = sum(op.name == "hlo.multiply" for op in module.walk()) // 2
        rolled = [trip_count(loop) for loop in whiles(module)]
        if factor is None:
            assert copies == trips
            assert [c.count for c in rolled if isinstance(c, TripCount)] == ([1] if trips else [])
        elif factor == -1 or factor >= trips:
            assert copies == trips
            assert not rolled
        else:
            assert copies == factor + trips % factor
            assert [c.count for c in rolled if isinstance(c, TripCount)] == [trips // factor]
        if not (factor is None and trips == 1):
            assert sum(map(is_loop_marker, module.walk())) == (2 * copies if markers else 0)


COUNTERS = [
    ("s32", 10, 3, "GT", 0, "subtract", 4),
    ("s32", -9, 2, "LE", 3, "add", 7),
    ("s32", 0, 3, "NE", 15, "add", 5),
    ("s8", 120, 4, "NE", -116, "add", 5),  # wraps: 120, 124, -128, -124, -120
    ("s8", 120, 100, "NE", 108, "add", 5),  # 120, -36, 64, -92, 8: in no order at all
    ("u8", 250, 3, "NE", 9, "add", 5),
    ("u8", 12, 3, "GT", 0, "subtract", 4),
    ("u8", 3, 255, "NE", 0, "add", 3),  # 255 is -1
    ("u32", 5, 4294967295, "GE", 1, "add", 5),
    ("s64", -3, 1, "LT", 4, "add", 7),
    ("s16", 5, 1, "EQ", 5, "add", 1),
    ("s8", 126, 1, "GE", 126, "add", 2),  # 126, 127, then -128
    ("s8", -128, -1, "LT", 0, "add", 1),
]


@pytest.mark.parametrize(("type", "init", "step", "direction", "bound", "operation", "trips"), COUNTERS)
@pytest.mark.usefixtures("unmarked")
def test_counters_of_all_kinds(
    type: str, init: int, step: int, direction: str, bound: int, operation: str, trips: int
) -> None:
    text = program(type, init, step, direction, bound, operation)
    count = trip_count(whiles(parse_hlo(text))[0])
    assert isinstance(count, TripCount)
    assert count.count == trips
    expected = bits(parse_hlo(text))
    for options in (FULL, WRAPPED, *map(by, range(1, trips + 1))):
        assert bits(unrolled(text, options)) == expected, options


@pytest.mark.parametrize(
    ("options", "code", "text"),
    [
        ({"max_body_instructions": 17}, "max-body-instructions", "Too many instructions in the body: 18 vs 17"),
        ({"max_trip_count": 9}, "max-trip-count", "The trip count is greater than the threshold: 10 vs 9"),
        ({"max_total_instructions": 179}, "max-total-instructions", "New instruction count: 180 vs 179"),
        ({"max_body_instructions": 17, "max_trip_count": 9}, "max-body-instructions", "18 vs 17"),
        ({"max_trip_count": 9, "max_total_instructions": 9}, "max-trip-count", "10 vs 9"),
    ],
)
def test_budgets_are_strict_and_in_order(options: dict[str, int], code: str, text: str) -> None:
    rolled = program("s32", 0, 1, "LT", 10)
    (missed,) = remarks_of(rolled, WhileLoopUnroller(**options))
    assert (missed.kind, missed.code) == ("missed", code)
    assert missed.message.endswith(text)
    one_more = {key: value + 1 if value > 9 or key == "max_trip_count" else 180 for key, value in options.items()}
    assert [remark.kind for remark in remarks_of(rolled, WhileLoopUnroller(**one_more))] == ["passed"]


def test_defaults_are_the_reference() -> None:
    assert (WRAPPED.max_trip_count, WRAPPED.max_body_instructions, WRAPPED.max_total_instructions) == (
        1000,
        100_000,
        800_000,
    )
    assert WRAPPED.wrap_in_trivial_loop


def test_a_thousand_trips_yes_one_more_no() -> None:
    for trips, kind in ((1000, "passed"), (1001, "missed")):
        assert [remark.kind for remark in remarks_of(program("s32", 0, 1, "LT", trips), FULL)] == [kind]


def test_a_factor_is_budgeted_by_its_copies() -> None:
    """A million trips are no obstacle where four copies are made."""
    (passed,) = remarks_of(program("s32", 0, 1, "LT", 1_000_000), by(4))
    assert (passed.code, passed.facts["copies"], passed.facts["left_over"]) == ("unrolled-by-factor", 4, 0)


@pytest.mark.parametrize("factor", [0, -2])
def test_wrong_factor(factor: int) -> None:
    with pytest.raises(ValueError, match=f"expected unroll-factor -1 \\(in full\\) or at least 1, found {factor}"):
        by(factor)


@pytest.mark.usefixtures("unmarked")
def test_the_counter_is_a_constant_but_in_its_update() -> None:
    """Each copy's converts take a constant of the counter's type; the chain of adds ends in the final counter."""
    module = unrolled(program("u8", 7, 2, "LT", 13), FULL)
    text = print_hlo(module)
    assert [line.split("constant")[1] for line in text.splitlines() if ".i = u8[] constant" in line] == [
        "(7)",
        "(9)",
        "(11)",
    ]
    converts = [line for line in text.splitlines() if " convert(" in line]
    assert all(".i)" in line for line in converts)
    assert len(converts) == 6
    assert sum(" = u8[] add(" in line for line in text.splitlines()) == 3


@pytest.mark.parametrize("options", [WRAPPED, FULL])
def test_a_second_run_finds_nothing_to_do(options: WhileLoopUnroller) -> None:
    once = print_hlo(unrolled(program("s32", 0, 1, "LT", 5), options))
    assert not remarks_of(once, options)


@pytest.mark.usefixtures("unmarked")
def test_no_tuples_between_copies() -> None:
    text = print_hlo(unrolled(program("s32", 0, 1, "LT", 5), FULL))
    assert text.count(" tuple(") == 1
    assert "get-tuple-element" not in text
