"""Random programs about state: what loops carry, what branches and fusions hand on, and what is updated in place.

Arrays are s32 scalars, lines of `N`, and matrices of as many elements; states are tuples of them, in tuples too. Values
are handed on, swapped, packed twice, left out; slices are read and written while the old array is still needed, at
starts that are counters, sums of counters, or whatever was computed, in range or not.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TypeAlias

N = 6
SCALAR, LINE, MATRIX, PRED = "s32[]", f"s32[{N}]", "s32[2,3]", "pred[]"
Type: TypeAlias = "str | tuple[Type, ...]"
LINE_SHAPE, MATRIX_SHAPE = (N,), (2, 3)
ARRAYS = (SCALAR, LINE, MATRIX)
REDUCER = "sum { a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT s = s32[] add(a, b) }"
LAST = "last { a = s32[] parameter(0)\n  ROOT b = s32[] parameter(1) }"
BINARY = ("add", "subtract", "multiply", "maximum", "minimum", "and", "xor", "divide", "remainder")


def spelled(type: Type) -> str:
    """The type in HLO's words."""
    return type if isinstance(type, str) else f"({', '.join(map(spelled, type))})"


def state_machine(random: Random, size: int = 7, depth: int = 2) -> str:
    """A program with a scalar, two lines and a matrix as parameters, that returns a random tuple."""
    text = Text(random)
    entry = Computation(text, depth)
    for number, type in enumerate((SCALAR, LINE, LINE, MATRIX)):
        entry.give(type, f"parameter({number})")
    entry.fill(size)
    entry.finish(entry.make(random_state(random, 2)))
    return "\n\n".join(["HloModule machine", REDUCER, LAST, *text.computations, f"ENTRY main {{\n{entry.text()}\n}}"])


def random_state(random: Random, depth: int = 1) -> tuple[Type, ...]:
    """A tuple type, with tuples in it at times."""
    found: list[Type] = []
    for _ in range(random.randint(1, 4)):
        nested = depth and random.random() < 0.2
        found.append(random_state(random, depth - 1) if nested else random.choice(ARRAYS))
    return tuple(found)


class Text:
    """What is written already."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.computations: list[str] = []
        self._count = 0

    def fresh(self, stem: str) -> str:
        self._count += 1
        return f"{stem}.{self._count}"


class Computation:
    """One computation: its lines, its values by type, and which of its scalars count iterations."""

    def __init__(self, shared: Text, depth: int) -> None:
        self.shared, self.random, self.depth = shared, shared.random, depth
        self.lines: list[str] = []
        self.values: dict[Type, list[str]] = {}
        self.counters: list[str] = []

    def text(self) -> str:
        return "\n".join(self.lines)

    def add(self, type: Type, right: str) -> str:
        name = self.shared.fresh(right.split("(")[0])
        self.lines.append(f"  {name} = {spelled(type)} {right}")
        return name

    def give(self, type: Type, right: str) -> str:
        """One more value to choose from."""
        name = self.add(type, right)
        self.values.setdefault(type, []).append(name)
        return name

    def constant(self, value: int) -> str:
        return self.add(SCALAR, f"constant({value})")

    def make(self, type: Type) -> str:
        """A value of the type: one that is there, most often a recent one, or a new one."""
        known, random = self.values.get(type, []), self.random
        if known and random.random() < 0.9:
            return random.choice(known[-4:]) if random.random() < 0.6 else random.choice(known)
        if isinstance(type, tuple):
            return self.give(type, f"tuple({', '.join(self.make(element) for element in type)})")
        number = random.randint(-2, 7)
        if type == SCALAR:
            return self.constant(number)
        if random.random() < 0.5:
            return self.add(type, f"broadcast({self.constant(number)}), dimensions={{}}")
        numbers = [random.randint(-9, 9) for _ in range(N)]
        literal = str(numbers) if type == LINE else str([numbers[:3], numbers[3:]])
        return self.add(type, f"constant({literal.replace('[', '{').replace(']', '}')})")

    def unpack(self, packed: str, type: Type) -> None:
        """The elements of a tuple, and theirs; some are forgotten."""
        if isinstance(type, str):
            return
        for number, element in enumerate(type):
            if self.random.random() < 0.9:
                self.unpack(self.give(element, f"get-tuple-element({packed}), index={number}"), element)

    def fill(self, size: int) -> None:
        for _ in range(self.random.randint(0, size)):
            self.random.choice(NESTED if self.depth > 0 and self.random.random() < 0.4 else PLAIN)(self)

    def finish(self, root: str) -> None:
        """The value is what the computation returns: as it is, by its own name or as a tuple of its own."""
        for number, line in enumerate(self.lines):
            if line.startswith(f"  {root} ="):
                self.lines[number] = f"  ROOT {line.lstrip()}"

    def define(self, stem: str, parameters: tuple[Type, ...], result: Type, size: int = 4, down: int = 1) -> str:
        """Another computation."""
        inner = Computation(self.shared, self.depth - down)
        for number, type in enumerate(parameters):
            inner.unpack(inner.give(type, f"parameter({number})"), type)
        inner.fill(size)
        inner.finish(inner.make(result))
        return self.close(stem, inner)

    def close(self, stem: str, inner: Computation) -> str:
        name = self.shared.fresh(stem)
        self.shared.computations.append(f"{name} {{\n{inner.text()}\n}}")
        return name

    def index(self) -> str:
        """A start: a counter, an expression of counters, or anything."""
        random = self.random
        counter = random.choice(self.counters) if self.counters and random.random() < 0.8 else self.make(SCALAR)
        for _ in range(random.choice((0, 0, 1, 1, 2))):
            match random.randint(0, 5):
                case 0:
                    counter = self.add(SCALAR, f"multiply({counter}, {self.constant(random.choice((-1, 2, 3)))})")
                case 1:
                    counter = self.add(SCALAR, f"subtract({self.constant(random.randint(0, N))}, {counter})")
                case 2 if self.counters:
                    counter = self.add(SCALAR, f"add({counter}, {random.choice(self.counters)})")
                case 3:
                    counter = self._normalised(counter)
                case 4:
                    low, high = self.constant(random.randint(-1, 2)), self.constant(random.randint(2, N))
                    counter = self.add(SCALAR, f"clamp({low}, {counter}, {high})")
                case _:
                    counter = self.add(SCALAR, f"add({counter}, {self.constant(random.randint(-2, 2))})")
        return counter

    def _normalised(self, index: str) -> str:
        """JAX's negative indices: from the end."""
        is_negative = self.add(PRED, f"compare({index}, {self.constant(0)}), direction=LT")
        from_end = self.add(SCALAR, f"add({index}, {self.constant(N)})")
        return self.add(SCALAR, f"select({is_negative}, {from_end}, {index})")


def _binary(c: Computation) -> None:
    type = c.random.choice(ARRAYS)
    c.give(type, f"{c.random.choice(BINARY)}({c.make(type)}, {c.make(type)})")


def _select(c: Computation) -> None:
    """Element by element, or all by one comparison of scalars."""
    type = c.random.choice(ARRAYS)
    mask = type.replace("s32", "pred")
    chosen = _comparison(c)
    if c.random.random() < 0.5:
        chosen = c.add(mask, f"compare({c.make(type)}, {c.make(type)}), direction=LE")
    elif type != SCALAR and c.random.random() < 0.5:
        chosen = c.add(mask, f"broadcast({chosen}), dimensions={{}}")
    c.give(type, f"select({chosen}, {c.make(type)}, {c.make(type)})")


def _comparison(c: Computation) -> str:
    return c.add(PRED, f"compare({c.make(SCALAR)}, {c.make(SCALAR)}), direction={c.random.choice(('LT', 'EQ', 'GE'))}")


def _rename(c: Computation) -> None:
    """Another shape, or the same."""
    a, b = c.random.choice(((LINE, MATRIX), (MATRIX, LINE), (LINE, LINE), (SCALAR, SCALAR)))
    c.give(b, f"{'copy' if a == b else 'reshape'}({c.make(a)})")


def _spread(c: Computation) -> None:
    c.give(c.random.choice((LINE, MATRIX)), f"broadcast({c.make(SCALAR)}), dimensions={{}}")


def _turn(c: Computation) -> None:
    """The same elements in another order."""
    if c.random.random() < 0.5:
        c.give(LINE, f"reverse({c.make(LINE)}), dimensions={{0}}")
    else:
        turned = c.add("s32[3,2]", f"transpose({c.make(MATRIX)}), dimensions={{1,0}}")
        c.give(MATRIX, f"reshape({turned})")


def _shift(c: Computation) -> None:
    """Two slices in another order."""
    line, at = c.make(LINE), c.random.randint(1, N - 1)
    first = c.add(f"s32[{at}]", f"slice({line}), slice={{[0:{at}]}}")
    second = c.add(f"s32[{N - at}]", f"slice({line}), slice={{[{at}:{N}]}}")
    c.give(LINE, f"concatenate({second}, {first}), dimensions={{0}}")


def _read(c: Computation) -> None:
    """One element, or a row."""
    if c.random.random() < 0.5:
        one = c.add("s32[1]", f"dynamic-slice({c.make(LINE)}, {c.index()}), dynamic_slice_sizes={{1}}")
    else:
        starts = f"{c.index()}, {c.index()}"
        one = c.add("s32[1,1]", f"dynamic-slice({c.make(MATRIX)}, {starts}), dynamic_slice_sizes={{1,1}}")
    c.give(SCALAR, f"reshape({one})")


def _write(c: Computation) -> None:
    """A window over an array, read from the same array or another, or a scalar."""
    size = c.random.randint(1, 3)
    if c.random.random() < 0.4:
        row = c.add("s32[1]", f"reshape({c.make(SCALAR)})")
    else:
        size = size if c.random.random() < 0.7 else N
        row = c.add(f"s32[{size}]", f"dynamic-slice({c.make(LINE)}, {c.index()}), dynamic_slice_sizes={{{size}}}")
    c.give(LINE, f"dynamic-update-slice({c.make(LINE)}, {row}, {c.index()})")


def _write_row(c: Computation) -> None:
    rows, columns = c.random.randint(1, 2), c.random.randint(1, 3)
    sizes, starts = f"{rows},{columns}", f"{c.index()}, {c.index()}"
    window = c.add(f"s32[{sizes}]", f"dynamic-slice({c.make(MATRIX)}, {starts}), dynamic_slice_sizes={{{sizes}}}")
    c.give(MATRIX, f"dynamic-update-slice({c.make(MATRIX)}, {window}, {c.index()}, {c.index()})")


def _scatter(c: Computation) -> None:
    how = "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1"
    to_apply = c.random.choice(("sum", "last"))
    c.give(LINE, f"scatter({c.make(LINE)}, {c.make(LINE)}, {c.make(LINE)}), {how}, to_apply={to_apply}")


def _gather(c: Computation) -> None:
    how = "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}"
    c.give(LINE, f"gather({c.make(LINE)}, {c.make(LINE)}), {how}")


def _sum(c: Computation) -> None:
    c.give(SCALAR, f"reduce({c.make(LINE)}, {c.make(SCALAR)}), dimensions={{0}}, to_apply=sum")


def _pack(c: Computation) -> None:
    """A tuple, of which something is taken out again."""
    type = random_state(c.random)
    packed = c.give(type, f"tuple({', '.join(c.make(element) for element in type)})")
    c.unpack(packed, type)


def _fusion(c: Computation) -> None:
    parameters = tuple(c.random.choice(ARRAYS) for _ in range(c.random.randint(1, 3)))
    result = random_state(c.random)
    name = c.define("fused", parameters, result, down=3)
    made = c.give(result, f"fusion({', '.join(map(c.make, parameters))}), kind=kLoop, calls={name}")
    c.unpack(made, result)


def _call(c: Computation) -> None:
    parameters = random_state(c.random)
    result = random_state(c.random)
    name = c.define("called", parameters, result)
    for _ in range(c.random.randint(1, 2)):
        made = c.give(result, f"call({', '.join(map(c.make, parameters))}), to_apply={name}")
        c.unpack(made, result)


def _conditional(c: Computation) -> None:
    """By a pred or a number; branches have parameters of their own, or the same."""
    result = random_state(c.random) if c.random.random() < 0.8 else c.random.choice(ARRAYS)
    count = c.random.randint(1, 4)
    by_pred = count == 2 and c.random.random() < 0.5
    types = [result if c.random.random() < 0.5 else random_state(c.random) for _ in range(count)]
    branches = [c.define("branch", (type,), result) for type in types]
    listed = f"branch_computations={{{', '.join(branches)}}}"
    if by_pred:
        listed = f"true_computation={branches[0]}, false_computation={branches[1]}"
    chosen = _comparison(c) if by_pred else c.index()
    operands = ", ".join(map(c.make, types))
    made = c.give(result, f"conditional({chosen}, {operands}), {listed}")
    c.unpack(made, result)


def _while(c: Computation) -> None:
    """Counted from a number, between scalars that only a run knows, or until something happens."""
    random, types = c.random, random_state(c.random)
    if random.random() < 0.4 and c.values.get(types) is None:
        known = [type for type in c.values if isinstance(type, tuple)]
        types = random.choice(known) if known else types
    state = (SCALAR, SCALAR, *types)
    kind, step = random.choice(("static", "dynamic", "until")), random.choice((1, 1, 2, -1))
    start, bound = _ends(c, kind, step)
    carried = ", ".join(map(c.make, types))
    init = c.give(state, f"tuple({start}, {bound}, {carried})")
    condition, body = _condition(c, state, kind, step), _body(c, state, step)
    c.unpack(c.give(state, f"while({init}), condition={condition}, body={body}"), state)


def _ends(c: Computation, kind: str, step: int) -> tuple[str, str]:
    first, trips = c.random.randint(-2, 3), c.random.randint(0, 3)
    if kind != "dynamic":
        return c.constant(first), c.constant(first + trips * step)
    small = c.add(SCALAR, f"and({c.make(SCALAR)}, {c.constant(3)})")
    if c.random.random() < 0.4:
        return c.constant(0), small if step > 0 else c.add(SCALAR, f"negate({small})")
    other = c.add(SCALAR, f"and({c.make(SCALAR)}, {c.constant(1)})")
    return (other, small) if step > 0 else (small, other)


def _condition(c: Computation, state: Type, kind: str, step: int) -> str:
    inner = Computation(c.shared, 0)
    packed = inner.add(state, "parameter(0)")
    counter, bound = (inner.add(SCALAR, f"get-tuple-element({packed}), index={n}") for n in (0, 1))
    goes_on = inner.add(PRED, f"compare({counter}, {bound}), direction={'LT' if step > 0 else 'GT'}")
    if kind == "until":
        inner.unpack(packed, state)
        goes_on = inner.add(PRED, f"and({goes_on}, {_comparison(inner)})")
    inner.finish(goes_on)
    return c.close("condition", inner)


def _body(c: Computation, state: tuple[Type, ...], step: int) -> str:
    """Most leaves are made anew, some handed on, some swapped."""
    inner = Computation(c.shared, c.depth - 1)
    packed = inner.give(state, "parameter(0)")
    counter, bound = (inner.give(SCALAR, f"get-tuple-element({packed}), index={n}") for n in (0, 1))
    kept: list[str] = []
    for number, type in enumerate(state[2:], start=2):
        kept.append(inner.give(type, f"get-tuple-element({packed}), index={number}"))
        inner.unpack(kept[-1], type)
    inner.counters = [counter, bound] if c.random.random() < 0.3 else [counter]
    inner.fill(5)
    after = inner.add(SCALAR, f"add({counter}, {inner.constant(step)})")
    made = [k if c.random.random() < 0.2 else inner.make(t) for k, t in zip(kept, state[2:], strict=True)]
    inner.finish(inner.add(state, f"tuple({', '.join([after, bound, *made])})"))
    return c.close("body", inner)


Statement: TypeAlias = Callable[[Computation], None]
PLAIN: tuple[Statement, ...] = (
    _binary, _binary, _binary, _select, _rename, _spread, _turn, _shift, _read, _write, _write, _write_row,
    _scatter, _gather, _sum, _pack, _fusion,
)  # fmt: skip
NESTED: tuple[Statement, ...] = (_while, _while, _while, _conditional, _call)
