"""Trip counts of random loops, against stepping machine integers in plain Python."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from xneuron.analysis.trip_count import NEVER_EXITS, TOO_MANY_ITERATIONS, TripCount, Unknown, trip_count
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.formats.hlo_text.parser import parse_hlo

COMPARE: dict[str, Callable[[int, int], bool]] = {
    "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b,
    "GE": lambda a, b: a >= b,
    "NE": lambda a, b: a != b,
    "EQ": lambda a, b: a == b,
}
TYPES = [f"{sign}{bits}" for sign in "su" for bits in (2, 4, 8, 16, 32, 64)]
STEPS = 1000
"""How far the model steps a counter whose width is too large to go all the way round."""

LIMIT = 128


def wrapped(value: int, type: str) -> int:
    """`value` as a machine integer of the type."""
    bits, value = int(type[1:]), value % (1 << int(type[1:]))
    return value - (1 << bits) if type[0] == "s" and value >> (bits - 1) else value


def lowest(type: str) -> int:
    return -(1 << (int(type[1:]) - 1)) if type[0] == "s" else 0


def divided(a: int, b: int) -> int:
    """Truncating division as HLO has it (b is not 0 here)."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def shifted_left(value: int, by: int, bits: int) -> int:
    return value << by if 0 <= by < bits else 0


@dataclass(frozen=True)
class Loop:
    """`for (i = init; i + shift <direction> bound; i = update(i))`, and how its HLO is written."""

    type: str
    init: int
    direction: str
    bound: int
    update: str
    constant: int
    bound_first: bool
    constant_first: bool
    shift: int
    slot: int
    slots: int
    style: str
    carried: str

    def holds(self, counter: int) -> bool:
        shifted = wrapped(counter + self.shift, self.type)
        a, b = (self.bound, shifted) if self.bound_first else (shifted, self.bound)
        return COMPARE[self.direction](a, b)

    def after(self, counter: int) -> int:
        a, b = (self.constant, counter) if self.constant_first else (counter, self.constant)
        results = {
            "add": lambda: a + b,
            "subtract": lambda: a - b,
            "multiply": lambda: a * b,
            "xor": lambda: a ^ b,
            "and": lambda: a & b,
            "or": lambda: a | b,
            "maximum": lambda: max(a, b),
            "shift-left": lambda: shifted_left(a, b, int(self.type[1:])),
            "divide": lambda: divided(a, b),
        }
        return wrapped(results[self.update](), self.type)

    def text(self) -> str:
        """The program. `carried` says which constants travel in invariant slots behind the others."""
        t = self.type
        constants = {"constant": self.constant, "bound": self.bound}
        types = [t if k == self.slot else "f32" for k in range(self.slots)] + [t for _ in self.carried.split()]
        state = f"({', '.join(f'{x}[]' for x in types)})"
        inits = [f"%init{k} = {x}[] constant({self.init if k == self.slot else 0})" for k, x in enumerate(types)]
        for k, name in enumerate(self.carried.split(), self.slots):
            inits[k] = f"%init{k} = {t}[] constant({constants[name]})"
        elements = [f"%e{k} = {x}[] get-tuple-element(%p), index={k}" for k, x in enumerate(types)]
        known = {name: f"%e{k}" for k, name in enumerate(self.carried.split(), self.slots)}
        here = {name: f"%{name} = {t}[] constant({value})" for name, value in constants.items() if name not in known}
        names = {name: known.get(name, f"%{name}") for name in constants}
        operands = [f"%e{self.slot}", names["constant"]]
        compared = ["%seen", names["bound"]]
        results = [f"%e{k}" for k in range(len(types))]
        results[self.slot] = "%next"
        return "\n".join(
            [
                "HloModule random\n",
                *self._step(),
                f"%body (p: {state}) -> {state} {{",
                f"%p = {state} parameter(0)",
                *elements,
                here.get("constant", ""),
                *self._next(operands[::-1] if self.constant_first else operands),
                *self._root(state, results),
                "}\n",
                f"%cond (p: {state}) -> pred[] {{",
                f"%p = {state} parameter(0)",
                *elements,
                here.get("bound", ""),
                f"%shift = {t}[] constant({self.shift})",
                f"%seen = {t}[] add(%e{self.slot}, %shift)" if self.shift else f"%seen = {t}[] copy(%e{self.slot})",
                f"ROOT %c = pred[] compare({', '.join(compared[::-1] if self.bound_first else compared)}), "
                f"direction={self.direction}",
                "}\n",
                f"ENTRY %main () -> {state} {{",
                *inits,
                f"%init = {state} tuple({', '.join(f'%init{k}' for k in range(len(types)))})",
                f"ROOT %while = {state} while(%init), condition=%cond, body=%body",
                "}",
            ]
        )

    def _step(self) -> list[str]:
        if self.style not in ("call", "fusion"):
            return []
        t = self.type
        return [
            f"%step (a: {t}[], b: {t}[]) -> {t}[] {{",
            f"%a = {t}[] parameter(0)",
            f"%b = {t}[] parameter(1)",
            f"ROOT %r = {t}[] {self.update}(%a, %b)",
            "}\n",
        ]

    def _next(self, operands: list[str]) -> list[str]:
        t, both = self.type, ", ".join(operands)
        plain = f"{t}[] {self.update}({both})"
        match self.style:
            case "call":
                return [f"%next = {t}[] call({both}), to_apply=%step"]
            case "fusion":
                return [f"%next = {t}[] fusion({both}), kind=kLoop, calls=%step"]
            case "tuple":
                pair = f"({t}[], {t}[])"
                return [
                    f"%plain = {plain}",
                    f"%pair = {pair} tuple(%e{self.slot}, %plain)",
                    f"%next = {t}[] get-tuple-element(%pair), index=1",
                ]
            case "copy":
                return [f"%plain = {plain}", f"%next = {t}[] copy(%plain)"]
            case _:
                return [f"%next = {plain}"]

    def _root(self, state: str, results: list[str]) -> list[str]:
        packed = f"{state} tuple({', '.join(results)})"
        if self.style != "marker":
            return [f"ROOT %root = {packed}"]
        return [
            f"%packed = {packed}",
            f'%start = {state} custom-call(%packed), custom_call_target="NeuronBoundaryMarker-Start"',
            f'ROOT %end = {state} custom-call(%start), custom_call_target="NeuronBoundaryMarker-End"',
        ]


def stepped(loop: Loop, most: int) -> int | str | None:
    """Iterations by stepping; "never" if the counter comes back to a value it had, None after `most` iterations."""
    counter, seen = loop.init, set[int]()
    for count in range(most + 1):
        if not loop.holds(counter):
            return count
        if counter in seen:
            return "never"
        seen.add(counter)
        counter = loop.after(counter)
    return None


def said(found: TripCount | Unknown) -> int | str:
    """The count, or the reason against one."""
    return found.count if isinstance(found, TripCount) else found.reason


def counted(text: str) -> TripCount | Unknown:
    (loop,) = (op for op in parse_hlo(text).walk() if isinstance(op, WhileOp))
    return trip_count(loop, LIMIT)


@st.composite
def values(draw: st.DrawFn, type: str) -> int:
    """Values of a type, edges often."""
    low = lowest(type)
    high = low + (1 << int(type[1:])) - 1
    near = st.integers(0, min(40, high - low))
    return draw(
        st.one_of(
            near.map(lambda d: low + d),
            near.map(lambda d: high - d),
            near.map(lambda d: wrapped(d - 20, type)),
            st.integers(low, high),
        )
    )


@st.composite
def loops(draw: st.DrawFn, updates: tuple[str, ...]) -> Loop:
    """Loops of every integer type, counter in any slot, written in many ways."""
    type = draw(st.sampled_from(TYPES))
    slots = draw(st.integers(1, 3))
    update = draw(st.sampled_from(updates))
    constant = draw(values(type))
    # XLA leaves division by zero to the target; here it is defined, but no subject of trip counts.
    constant_first = update not in ("divide", "shift-left") and draw(st.booleans())
    return Loop(
        type,
        draw(values(type)),
        draw(st.sampled_from(sorted(COMPARE))),
        draw(values(type)),
        update,
        constant or 1 if update == "divide" else constant,
        draw(st.booleans()),
        constant_first,
        draw(st.one_of(st.just(0), values(type))),
        draw(st.integers(0, slots - 1)),
        slots,
        draw(st.sampled_from(["plain", "copy", "tuple", "call", "fusion", "marker"])),
        draw(st.sampled_from(["", "bound", "constant", "constant bound"])),
    )


def check_additive(loop: Loop, widest: int) -> None:
    """The exact answer where the model can go all the way, and never a wrong one where it cannot."""
    narrow = int(loop.type[1:]) <= widest
    expected = stepped(loop, 1 << widest if narrow else STEPS)
    found = counted(loop.text())
    match expected:
        case int():
            assert said(found) == expected, loop.text()
        case "never":
            assert said(found) == NEVER_EXITS, loop.text()
        case _:
            assert not narrow
            check_far(loop, found)


def check_far(loop: Loop, found: TripCount | Unknown) -> None:
    """What can be said of a count too large to step: the condition fails there, and holds before as far as we look."""
    if isinstance(found, Unknown):
        assert found.reason == NEVER_EXITS
        return
    step = {"add": loop.constant, "subtract": -loop.constant}[loop.update]
    assert found.count > STEPS
    assert not loop.holds(wrapped(loop.init + found.count * step, loop.type))
    for back in range(1, 200):
        assert loop.holds(wrapped(loop.init + (found.count - back) * step, loop.type))


def check_any(loop: Loop) -> None:
    """Loops without a closed form: exact up to the limit, and no guess beyond."""
    found = counted(loop.text())
    if isinstance(expected := stepped(loop, LIMIT), int):
        assert said(found) == expected, loop.text()
    else:
        assert isinstance(found, Unknown), loop.text()
        assert found.reason in ({NEVER_EXITS} if expected == "never" else {NEVER_EXITS, TOO_MANY_ITERATIONS})
        assert found.reason != NEVER_EXITS or stepped(loop, 1 << 17) == "never"


ADDITIVE = ("add", "subtract")
OTHERS = ("multiply", "xor", "and", "or", "maximum", "shift-left", "divide")


def is_reflection(loop: Loop) -> bool:
    """`constant - i` is no step: it goes back and forth."""
    return loop.update == "subtract" and loop.constant_first


def check(loop: Loop, widest: int = 8) -> None:
    """`widest`: bits of the widest type that the model steps all the way round."""
    if loop.update in ADDITIVE and not is_reflection(loop):
        check_additive(loop, widest)
    else:
        check_any(loop)


common = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@settings(common, max_examples=800)
@given(loops(ADDITIVE))
def test_additive_loops(loop: Loop) -> None:
    check(loop)


@settings(common, max_examples=400)
@given(loops(OTHERS))
def test_other_loops(loop: Loop) -> None:
    check(loop)


@pytest.mark.fuzz
@settings(common, max_examples=14_000)
@given(loops(ADDITIVE))
def test_many_additive_loops(loop: Loop) -> None:
    check(loop, widest=16)


@pytest.mark.fuzz
@settings(common, max_examples=6_000)
@given(loops(OTHERS))
def test_many_other_loops(loop: Loop) -> None:
    check(loop)


@settings(common, max_examples=150)
@given(st.sampled_from(["s32", "u32", "s64", "u64"]), st.data())
def test_long_loops_known_by_construction(type: str, data: st.DataObject) -> None:
    """An odd step reaches every value: `i != init + n*step` leaves after n iterations, however often it wraps."""
    count = data.draw(st.integers(0, (1 << int(type[1:])) - 1))
    init, step = data.draw(values(type)), data.draw(values(type)) | 1
    bound = wrapped(init + count * step, type)
    loop = Loop(type, init, "NE", bound, "add", step, False, False, 0, 0, 1, "plain", "")
    found = counted(loop.text())
    assert isinstance(found, TripCount)
    assert (found.count, found.how) == (count, "closed-form")


@settings(common, max_examples=150)
@given(st.sampled_from(["s32", "u32", "s64", "u64"]), st.booleans(), st.data())
def test_long_loops_that_do_not_wrap(type: str, inclusive: bool, data: st.DataObject) -> None:
    """`for i in range(init, bound, step)`, as Python counts it."""
    low = lowest(type)
    high = low + (1 << int(type[1:])) - 1
    init, bound = sorted((data.draw(values(type)), data.draw(values(type))))
    step = data.draw(st.integers(1, high))
    expected = (bound - init + inclusive + step - 1) // step
    if init + expected * step > high:
        return
    loop = Loop(type, init, "LE" if inclusive else "LT", bound, "add", step, False, False, 0, 0, 1, "plain", "")
    found = counted(loop.text())
    assert said(found) == expected
