"""Random straight-line HLO programs over many element types and shapes, whose results compare bit for bit.

Left out is what jaxlib 0.10.2 gets wrong or does its own way: division of floats and sums of floats over a dimension
are rearranged; an integer division that folds to 0 / 0 aborts the compiler; a dynamic-slice of a dynamic-slice loses
the inner clamp; initial values of reductions that are no identity are dropped or counted twice.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from random import Random

import numpy as np
from oracle.programs import DTYPES
from oracle.xla import Program

INTEGERS, FLOATS = ("s8", "u8", "s16", "s32", "u32", "s64", "u64"), ("f32", "f64", "bf16", "f16")
SHAPES = ((), (1,), (4,), (2, 3), (3, 2), (2, 1, 3), (6,))
BITS = ("and", "or", "xor")
ARITHMETIC = ("add", "subtract", "multiply", "maximum", "minimum")
SHIFTS = ("shift-left", "shift-right-logical", "shift-right-arithmetic")
DIRECTIONS = ("EQ", "NE", "LT", "LE", "GT", "GE")
OUTPUTS = 6

Shape = tuple[int, ...]
Typed = tuple[str, Shape]


def spelled(type: Typed) -> str:
    return f"{type[0]}[{','.join(map(str, type[1]))}]"


def straight_line_program(random: Random, size: int = 25, floats: tuple[str, ...] = FLOATS) -> Program:
    """A program of `size` instructions with a parameter per type; the last values are its results."""
    writer = _Writer(random, floats)
    arrays = [writer.parameter((element, random.choice(SHAPES))) for element in (*INTEGERS, *floats, "pred")]
    for _ in range(size):
        random.choice(STEPS)(writer)
    chosen = writer.values[-OUTPUTS:]
    types = ", ".join(spelled(type) for _, type in chosen)
    root = f"  ROOT r = ({types}) tuple({', '.join(name for name, _ in chosen)})"
    lines = ["HloModule m", *writer.computations.values(), "ENTRY e {", *writer.lines, root, "}"]
    return Program.of("\n".join(lines), *arrays)


class _Writer:
    def __init__(self, random: Random, floats: tuple[str, ...]) -> None:
        self.random = random
        self.floats = floats
        self.lines: list[str] = []
        self.values: list[tuple[str, Typed]] = []
        self.computations: dict[str, str] = {}
        self.windows: set[str] = set()
        """Results of dynamic-slice."""

    def add(self, type: Typed, right: str) -> str:
        name = f"v{len(self.lines)}"
        self.lines.append(f"  {name} = {spelled(type)} {right}")
        return name

    def give(self, type: Typed, right: str) -> str:
        """An instruction that later ones may use."""
        self.values.append((name := self.add(type, right), type))
        return name

    def parameter(self, type: Typed) -> np.ndarray:
        number = len(self.lines)
        self.give(type, f"parameter({number})")
        element, shape = type
        generator = np.random.default_rng(self.random.getrandbits(32))
        if element in FLOATS:
            return (generator.integers(-40, 40, shape) / 8).astype(DTYPES[element])
        if element == "pred":
            return np.asarray(generator.random(shape) < 0.5)
        info = np.iinfo(DTYPES[element])
        values = generator.integers(info.min, info.max, shape, DTYPES[element], endpoint=True)
        small = generator.integers(0, 5, shape)
        return np.where(generator.random(shape) < 0.5, values, small.astype(values.dtype)).astype(DTYPES[element])

    def any(self, *elements: str) -> tuple[str, Typed]:
        """A value of one of the element types, or of any."""
        found = [value for value in self.values if not elements or value[1][0] in elements]
        return self.random.choice(found[-12:])

    def like(self, type: Typed) -> str:
        """A value of the type: one there is, or one converted and reshaped to it."""
        if found := [name for name, other in self.values if other == type]:
            return self.random.choice(found)
        name, (element, shape) = self.any()
        if element != type[0]:
            name = self.give((type[0], shape), f"convert({name})")
        if shape == type[1]:
            return name
        if prod(shape) == prod(type[1]):
            return self.give(type, f"reshape({name})")
        while shape:
            name = self.give((type[0], shape[1:]), f"reshape({self._first(name, (type[0], shape))})")
            shape = shape[1:]
        return self.give(type, f"broadcast({name}), dimensions={{}}")

    def _first(self, name: str, type: Typed) -> str:
        limits = ["[0:1]", *(f"[0:{extent}]" for extent in type[1][1:])]
        return self.give((type[0], (1, *type[1][1:])), f"slice({name}), slice={{{', '.join(limits)}}}")

    def reducer(self, opcode: str, element: str) -> str:
        name = f"{opcode}_{element}"
        scalar = f"{element}[]"
        self.computations[name] = (
            f"{name} {{ a = {scalar} parameter(0) b = {scalar} parameter(1) ROOT r = {scalar} {opcode}(a, b) }}"
        )
        return name


def _binary(w: _Writer) -> None:
    name, type = w.any()
    kind = type[0]
    opcodes = BITS if kind == "pred" else (*ARITHMETIC, *BITS, *SHIFTS) if kind in INTEGERS else ARITHMETIC
    w.give(type, f"{w.random.choice(opcodes)}({name}, {w.like(type)})")


def _unary(w: _Writer) -> None:
    name, type = w.any(*INTEGERS, *FLOATS)
    opcodes = ["negate"]
    if type[0] in INTEGERS:
        opcodes += ["not", "popcnt", "count-leading-zeros"]
    if type[0] in FLOATS:
        opcodes += ["floor", "ceil", "round-nearest-afz", "round-nearest-even"]
    if type[0][0] != "u":
        opcodes += ["abs", "sign"]
    w.give(type, f"{w.random.choice(opcodes)}({name})")


def _convert(w: _Writer) -> None:
    name, (_, shape) = w.any()
    w.give((w.random.choice((*INTEGERS, *w.floats, "pred")), shape), f"convert({name})")


def _compare(w: _Writer) -> None:
    name, type = w.any()
    w.give(("pred", type[1]), f"compare({name}, {w.like(type)}), direction={w.random.choice(DIRECTIONS)}")


def _select(w: _Writer) -> None:
    name, type = w.any()
    pred = w.like(("pred", type[1]))
    w.give(type, f"select({pred}, {name}, {w.like(type)})")


def _clamp(w: _Writer) -> None:
    name, type = w.any(*INTEGERS, *FLOATS)
    w.give(type, f"clamp({w.like((type[0], ()))}, {name}, {w.like(type) if not type[1] else w.like((type[0], ()))})")


def _transpose(w: _Writer) -> None:
    name, (element, shape) = w.any()
    order = w.random.sample(range(len(shape)), len(shape))
    w.give((element, tuple(shape[d] for d in order)), f"transpose({name}), dimensions={{{_list(order)}}}")


def _list(numbers: list[int] | Shape) -> str:
    return ",".join(map(str, numbers))


def _reverse(w: _Writer) -> None:
    name, type = w.any()
    dimensions = [d for d in range(len(type[1])) if w.random.random() < 0.5]
    w.give(type, f"reverse({name}), dimensions={{{_list(dimensions)}}}")


def _broadcast(w: _Writer) -> None:
    name, (element, shape) = w.any()
    if len(shape) > 2:
        return
    extra = w.random.randint(1, 3)
    at = w.random.randint(0, len(shape))
    dimensions = [d + (d >= at) for d in range(len(shape))]
    w.give((element, (*shape[:at], extra, *shape[at:])), f"broadcast({name}), dimensions={{{_list(dimensions)}}}")


def _slice(w: _Writer) -> None:
    name, (element, shape) = w.any()
    parts, result = [], []
    for extent in shape:
        start, stride = w.random.randrange(extent), w.random.randint(1, 2)
        limit = w.random.randint(start + 1, extent)
        parts.append(f"[{start}:{limit}:{stride}]")
        result.append(-(-(limit - start) // stride))
    w.give((element, tuple(result)), f"slice({name}), slice={{{', '.join(parts)}}}")


def _pad(w: _Writer) -> None:
    name, (element, shape) = w.any()
    if not shape or prod(shape) > 60:
        return
    parts, result = [], []
    for extent in shape:
        low, high, interior = w.random.randint(-1, 2), w.random.randint(-1, 2), w.random.randint(0, 1)
        full = extent + (extent - 1) * interior
        if full + low + high < 1:
            low, high = 0, 1
        parts.append(f"{low}_{high}_{interior}")
        result.append(full + low + high)
    w.give((element, tuple(result)), f"pad({name}, {w.like((element, ()))}), padding={'x'.join(parts)}")


def _concatenate(w: _Writer) -> None:
    name, (element, shape) = w.any()
    if not shape or prod(shape) > 60:
        return
    dimension = w.random.randrange(len(shape))
    result = tuple(2 * extent if d == dimension else extent for d, extent in enumerate(shape))
    w.give((element, result), f"concatenate({name}, {w.like((element, shape))}), dimensions={{{dimension}}}")


def _dynamic_slice(w: _Writer) -> None:
    name, (element, shape) = w.any()
    if not shape or name in w.windows:
        return
    sizes = tuple(w.random.randint(1, extent) for extent in shape)
    index = w.random.choice(("s32", "u32", "s8", "s64"))
    starts = ", ".join(w.like((index, ())) for _ in shape)
    window = w.give((element, sizes), f"dynamic-slice({name}, {starts}), dynamic_slice_sizes={{{_list(sizes)}}}")
    w.windows.add(window)
    if w.random.random() < 0.5:
        w.give((element, shape), f"dynamic-update-slice({name}, {window}, {starts})")


def _gather(w: _Writer) -> None:
    name, (element, shape) = w.any()
    if len(shape) != 2:
        return
    indices = w.like((w.random.choice(("s32", "u8", "s64")), (4,)))
    attributes = "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1"
    w.give((element, (4, shape[1])), f"gather({name}, {indices}), {attributes}, slice_sizes={{1,{shape[1]}}}")


def _reduce(w: _Writer) -> None:
    name, (element, shape) = w.any()
    opcodes = ("or", "and") if element == "pred" else ("maximum", "minimum")
    opcode = w.random.choice((*opcodes, "add", "multiply") if element in INTEGERS else opcodes)
    dimensions = [d for d in range(len(shape)) if w.random.random() < 0.6] or list(range(len(shape)))[:1]
    if not dimensions:
        return
    kept = tuple(extent for d, extent in enumerate(shape) if d not in dimensions)
    attributes = f"dimensions={{{_list(dimensions)}}}, to_apply={w.reducer(opcode, element)}"
    initial = w.add((element, ()), f"constant({_identity(opcode, element)})")
    w.give((element, kept), f"reduce({name}, {initial}), {attributes}")


def _identity(opcode: str, element: str) -> str:
    if opcode in ("maximum", "minimum"):
        sign = -1 if opcode == "maximum" else 1
        if element in FLOATS:
            return "-inf" if sign < 0 else "inf"
        info = np.iinfo(DTYPES[element])
        return str(info.min if sign < 0 else info.max)
    return {"or": "false", "and": "true", "add": "0", "multiply": "1"}[opcode]


def _sort(w: _Writer) -> None:
    name, (element, shape) = w.any(*INTEGERS)
    if not shape:
        return
    direction = w.random.choice(("LT", "GT"))
    computation = f"by_{direction}_{element}"
    scalar = f"{element}[]"
    w.computations[computation] = (
        f"{computation} {{ a = {scalar} parameter(0) b = {scalar} parameter(1) "
        f"ROOT r = pred[] compare(a, b), direction={direction} }}"
    )
    dimension = w.random.randrange(len(shape))
    w.give((element, shape), f"sort({name}), dimensions={{{dimension}}}, to_apply={computation}")


def _iota(w: _Writer) -> None:
    element, shape = w.random.choice((*INTEGERS, *w.floats)), w.random.choice(SHAPES[1:])
    w.give((element, shape), f"iota(), iota_dimension={w.random.randrange(len(shape))}")


STEPS: tuple[Callable[[_Writer], None], ...] = (
    *(_binary, _binary, _binary, _unary, _convert, _compare, _select, _clamp),
    *(_transpose, _reverse, _broadcast, _slice, _pad, _concatenate, _dynamic_slice, _gather, _reduce, _sort, _iota),
)
