"""Integers in loops as affine expressions: `const + coeff * induction variable + …`.

An expression is exact: it is found only where no operation on the way to it can wrap, clamp or select anything else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from xneuron.analysis.closed_form import integers_of
from xneuron.analysis.slices import Apply, Node, Path, Slot, postorder
from xneuron.analysis.value_range import Interval, Ranges, type_range
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.dialects.hlo.elementwise import (
    AddOp,
    AndOp,
    ClampOp,
    DivideOp,
    MaximumOp,
    MinimumOp,
    MultiplyOp,
    NegateOp,
    RemainderOp,
    SelectOp,
    ShiftLeftOp,
    SubtractOp,
)


@dataclass(frozen=True)
class Axis:
    """The induction variable of the BIR loop that `loop` becomes."""

    loop: WhileOp


@dataclass(frozen=True)
class Entry:
    """What slot `path` of `loop` holds when the loop is entered: a runtime scalar that stays during the loop."""

    loop: WhileOp
    path: Path


Term: TypeAlias = Axis | Entry


@dataclass(frozen=True)
class AffineIndex:
    """`const + sum(coeff * term)`, exact; all its values are in `range`. Coefficients are not zero."""

    const: int
    terms: tuple[tuple[Term, int], ...]
    range: Interval

    def coeff(self, term: Term) -> int:
        """The term's coefficient, 0 where it does not occur."""
        return dict(self.terms).get(term, 0)

    def plus(self, other: AffineIndex, factor: int = 1) -> AffineIndex:
        """`self + factor * other`."""
        terms = dict(self.terms)
        for term, coeff in other.terms:
            terms[term] = terms.get(term, 0) + factor * coeff
        range = self.range.plus(other.range.times(Interval(factor, factor)))
        return AffineIndex(self.const + factor * other.const, tuple((t, c) for t, c in terms.items() if c), range)

    def times(self, factor: int) -> AffineIndex:
        """`factor * self`."""
        return constant(0).plus(self, factor)

    def narrowed(self, known: Interval) -> AffineIndex:
        """The same expression, whose values are also known to lie in `known`."""
        low, high = max(self.range.low, known.low), min(self.range.high, known.high)
        return AffineIndex(self.const, self.terms, Interval(low, max(low, high)))


def constant(value: int) -> AffineIndex:
    """A number."""
    return AffineIndex(value, (), Interval(value, value))


def single(term: Term, range: Interval) -> AffineIndex:
    """One induction variable or runtime scalar."""
    return AffineIndex(0, ((term, 1),), range)


class AffineIndices:
    """Affine expressions of slices of one unchanged module; `slot_index` gives those of slots of loops."""

    def __init__(self, ranges: Ranges, slot_index: Callable[[Slot], AffineIndex | None]) -> None:
        self._ranges = ranges
        self._slot_index = slot_index
        self._found: dict[Node, AffineIndex | None] = {}

    def of(self, node: Node) -> AffineIndex | None:
        """The integer as an affine expression, None where it is none, or where it may wrap."""
        for part in postorder(node, known=self._found):
            self._found[part] = self._one(part)
        return self._found[node]

    def _one(self, node: Node) -> AffineIndex | None:
        if (range := self._ranges.of(node)) is None:
            return None
        if range.point is not None:
            return constant(range.point)
        if isinstance(node, Slot):
            return self._slot_index(node)
        if not isinstance(node, Apply):
            return None
        if (chosen := self._passed_on(node)) is not None:
            found = self._found[chosen]
        else:
            found = self._computed(node)
        return None if found is None else found.narrowed(range)

    def _computed(self, node: Apply) -> AffineIndex | None:
        """Sums and multiples. None where the exact value does not fit in the type."""
        numbers = integers_of(node.type)
        args = [self._found[arg] for arg in node.args]
        match node.op, args:
            case AddOp(), [AffineIndex() as a, AffineIndex() as b]:
                exact = a.plus(b)
            case SubtractOp(), [AffineIndex() as a, AffineIndex() as b]:
                exact = a.plus(b, -1)
            case NegateOp(), [AffineIndex() as a]:
                exact = a.times(-1)
            case MultiplyOp(), [AffineIndex(terms=()) as a, AffineIndex() as b]:
                exact = b.times(a.const)
            case MultiplyOp(), [AffineIndex() as a, AffineIndex(terms=()) as b]:
                exact = a.times(b.const)
            case ShiftLeftOp(), [AffineIndex() as a, AffineIndex(const=count, terms=())] if 0 <= count < 64:
                exact = a.times(1 << count)
            case _:
                return None
        return exact if numbers is not None and exact.range.within(type_range(numbers)) else None

    def _passed_on(self, node: Apply) -> Node | None:
        """The operand that is the result for all values that the operands can have; None if there is none."""
        if self._ranges.keeps_value(node):
            return node.args[0]
        ranges = [self._ranges.of(arg) for arg in node.args]
        match node.op, ranges:
            case SelectOp(), [Interval(point=int(truth)), _, _]:
                return node.args[1 if truth else 2]
            case MaximumOp(), [Interval() as a, Interval() as b]:
                return _where(node, a.low >= b.high, b.low >= a.high)
            case MinimumOp(), [Interval() as a, Interval() as b]:
                return _where(node, a.high <= b.low, b.high <= a.low)
            case ClampOp(), [Interval() as low, Interval() as value, Interval() as high]:
                return node.args[1] if low.high <= value.low and value.high <= high.low else None
            case RemainderOp(), [Interval() as a, Interval() as b]:
                return _where(node, b.low > 0 and -b.low < a.low and a.high < b.low)
            case DivideOp(), [_, Interval(point=1)]:
                return node.args[0]
            case AndOp(), [Interval() as a, Interval() as b]:
                return _where(node, _is_masked(a, b), _is_masked(b, a))
            case _:
                return None


def _where(node: Apply, first: bool, second: bool = False) -> Node | None:
    return node.args[0] if first else node.args[1] if second else None


def _is_masked(value: Interval, mask: Interval) -> bool:
    """True if the mask keeps all bits that the value can have."""
    bits = mask.point
    return bits is not None and bits >= 0 and bits & (bits + 1) == 0 and value.within(Interval(0, bits))
