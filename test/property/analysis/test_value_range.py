"""Intervals hold and affine expressions are right: random integer code, run on many inputs and in all iterations."""

from itertools import product
from random import Random

import numpy as np
import pytest

from xneuron.analysis.affine_index import AffineIndex, Axis
from xneuron.analysis.closed_form import Integers
from xneuron.analysis.loop_forms import LoopForms
from xneuron.analysis.value_range import Interval, type_range
from xneuron.dialects.hlo.base import body_of
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.formats.hlo_text.parser import parse_hlo
from xneuron.interpreters.evaluator import Program

TYPES = ("s32", "s32", "s32", "s8", "u8", "u32", "s64")
BINARY = (
    *("add", "subtract", "multiply", "maximum", "minimum", "add", "subtract"),
    *("and", "or", "divide", "remainder", "remainder", "shift-left", "shift-right-arithmetic", "shift-right-logical"),
)
DTYPES = {"s32": np.int32, "s8": np.int8, "u8": np.uint8, "u32": np.uint32, "s64": np.int64, "pred": np.bool_}


class Writer:
    """Integer scalars, later ones made of earlier ones; `values` are names by type."""

    def __init__(self, random: Random, given: dict[str, str]) -> None:
        self.random = random
        self.types = dict(given)
        self.lines: list[str] = []

    def line(self, type: str, text: str) -> str:
        name = f"x{len(self.lines)}"
        self.lines.append(f"{name} = {type}[] {text}")
        self.types[name] = type
        return name

    def any(self, type: str) -> str:
        names = [name for name, other in self.types.items() if other == type]
        if not names or self.random.random() < 0.35:
            low = 0 if type[0] == "u" else -3
            return self.line(type, f"constant({self.random.choice((low, 0, 1, 2, 5, 8, 15, 100))})")
        return self.random.choice(names[-5:] if self.random.random() < 0.5 else names)

    def step(self) -> None:
        type = self.random.choice(TYPES)
        match self.random.choice(
            ("binary", "binary", "binary", "binary", "unary", "convert", "clamp", "select", "wrap")
        ):
            case "binary":
                self.line(type, f"{self.random.choice(BINARY)}({self.any(type)}, {self.any(type)})")
            case "unary":
                self.line(type, f"{self.random.choice(('negate', 'abs', 'not', 'copy'))}({self.any(type)})")
            case "convert":
                self.line(type, f"convert({self.any(self.random.choice(list(TYPES)))})")
            case "clamp":
                self.line(type, f"clamp({self.any(type)}, {self.any(type)}, {self.any(type)})")
            case "select":
                self.choice(type)
            case _:
                self.wrap(type)

    def choice(self, type: str) -> None:
        direction = self.random.choice(("LT", "LE", "GT", "GE", "EQ", "NE"))
        pred = self.line("pred", f"compare({self.any(type)}, {self.any(type)}), direction={direction}")
        if self.random.random() < 0.3:
            pred = self.line("pred", f"{self.random.choice(('and', 'or'))}({pred}, {self.any('pred')})")
        if self.random.random() < 0.3:
            self.line(type, f"convert({pred})")
        self.line(type, f"select({pred}, {self.any(type)}, {self.any(type)})")

    def wrap(self, type: str) -> None:
        """JAX's way to count from the end: `select(i < 0, i + n, i)`."""
        i, zero, n = self.any(type), self.line(type, "constant(0)"), self.line(type, "constant(4)")
        pred = self.line("pred", f"compare({i}, {zero}), direction=LT")
        moved = self.line(type, f"add({i}, {n})")
        self.line(type, f"select({pred}, {moved}, {i})")

    @property
    def names(self) -> list[str]:
        return [f"x{number}" for number in range(len(self.lines))]


def straight(writer: Writer, given: dict[str, str]) -> str:
    parameters = [f"{name} = {type}[] parameter({at})" for at, (name, type) in enumerate(given.items())]
    types = ", ".join(f"{writer.types[name]}[]" for name in writer.names)
    lines = "\n  ".join((*parameters, *writer.lines, f"ROOT r = ({types}) tuple({', '.join(writer.names)})"))
    return f"HloModule straight\nENTRY main {{\n  {lines}\n}}\n"


def values_in(text: str, names: list[str]) -> tuple[LoopForms, dict[str, object]]:
    module = parse_hlo(text)
    found = {str(r.name_hint): r for op in module.walk() for r in op.results if r.name_hint in names}
    return LoopForms(module), found


def number(random: Random, type: str) -> int:
    every = type_range(Integers(int(type[1:]), type[0] == "s"))
    return min(max(random.choice((*every, 0, random.randint(*every))) + random.randint(-9, 9), every.low), every.high)


@pytest.mark.parametrize("seed", range(25))
def test_values_are_in_their_interval(seed: int) -> None:
    random = Random(seed)
    given = {f"p{at}": random.choice(TYPES) for at in range(4)}
    writer = Writer(random, given)
    for _ in range(40):
        writer.step()
    text = straight(writer, given)
    forms, found = values_in(text, writer.names)
    program = Program(parse_hlo(text))
    ranges = [forms.value_range(found[name]) for name in writer.names]
    for _ in range(25):
        inputs = [DTYPES[type](number(random, type)) for type in given.values()]
        for name, range_, value in zip(writer.names, ranges, program.run(*inputs), strict=True):
            assert isinstance(range_, Interval)
            assert range_.low <= int(value) <= range_.high, (name, range_, value, text)


LOOPS = """HloModule loops
inner {{ q = (s32[], s32[], s32[]) parameter(0)
  j = s32[] get-tuple-element(q), index=0
  i = s32[] get-tuple-element(q), index=1
  k = s32[] get-tuple-element(q), index=2
  {lines}
  two = s32[] constant(2)
  three = s32[] constant(3)
  j2 = s32[] add(j, two)
  k2 = s32[] subtract(k, three)
  ROOT t = (s32[], s32[], s32[]) tuple(j2, i, k2) }}
short {{ q = (s32[], s32[], s32[]) parameter(0)
  j = s32[] get-tuple-element(q), index=0
  n = s32[] constant(7)
  ROOT c = pred[] compare(j, n), direction=LT }}
body {{ p = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[] get-tuple-element(p), index=1
  z = s32[] constant(-1)
  e = s32[] constant(20)
  s = (s32[], s32[], s32[]) tuple(z, i, e)
  w = (s32[], s32[], s32[]) while(s), condition=short, body=inner
  one = s32[] constant(1)
  i2 = s32[] add(i, one)
  ROOT t = (s32[], f32[]) tuple(i2, x) }}
long {{ p = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(5)
  ROOT c = pred[] compare(i, n), direction=LT }}
ENTRY main {{
  x = f32[] parameter(0)
  z = s32[] constant(0)
  t = (s32[], f32[]) tuple(z, x)
  ROOT v = (s32[], f32[]) while(t), condition=long, body=body }}
"""


@pytest.mark.parametrize("seed", range(40))
def test_affine_expressions_are_the_values(seed: int) -> None:
    """In two nested loops: i from 0 by 1, j from -1 by 2, k from 20 by -3."""
    random = Random(seed)
    given = {"i": "s32", "j": "s32", "k": "s32"}
    writer = Writer(random, given)
    for _ in range(30):
        writer.step()
    text = LOOPS.format(lines="\n  ".join(writer.lines))
    module = parse_hlo(text)
    outer, inner = (op for op in module.walk() if isinstance(op, WhileOp))
    forms = LoopForms(module)
    results = {str(r.name_hint): r for op in body_of(inner.body).ops for r in op.results}
    indices = {name: forms.affine_of(results[name]) for name in writer.names}
    ranges = {name: forms.value_range(results[name]) for name in writer.names}
    program = Program(parse_hlo(straight(writer, given)))
    for i, j in product(range(5), range(4)):
        values = program.run(np.int32(i), np.int32(2 * j - 1), np.int32(20 - 3 * j))
        for name, value in zip(writer.names, values, strict=True):
            check(indices[name], {Axis(outer): i, Axis(inner): j}, int(value))
            range_ = ranges[name]
            assert range_ is not None
            assert range_.low <= int(value) <= range_.high


def check(index: AffineIndex | None, ivs: dict[Axis, int], value: int) -> None:
    if index is not None:
        assert index.const + sum(coeff * ivs[term] for term, coeff in index.terms) == value  # pyright: ignore
        assert index.range.low <= value <= index.range.high
