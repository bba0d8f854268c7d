"""Random programs on integer matrices: they move, update, reduce and multiply them, in loops that exchange state."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

N = 5
MATRIX, LINE, ROW, COLUMN = f"s32[{N},{N}]", f"s32[{N}]", f"s32[1,{N}]", f"s32[{N},1]"
PAIR, COUNTED = f"({MATRIX}, {MATRIX})", f"(s32[], {MATRIX}, {MATRIX})"

COMPUTATIONS = f"""HloModule m
sum {{ x = s32[] parameter(0)
  y = s32[] parameter(1)
  ROOT r = s32[] add(x, y) }}
last {{ x = s32[] parameter(0)
  ROOT y = s32[] parameter(1) }}
mixed {{ x = s32[] parameter(0)
  y = s32[] parameter(1)
  z = s32[] multiply(x, x)
  ROOT r = s32[] subtract(z, y) }}
even {{ p = {PAIR} parameter(0)
  x = {MATRIX} get-tuple-element(p), index=0
  y = {MATRIX} get-tuple-element(p), index=1
  t = {MATRIX} transpose(x), dimensions={{1,0}}
  ROOT r = {PAIR} tuple(y, t) }}
odd {{ p = {PAIR} parameter(0)
  x = {MATRIX} get-tuple-element(p), index=0
  y = {MATRIX} get-tuple-element(p), index=1
  one = s32[] constant(1)
  row = {ROW} slice(y), slice={{[0:1],[0:{N}]}}
  t = {MATRIX} dynamic-update-slice(x, row, one, one)
  ROOT r = {PAIR} tuple(t, x) }}
twice {{ p = {COUNTED} parameter(0)
  i = s32[] get-tuple-element(p), index=0
  two = s32[] constant(2)
  ROOT c = pred[] compare(i, two), direction=LT }}
swap {{ p = {COUNTED} parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = {MATRIX} get-tuple-element(p), index=1
  y = {MATRIX} get-tuple-element(p), index=2
  one = s32[] constant(1)
  zero = s32[] constant(0)
  j = s32[] add(i, one)
  row = {ROW} dynamic-slice(y, i, zero), dynamic_slice_sizes={{1,{N}}}
  t = {MATRIX} dynamic-update-slice(x, row, j, zero)
  ROOT r = {COUNTED} tuple(j, y, t) }}
"""


class Body:
    """Instructions that make matrices of matrices. `i`, `m`, `one`, `zero` are scalars."""

    def __init__(self, random: Random, matrices: list[str]) -> None:
        self.random, self.matrices = random, matrices
        self.lines: list[str] = []

    def matrix(self) -> str:
        """A recent one more often than not."""
        return self.random.choice(self.matrices[-4:] if self.random.random() < 0.6 else self.matrices)

    def scalar(self) -> str:
        return self.random.choice(["i", "one", "zero", "m"])

    def dimension(self) -> str:
        return self.random.choice("01")

    def add(self, type: str, right: str) -> str:
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {type} {right}")
        return name

    def row(self) -> str:
        return self.add(ROW, f"dynamic-slice({self.matrix()}, {self.scalar()}, zero), dynamic_slice_sizes={{1,{N}}}")

    def line(self) -> str:
        return self.add(LINE, f"reshape({self.row()})")


def _transpose(b: Body) -> str:
    return f"transpose({b.matrix()}), dimensions={{1,0}}"


def _reverse(b: Body) -> str:
    return f"reverse({b.matrix()}), dimensions={{{b.random.choice(['0', '1', '0,1'])}}}"


def _add(b: Body) -> str:
    return f"add({b.matrix()}, {b.matrix()})"


def _pad(b: Body) -> str:
    padding = b.random.choice(["1_-1x0_0", "-2_2x1_-1", "0_0x-1_1"])
    return f"pad({b.matrix()}, {b.scalar()}), padding={padding}"


def _update(b: Body) -> str:
    sizes = b.random.randint(1, N), b.random.randint(1, N)
    sizes = f"{sizes[0]},{sizes[1]}"
    starts = f"{b.scalar()}, {b.scalar()}"
    window = b.add(f"s32[{sizes}]", f"dynamic-slice({b.matrix()}, {starts}), dynamic_slice_sizes={{{sizes}}}")
    return f"dynamic-update-slice({b.matrix()}, {window}, {b.scalar()}, {b.scalar()})"


def _update_row(b: Body) -> str:
    row = b.row()
    return f"dynamic-update-slice({b.matrix()}, {b.add(ROW, f'add({row}, {row})')}, i, zero)"


def _broadcast(b: Body) -> str:
    return f"broadcast({b.line()}), dimensions={{{b.dimension()}}}"


def _reduce(b: Body) -> str:
    computation = b.random.choice(["sum", "mixed"])
    sums = b.add(LINE, f"reduce({b.matrix()}, one), dimensions={{{b.dimension()}}}, to_apply={computation}")
    return f"broadcast({sums}), dimensions={{{b.dimension()}}}"


def _dot(b: Body) -> str:
    left, right = b.dimension(), b.dimension()
    return f"dot({b.matrix()}, {b.matrix()}), lhs_contracting_dims={{{left}}}, rhs_contracting_dims={{{right}}}"


def _scatter(b: Body) -> str:
    numbers = "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1"
    computation = b.random.choice(["sum", "last", "mixed"])
    return f"scatter({b.matrix()}, {b.line()}, {b.matrix()}), {numbers}, to_apply={computation}"


def _gather(b: Body) -> str:
    column = b.add(COLUMN, f"dynamic-slice({b.matrix()}, zero, i), dynamic_slice_sizes={{{N},1}}")
    numbers = "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1"
    return f"gather({b.matrix()}, {column}), {numbers}, slice_sizes={{1,{N}}}"


def _concatenate(b: Body) -> str:
    both = b.add(f"s32[{N},{2 * N}]", f"concatenate({b.matrix()}, {b.matrix()}), dimensions={{1}}")
    start = b.random.randint(0, N)
    return f"slice({both}), slice={{[0:{N}],[{start}:{start + N}]}}"


def _sort(b: Body) -> str:
    return f"sort({b.matrix()}), dimensions={{{b.dimension()}}}, to_apply=less"


def _loop(b: Body) -> str:
    state = b.add(COUNTED, f"tuple(zero, {b.matrix()}, {b.matrix()})")
    loop = b.add(COUNTED, f"while({state}), condition=twice, body=swap")
    return f"get-tuple-element({loop}), index={b.random.choice('12')}"


def _branch(b: Body) -> str:
    pair = b.add(PAIR, f"tuple({b.matrix()}, {b.matrix()})")
    chosen = b.add(PAIR, f"conditional({b.scalar()}, {pair}, {pair}), branch_computations={{even, odd}}")
    return f"get-tuple-element({chosen}), index={b.dimension()}"


STEPS: list[Callable[[Body], str]] = [
    _transpose, _reverse, _add, _pad, _update, _update, _update_row, _broadcast, _reduce, _dot, _scatter, _gather,
    _concatenate, _sort, _loop, _branch,
]  # fmt: skip


def matrix_program(random: Random) -> tuple[str, int]:
    """A loop whose state is some matrices, and how many; the last parameter is a scalar, at times the trip count."""
    count = random.randint(1, 3)
    body = Body(random, [f"x{k}" for k in range(count)])
    for _ in range(random.randint(2, 7)):
        right = random.choice(STEPS)(body)
        body.matrices.append(body.add(MATRIX, right))
    returned = ", ".join(body.matrix() for _ in range(count))
    state = f"(s32[], s32[], {', '.join([MATRIX] * count)})"
    bound = random.choice(["constant(3)", "constant(6)", "get-tuple-element(p), index=1"])
    elements = "\n".join(f"x{k} = {MATRIX} get-tuple-element(p), index={k + 2}" for k in range(count))
    parameters = "\n".join(f"x{k} = {MATRIX} parameter({k})" for k in range(count))
    lines = "\n".join(body.lines)
    text = f"""{COMPUTATIONS}
less {{ x = s32[] parameter(0)
  y = s32[] parameter(1)
  ROOT r = pred[] compare(x, y), direction=LT }}
cond {{ p = {state} parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] {bound}
  ROOT c = pred[] compare(i, n), direction=LT }}
body {{ p = {state} parameter(0)
  i = s32[] get-tuple-element(p), index=0
  m = s32[] get-tuple-element(p), index=1
  one = s32[] constant(1)
  zero = s32[] constant(0)
  next = s32[] add(i, one)
  {elements}
  {lines}
  ROOT t = {state} tuple(next, m, {returned}) }}
ENTRY e {{ {parameters}
  m = s32[] parameter({count})
  zero = s32[] constant(0)
  t = {state} tuple(zero, m, {", ".join(f"x{k}" for k in range(count))})
  ROOT w = {state} while(t), condition=cond, body=body }}"""
    return text, count
