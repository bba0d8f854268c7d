"""Random programs of loops, branches, calls and views: plans, code, and both must give the same bits and counts.

Plans write every result into new memory, so that a buffer reused too early by generated code shows as a difference.
"""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from xneuron.formats.hlo_text import parse_hlo
from xneuron.interpreters.evaluator import Program

S, V, M = "s32[]", "s32[4]", "s32[2,2]"


class Writer:
    """Writes random computations; every instruction keeps its values within reach of later ones."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.computations: list[str] = []
        self.names = 0

    def fresh(self, prefix: str = "v") -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def computation(self, parameters: list[str], root: list[str] | str, depth: int, size: int) -> str:
        """A computation with one parameter per type; the root is a tuple of types, or of one type."""
        body = Body(self, depth)
        for at, type in enumerate(parameters):
            body.add(type, f"parameter({at})")
        for _ in range(size):
            body.step()
        body.finish(root)
        name = self.fresh("comp")
        self.computations.append(f"{name} {{\n" + "\n".join(body.lines) + "\n}")
        return name


class Body:
    """One computation."""

    def __init__(self, writer: Writer, depth: int) -> None:
        self.writer, self.rng, self.depth = writer, writer.rng, depth
        self.lines: list[str] = []
        self.values: dict[str, list[str]] = {S: [], V: [], M: []}

    def add(self, type: str, right: str) -> str:
        name = self.writer.fresh()
        self.lines.append(f"  {name} = {type} {right}")
        self.values.setdefault(type, []).append(name)
        return name

    def any(self, type: str) -> str:
        """A value of the type, one of the last more often than not."""
        if not self.values[type]:
            if type == S:
                return self.add(S, f"constant({self.rng.randint(-3, 3)})")
            return self.add(type, f"broadcast({self.any(S)}), dimensions={{}}")
        known = self.values[type]
        return self.rng.choice(known[-3:] if self.rng.random() < 0.6 else known)

    def type(self) -> str:
        return self.rng.choice([S, V, V, V, M])

    def step(self) -> None:
        kinds = [self.arithmetic] * 6 + [self.view] * 3 + [self.update, self.scalar, self.several, self.passing]
        if self.depth:
            kinds += [self.loop, self.loop, self.branch, self.call, self.fusion]
        self.rng.choice(kinds)()

    def arithmetic(self) -> None:
        type = self.type()
        opcode = self.rng.choice(["add", "subtract", "multiply", "xor", "minimum"])
        self.add(type, f"{opcode}({self.any(type)}, {self.any(type)})")

    def view(self) -> None:
        match self.rng.randrange(5):
            case 0:
                self.add(V, f"reverse({self.any(V)}), dimensions={{0}}")
            case 1:
                self.add(M, f"reshape({self.any(V)})")
            case 2:
                self.add(V, f"reshape({self.any(M)})")
            case 3:
                self.add(M, f"transpose({self.any(M)}), dimensions={{1,0}}")
            case _:
                self.add(V, f"dynamic-slice({self.any(V)}, {self.any(S)}), dynamic_slice_sizes={{4}}")

    def update(self) -> None:
        part = self.add("s32[2]", f"slice({self.any(V)}), slice={{[1:3]}}")
        self.add(V, f"dynamic-update-slice({self.any(V)}, {part}, {self.any(S)})")

    def scalar(self) -> None:
        part = self.add("s32[1]", f"dynamic-slice({self.any(V)}, {self.any(S)}), dynamic_slice_sizes={{1}}")
        self.add(S, f"reshape({part})")

    def several(self) -> None:
        """A kernel whose result is a tuple."""
        pair = self.add(f"({V}, {V})", f"sort({self.any(V)}, {self.any(V)}), dimensions={{0}}, to_apply=less")
        for index in range(2):
            self.add(V, f"get-tuple-element({pair}), index={index}")

    def passing(self) -> None:
        types = [self.type() for _ in range(self.rng.randint(1, 3))]
        values = ", ".join(self.any(type) for type in types)
        whole = self.add(f"({', '.join(types)})", f"tuple({values})")
        if self.rng.random() < 0.5:
            whole = self.add(f"({', '.join(types)})", f"opt-barrier({whole})")
        index = self.rng.randrange(len(types))
        self.add(types[index], f"get-tuple-element({whole}), index={index}")

    def loop(self) -> None:
        types = [S, *(self.type() for _ in range(self.rng.randint(1, 4)))]
        state = f"({', '.join(types)})"
        body = self.loop_body(types)
        cond = self.writer.fresh("comp")
        trips = self.rng.choice([0, 1, 2, 3, 5])
        self.writer.computations.append(
            f"{cond} {{\n  p = {state} parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
            f"  n = s32[] constant({trips})\n  ROOT lt = pred[] compare(i, n), direction=LT\n}}"
        )
        zero = self.add(S, "constant(0)")
        init = self.add(state, f"tuple({', '.join([zero, *(self.any(type) for type in types[1:])])})")
        end = self.add(state, f"while({init}), condition={cond}, body={body}")
        for index, type in enumerate(types):
            if self.rng.random() < 0.8:
                self.add(type, f"get-tuple-element({end}), index={index}")

    def loop_body(self, types: list[str]) -> str:
        state = f"({', '.join(types)})"
        body = Body(self.writer, self.depth - 1)
        whole = body.add(state, "parameter(0)")
        slots = [body.add(type, f"get-tuple-element({whole}), index={at}") for at, type in enumerate(types)]
        for _ in range(self.rng.randint(1, 7)):
            body.step()
        one = body.add(S, "constant(1)")
        next = body.add(S, f"add({slots[0]}, {one})")
        ends = [slot if self.rng.random() < 0.2 else body.any(t) for slot, t in zip(slots, types, strict=True)]
        body.lines.append(f"  ROOT {self.writer.fresh()} = {state} tuple({', '.join([next, *ends[1:]])})")
        name = self.writer.fresh("comp")
        self.writer.computations.append(f"{name} {{\n" + "\n".join(body.lines) + "\n}")
        return name

    def branch(self) -> None:
        types = [self.type() for _ in range(2)]
        branches = [self.writer.computation([V], types, self.depth - 1, self.rng.randint(0, 4)) for _ in range(3)]
        operands = ", ".join(self.any(V) for _ in range(3))
        joined = ", ".join(branches)
        result = f"({', '.join(types)})"
        whole = self.add(result, f"conditional({self.any(S)}, {operands}), branch_computations={{{joined}}}")
        for index, type in enumerate(types):
            self.add(type, f"get-tuple-element({whole}), index={index}")

    def call(self) -> None:
        callee = self.writer.computation([V, M], V, self.depth - 1, self.rng.choice([1, 4, 80]))
        for _ in range(self.rng.randint(1, 2)):
            self.add(V, f"call({self.any(V)}, {self.any(M)}), to_apply={callee}")

    def fusion(self) -> None:
        types = [V, S]
        fused = self.writer.computation([V, S], types, 0, 3)
        whole = self.add(f"({V}, {S})", f"fusion({self.any(V)}, {self.any(S)}), kind=kLoop, calls={fused}")
        self.add(V, f"get-tuple-element({whole}), index=0")

    def finish(self, root: list[str] | str) -> None:
        if isinstance(root, str):
            self.lines.append(f"  ROOT {self.writer.fresh()} = {root} copy({self.any(root)})")
            return
        values = ", ".join([self.any(type) for type in root])
        self.lines.append(f"  ROOT {self.writer.fresh()} = ({', '.join(root)}) tuple({values})")


LESS = """less {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT lt = pred[] compare(a, b), direction=LT
}"""


def random_program(rng: Random) -> str:
    """HLO text of a program of three parameters."""
    writer = Writer(rng)
    writer.computation([S, V, M], [S, V, V, M], 3, 8)
    *others, main = writer.computations
    return "\n\n".join(["HloModule random", LESS, *others, "ENTRY " + main])


def check(text: str) -> None:
    """All engines agree, and leave the inputs alone."""
    inputs = [np.int32(2), np.array([3, -1, 4, 1], np.int32), np.array([[5, -9], [2, 6]], np.int32)]
    before = [np.copy(value) for value in inputs]
    module = parse_hlo(text)
    plans = Program(module, warm_up=None, profile=True)
    expected = plans.run(*inputs)
    kept = [np.copy(value) for value in expected]
    for options in ({"warm_up": 0}, {"warm_up": 2}, {"warm_up": 0, "profile": True}, {"warm_up": 1, "profile": True}):
        program = Program(module, max_iterations=1000, **options)
        for _ in range(2 if "profile" not in options else 1):
            for left, right in zip(program.run(*inputs), expected, strict=True):
                np.testing.assert_array_equal(left, right)
        if "profile" in options:
            assert program.profile == plans.profile
    for left, right in zip([*inputs, *expected], [*before, *kept], strict=True):
        np.testing.assert_array_equal(left, right)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_engines_agree(seed: int) -> None:
    check(random_program(Random(seed)))
