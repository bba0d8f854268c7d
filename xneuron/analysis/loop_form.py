"""What a loop becomes on a register machine: counted, bounded by a register, or tested after each iteration.

`bir.dynamic_for_loop` computes its bound once and exactly; the counter of an HLO loop is a machine integer that wraps.
A loop is `Dynamic` only where both run equally often for every register value, up to two guards that the answer names.

The condition is `counter compare bound` and the counter moves by a constant. Seen in the direction in which it moves
(a falling counter mirrored at 0) the loop goes on while `counter < bound`, or `<=`. So it runs
`ceil(distance / |step|)` times, distance = bound - start, + 1 for `<=`, provided that the last step does not wrap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NoReturn, TypeAlias

from xneuron.analysis.slices import Path
from xneuron.analysis.trip_count import Number
from xneuron.analysis.value_range import Interval
from xneuron.remarks import declare

CONDITION_FIXED = declare("condition-fixed", "Nothing that the condition reads changes in the loop.")
SEVERAL_COUNTERS = declare("several-counters", "The condition reads several slots that change in the loop.")
NO_INTEGER = declare("no-integer-counter", "The slot that changes the condition is not a single integer.")
STEP_NOT_CONSTANT = declare("step-not-constant", "The counter does not move by a constant.")
NO_COMPARISON = declare("no-comparison", "The condition is not one comparison of the counter with a value that stays.")
BOUND_COMPUTED = declare("bound-computed", "The bound is computed in the condition from values known only at run time.")
WHILE_EQUAL = declare("while-equal", "The loop goes on while the counter equals a value: at most once, or for ever.")
MOVES_AWAY = declare("moves-away", "The counter moves away from the bound and can get past it only by wrapping.")
MAY_STEP_OVER = declare("may-step-over", "The condition is `!=` and the step is not 1 or -1.")
MAY_WRAP = declare("counter-may-wrap", "The counter may step over the end of its type.")
TOO_WIDE = declare("too-wide-for-register", "The counter or its bound may not fit in a signed 32-bit register.")

WRITTEN = {"LT": "<", "LE": "<=", "GT": ">", "GE": ">=", "EQ": "==", "NE": "!="}
"""Comparisons as they are written."""

Operand: TypeAlias = int | Path
"""A number, or the slot of the loop's operand that holds it when the loop is entered."""


@dataclass(frozen=True)
class Static:
    """The body runs `count` times; `slot`, `init`, `step` as in `TripCount`."""

    count: int
    slot: int | None = None
    init: Number | None = None
    step: int | None = None


@dataclass(frozen=True)
class Distance:
    """How the distance is computed in a 32-bit register, which wraps.

    `bound - start` (`start - bound` where the counter falls), then `+ extra`, then `& mask` unless that is None. If
    `tested`, the result counts only where `start compare bound` holds, and is 0 otherwise.
    """

    extra: int
    mask: int | None
    tested: bool


@dataclass(frozen=True)
class Dynamic:
    """`bir.dynamic_for_loop` over `range(lb, coeff * register + const, stride)` runs as often as the loop.

    The counter is slot `slot`; the loop goes on while `slot compare bound`; each iteration adds `step`. `register` says
    what the register holds: `bound` or `start` (whichever is a path; its low 32 bits, as a signed number), or the
    distance that `distance` describes. For induction variable iv the counter is `counter_coeff * iv + counter_const`,
    plus the start where that is a path, modulo its width.

    Guards, to be tested first: bound == `never_ends` (if not None): the HLO loop runs for ever; the register < 0, if
    `too_far`: 2**31 iterations or more, which the register cannot hold.

    `counter` and `iv`: all values that they can have in the body. `wraps`: the counter may wrap, in a loop that still
    ends on time.
    """

    slot: Path
    start: Operand
    bound: Operand
    compare: str
    step: int
    register: Literal["bound", "start", "distance"]
    lb: int
    coeff: int
    const: int
    stride: int
    counter_coeff: int
    counter_const: int
    distance: Distance | None
    never_ends: int | None
    too_far: bool
    counter: Interval
    iv: Interval
    wraps: bool

    @property
    def rising(self) -> bool:
        """True if the counter grows."""
        return self.step > 0

    @property
    def guarded(self) -> bool:
        """True if there is something to be tested in front of the loop."""
        return self.never_ends is not None or self.too_far


@dataclass(frozen=True)
class DoWhile:
    """A loop of which nothing is known but its condition; `reason_code` is a remark code, `reason` says more."""

    reason_code: str
    reason: str


LoopForm: TypeAlias = Static | Dynamic | DoWhile


class Refusal(Exception):
    """Ends the search for a better form."""

    def __init__(self, code: str, reason: str) -> None:
        self.form = DoWhile(code, reason)


def refuse(code: str, reason: str) -> NoReturn:
    """The loop is a `DoWhile`."""
    raise Refusal(code, reason)


def slot_text(path: Path) -> str:
    """A slot for people: `2`, or `0.1` where it is an element of an element."""
    return ".".join(map(str, path)) or "0"
