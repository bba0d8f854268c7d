"""Running one instruction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracle.programs import program as built

from xneuron.formats.hlo_text import parse_hlo
from xneuron.interpreters.evaluator import Program

Run = Callable[..., Any]


@pytest.fixture
def run() -> Run:
    """From an instruction `type opcode(p0, …), …` and its operands to its value (a list if it is a tuple)."""

    def evaluate(line: str, *arrays: Any, computations: str = "") -> Any:
        operands = [np.asarray(array) for array in arrays]
        module = parse_hlo(built(line, *operands, computations=computations).text)
        module.verify()
        values = Program(module).run(*operands)
        return values[0] if len(values) == 1 and not line.startswith("(") else values

    return evaluate
