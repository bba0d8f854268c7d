"""Plans: computations as flat lists of steps over slots, for code that runs a few times.

A plan is built once. Running it looks nothing up: operands are slot numbers, constants are in their slots from
the start, and a slot is emptied at its last use, since keeping intermediate arrays costs three times the arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

_Origin = TypeVar("_Origin")

At: TypeAlias = tuple[int, ...]
"""Where a computation runs: the iterations of the loops around it, outermost first."""

Resumable: TypeAlias = Generator[Any, Any, Any]
"""A computation under way: yields requests to the world, is sent the answers, returns its value."""


class Step(NamedTuple, Generic[_Origin]):
    """`slots[output] = function(*inputs)`; a resumable function also takes `at`, first, and may yield."""

    function: Callable[..., Any]
    inputs: tuple[int, ...]
    output: int
    resumable: bool
    frees: tuple[int, ...]
    origin: _Origin


class Plan(Generic[_Origin]):
    """Steps with a template of slots: parameters first, then constants (filled in) and results (None).

    Running yields what resumable steps yield, and returns the root values. `failed(step, exception)` makes the error
    to raise for an exception in a step.
    """

    def __init__(
        self,
        template: list[Any],
        steps: Sequence[Step[_Origin]],
        roots: Sequence[int],
        failed: Callable[[_Origin, Exception], Exception],
    ) -> None:
        self._template = template
        self._steps = _with_frees(steps, roots, {slot for slot, value in enumerate(template) if value is not None})
        self._roots = tuple(roots)
        self._failed = failed

    def run(self, at: At, arguments: Sequence[Any]) -> Resumable:
        """Executes the steps; a generator, whether or not anything yields."""
        slots = self._template.copy()
        slots[: len(arguments)] = arguments
        del arguments
        origin = None
        try:
            for function, inputs, output, resumable, frees, origin in self._steps:  # noqa: B007
                values = [slots[slot] for slot in inputs]
                for slot in frees:
                    slots[slot] = None
                if resumable:
                    slots[output] = yield from function(at, *values)
                else:
                    slots[output] = function(*values)
        except Exception as exception:
            raise self._failed(origin, exception) from exception  # pyright: ignore[reportArgumentType]
        return tuple([slots[slot] for slot in self._roots])


def _with_frees(steps: Sequence[Step[_Origin]], roots: Sequence[int], constants: set[int]) -> tuple[Step[_Origin], ...]:
    """The steps, each with the slots that nothing after it reads."""
    later = {*roots, *constants}
    freed: list[Step[_Origin]] = []
    for step in reversed(steps):
        dead = {slot for slot in step.inputs if slot not in later}
        later |= dead
        freed.append(Step(step.function, step.inputs, step.output, step.resumable, tuple(dead), step.origin))
    return tuple(reversed(freed))
