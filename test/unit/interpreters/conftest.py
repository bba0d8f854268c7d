"""Every way the engine can run a program: all must give the same."""

from collections.abc import Callable
from typing import Any

import pytest

from xneuron.formats.hlo_text import parse_hlo
from xneuron.interpreters.evaluator import Program

ENGINES: dict[str, dict[str, Any]] = {
    "plans": {"warm_up": None},
    "code": {"warm_up": 0},
    "both": {"warm_up": 2},
    "profiled-plans": {"warm_up": None, "profile": True},
    "profiled-code": {"warm_up": 0, "profile": True},
    "bounded": {"warm_up": 1, "max_iterations": 10_000},
    "traced": {"trace": lambda record: None},
}


@pytest.fixture(params=ENGINES)
def program(request: pytest.FixtureRequest) -> Callable[..., Program]:
    """A function from HLO text to a program, once per engine."""

    def make(text: str, **options: Any) -> Program:
        return Program(parse_hlo(text, "test.hlo"), **{**ENGINES[request.param], **options})

    return make
