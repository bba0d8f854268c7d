"""Trip counts found by running a loop, what is said of each, why there is none, and what it costs to tell."""

import pytest
from counted_loops import count, loops, nested, simple

from xneuron.analysis.call_graph import CallGraph
from xneuron.analysis.slices import Slicer
from xneuron.analysis.trip_count import REASONS, TripCount, Unknown, trip_count


@pytest.mark.parametrize(
    ("type", "init", "update", "bound", "expected"),
    [
        ("s32", 1, "multiply(i, k)", 100, 7),
        ("f32", 0, "add(i, k)", 10, 5),
        ("bf16", 0, "add(i, k)", 10, 5),
        ("u8", 1, "shift-left(i, k)", 64, 3),
        ("s32", -50, "divide(i, k)", 0, 6),
    ],
)
def test_simulated(type: str, init: int, update: str, bound: int, expected: int) -> None:
    text = simple(type, init, "LT", bound, 2, body=f"n = {type}[] {update}")
    found = trip_count(loops(text)["while"])
    assert isinstance(found, TripCount)
    assert (found.count, found.how) == (expected, "simulated")


def test_pred_counter() -> None:
    text = simple("pred", "true", body="n = pred[] not(i)", cond="ROOT c = pred[] copy(i)", step="false", bound="true")
    assert count(text) == 1


def test_several_slots_that_change() -> None:
    """`while i < j`: i goes up by 1, j down by 2, from 0 and 10; then two slots that swap."""
    text = """HloModule m
body {
  p = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  j = s32[] get-tuple-element(p), index=1
  o = s32[] constant(1)
  w = s32[] constant(2)
  i1 = s32[] add(i, o)
  j1 = s32[] subtract(j, w)
  ROOT r = (s32[], s32[]) tuple(i1, j1)
}
cond {
  p = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  j = s32[] get-tuple-element(p), index=1
  ROOT c = pred[] compare(i, j), direction=LT
}
ENTRY main {
  i0 = s32[] constant(0)
  j0 = s32[] constant(10)
  t = (s32[], s32[]) tuple(i0, j0)
  ROOT while = (s32[], s32[]) while(t), condition=cond, body=body
}
"""
    assert count(text) == 4
    assert count(text.replace("tuple(i1, j1)", "tuple(j, i)")) == 1


def test_facts() -> None:
    found = trip_count(loops(simple(init=10, direction="GT", bound=0, body="n = s32[] subtract(i, k)"))["while"])
    assert found == TripCount(10, "closed-form", slot=0, init=10, step=-1, compare="GT", bound=0)
    found = trip_count(loops(simple("u8", 10, "NE", 0, body="n = u8[] subtract(i, k)"))["while"])
    assert found == TripCount(10, "closed-form", slot=0, init=10, step=-1, compare="NE", bound=0)


def test_annotations_are_not_read() -> None:
    text = simple().replace("body=body\n}", 'body=body, backend_config={"known_trip_count":{"n":"99"}}\n}')
    assert "99" in text
    assert count(text) == 10


@pytest.mark.parametrize(("bound", "expected"), [(2**6, 6), (2**7, "too-many-iterations")])
def test_limit_of_simulation(bound: int, expected: int | str) -> None:
    """A loop that leaves after exactly the limit is counted."""
    assert count(simple(init=1, bound=bound, step=2, body="n = s32[] multiply(i, k)"), limit=6) == expected


def test_zero_trips_whatever_the_body_does() -> None:
    """The condition is false at once, so an update that cannot be followed does not matter."""
    body = 'n = s32[] custom-call(i), custom_call_target="f"'
    assert count(simple(bound=0, body=body)) == 0
    assert count(simple(bound=1, body=body)) == "update-opaque"


def test_a_state_that_repeats_never_ends() -> None:
    """i = 0 stays 0 under multiplication; 3 - i goes back and forth."""
    assert count(simple(body="n = s32[] multiply(i, k)", step=2)) == "never-exits"
    assert count(simple(body="n = s32[] subtract(k, i)", step=3)) == "never-exits"


VECTOR = """HloModule vector
body {
  p = (s32[2]) parameter(0)
  i = s32[2] get-tuple-element(p), index=0
  k = s32[2] constant({1, 1})
  n = s32[2] add(i, k)
  ROOT r = (s32[2]) tuple(n)
}
cond {
  p = (s32[2]) parameter(0)
  i = s32[2] get-tuple-element(p), index=0
  e = s32[1] slice(i), slice={[0:1]}
  j = s32[] reshape(e)
  b = s32[] constant(10)
  ROOT c = pred[] compare(j, b), direction=LT
}
ENTRY main {
  i0 = s32[2] constant({0, 0})
  t = (s32[2]) tuple(i0)
  ROOT while = (s32[2]) while(t), condition=cond, body=body
}
"""

REFUSED = {
    "condition-opaque": simple(cond='ROOT c = pred[] custom-call(i, b), custom_call_target="f"'),
    "update-opaque": simple(body="d = u32[] replica-id()\n e = s32[] convert(d)\n n = s32[] add(i, e)"),
    "init-not-constant": simple(start="i0 = s32[] parameter(1)"),
    "bound-not-constant": nested("i"),
    "not-scalar": VECTOR,
    "never-exits": simple(cond="ROOT c = pred[] constant(true)"),
    "too-many-iterations": simple("f32", bound=1000),
    "cannot-evaluate": simple("f8e4m3fn", body="n = f8e4m3fn[] reduce-precision(i), exponent_bits=2, mantissa_bits=2"),
}


def test_every_reason_has_a_case() -> None:
    assert set(REFUSED) == set(REASONS)


@pytest.mark.parametrize(
    ("reason", "detail"),
    [
        ("condition-opaque", "the condition depends on %c (custom-call)"),
        ("update-opaque", "the counter's update depends on %d (replica-id), which differs between devices"),
        (
            "init-not-constant",
            "the counter's initial value depends on a parameter of the computation around the loop",
        ),
        ("bound-not-constant", "the condition depends on a parameter of the computation around the loop"),
        ("not-scalar", "the condition depends on s32[2]"),
        ("never-exits", "its condition is always true"),
        ("too-many-iterations", "it has no closed form and runs more than 128 times"),
        ("cannot-evaluate", "no meaning for reduce-precision on f8e4m3fn"),
    ],
)
def test_refusals(reason: str, detail: str) -> None:
    loop = loops(REFUSED[reason])["inner" if "inner" in REFUSED[reason] else "while"]
    assert trip_count(loop) == Unknown(reason, detail)


def test_cost_does_not_depend_on_the_rest_of_the_body() -> None:
    """As many points are looked at with a body of ten instructions as with one of thousands."""

    def visited(instructions: int) -> int:
        rest = "\n".join(f"y{k} = f32[] add({f'y{k - 1}' if k else 'x'}, x)" for k in range(instructions))
        slicer = Slicer(CallGraph(None))
        assert isinstance(
            trip_count(loops(simple(body=f"{rest}\n n = s32[] add(i, k)"))["while"], 128, slicer), TripCount
        )
        return len(slicer._nodes)  # pyright: ignore[reportPrivateUsage]

    assert visited(10) == visited(3000)


def test_deep_slices() -> None:
    """Longer than Python's stack: a chain of 5000 adds, through nothing but iteration."""
    chain = "\n".join(f"m{k} = s32[] add({f'm{k - 1}' if k else 'i'}, k)" for k in range(5000))
    assert count(simple(bound=20_000, body=f"{chain}\n n = s32[] copy(m4999)")) == 4
    ands = "\n".join(f"a{k + 1} = pred[] and(a{k}, a0)" for k in range(3000))
    cond = f"a0 = pred[] compare(i, b), direction=LT\n{ands}\n ROOT c = pred[] copy(a3000)"
    assert count(simple(cond=cond)) == 10
