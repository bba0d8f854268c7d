"""Programs compute the same before and after `while_loop_unroller`, in every form, on one replica and on four."""

from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from property.hlo_programs import WIDTH, hlo_program
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xneuron.analysis.trip_count import TripCount, trip_count
from xneuron.analysis.verification import verify_module
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.formats.hlo_text import parse_hlo
from xneuron.formats.hlo_text.printer import print_hlo
from xneuron.interpreters.evaluator import Program
from xneuron.transforms.while_loop_unroller import WhileLoopUnroller

BUDGET = 20_000
REPLICAS = (1, 4)


def forms(module: ModuleOp) -> list[WhileLoopUnroller]:
    """Full, wrapped, by 2, by 3, and by the trip count n of one of the loops and n + 1."""
    counts = [trip_count(op) for op in module.walk() if isinstance(op, WhileOp)]
    n = max((count.count for count in counts if isinstance(count, TripCount)), default=4)
    factors = {2, 3, max(n, 1), n + 1}
    return [
        WhileLoopUnroller(max_total_instructions=BUDGET, wrap_in_trivial_loop=False),
        WhileLoopUnroller(max_total_instructions=BUDGET),
        *(WhileLoopUnroller(max_total_instructions=BUDGET, unroll_factor=factor) for factor in sorted(factors)),
    ]


def bits(module: ModuleOp, seed: int, replicas: int) -> list[list[bytes]]:
    """What the program gives on each replica for inputs made from the seed."""
    random = Random(seed)
    inputs = [
        (
            np.int32(random.randint(-5, 5)),
            np.array([random.randint(-9, 9) for _ in range(WIDTH)], np.int32),
        )
        for _ in range(replicas)
    ]
    program = Program(module, max_iterations=1000)
    outputs = [program.run(*inputs[0])] if replicas == 1 else program.run_all(inputs)
    return [[np.asarray(value).tobytes() for value in row] for row in outputs]


def check(seed: int, size: int, depth: int, replicas: int) -> None:
    text = hlo_program(Random(seed), size, depth, replicas=replicas)
    expected = bits(parse_hlo(text), seed, replicas)
    for number, form in enumerate(forms(parse_hlo(text))):
        module = parse_hlo(text)
        form.apply(Context(), module)
        verify_module(module)
        assert bits(module, seed, replicas) == expected, form
        if number < 2:
            assert bits(parse_hlo(print_hlo(module)), seed, replicas) == expected, f"{form}, printed"


EXAMPLES = st.tuples(st.integers(0, 2**32), st.integers(2, 12), st.integers(1, 2), st.sampled_from(REPLICAS))
QUIET = [HealthCheck.too_slow]


@given(EXAMPLES)
@settings(max_examples=20, deadline=None, suppress_health_check=QUIET)
def test_same_results(example: tuple[int, int, int, int]) -> None:
    check(*example)


@pytest.mark.fuzz
@pytest.mark.parametrize("first", range(0, 1000, 100))
@pytest.mark.parametrize("replicas", REPLICAS)
def test_same_results_at_length(first: int, replicas: int) -> None:
    """A thousand programs; the seed in a failure's notes makes the program again."""
    for seed in range(first, first + 100):
        try:
            check(seed, 2 + seed % 11, 1 + seed % 2, replicas)
        except Exception as error:
            error.add_note(f"seed {seed}, {replicas} replicas")
            raise
