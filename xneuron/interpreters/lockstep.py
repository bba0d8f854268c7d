"""Program order: every participant runs until it has to wait, then the next one.

No threads and no clocks: who has an answer goes on, first come, first served. When nobody has one and somebody has not
finished, that is a deadlock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from xneuron.execution.plan import Resumable
from xneuron.interpreters.rendezvous import World

Enter = Callable[[int], None]
Failed = Callable[[int, Exception], Exception]


def run_in_program_order(world: World, resumables: Sequence[Resumable], enter: Enter, failed: Failed) -> list[Any]:
    """Runs all participants to their ends; the value of each.

    `enter(participant)` is called when it goes on; `failed(participant, exception)` makes the error to raise. Raises
    EvaluationError for a deadlock too.
    """
    results: list[Any] = [None] * len(resumables)
    ready: deque[tuple[int, Any]] = deque((participant, None) for participant in range(len(resumables)))
    running = len(resumables)
    while ready:
        participant, answer = ready.popleft()
        enter(participant)
        try:
            request = resumables[participant].send(answer)
        except StopIteration as stop:
            results[participant] = stop.value
            running -= 1
            world.finished(participant)
            continue
        except Exception as exception:
            raise failed(participant, exception) from exception
        world.post(participant, request, lambda value, to=participant: ready.append((to, value)))
    if running:
        raise world.stuck()
    return results
