"""Programs for several participants, and the errors that they end in."""

import pytest

from xneuron.execution.errors import EvaluationError
from xneuron.formats.hlo_text import parse_hlo
from xneuron.interpreters.evaluator import Program

SCHEDULES = ["program", *(f"random:{seed}" for seed in range(5))]

SUM = """sum { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT s = s32[] add(a, b) }
largest { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT m = s32[] maximum(a, b) }
"""


def program(text: str, replicas: int = 2, **options) -> Program:
    return Program(parse_hlo("HloModule m\n" + SUM + text, "test.hlo"), replicas=replicas, **options)


def entry(*lines: str) -> str:
    return "ENTRY main {\n  " + "\n  ".join(lines) + "\n}"


def fails(text: str, expected: str, replicas: int = 2, inputs=(), **options) -> None:
    with pytest.raises(EvaluationError) as caught:
        program(text, replicas, **options).run_all([list(inputs)] * replicas)
    assert caught.value.message == expected
