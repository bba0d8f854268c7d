"""Which part of each value a device holds, outside of manual computations: found by what must be held alike.

The unit is one dimension of one value; dimensions that must be split by the same axes of the mesh are one class
(union-find). How the dimensions of an operation's operands and results hang together is in `RULES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod

from xneuron.formats.stablehlo.reader.errors import Untranslatable
from xneuron.formats.stablehlo.reader.table import number, numbers
from xneuron.formats.stablehlo.tree import Dense, Op, Type

Axes = tuple[str, ...]
"""The axes of the mesh that a dimension is split by; none of a dimension that each device holds whole."""
Dimension = tuple[int, int]
"""A value, and one of its dimensions."""

ELEMENTWISE = frozenset(
    f"stablehlo.{name}"
    for name in (
        "abs add and atan2 cbrt ceil clamp compare complex convert cosine count_leading_zeros divide exponential "
        "exponential_minus_one floor imag is_finite log log_plus_one logistic maximum minimum multiply negate not or "
        "popcnt power real remainder reduce_precision round_nearest_afz round_nearest_even rsqrt select shift_left "
        "shift_right_arithmetic shift_right_logical sign sine sqrt subtract tan tanh xor"
    ).split()
)


class Parts:
    """What is known so far. `sizes` are those of the mesh's axes."""

    def __init__(self) -> None:
        self.sizes: dict[str, int] = {}
        self.types: dict[int, Type] = {}
        self._parent: dict[Dimension, Dimension] = {}
        self._axes: dict[Dimension, Axes] = {}

    def define(self, values: Sequence[int], types: Sequence[Type]) -> None:
        """Makes values known."""
        self.types.update(zip(values, types, strict=True))

    def of(self, value: int) -> tuple[Axes, ...]:
        """How each dimension of a value is split; one that nothing says anything about is not."""
        return tuple(self._axes.get(self._root((value, at)), ()) for at in range(self.rank(value)))

    def rank(self, value: int) -> int:
        """Number of dimensions of a value."""
        return len(self.types[value].shape)

    def local(self, value: int) -> Type:
        """The type of the part."""
        type = self.types[value]
        divisors = [prod(self.sizes[axis] for axis in axes) for axes in self.of(value)]
        return type._replace(shape=tuple(extent // by for extent, by in zip(type.shape, divisors, strict=True)))

    def _root(self, dimension: Dimension) -> Dimension:
        while (parent := self._parent.get(dimension, dimension)) != dimension:
            self._parent[dimension] = self._parent.get(parent, parent)
            dimension = parent
        return dimension

    def alike(self, op: Op, left: Dimension, right: Dimension) -> None:
        """Says that two dimensions are split by the same axes."""
        a, b = self._root(left), self._root(right)
        if a == b:
            return
        known = [self._axes[root] for root in (a, b) if root in self._axes]
        if len(known) == 2 and known[0] != known[1]:
            raise _conflict(op, known[0], known[1])
        self._parent[a] = b
        if known:
            self._axes[b] = known[0]

    def all_alike(self, op: Op, left: Sequence[int], right: Sequence[int]) -> None:
        """Says the same of all dimensions of values, pair by pair."""
        for a, b in zip(left, right, strict=False):
            for at in range(self.rank(a)):
                self.alike(op, (a, at), (b, at))

    def split(self, op: Op, dimension: Dimension, axes: Axes) -> None:
        """Says how a dimension is split."""
        known = self._axes.setdefault(self._root(dimension), axes)
        if known != axes:
            raise _conflict(op, known, axes)

    def whole(self, op: Op, values: Sequence[int]) -> None:
        """Says that devices hold all of some values."""
        for value in values:
            for at in range(self.rank(value)):
                self.split(op, (value, at), ())


def _conflict(op: Op, left: Axes, right: Axes) -> Untranslatable:
    what = " and ".join(f"split by {{{', '.join(axes)}}}" if axes else "whole" for axes in (left, right))
    return Untranslatable(
        op,
        f"expected a dimension of which a device always holds the same part, found one {what}; "
        "sdy.manual_computation cannot be expressed otherwise",
    )


Rule = Callable[[Parts, Op], None]
RULES: dict[str, Rule] = {}
"""For operations that a device can do on its part: which dimensions are split alike, and which not at all."""


def _rule(*names: str) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, rule))
        return rule

    return register


def _along(parts: Parts, op: Op, pairs: Iterator[tuple[Dimension, Dimension, bool]]) -> None:
    """Pairs of dimensions: alike where the third says so, else both whole."""
    for left, right, same in pairs:
        if same:
            parts.alike(op, left, right)
        else:
            parts.split(op, left, ())
            parts.split(op, right, ())


@_rule(*ELEMENTWISE)
def _elementwise(parts: Parts, op: Op) -> None:
    shape = op.types[0].shape
    operands = [value for value in op.operands if parts.types[value].shape == shape]
    parts.all_alike(op, operands, [op.results[0]] * len(operands))


@_rule("stablehlo.constant")
def _constant(parts: Parts, op: Op) -> None:
    """A constant that repeats one number is the same in each part."""
    value = op.attributes["value"]
    if not (isinstance(value, Dense) and value.splat):
        parts.whole(op, op.results)


@_rule("stablehlo.iota")
def _iota(parts: Parts, op: Op) -> None:
    parts.split(op, (op.results[0], number(op.attributes["iota_dimension"])), ())


@_rule("stablehlo.transpose")
def _transpose(parts: Parts, op: Op) -> None:
    for at, of in enumerate(numbers(op.attributes["permutation"])):
        parts.alike(op, (op.operands[0], of), (op.results[0], at))


@_rule("stablehlo.broadcast_in_dim")
def _broadcast(parts: Parts, op: Op) -> None:
    (operand,), (result,) = op.operands, op.results
    shape, wider = parts.types[operand].shape, parts.types[result].shape
    for at, to in enumerate(numbers(op.attributes["broadcast_dimensions"])):
        if shape[at] == wider[to]:
            parts.alike(op, (operand, at), (result, to))


@_rule("stablehlo.reshape")
def _reshape(parts: Parts, op: Op) -> None:
    """Dimensions of extent 1 come and go; any other reshape needs all."""
    (operand,), (result,) = op.operands, op.results
    old, new = ([at for at, n in enumerate(parts.types[v].shape) if n != 1] for v in (operand, result))
    if [parts.types[operand].shape[at] for at in old] != [parts.types[result].shape[at] for at in new]:
        parts.whole(op, (operand, result))
        return
    for a, b in zip(old, new, strict=True):
        parts.alike(op, (operand, a), (result, b))


@_rule("stablehlo.dynamic_slice", "stablehlo.slice")
def _slice(parts: Parts, op: Op) -> None:
    """Dimensions of which all is taken may be split."""
    operand, result = op.operands[0], op.results[0]
    extents = zip(parts.types[operand].shape, parts.types[result].shape, strict=True)
    _along(parts, op, (((operand, at), (result, at), a == b) for at, (a, b) in enumerate(extents)))


@_rule("stablehlo.dynamic_update_slice")
def _update(parts: Parts, op: Op) -> None:
    operand, update, result = op.operands[0], op.operands[1], op.results[0]
    parts.all_alike(op, [operand], [result])
    extents = zip(parts.types[operand].shape, parts.types[update].shape, strict=True)
    _along(parts, op, (((operand, at), (update, at), a == b) for at, (a, b) in enumerate(extents)))


@_rule("stablehlo.concatenate", "stablehlo.reverse")
def _all_but(parts: Parts, op: Op) -> None:
    """Along the dimensions that the op works on everything is needed."""
    worked = op.attributes.get("dimensions", [op.attributes.get("dimension", 0)])
    result = op.results[0]
    for operand in op.operands:
        pairs = (((operand, at), (result, at), at not in numbers(worked)) for at in range(parts.rank(result)))
        _along(parts, op, pairs)


@_rule("stablehlo.reduce")
def _reduce(parts: Parts, op: Op) -> None:
    """What is folded is needed whole; the reducer works on scalars."""
    folded = numbers(op.attributes["dimensions"])
    first, *others = op.operands[: len(op.results)]
    parts.all_alike(op, [first] * len(others), others)
    for operand, result in zip(op.operands[: len(op.results)], op.results, strict=True):
        kept = [at for at in range(parts.rank(operand)) if at not in folded]
        for at in folded:
            parts.split(op, (operand, at), ())
        for to, at in enumerate(kept):
            parts.alike(op, (operand, at), (result, to))
