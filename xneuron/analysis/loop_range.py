"""A counter that moves by a constant while it compares with a bound, as a loop over a range; or why it is none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from xdsl.ir import Attribute

from xneuron.analysis.closed_form import Integers
from xneuron.analysis.loop_form import (
    MAY_STEP_OVER,
    MAY_WRAP,
    MOVES_AWAY,
    TOO_WIDE,
    WHILE_EQUAL,
    WRITTEN,
    Distance,
    Dynamic,
    LoopForm,
    Operand,
    Static,
    refuse,
    slot_text,
)
from xneuron.analysis.slices import Slot
from xneuron.analysis.trip_count import NEVER_EXITS
from xneuron.analysis.value_range import INT32, Interval, type_range
from xneuron.dialects.hlo.types import spelled

MOVING = {1: ("LT", "LE", "NE"), -1: ("GT", "GE", "NE")}
"""Comparisons that a rising and a falling counter run into."""


class Side(NamedTuple):
    """Start or bound: what it is and between which numbers."""

    operand: Operand
    range: Interval


@dataclass(frozen=True)
class CountedLoop:
    """A counter that moves by `step` while `counter compare bound`."""

    counter: Slot
    numbers: Integers
    start: Side
    bound: Side
    compare: str
    step: int

    def form(self) -> LoopForm:
        """A loop over a range, or why it is none."""
        if self.compare == "EQ":
            refuse(WHILE_EQUAL, "the loop goes on while the counter equals a value")
        if self.compare not in MOVING[self.sign]:
            refuse(MOVES_AWAY, f"{self._said()}: it moves away from the bound, and leaves only by wrapping")
        if self.compare == "NE":
            return self._until_equal()
        never_ends, distance = self._last_step()
        self._fit_in_registers()
        return self._over_range(distance, never_ends)

    @property
    def sign(self) -> int:
        """1 for a rising counter, -1 for a falling one."""
        return 1 if self.step > 0 else -1

    @property
    def stride(self) -> int:
        """How far the counter moves."""
        return abs(self.step)

    @property
    def extra(self) -> int:
        """1 where the bound itself is a value for which the loop goes on."""
        return 1 if self.compare in ("LE", "GE") else 0

    def _distance(self, bound: Interval) -> Interval:
        away = bound.minus(self.start.range) if self.sign > 0 else self.start.range.minus(bound)
        return away.plus(Interval(self.extra, self.extra))

    def _last_step(self) -> tuple[int | None, Interval]:
        """The bound with which the loop never ends, and all other distances. Refuses if the last step may wrap."""
        bound = self.bound.range
        end = self.numbers.highest if self.sign > 0 else self.numbers.lowest
        farthest = bound.high if self.sign > 0 else bound.low
        room = (end - farthest) * self.sign
        if room >= self.stride - 1 + self.extra:
            return None, self._distance(bound)
        if room or not self.extra or self.stride != 1:
            refuse(MAY_WRAP, f"{self._said()}: the last step may go over the end of {spelled(self._type)}")
        if bound.point is not None:
            refuse(NEVER_EXITS, f"{self._said()}, the last value of {spelled(self._type)}: it holds for every value")
        others = Interval(bound.low, end - 1) if self.sign > 0 else Interval(end + 1, bound.high)
        return end, self._distance(others)

    def _fit_in_registers(self) -> None:
        for what, side in (("start", self.start), ("bound", self.bound)):
            if not side.range.within(INT32):
                low, high = side.range
                refuse(TOO_WIDE, f"the {what} is between {low} and {high}, too wide for a signed 32-bit register")
        if self.stride > INT32.high:
            refuse(TOO_WIDE, f"a step of {self.step} is too wide for a signed 32-bit register")

    def _until_equal(self) -> LoopForm:
        """`!=` counts like `<` where the start is never behind the bound; elsewhere the counter may have to wrap."""
        if self.stride != 1:
            refuse(MAY_STEP_OVER, f"{self._said()}: a step of {self.step} may step over the bound")
        if not self.bound.range.within(type_range(self.numbers)):
            refuse(MAY_WRAP, f"{self._said()}: the bound may be no value of {spelled(self._type)}")
        distance = self._distance(self.bound.range)
        if distance.point is not None:
            return self._static(distance.point % self.numbers.modulus)
        fits = self.start.range.within(INT32) and self.bound.range.within(INT32)
        if fits and distance.low >= 0:
            return self._over_range(distance, None)
        if self.numbers.bits > 32 and not (fits and distance.within(INT32)):
            self._fit_in_registers()
            refuse(TOO_WIDE, f"{self._said()}: the distance may be too wide for a signed 32-bit register")
        return self._by_wrapping()

    def _by_wrapping(self) -> Dynamic:
        narrow = self.numbers.bits < 32
        farthest = self.numbers.modulus - 1 if narrow else INT32.high
        form = self._over_distance(Interval(0, farthest), None)
        steps = Distance(0, farthest if narrow else None, tested=False)
        return replace(form, distance=steps, too_far=not narrow, counter=type_range(self.numbers), wraps=True)

    def _over_range(self, distance: Interval, never_ends: int | None) -> LoopForm:
        """Without wrapping: one of start and bound is the register, or their distance."""
        match self.start.operand, self.bound.operand:
            case int(start), int(bound):
                return self._static(len(range(start * self.sign, bound * self.sign + self.extra, self.stride)))
            case int(start), _:
                lb = start if self.sign > 0 else 0
                return self._ranging("bound", lb, self.sign, self.extra - self.sign * start + lb, distance, never_ends)
            case _, int(bound):
                return self._ranging("start", 0, -self.sign, self.sign * bound + self.extra, distance, never_ends)
            case _:
                return self._over_distance(distance, never_ends)

    def _static(self, count: int) -> Static:
        slot = self.counter.path[0] if len(self.counter.path) == 1 else None
        return Static(count, slot, self.start.range.point, self.step)

    def _over_distance(self, distance: Interval, never_ends: int | None) -> Dynamic:
        held = Interval(distance.low, min(distance.high, INT32.high))
        form = self._ranging("distance", 0, 1, 0, held, never_ends)
        exact = distance.within(INT32)
        steps = Distance(self.extra, None, tested=not exact and self.compare != "NE")
        return replace(form, distance=steps, too_far=distance.high > INT32.high)

    def _ranging(
        self,
        register: Literal["bound", "start", "distance"],
        lb: int,
        coeff: int,
        const: int,
        distance: Interval,
        never_ends: int | None,
    ) -> Dynamic:
        over = max(0, const - INT32.high)  # both ends move down together, if that is what it takes to fit
        lb, const = lb - over, const - over
        start = self.start.operand if isinstance(self.start.operand, int) else 0
        return Dynamic(
            slot=self.counter.path,
            start=self.start.operand,
            bound=self.bound.operand,
            compare=self.compare,
            step=self.step,
            register=register,
            lb=lb,
            coeff=coeff,
            const=const,
            stride=self.stride,
            counter_coeff=self.sign,
            counter_const=start - self.sign * lb,
            distance=None,
            never_ends=never_ends,
            too_far=False,
            counter=self._values(),
            iv=Interval(lb, lb + max(distance.high, 1) - 1),
            wraps=False,
        )

    def _values(self) -> Interval:
        """Of the counter in the body: between the start and the last value for which the loop goes on."""
        (low, high), last = self.start.range, self.sign * (self.extra - 1)
        if self.sign > 0:
            return Interval(low, max(low, self.bound.range.high + last))
        return Interval(min(high, self.bound.range.low + last), high)

    @property
    def _type(self) -> Attribute:
        return self.counter.type

    def _said(self) -> str:
        bound = self.bound.operand
        value = str(bound) if isinstance(bound, int) else f"slot {slot_text(bound)}"
        return f"slot {slot_text(self.counter.path)} moves by {self.step} while {WRITTEN[self.compare]} {value}"
