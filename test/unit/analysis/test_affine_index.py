"""Integers in loop bodies as affine expressions of induction variables; expected ones are worked out by hand."""

import pytest

from xneuron.analysis.affine_index import AffineIndex, Axis, Entry, Term
from xneuron.analysis.loop_forms import LoopForms
from xneuron.analysis.value_range import Interval
from xneuron.dialects.hlo.base import body_of
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.formats.hlo_text.parser import parse_hlo

TEXT = """HloModule m
twice {{ a = s32[] parameter(0)
  ROOT r = s32[] add(a, a) }}
body {{ p = (s32[], s32[], s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  k = s32[] get-tuple-element(p), index=2
  y = s32[] get-tuple-element(p), index=3
  zero = s32[] constant(0)
  one = s32[] constant(1)
  five = s32[] constant(5)
  eight = s32[] constant(8)
  {lines}
  i2 = s32[] add(i, {step})
  k2 = s32[] subtract(k, five)
  y2 = s32[] multiply(y, y)
  ROOT t = (s32[], s32[], s32[], s32[]) tuple(i2, n, k2, y2) }}
cond {{ p = (s32[], s32[], s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  eight = s32[] constant(8)
  ROOT c = pred[] compare(i, {bound}), direction=LT }}
ENTRY main {{
  q = s32[] parameter(0)
  n = s32[] parameter(1)
  low = s32[] constant(0)
  high = s32[] constant(6)
  near = s32[] clamp(low, q, high)
  zero = s32[] constant(0)
  ten = s32[] constant(10)
  t = (s32[], s32[], s32[], s32[]) tuple({start}, n, ten, q)
  ROOT while = (s32[], s32[], s32[], s32[]) while(t), condition=cond, body=body }}
"""


def indices(
    *lines: str, start: str = "zero", bound: str = "eight", step: str = "one"
) -> tuple[WhileOp, dict[str, AffineIndex | None]]:
    """The loop, and what the integers of its body are by name."""
    module = parse_hlo(TEXT.format(lines="\n  ".join(lines), start=start, bound=bound, step=step))
    (loop,) = (op for op in module.walk() if isinstance(op, WhileOp))
    forms = LoopForms(module)
    results = [result for op in list(body_of(loop.body).ops)[:-2] for result in op.results]
    return loop, {str(r.name_hint): forms.affine_of(r) for r in results}


def index(*lines: str, **parts: str) -> tuple[int, int, tuple[int, int]] | None:
    """Constant, coefficient of the induction variable and range of the last line's value, called x."""
    loop, found = indices(*lines, **parts)
    if (x := found["x"]) is None:
        return None
    assert {term for term, _ in x.terms} <= {Axis(loop)}
    return x.const, x.coeff(Axis(loop)), x.range


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["x = s32[] copy(i)"], (0, 1, (0, 7))),
        (["x = s32[] add(i, five)"], (5, 1, (5, 12))),
        (["x = s32[] subtract(eight, i)"], (8, -1, (1, 8))),
        (["x = s32[] multiply(five, i)"], (0, 5, (0, 35))),
        (["x = s32[] negate(i)"], (0, -1, (-7, 0))),
        (["a = s32[] multiply(i, eight)", "x = s32[] add(a, i)"], (0, 9, (0, 63))),
        (["x = s32[] shift-left(i, five)"], (0, 32, (0, 224))),
        (["a = s8[] convert(i)", "x = s32[] convert(a)"], (0, 1, (0, 7))),
        (["a = u32[] convert(i)", "x = u32[] copy(a)"], (0, 1, (0, 7))),
        (["a = s32[1] reshape(i)", "x = s32[] reshape(a)"], (0, 1, (0, 7))),
        (["x = s32[] call(i), to_apply=twice"], (0, 2, (0, 14))),
        (
            ["c = pred[] compare(i, zero), direction=LT", "a = s32[] add(i, n)", "x = s32[] select(c, a, i)"],
            (0, 1, (0, 7)),
        ),
        (["x = s32[] clamp(zero, i, eight)"], (0, 1, (0, 7))),
        (["x = s32[] maximum(i, zero)"], (0, 1, (0, 7))),
        (["x = s32[] minimum(eight, i)"], (0, 1, (0, 7))),
        (["x = s32[] remainder(i, eight)"], (0, 1, (0, 7))),
        (["x = s32[] divide(i, one)"], (0, 1, (0, 7))),
        (["m = s32[] constant(15)", "x = s32[] and(i, m)"], (0, 1, (0, 7))),
        (["x = s32[] divide(i, eight)"], (0, 0, (0, 0))),
        (["x = s32[] copy(k)"], (10, -5, (-25, 10))),
        (["x = s32[] add(five, five)"], (10, 0, (10, 10))),
        # Something changes, or may:
        (["x = s32[] minimum(five, i)"], None),
        (["x = s32[] remainder(i, five)"], None),
        (["m = s32[] constant(6)", "x = s32[] and(i, m)"], None),
        (["x = s32[] multiply(i, i)"], None),
        (["x = s32[] copy(y)"], None),
        (["a = s32[] constant(400000000)", "x = s32[] multiply(i, a)"], None),
        (["c = pred[] compare(i, five), direction=LT", "x = s32[] select(c, i, five)"], None),
    ],
)
def test_in_a_counted_loop(lines: list[str], expected: tuple[int, int, tuple[int, int]] | None) -> None:
    """The counter is 0 to 7, slot 2 is 10, 5, …, -25."""
    assert index(*lines) == expected


def test_a_runtime_scalar_that_stays() -> None:
    loop, found = indices()
    assert found["n"] == AffineIndex(0, ((Entry(loop, (1,)), 1),), Interval(-(2**31), 2**31 - 1))


def test_a_runtime_scalar_may_wrap() -> None:
    assert index("x = s32[] add(i, n)") is None


def test_a_runtime_start() -> None:
    """From 0 to 6, known when the loop is entered, while < 8: counter = start + iv."""
    loop, found = indices("x = s32[] add(i, five)", start="near")
    terms: tuple[tuple[Term, int], ...] = ((Entry(loop, (0,)), 1), (Axis(loop), 1))
    assert found["i"] == AffineIndex(0, terms, Interval(0, 7))
    assert found["x"] == AffineIndex(5, terms, Interval(5, 12))


def test_a_runtime_bound() -> None:
    assert index("x = s32[] copy(i)", bound="n") == (0, 1, (0, 2**31 - 2))
    assert index("x = s32[] add(i, one)", bound="n") == (1, 1, (1, 2**31 - 1))
    assert index("x = s32[] add(i, five)", bound="n") is None


def test_start_and_bound_at_run_time() -> None:
    """Where the distance fits in the register, which a guard asks for, the induction variable fits, too."""
    loop, found = indices(start="q", bound="n")
    assert found["i"] == AffineIndex(0, ((Entry(loop, (0,)), 1), (Axis(loop), 1)), Interval(-(2**31), 2**31 - 2))


def test_another_slot_in_a_loop_that_steps_by_more() -> None:
    """The loop of a runtime start that goes up by 5 has stride 5, so that slot 2 goes by -1 for each unit of iv."""
    loop, found = indices(start="near", step="five")
    assert found["k"] == AffineIndex(10, ((Axis(loop), -1),), Interval(3, 10))
    # By 8, there is no whole number of -5 for each unit.
    assert indices(start="near", step="eight")[1]["k"] is None


def test_nothing_counts_a_loop_to_convergence() -> None:
    module = parse_hlo(
        TEXT.format(lines="", start="zero", bound="eight", step="one").replace(
            "ROOT c = pred[] compare(i, eight), direction=LT",
            "y = s32[] get-tuple-element(p), index=3\n  ROOT c = pred[] compare(y, n), direction=LT",
        )
    )
    (loop,) = (op for op in module.walk() if isinstance(op, WhileOp))
    i = next(result for op in body_of(loop.body).ops for result in op.results if result.name_hint == "i")
    assert LoopForms(module).affine_of(i) is None
