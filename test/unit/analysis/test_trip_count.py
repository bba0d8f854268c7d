"""Trip counts of loops as real HLO writes them; expected numbers are worked out by hand."""

import pytest
from counted_loops import count, loops, nested, simple

from xneuron.analysis.trip_count import TripCount, trip_count


# xla-semantics.md a.11, right column.
@pytest.mark.parametrize(
    ("type", "init", "direction", "bound", "step", "expected"),
    [
        pytest.param("s32", 0, "LT", 1, 2, 1, id="B1"),
        pytest.param("s32", -5, "LT", 0, 2, 3, id="B1b"),
        pytest.param("s32", -10, "LT", -3, 2, 4, id="B1c"),
        pytest.param("s32", 5, "LT", 2, 4, 0, id="B1d"),
        pytest.param("s32", 3, "LT", 2, 2, 0, id="B1d'"),
        pytest.param("s32", 1, "LE", 0, 2, 0, id="B1e"),
        pytest.param("s32", 5, "LE", 2, 4, 0, id="B1e'"),
        pytest.param("s64", 0, "LT", 2**53 + 1, 2, 4503599627370497, id="B1f"),
        pytest.param("s32", 0, "LT", 6, 2, 3, id="B2"),
        pytest.param("u32", 0, "LT", 10, 1, 10, id="B3 u32"),
        pytest.param("s8", 0, "LT", 10, 1, 10, id="B3 s8"),
        pytest.param("u8", 250, "LT", 255, 3, 87, id="B4"),
        pytest.param("s8", 125, "LT", 127, 3, 86, id="B4b"),
        pytest.param("u8", 0, "LE", 255, 1, "never-exits", id="B4c"),
        pytest.param("s8", 0, "LE", 127, 1, "never-exits", id="B4c'"),
        pytest.param("s8", 120, "LT", 127, 10, "never-exits", id="B4d"),
        pytest.param("u32", 5, "LT", 6, 4294967295, 6, id="B4e"),
        pytest.param("s32", 0, "GT", 5, 1, 0, id="B6"),
        pytest.param("s32", 10, "LT", 3, 1, 0, id="B7"),
        pytest.param("s32", 0, "NE", 7, 0, "never-exits", id="step 0"),
        pytest.param("s32", 0, "NE", 7, 2, "never-exits", id="steps over"),
        pytest.param("u64", 0, "LT", 2**64 - 1, 1, 2**64 - 1, id="u64"),
        pytest.param("s4", -8, "NE", 7, 5, 3, id="s4"),
        pytest.param("u2", 0, "NE", 3, 1, 3, id="u2"),
        pytest.param("s8", 100, "GE", 0, 1, 28, id="leaves by wrapping"),
    ],
)
def test_additive(type: str, init: int, direction: str, bound: int, step: int, expected: int | str) -> None:
    assert count(simple(type, init, direction, bound, step)) == expected


def test_compare_with_the_bound_first() -> None:
    """B6 again: `5 < i` from 0 fails at once."""
    assert count(simple(cond="ROOT c = pred[] compare(b, i), direction=LT", bound=5)) == 0
    assert count(simple(cond="ROOT c = pred[] compare(b, i), direction=GE", bound=5)) == 6


# The end of xla-semantics.md a.11, and their like: false negatives of upstream. Lines are separated by `;`.
BEATEN: dict[str, tuple[int, dict[str, str]]] = {
    "two adds": (5, {"body": "m = s32[] add(i, k); n = s32[] add(m, k)"}),
    "bound is an expression": (
        10,
        {"cond": "f = s32[] constant(5); d = s32[] add(f, f); ROOT c = pred[] compare(i, d), direction=LT"},
    ),
    "bound is a reduction": (
        6,
        {
            "cond": "f = s32[3] constant({1, 2, 3}); z = s32[] constant(0); "
            "d = s32[] reduce(f, z), dimensions={0}, to_apply=plus; ROOT c = pred[] compare(i, d), direction=LT",
            "more": "plus { a = s32[] parameter(0); b = s32[] parameter(1); ROOT s = s32[] add(a, b) }",
        },
    ),
    "shifted": (0, {"cond": "s = s32[] add(i, b); ROOT c = pred[] compare(s, b), direction=LT"}),
    "net step": (10, {"body": "m = s32[] subtract(i, k); l = s32[] constant(2); n = s32[] add(l, m)"}),
    "init is an expression": (
        7,
        {"start": "c0 = s32[] constant(-3); c1 = s32[] negate(c0); z = s32[] constant(0); i0 = s32[] add(c1, z)"},
    ),
    "adds in a wider type": (
        10,
        {"body": "w = s64[] convert(i); o = s64[] constant(1); a = s64[] add(w, o); n = s32[] convert(a)"},
    ),
    "compares in a wider type": (
        10,
        {"cond": "w = s64[] convert(i); d = s64[] constant(10); ROOT c = pred[] compare(w, d), direction=LT"},
    ),
    "two conditions": (
        7,
        {
            "cond": "d = s32[] constant(7); e = pred[] compare(i, b), direction=LT; "
            "f = pred[] compare(i, d), direction=NE; ROOT c = pred[] and(e, f)"
        },
    ),
    "not": (10, {"cond": "e = pred[] compare(i, b), direction=GE; ROOT c = pred[] not(e)"}),
    "one element": (
        10,
        {
            "body": "o = s32[1] constant({1}); v = s32[1] reshape(i); a = s32[1] add(v, o); n = s32[] reshape(a)",
            "cond": "d = s32[1] constant({10}); v = s32[1] reshape(i); e = pred[1] compare(v, d), direction=LT; "
            "ROOT c = pred[] reshape(e)",
        },
    ),
    "barrier": (10, {"body": "b1 = s32[] opt-barrier(i); n = s32[] add(b1, k)"}),
    "asynchronous copy": (
        10,
        {"body": "s = (s32[], s32[], u32[]) copy-start(i); d = s32[] copy-done(s); n = s32[] add(d, k)"},
    ),
}


@pytest.mark.parametrize(("expected", "parts"), BEATEN.values(), ids=BEATEN)
def test_found_where_upstream_finds_nothing(expected: int, parts: dict[str, str]) -> None:
    text = simple(**{key: value.replace("; ", "\n") for key, value in parts.items()})
    found = trip_count(loops(text)["while"])
    assert isinstance(found, TripCount)
    assert (found.count, found.how) == (expected, "closed-form")


def test_fused_double_increment() -> None:
    more = "two { a = s32[] parameter(0)\n o = s32[] constant(1)\n m = s32[] add(a, o)\n ROOT n2 = s32[] add(m, o) }"
    text = simple(init=2, bound=7, body="n = s32[] fusion(i), kind=kLoop, calls=two", more=more)
    assert count(text) == 3


def test_whole_state_through_a_fusion() -> None:
    """A fusion that copies the tuple, around the update."""
    text = """HloModule m
copied {
  q = (s32[], f32[4]) parameter(0)
  a = s32[] get-tuple-element(q), index=0
  b = f32[4] get-tuple-element(q), index=1
  a1 = s32[] copy(a)
  b1 = f32[4] copy(b)
  ROOT t1 = (s32[], f32[4]) tuple(a1, b1)
}
body {
  p = (s32[], f32[4]) parameter(0)
  f = (s32[], f32[4]) fusion(p), kind=kLoop, calls=copied
  i = s32[] get-tuple-element(f), index=0
  x = f32[4] get-tuple-element(f), index=1
  k = s32[] constant(1)
  n = s32[] add(i, k)
  t2 = (s32[], f32[4]) tuple(n, x)
  ROOT g = (s32[], f32[4]) fusion(t2), kind=kLoop, calls=copied
}
cond {
  p = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  b = s32[] constant(10)
  ROOT c = pred[] compare(i, b), direction=LT
}
ENTRY main {
  x0 = f32[4] parameter(0)
  i0 = s32[] constant(0)
  t = (s32[], f32[4]) tuple(i0, x0)
  t3 = (s32[], f32[4]) fusion(t), kind=kLoop, calls=copied
  ROOT while = (s32[], f32[4]) while(t3), condition=cond, body=body
}
"""
    assert count(text) == 10


def test_markers_around_the_state() -> None:
    """A marker as the body's root, and one that packs several values."""
    text = simple().replace(
        "ROOT r = (s32[], f32[]) tuple(n, x)",
        """q = (s32[], f32[]) tuple(n, x)
  ROOT r = (s32[], f32[]) custom-call(q), custom_call_target="NeuronBoundaryMarker-End\"""",
    )
    assert count(text) == 10
    packing = text.replace("tuple(i0, x0)", 'custom-call(i0, x0), custom_call_target="NeuronBoundaryMarker-Start"')
    assert count(packing) == 10


def test_pred_arithmetic_is_not_modular() -> None:
    """`add` on preds is `or`; an array of preds is no truth value."""
    cond = "e = pred[] compare(i, b), direction=LT\n d = pred[] constant(true)\n ROOT c = pred[] add(e, d)"
    assert count(simple(cond=cond)) == "too-many-iterations"
    cond = ("d = pred[2] constant({1, 0})\n h = pred[1] slice(d), slice={[0:1]}\n g = pred[] reshape(h)\n"
            "e = pred[] compare(i, b), direction=LT\n ROOT c = pred[] and(e, g)")  # fmt: skip
    assert count(simple(cond=cond)) == 10


def test_condition_and_body_are_calls() -> None:
    """JAX outlines bodies; a function called in two places is looked at in each."""
    text = """HloModule m
inc {
  a = s32[] parameter(0)
  o = s32[] constant(1)
  ROOT s = s32[] add(a, o)
}
step {
  p = (s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  m = s32[] call(i), to_apply=inc
  n = s32[] call(m), to_apply=inc
  ROOT r = (s32[]) tuple(n)
}
body {
  p = (s32[]) parameter(0)
  ROOT r = (s32[]) call(p), to_apply=step
}
less {
  p = (s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  b = s32[] constant(9)
  ROOT c = pred[] compare(i, b), direction=LT
}
cond {
  p = (s32[]) parameter(0)
  ROOT r = pred[] call(p), to_apply=less
}
ENTRY main {
  i0 = s32[] constant(0)
  t = (s32[]) tuple(i0)
  ROOT while = (s32[]) while(t), condition=cond, body=body
}
"""
    assert count(text) == 5


def test_condition_reads_a_table() -> None:
    """An array that is looked up by the counter: not a comparison with a constant, so it is run."""
    cond = """d = pred[8] constant({1,1,1,1,1,0,1,1})
  s = pred[1] dynamic-slice(d, i), dynamic_slice_sizes={1}
  ROOT c = pred[] reshape(s)"""
    found = trip_count(loops(simple(cond=cond))["while"])
    assert isinstance(found, TripCount)
    assert (found.count, found.how, found.step) == (5, "simulated", 1)


def test_bound_that_an_outer_loop_carries_unchanged() -> None:
    assert count(nested("n"), "inner") == 4
    assert count(nested("n"), "outer") == 3


def test_bound_that_changes_with_an_outer_loop() -> None:
    assert count(nested("i"), "inner") == "bound-not-constant"


def test_bound_from_a_parameter() -> None:
    assert count(nested("n", "s32[] copy(a)"), "inner") == "bound-not-constant"
    assert count(nested("n", "s32[] copy(a)"), "outer") == 3


def test_bound_that_passes_through_an_inner_loop() -> None:
    """The outer loop's own bound goes through the inner loop's state, unchanged."""
    text = nested("n").replace("tuple(i1, n)", "tuple(i1, m)")
    text = text.replace("b = s32[] constant(3)", "b = s32[] get-tuple-element(p), index=1")
    assert count(text, "outer") == 4


def test_loop_in_a_function_with_one_call() -> None:
    text = (
        simple().replace("ENTRY main {", "loop {").replace("  i0 = s32[] constant(0)\n", "  i0 = s32[] parameter(1)\n")
    )
    entry = """ENTRY main {
  x = f32[] parameter(0)
  seven = s32[] constant(7)
  ROOT r = (s32[], f32[]) call(x, seven), to_apply=loop
}
"""
    twice = entry.replace("ROOT r =", "r =").replace("}", "  ROOT s = (s32[], f32[]) call(x, seven), to_apply=loop\n}")
    assert count(text + entry) == 3
    assert count(text + twice) == "init-not-constant"


def test_scalar_state() -> None:
    text = """HloModule m
body {
  i = s32[] parameter(0)
  o = s32[] constant(-1)
  ROOT n = s32[] add(i, o)
}
cond {
  i = s32[] parameter(0)
  b = s32[] constant(0)
  ROOT c = pred[] compare(i, b), direction=NE
}
ENTRY main {
  i0 = s32[] constant(12)
  ROOT while = s32[] while(i0), condition=cond, body=body
}
"""
    found = trip_count(loops(text)["while"])
    assert found == TripCount(12, "closed-form", None, 12, -1, "NE", 0)


def test_nested_tuple_state() -> None:
    text = """HloModule m
body {
  p = (f32[], (s32[], s32[])) parameter(0)
  x = f32[] get-tuple-element(p), index=0
  q = (s32[], s32[]) get-tuple-element(p), index=1
  i = s32[] get-tuple-element(q), index=1
  k = s32[] get-tuple-element(q), index=0
  n = s32[] add(i, k)
  u = (s32[], s32[]) tuple(k, n)
  ROOT r = (f32[], (s32[], s32[])) tuple(x, u)
}
cond {
  p = (f32[], (s32[], s32[])) parameter(0)
  q = (s32[], s32[]) get-tuple-element(p), index=1
  i = s32[] get-tuple-element(q), index=1
  b = s32[] constant(10)
  ROOT c = pred[] compare(i, b), direction=LT
}
ENTRY main {
  x0 = f32[] parameter(0)
  c0 = (s32[], s32[]) constant((3, 0))
  t = (f32[], (s32[], s32[])) tuple(x0, c0)
  ROOT while = (f32[], (s32[], s32[])) while(t), condition=cond, body=body
}
"""
    assert count(text) == 4
