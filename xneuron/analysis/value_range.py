"""Between which integers a scalar lies, whatever the program is run with.

Interval arithmetic over slices (`slices`): exact where nothing wraps, the range of the type where something may. A pred
is an integer, 0 or 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

from xdsl.ir import Operation

from xneuron.analysis.closed_form import SAME_VALUE, Integers, direction_of, integers_of, is_pred
from xneuron.analysis.simulation import number_of
from xneuron.analysis.slices import Apply, Constant, Node, Slot, postorder
from xneuron.dialects.hlo.elementwise import (
    AbsOp,
    AddOp,
    AndOp,
    ClampOp,
    CompareOp,
    ConvertOp,
    DivideOp,
    MaximumOp,
    MinimumOp,
    MultiplyOp,
    NegateOp,
    NotOp,
    OrOp,
    RemainderOp,
    SelectOp,
    ShiftLeftOp,
    ShiftRightArithmeticOp,
    ShiftRightLogicalOp,
    SubtractOp,
)


class Interval(NamedTuple):
    """The integers from `low` to `high`, both included."""

    low: int
    high: int

    @property
    def point(self) -> int | None:
        """The one integer that it holds, None if there are several."""
        return self.low if self.low == self.high else None

    def within(self, other: Interval) -> bool:
        """True if each of its integers is in the other one."""
        return other.low <= self.low and self.high <= other.high

    def plus(self, other: Interval) -> Interval:
        """All sums."""
        return Interval(self.low + other.low, self.high + other.high)

    def minus(self, other: Interval) -> Interval:
        """All differences."""
        return Interval(self.low - other.high, self.high - other.low)

    def times(self, other: Interval) -> Interval:
        """The smallest interval with all products."""
        return hull(a * b for a in self for b in other)


INT32 = Interval(-(2**31), 2**31 - 1)
"""What a register holds."""

TRUTH = Interval(0, 1)


def hull(values: Iterable[int]) -> Interval:
    """The smallest interval with all these values, of which there is at least one."""
    found = tuple(values)
    return Interval(min(found), max(found))


def type_range(numbers: Integers) -> Interval:
    """All values of a type."""
    return Interval(numbers.lowest, numbers.highest)


SlotRange: TypeAlias = Callable[[Slot], Interval | None]


class Ranges:
    """Intervals of slices of one unchanged module; `slot_range` knows something about slots of loops, or gives None."""

    def __init__(self, slot_range: SlotRange) -> None:
        self._slot_range = slot_range
        self._found: dict[Node, Interval | None] = {}

    def of(self, node: Node) -> Interval | None:
        """The values that a single integer or pred can have; None for any other type."""
        for part in postorder(node, known=self._found):
            self._found[part] = self._one(part)
        return self._found[node]

    def keeps_value(self, node: Node) -> bool:
        """True for conversions and changes of shape that show the same integer as their operand does."""
        if not isinstance(node, Apply) or not isinstance(node.op, (ConvertOp, *SAME_VALUE)):
            return False
        numbers, before = integers_of(node.type), self.of(node.args[0])
        return numbers is not None and before is not None and before.within(type_range(numbers))

    def _one(self, node: Node) -> Interval | None:
        if (numbers := integers_of(node.type)) is None:
            return None
        every, found = type_range(numbers), None
        match node:
            case Constant():
                value = int(number_of(node))
                return Interval(value, value)
            case Slot():
                found = self._slot_range(node)
            case Apply() if node.args:
                args = [self._found[arg] for arg in node.args]
                known = [arg for arg in args if arg is not None]
                found = _applied(node, numbers, *known) if len(known) == len(args) else None
            case _:
                pass
        return found if found is not None and found.within(every) else every


def _applied(node: Apply, numbers: Integers, a: Interval, *others: Interval) -> Interval | None:
    """The exact result of an operation on intervals, not yet cut to its type; None where there is no rule."""
    match node.op, others:
        case AddOp(), (b,):
            return a.plus(b)
        case SubtractOp(), (b,):
            return a.minus(b)
        case MultiplyOp(), (b,):
            return a.times(b)
        case NegateOp(), _:
            return Interval(-a.high, -a.low)
        case AbsOp(), _:
            return a if a.low >= 0 else Interval(max(0, -a.high), max(a.high, -a.low))
        case MaximumOp(), (b,):
            return larger(a, b)
        case MinimumOp(), (b,):
            return smaller(a, b)
        case ClampOp(), (value, high):
            return smaller(larger(a, value), high)
        case SelectOp(), (on_true, on_false):
            return hull((*on_true, *on_false)) if a.point is None else on_true if a.point else on_false
        case CompareOp(), (b,):
            return _compared(node.op, integers_of(node.args[0].type), a, b)
        case NotOp(), _:
            ones = -1 if numbers.signed else numbers.highest
            return Interval(ones - a.high, ones - a.low)
        case AndOp() | OrOp(), (b,):
            return _bitwise(node.op, numbers, a, b)
        case DivideOp() | RemainderOp(), (b,):
            return _divided(node.op, a, b)
        case ShiftLeftOp() | ShiftRightArithmeticOp() | ShiftRightLogicalOp(), (Interval(point=int(count)),):
            return _shifted(node.op, numbers, a, count) if 0 <= count < numbers.bits else None
        case op, _ if isinstance(op, ConvertOp):
            return _truth(a) if is_pred(node.type) else a
        case op, _ if isinstance(op, SAME_VALUE):
            return a
        case _:
            return None


def larger(a: Interval, b: Interval) -> Interval:
    """Of the larger of two."""
    return Interval(max(a.low, b.low), max(a.high, b.high))


def smaller(a: Interval, b: Interval) -> Interval:
    """Of the smaller of two."""
    return Interval(min(a.low, b.low), min(a.high, b.high))


def _compared(op: CompareOp, numbers: Integers | None, a: Interval, b: Interval) -> Interval:
    """Whether all pairs or none satisfy a comparison."""
    direction = None if numbers is None else direction_of(op, numbers)
    if direction in ("GT", "GE"):
        a, b = b, a
    match direction:
        case "LT" | "GT":
            always, never = a.high < b.low, a.low >= b.high
        case "LE" | "GE":
            always, never = a.high <= b.low, a.low > b.high
        case "EQ" | "NE":
            apart, same = a.high < b.low or b.high < a.low, a.point is not None and a == b
            always, never = (same, apart) if direction == "EQ" else (apart, same)
        case _:
            return TRUTH
    return Interval(1, 1) if always else Interval(0, 0) if never else TRUTH


def _bitwise(op: Operation, numbers: Integers, a: Interval, b: Interval) -> Interval | None:
    if numbers.bits == 1 and not numbers.signed:
        return smaller(a, b) if isinstance(op, AndOp) else larger(a, b)
    masks = [operand.high for operand in (a, b) if operand.low >= 0]
    return Interval(0, min(masks)) if isinstance(op, AndOp) and masks else None


def _divided(op: Operation, a: Interval, b: Interval) -> Interval | None:
    """Quotients are cut towards zero, a remainder has the sign of the dividend; None where the divisor may be zero."""
    if b.low <= 0 <= b.high:
        return None
    if isinstance(op, DivideOp):
        return hull(_quotient(x, y) for x in a for y in b)
    largest = max(-b.low, b.high) - 1
    return Interval(max(min(a.low, 0), -largest), min(max(a.high, 0), largest))


def _quotient(a: int, b: int) -> int:
    size = abs(a) // abs(b)
    return size if (a < 0) == (b < 0) else -size


def _shifted(op: Operation, numbers: Integers, a: Interval, count: int) -> Interval | None:
    """Right shifts agree on numbers whose highest bit is 0; others have a rule where the shift is the type's own."""
    if isinstance(op, ShiftLeftOp):
        return Interval(a.low << count, a.high << count)
    own = ShiftRightArithmeticOp if numbers.signed else ShiftRightLogicalOp
    if isinstance(op, own) or (a.low >= 0 and a.high < numbers.modulus >> 1):
        return Interval(a.low >> count, a.high >> count)
    return None


def _truth(a: Interval) -> Interval:
    """Of `value != 0`."""
    return TRUTH if a.low <= 0 <= a.high and a.point is None else Interval(1, 1) if a.point != 0 else Interval(0, 0)
