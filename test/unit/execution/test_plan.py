"""Plans: steps over slots."""

import gc
import weakref
from collections.abc import Generator
from typing import Any

import pytest

from xneuron.execution.plan import Plan, Step


class Thing:
    """Something whose death can be seen."""


def _run(plan: Plan[str], *arguments: Any, answers: tuple[Any, ...] = ()) -> tuple[list[Any], Any]:
    """What the plan yields and what it returns."""
    running, yielded = plan.run((3,), arguments), []
    answer = None
    for later in (*answers, None):
        try:
            yielded.append(running.send(answer))
        except StopIteration as stop:
            return yielded, stop.value
        answer = later
    raise AssertionError("yielded more often than answered")


def _failed(origin: str | None, exception: Exception) -> Exception:
    return RuntimeError(f"{origin}: {exception}")


def test_parameters_constants_roots():
    steps = [Step(lambda x, y: x + y, (0, 1), 3, False, (), "add"), Step(lambda x: -x, (3,), 4, False, (), "negate")]
    plan = Plan([None, None, 10, None, None], steps, [4, 2, 0], _failed)
    for _ in range(2):
        assert _run(plan, 1, 2) == ([], (-3, 10, 1))


def test_resumable_steps_get_the_iterations_and_may_ask():
    def ask(at: tuple[int, ...], x: int) -> Generator[Any, Any, int]:
        answer = yield (at, x)
        return answer * 2

    plan = Plan([None, None], [Step(ask, (0,), 1, True, (), "ask")], [1], _failed)
    assert _run(plan, 5, answers=(21,)) == ([((3,), 5)], (42,))


def test_values_die_at_their_last_use():
    alive: list[bool] = []

    def make() -> Thing:
        thing = Thing()
        watchers.append(weakref.ref(thing))
        return thing

    def look() -> None:
        gc.collect()
        alive.append(watchers[0]() is not None)

    watchers: list[weakref.ref[Thing]] = []
    steps = [
        Step(make, (), 0, False, (), "make"),
        Step(look, (), 1, False, (), "look"),
        Step(lambda thing: None, (0,), 2, False, (), "use"),
        Step(look, (), 3, False, (), "look"),
    ]
    _run(Plan([None] * 4, steps, [], _failed))
    assert alive == [True, False]


def test_an_exception_names_its_step():
    def broken() -> None:
        raise ValueError("no")

    plan = Plan([None], [Step(broken, (), 0, False, (), "the step")], [], _failed)
    with pytest.raises(RuntimeError, match="the step: no"):
        _run(plan)
