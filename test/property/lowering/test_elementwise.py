"""Loops over random elementwise expressions: all levels give the same bits.

The body makes a new state of random values, so that results land on operands, trade places, and are needed twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import numpy as np
import pytest
from elementwise_cases import values
from hypothesis import given, settings
from hypothesis import strategies as st
from lowered import agree
from oracle.programs import DTYPES

INTEGERS = ("s8", "u8", "s16", "s32", "u32", "s64", "u64")
FLOATS = ("f32", "f16", "bf16", "f8e5m2", "f8e4m3fn")
BINARY = ("add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum")
BITS = ("and", "or", "xor")
SHIFTS = ("shift-left", "shift-right-logical", "shift-right-arithmetic")
OF_INTEGERS = ("not", "popcnt", "count-leading-zeros")
OF_FLOATS = ("floor", "ceil", "round-nearest-even", "round-nearest-afz", "exponential", "tanh", "sqrt")
SIZES = (1, 3, 12, 130)


@dataclass
class Writer:
    """Values of one size, and scalars, by element type."""

    random: Random
    size: int
    lines: list[str] = field(default_factory=list)
    known: dict[str, list[str]] = field(default_factory=dict)

    def type(self, element: str) -> str:
        return f"{element}[{self.size}]"

    def give(self, element: str, right: str) -> str:
        name = f"v{len(self.lines)}"
        self.lines.append(f"  {name} = {self.type(element)} {right}")
        self.known.setdefault(element, []).append(name)
        return name

    def any(self, *elements: str) -> tuple[str, str]:
        element = self.random.choice([e for e in elements or self.known if e in self.known])
        return self.random.choice(self.known[element][-6:]), element

    def like(self, element: str) -> str:
        """A value of that type: one there is, a constant, or another converted."""
        choice = self.random.random()
        if choice < 0.25:
            return self.constant(element)
        if choice < 0.9 and element in self.known:
            return self.any(element)[0]
        return self.give(element, f"convert({self.any()[0]})")

    def scalar(self, element: str) -> str:
        name = f"k{len(self.lines)}"
        number = self.random.choice(("true", "false") if element == "pred" else ("0", "1", "2", "3", "7"))
        if element not in INTEGERS and element != "pred":
            number = self.random.choice((number, "-0.0", "0.5", "nan", "100"))
        self.lines.append(f"  {name} = {element}[] constant({number})")
        return name

    def constant(self, element: str) -> str:
        return self.give(element, f"broadcast({self.scalar(element)}), dimensions={{}}")

    def step(self) -> None:
        x, element = self.any()
        integer, pred = element in INTEGERS, element == "pred"
        choices = (
            ["select", "convert", "compare"] + ["bits"] * (integer or pred) + ["float"] * (not integer and not pred)
        )
        choices += ["binary", "binary", "clamp", "unary"] * (not pred) + ["shift", "integer"] * integer
        getattr(self, f"_{self.random.choice(choices)}")(x, element)

    def _binary(self, x: str, element: str, opcodes: tuple[str, ...] = BINARY) -> None:
        operands = [x, self.like(element)]
        self.random.shuffle(operands)
        self.give(element, f"{self.random.choice(opcodes)}({', '.join(operands)})")

    def _bits(self, x: str, element: str) -> None:
        self._binary(x, element, BITS)

    def _shift(self, x: str, element: str) -> None:
        self._binary(x, element, SHIFTS)

    def _unary(self, x: str, element: str) -> None:
        self.give(
            element, f"{self.random.choice(('negate',) if element[0] == 'u' else ('negate', 'abs', 'sign'))}({x})"
        )

    def _integer(self, x: str, element: str) -> None:
        self.give(element, f"{self.random.choice(OF_INTEGERS)}({x})")

    def _float(self, x: str, element: str) -> None:
        self.give(element, f"{self.random.choice(OF_FLOATS)}({x})")

    def _select(self, x: str, element: str) -> None:
        mask = self.scalar("pred") if self.random.random() < 0.2 else self.like("pred")
        self.give(element, f"select({mask}, {x}, {self.like(element)})")

    def _clamp(self, x: str, element: str) -> None:
        low, high = (self.scalar(element) if self.random.random() < 0.5 else self.like(element) for _ in range(2))
        self.give(element, f"clamp({low}, {x}, {high})")

    def _convert(self, x: str, element: str) -> None:
        self.give(self.random.choice((*INTEGERS, *FLOATS, "pred")), f"convert({x})")

    def _compare(self, x: str, element: str) -> None:
        direction = self.random.choice(("EQ", "NE", "LT", "LE", "GT", "GE"))
        self.give("pred", f"compare({x}, {self.like(element)}), direction={direction}")


def loop_program(random: Random) -> tuple[str, list[np.ndarray]]:
    """A loop of a few trips over some arrays, and the arrays."""
    writer = Writer(random, random.choice(SIZES))
    elements = random.choices((*INTEGERS, *FLOATS, "pred"), k=random.randint(1, 3))
    elements += random.choices(elements, k=2)
    for number, element in enumerate(elements):
        writer.give(element, f"get-tuple-element(s), index={number + 1}")
    for _ in range(random.randint(2, 12)):
        writer.step()
    news = [writer.like(element) for element in elements]
    state = ", ".join(["s32[]", *map(writer.type, elements)])
    parameters = [f"  p{n} = {writer.type(element)} parameter({n})" for n, element in enumerate(elements)]
    text = f"""HloModule m
cond {{
  s = ({state}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant({random.randint(1, 3)})
  ROOT more = pred[] compare(i, n), direction=LT
}}
body {{
  s = ({state}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
{chr(10).join(writer.lines)}
  ROOT t = ({state}) tuple(next, {", ".join(news)})
}}
ENTRY e {{
{chr(10).join(parameters)}
  zero = s32[] constant(0)
  init = ({state}) tuple(zero, {", ".join(f"p{n}" for n in range(len(elements)))})
  ROOT loop = ({state}) while(init), condition=cond, body=body
}}"""
    return text, [_array(random, element, writer.size) for element in elements]


def _array(random: Random, element: str, size: int) -> np.ndarray:
    edges = values(element)
    return np.array([edges[random.randrange(edges.size)] for _ in range(size)], DTYPES[element])


def check(seed: int) -> None:
    text, arrays = loop_program(Random(seed))
    agree(text, *arrays)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32))
def test_loops_over_expressions(seed: int) -> None:
    check(seed)


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(20))
def test_many_loops_over_expressions(block: int) -> None:
    for seed in range(100 * block, 100 * (block + 1)):
        check(seed)
