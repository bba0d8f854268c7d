"""Loops over ranges run as often as a machine integer does: random loops against a plain Python loop."""

from itertools import islice
from random import Random

import pytest

from xneuron.analysis.loop_form import DoWhile, Dynamic, Static
from xneuron.analysis.loop_forms import LoopForms
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.formats.hlo_text.parser import parse_hlo

COMPARE = {
    "LT": int.__lt__,
    "LE": int.__le__,
    "GT": int.__gt__,
    "GE": int.__ge__,
    "EQ": int.__eq__,
    "NE": int.__ne__,
}
FLIPPED = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE", "EQ": "EQ", "NE": "NE"}
NEGATED = {"LT": "GE", "LE": "GT", "GT": "LE", "GE": "LT", "EQ": "NE", "NE": "EQ"}
ENOUGH = 700


def limits(type: str) -> tuple[int, int]:
    bits = int(type[1:])
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if type[0] == "s" else (0, 2**bits - 1)


def wrapped(value: int, type: str) -> int:
    low, high = limits(type)
    return (value - low) % (high - low + 1) + low


def signed32(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def near(random: Random, low: int, high: int) -> int:
    """A number within limits, often one where something happens."""
    places = [low, high, 0, 1, -1, 2**31 - 1, 2**31, -(2**31), random.randint(low, high), random.randint(-20, 20)]
    value = random.choice(places) + random.randint(-4, 4)
    return min(max(value, low), high)


class Loop:
    """`while counter compare bound: counter += step`, with each side a number, a parameter or a clamped parameter."""

    def __init__(self, random: Random) -> None:
        self.type = random.choice(("s8", "u8", "s16", "s32", "s32", "s32", "u32", "s64", "u64"))
        self.compare = random.choice(("LT", "LT", "LE", "GT", "GT", "GE", "NE", "NE", "EQ"))
        rising = self.compare[0] == "L" or (self.compare[0] != "G" and random.random() < 0.5)
        size = random.choice((1, 1, 1, 2, 3, 7))
        self.step = size if rising != (random.random() < 0.05) else -size
        self.lines: list[str] = []
        self.start = self.side(random, "i0")
        self.bound = self.side(random, "n0")
        self.cond = self.condition(random)
        self.update = self.moved(random)

    def side(self, random: Random, name: str) -> tuple[int, int]:
        """Writes the lines that compute a side; gives between which numbers it is."""
        low, high = limits(self.type)
        kind = random.choice(("number", "parameter", "parameter", "clamped", "clamped"))
        if kind == "number":
            value = near(random, low, high)
            self.lines.append(f"{name} = {self.type}[] constant({value})")
            return value, value
        source = "p0" if name == "i0" else "p1"
        if kind == "parameter":
            self.lines.append(f"{name} = {self.type}[] copy({source})")
            return low, high
        low, high = sorted((near(random, low, high), near(random, low, high)))
        self.lines += [
            f"{name}.l = {self.type}[] constant({low})",
            f"{name}.h = {self.type}[] constant({high})",
            f"{name} = {self.type}[] clamp({name}.l, {source}, {name}.h)",
        ]
        return low, high

    def condition(self, random: Random) -> str:
        compare, left, right = self.compare, "i", "n"
        if negated := random.random() < 0.2:
            compare = NEGATED[compare]
        if random.random() < 0.3:
            compare, left, right = FLIPPED[compare], right, left
        text = f"compare({left}, {right}), direction={compare}"
        return f"c = pred[] {text}\n  ROOT d = pred[] not(c)" if negated else f"ROOT c = pred[] {text}"

    def moved(self, random: Random) -> str:
        way = random.choice(("add(i, k)", "add(k, i)", "subtract(i, k)"))
        by = -self.step if way[0] == "s" else self.step
        low, high = limits(self.type)
        by = wrapped(by, self.type) if not low <= by <= high else by
        return f"k = {self.type}[] constant({by})\n  j = {self.type}[] {way}"

    @property
    def text(self) -> str:
        state = f"({self.type}[], {self.type}[])"
        slots = f"i = {self.type}[] get-tuple-element(p), index=0\n  n = {self.type}[] get-tuple-element(p), index=1"
        lines = "\n  ".join(self.lines)
        return f"""HloModule loop
body {{ p = {state} parameter(0)
  {slots}
  {self.update}
  ROOT t = {state} tuple(j, n) }}
cond {{ p = {state} parameter(0)
  {slots}
  {self.cond} }}
ENTRY main {{
  p0 = {self.type}[] parameter(0)
  p1 = {self.type}[] parameter(1)
  {lines}
  t = {state} tuple(i0, n0)
  ROOT while = {state} while(t), condition=cond, body=body }}
"""

    def counters(self, start: int, bound: int):
        """The counter in each iteration, for ever if need be."""
        while COMPARE[self.compare](start, bound):
            yield start
            start = wrapped(start + self.step, self.type)


def register(form: Dynamic, start: int, bound: int) -> int:
    if form.register != "distance":
        return signed32(bound if form.register == "bound" else start)
    assert form.distance is not None
    value = signed32((bound - start if form.rising else start - bound) + form.distance.extra)
    if form.distance.mask is not None:
        value &= form.distance.mask
    return value if not form.distance.tested or COMPARE[form.compare](start, bound) else 0


def check(loop: Loop, form: Static | Dynamic, start: int, bound: int) -> str:
    """That the form runs as the loop does; says which case this was."""
    ran = list(islice(loop.counters(start, bound), ENOUGH + 1))
    if isinstance(form, Static):
        assert len(ran) == min(form.count, ENOUGH + 1)
        return "static"
    if form.never_ends is not None and bound == form.never_ends:
        assert len(ran) > ENOUGH
        assert form.compare in ("LE", "GE")
        assert bound == limits(loop.type)[form.rising]
        return "never ends"
    value = register(form, start, bound)
    if form.too_far and value < 0:
        away = (bound - start) if form.rising else (start - bound)
        assert (away % 2**32 if form.compare == "NE" and loop.type[1:] == "32" else abs(away) + 1) >= 2**31 or (
            loop.type[1:] == "64" and away < 0
        )
        assert len(ran) > ENOUGH
        return "too far"
    ivs = range(form.lb, form.coeff * value + form.const, form.stride)
    assert len(ran) == min(len(ivs), ENOUGH + 1)
    runtime = 0 if isinstance(form.start, int) else start
    for counter, iv in zip(ran, ivs, strict=False):
        assert counter == wrapped(form.counter_coeff * iv + form.counter_const + runtime, loop.type)
        assert form.counter.low <= counter <= form.counter.high
    if ivs:
        assert form.iv.low <= ivs[0]
        assert ivs[-1] <= form.iv.high
    for number in (form.lb, form.coeff, form.const, form.stride):
        assert -(2**31) <= number < 2**31
    return form.register


@pytest.mark.parametrize("seed", range(12))
def test_random_loops(seed: int) -> None:
    random = Random(seed)
    seen: set[str] = set()
    for _ in range(60):
        loop = Loop(random)
        module = parse_hlo(loop.text)
        (op,) = (op for op in module.walk() if isinstance(op, WhileOp))
        form = LoopForms(module).of(op)
        if isinstance(form, DoWhile):
            seen.add(form.reason_code)
            continue
        for _ in range(12):
            start, bound = near(random, *loop.start), near(random, *loop.bound)
            if random.random() < 0.4:
                bound = min(max(start + random.randint(-5, 5), loop.bound[0]), loop.bound[1])
            seen.add(check(loop, form, start, bound))
    assert {"static", "bound", "start", "distance", "counter-may-wrap"} <= seen
