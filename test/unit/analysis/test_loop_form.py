"""What loops become on the register machine; expected numbers are worked out by hand, trips by a plain Python loop."""

import re
from pathlib import Path

import pytest

from xneuron.analysis import loop_form as forms
from xneuron.analysis import trip_count as counts
from xneuron.analysis.loop_form import Distance, DoWhile, Dynamic, LoopForm, Static
from xneuron.analysis.loop_forms import LoopForms
from xneuron.analysis.value_range import Interval
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.formats.hlo_text.parser import parse_hlo
from xneuron.remarks import CODES

DIAGNOSTICS = Path(__file__).parents[3] / "docs" / "diagnostics.md"


def forms_of(text: str) -> dict[str, LoopForm]:
    """The forms of the program's loops by name."""
    module = parse_hlo(text)
    found = LoopForms(module)
    return {str(op.results[0].name_hint): found.of(op) for op in module.walk() if isinstance(op, WhileOp)}


def loop(
    start: str = "s = s32[] constant(0)",
    bound: str = "b = s32[] copy(p1)",
    cond: str = "ROOT c = pred[] compare(i, n), direction=LT",
    step: str = "k = s32[] constant(1); j = s32[] add(i, k)",
    type: str = "s32",
    more: str = "",
) -> str:
    """A loop over (counter, bound); `s` and `b` may be made of the parameters p0 and p1."""
    state = f"({type}[], {type}[])"
    return f"""HloModule m
{more}
body {{ p = {state} parameter(0)
  i = {type}[] get-tuple-element(p), index=0
  n = {type}[] get-tuple-element(p), index=1
  {step}
  ROOT t = {state} tuple(j, n) }}
cond {{ p = {state} parameter(0)
  i = {type}[] get-tuple-element(p), index=0
  n = {type}[] get-tuple-element(p), index=1
  {cond} }}
ENTRY main {{
  p0 = {type}[] parameter(0)
  p1 = {type}[] parameter(1)
  {start}
  {bound}
  t = {state} tuple(s, b)
  ROOT while = {state} while(t), condition=cond, body=body }}
""".replace("; ", "\n  ")


def form(**parts: str) -> LoopForm:
    return forms_of(loop(**parts))["while"]


def dynamic(**parts: str) -> Dynamic:
    found = form(**parts)
    assert isinstance(found, Dynamic), found
    return found


def bounds(found: Dynamic) -> tuple[int, int, int, int]:
    return found.lb, found.coeff, found.const, found.stride


def compare(direction: str, left: str = "i", right: str = "n") -> str:
    return f"ROOT c = pred[] compare({left}, {right}), direction={direction}"


RUNTIME = "s = s32[] copy(p0)"
DOWN = "k = s32[] constant(-1); j = s32[] add(i, k)"
EIGHT = "b = s32[] constant(8)"


def clamped(name: str, low: int, high: int, type: str = "s32") -> str:
    parameter = "p0" if name == "s" else "p1"
    limits = f"low{name} = {type}[] constant({low}); high{name} = {type}[] constant({high})"
    return f"{limits}; {name} = {type}[] clamp(low{name}, {parameter}, high{name})"


def test_a_counted_loop() -> None:
    assert form(bound=EIGHT) == Static(8, 0, 0, 1)


def test_a_runtime_bound() -> None:
    """JAX's fori_loop(0, n, …): the register is the bound, the induction variable is the counter."""
    assert dynamic() == Dynamic(
        slot=(0,),
        start=0,
        bound=(1,),
        compare="LT",
        step=1,
        register="bound",
        lb=0,
        coeff=1,
        const=0,
        stride=1,
        counter_coeff=1,
        counter_const=0,
        distance=None,
        never_ends=None,
        too_far=False,
        counter=Interval(0, 2**31 - 2),
        iv=Interval(0, 2**31 - 2),
        wraps=False,
    )


def test_a_runtime_bound_from_another_start() -> None:
    found = dynamic(start="s = s32[] constant(-3)")
    assert bounds(found) == (-3, 1, 0, 1)
    assert (found.counter_coeff, found.counter_const) == (1, 0)


def test_falling_to_a_runtime_bound() -> None:
    """10, 9, … while > n: range(0, 10 - n), counter 10 - iv."""
    found = dynamic(start="s = s32[] constant(10)", cond=compare("GT"), step=DOWN)
    assert bounds(found) == (0, -1, 10, 1)
    assert (found.counter_coeff, found.counter_const, found.rising) == (-1, 10, False)


def test_a_runtime_start() -> None:
    """From s while < 8: range(0, 8 - s), counter iv + s."""
    found = dynamic(start=RUNTIME, bound=EIGHT)
    assert (found.register, found.start, found.bound) == ("start", (0,), 8)
    assert bounds(found) == (0, -1, 8, 1)
    assert (found.counter_coeff, found.counter_const) == (1, 0)
    assert found.counter == Interval(-(2**31), 7)


def test_falling_from_a_runtime_start() -> None:
    """JAX's countdown, s while > 0: range(0, s), counter s - iv."""
    found = dynamic(start=RUNTIME, bound="b = s32[] constant(0)", cond=compare("GT"), step=DOWN)
    assert bounds(found) == (0, 1, 0, 1)
    assert (found.register, found.counter_coeff, found.counter_const) == ("start", -1, 0)


def test_both_at_run_time_with_the_whole_type() -> None:
    """The distance may be 2**31 or more, or wrap to a positive number where there is none."""
    found = dynamic(start=RUNTIME)
    assert (found.register, found.distance, found.too_far) == ("distance", Distance(0, None, tested=True), True)
    assert bounds(found) == (0, 1, 0, 1)


def test_both_at_run_time_within_ranges() -> None:
    found = dynamic(start=clamped("s", 0, 100), bound=clamped("b", 0, 200))
    assert (found.distance, found.guarded) == (Distance(0, None, tested=False), False)
    assert (found.counter, found.iv) == (Interval(0, 199), Interval(0, 199))


def test_the_last_value_included() -> None:
    """`i <= n` never ends for the largest n, which the formula does not say."""
    found = dynamic(cond=compare("LE"))
    assert bounds(found) == (0, 1, 1, 1)
    assert found.never_ends == 2**31 - 1
    falling = dynamic(cond=compare("GE"), step=DOWN)
    assert bounds(falling) == (0, -1, 1, 1)
    assert falling.never_ends == -(2**31)


def test_the_last_value_included_and_in_range() -> None:
    found = dynamic(cond=compare("LE"), bound=clamped("b", 0, 9))
    assert (found.never_ends, found.counter) == (None, Interval(0, 9))


def test_both_ends_move_to_fit_in_32_bits() -> None:
    """From the largest number while >= n: range(0, 2**31 - n) has no 32-bit constant, range(-1, 2**31 - 1 - n) has."""
    found = dynamic(start=f"s = s32[] constant({2**31 - 1})", cond=compare("GE"), step=DOWN)
    assert bounds(found) == (-1, -1, 2**31 - 1, 1)
    assert (found.counter_coeff, found.counter_const) == (-1, 2**31 - 2)


def test_not_equal_that_starts_before_the_bound() -> None:
    found = dynamic(cond=compare("NE"), bound=clamped("b", 0, 9))
    assert (found.register, found.wraps, found.guarded) == ("bound", False, False)


def test_not_equal_may_have_to_wrap() -> None:
    """From 0 to -1 it takes 2**32 - 1 iterations, more than a register holds."""
    found = dynamic(cond=compare("NE"))
    assert (found.register, found.distance) == ("distance", Distance(0, None, tested=False))
    assert (found.too_far, found.wraps) == (True, True)


def test_not_equal_of_a_narrow_counter() -> None:
    """From 250 to 3 it takes 9 iterations: (3 - 250) & 255."""
    step = "k = u8[] constant(1); j = u8[] add(i, k)"
    found = dynamic(type="u8", start="s = u8[] constant(250)", bound="b = u8[] copy(p1)", cond=compare("NE"), step=step)
    assert found.distance == Distance(0, 255, tested=False)
    assert not found.guarded


@pytest.mark.parametrize(
    "cond",
    [
        pytest.param("ROOT c = pred[] compare(n, i), direction=GT", id="other order"),
        pytest.param("d = pred[] compare(i, n), direction=GE; ROOT c = pred[] not(d)", id="negated"),
        pytest.param("j = s32[] copy(i); ROOT c = pred[] compare(j, n), direction=LT", id="copied"),
        pytest.param(
            "j = s64[] convert(i); m = s64[] convert(n); ROOT c = pred[] compare(j, m), direction=LT", id="widened"
        ),
        pytest.param("ROOT c = pred[] call(i, n), to_apply=less", id="called"),
    ],
)
def test_other_ways_to_say_it(cond: str) -> None:
    less = "less { a = s32[] parameter(0); b = s32[] parameter(1); ROOT l = pred[] compare(a, b), direction=LT }"
    assert bounds(dynamic(cond=cond, more=less)) == (0, 1, 0, 1)


@pytest.mark.parametrize(
    "step",
    [
        pytest.param("k = s32[] constant(1); j = s32[] add(k, i)", id="other order"),
        pytest.param("k = s32[] constant(-1); j = s32[] subtract(i, k)", id="subtracted"),
        pytest.param(
            "k = s32[] constant(2); m = s32[] add(i, k); l = s32[] constant(1); j = s32[] subtract(m, l)", id="two"
        ),
    ],
)
def test_other_ways_to_move(step: str) -> None:
    assert bounds(dynamic(step=step)) == (0, 1, 0, 1)


def test_a_wider_step() -> None:
    """Only where the range of the bound leaves room for the last step."""
    three = "k = s32[] constant(3); j = s32[] add(i, k)"
    assert reason(step=three) == "counter-may-wrap"
    found = dynamic(step=three, bound=clamped("b", -5, 2**31 - 3))
    assert bounds(found) == (0, 1, 0, 3)
    assert reason(step=three, bound=clamped("b", -5, 2**31 - 2)) == "counter-may-wrap"
    assert bounds(dynamic(step=three, start=RUNTIME, bound=EIGHT)) == (0, -1, 8, 3)


def test_unsigned_counters_need_ranges() -> None:
    parts = {
        "type": "u32",
        "start": "s = u32[] constant(0)",
        "step": "k = u32[] constant(1); j = u32[] add(i, k)",
    }
    assert reason(**parts, bound="b = u32[] copy(p1)") == "too-wide-for-register"
    assert bounds(dynamic(**parts, bound=clamped("b", 0, 2**31 - 1, "u32"))) == (0, 1, 0, 1)


def test_64_bits_need_ranges() -> None:
    parts = {"type": "s64", "start": "s = s64[] constant(0)", "step": "k = s64[] constant(1); j = s64[] add(i, k)"}
    assert reason(**parts, bound="b = s64[] copy(p1)") == "too-wide-for-register"
    narrow = "a = s32[] convert(p1); b = s64[] convert(a)"
    assert bounds(dynamic(**parts, bound=narrow)) == (0, 1, 0, 1)


def reason(**parts: str) -> str:
    found = form(**parts)
    assert isinstance(found, DoWhile), found
    return found.reason_code


DOUBLE = "j = s32[] add(i, i)"
TWO = "k = s32[] constant(2); j = s32[] add(i, k)"
EVER = f"b = s32[] constant({2**31 - 1})"


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ({"cond": compare("EQ")}, "while-equal"),
        ({"cond": compare("GT")}, "moves-away"),
        ({"cond": compare("NE"), "step": TWO}, "may-step-over"),
        ({"step": DOUBLE, "start": RUNTIME}, "step-not-constant"),
        ({"step": "k = s32[] copy(n); j = s32[] add(i, k)"}, "step-not-constant"),
        ({"step": "j = s32[] copy(i)"}, "condition-fixed"),
        ({"cond": "k = s32[] constant(1); m = s32[] add(n, k); " + compare("LT", right="m")}, "bound-computed"),
        ({"cond": "c = pred[] compare(i, n), direction=LT; ROOT d = pred[] and(c, c)"}, "no-comparison"),
        ({"cond": "k = s32[] constant(1); m = s32[] add(i, k); " + compare("LT", left="m")}, "no-comparison"),
        ({"cond": "m = s32[] add(i, n); " + compare("LT", right="m")}, "no-comparison"),
        ({"cond": compare("LT, type=UNSIGNED")}, "no-comparison"),
        ({"cond": compare("LE"), "start": RUNTIME, "bound": EVER}, counts.NEVER_EXITS),
        ({"cond": compare("LT", right="i"), "start": RUNTIME}, "no-comparison"),
    ],
)
def test_refusals(parts: dict[str, str], code: str) -> None:
    assert reason(**parts) == code


def test_the_codes_are_documented() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \| [^`]+ \|$", DIAGNOSTICS.read_text(), re.MULTILINE)
    declared = {value for value in vars(forms).values() if isinstance(value, str) and value in CODES}
    assert set(rows) == declared


def state(counter: str, update: str, cond: str, more: str = "") -> str:
    """A loop over (x, y), both of one type and from parameters."""
    return f"""HloModule m
{more}
body {{ p = ({counter}[], {counter}[]) parameter(0)
  x = {counter}[] get-tuple-element(p), index=0
  y = {counter}[] get-tuple-element(p), index=1
  {update}
  ROOT t = ({counter}[], {counter}[]) tuple(u, v) }}
cond {{ p = ({counter}[], {counter}[]) parameter(0)
  x = {counter}[] get-tuple-element(p), index=0
  y = {counter}[] get-tuple-element(p), index=1
  {cond} }}
ENTRY main {{
  p0 = {counter}[] parameter(0)
  p1 = {counter}[] parameter(1)
  t = ({counter}[], {counter}[]) tuple(p0, p1)
  ROOT while = ({counter}[], {counter}[]) while(t), condition=cond, body=body }}
""".replace("; ", "\n  ")


def test_a_loop_to_convergence() -> None:
    text = state("f32", "u = f32[] multiply(x, x); v = f32[] copy(y)", "ROOT c = pred[] compare(x, y), direction=GT")
    found = forms_of(text)["while"]
    assert found == DoWhile("no-integer-counter", "the condition depends on slot 0, which is f32[]")


def test_a_condition_of_two_slots() -> None:
    text = state("s32", "u = s32[] add(x, y); v = s32[] add(y, y)", "ROOT c = pred[] compare(x, y), direction=LT")
    found = forms_of(text)["while"]
    assert found == DoWhile("several-counters", "the condition reads 2 slots that change: 0, 1")


def test_other_reasons_of_the_trip_counter() -> None:
    text = state(
        "s32",
        "u = s32[] add(x, x); v = s32[] copy(y)",
        "i = s32[1] iota(), iota_dimension=0; ROOT c = pred[] constant(true)",
    )
    assert forms_of(text)["while"] == DoWhile(counts.NEVER_EXITS, "its condition is always true")


def test_an_update_known_at_run_time_only() -> None:
    text = state(
        "s32",
        "r = u32[] replica-id(); k = s32[] convert(r); u = s32[] add(x, k); v = s32[] copy(y)",
        "ROOT c = pred[] compare(x, y), direction=LT",
    )
    found = forms_of(text)["while"]
    assert isinstance(found, DoWhile)
    assert found.reason_code == counts.UPDATE_OPAQUE


def test_a_state_that_is_a_parameter() -> None:
    """Start and bound are elements of a tuple that is known only at run time."""
    text = loop()
    head, _, _ = text.partition("ENTRY")
    entry = """ENTRY main {
  t = (s32[], s32[]) parameter(0)
  ROOT while = (s32[], s32[]) while(t), condition=cond, body=body }
"""
    found = forms_of(head + entry)["while"]
    assert isinstance(found, Dynamic)
    assert (found.start, found.bound, found.counter) == ((0,), (1,), Interval(-(2**31), 2**31 - 2))


NESTED = """HloModule nested
inner {{ q = (s32[], s32[], f32[8]) parameter(0)
  j = s32[] get-tuple-element(q), index=0
  n = s32[] get-tuple-element(q), index=1
  x = f32[8] get-tuple-element(q), index=2
  one = s32[] constant(1)
  j2 = s32[] add(j, one)
  ROOT t = (s32[], s32[], f32[8]) tuple(j2, n, x) }}
below {{ q = (s32[], s32[], f32[8]) parameter(0)
  j = s32[] get-tuple-element(q), index=0
  n = s32[] get-tuple-element(q), index=1
  ROOT c = pred[] compare(j, n), direction=LT }}
body {{ p = (s32[], s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  m = s32[] get-tuple-element(p), index=1
  x = f32[8] get-tuple-element(p), index=2
  s = (s32[], s32[], f32[8]) tuple({start}, {bound}, x)
  w = (s32[], s32[], f32[8]) while(s), condition=below, body=inner
  y = f32[8] get-tuple-element(w), index=2
  one = s32[] constant(1)
  i2 = s32[] add(i, one)
  ROOT t = (s32[], s32[], f32[8]) tuple(i2, m, y) }}
ten {{ p = (s32[], s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(10)
  ROOT c = pred[] compare(i, n), direction=LT }}
ENTRY main {{
  x = f32[8] parameter(0)
  m = s32[] parameter(1)
  z = s32[] constant(0)
  t = (s32[], s32[], f32[8]) tuple(z, m, x)
  ROOT outer = (s32[], s32[], f32[8]) while(t), condition=ten, body=body }}
"""


def test_an_inner_loop_that_starts_at_the_outer_counter() -> None:
    """The outer counter is 0 to 9, so the distance to a 32-bit bound is never 2**31, but may wrap to above 0."""
    found = forms_of(NESTED.format(start="i", bound="m"))["w"]
    assert isinstance(found, Dynamic)
    assert (found.register, found.start, found.bound) == ("distance", (0,), (1,))
    assert found.counter == Interval(0, 2**31 - 2)
    assert found.distance == Distance(0, None, tested=True)  # m = -2**31, i = 9
    assert not found.too_far


def test_an_inner_loop_that_ends_at_the_outer_counter() -> None:
    found = forms_of(NESTED.format(start="m", bound="i"))["w"]
    assert isinstance(found, Dynamic)
    assert found.counter == Interval(-(2**31), 8)
