"""Random programs with collectives in loops: unrolled or not, every participant computes the same, in any order."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from property.hlo_programs import WIDTH, Team, hlo_program
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xneuron.analysis.channels import shared_channels
from xneuron.analysis.verification import verify_module
from xneuron.dialects.hlo.channels import GroupedOp, PermuteOp
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.formats.hlo_text import parse_hlo
from xneuron.interpreters.evaluator import Program
from xneuron.transforms.call_inliner import CallInliner
from xneuron.transforms.neuron_unique_channel_id_enforcer import NeuronUniqueChannelIdEnforcer
from xneuron.transforms.tuple_simplifier import TupleSimplifier
from xneuron.transforms.unroll_while_loop import UnrollWhileLoop

TEAMS = [Team(members, partitions) for members in (2, 4) for partitions in (False, True)]


def run(module: ModuleOp, inputs: list[list[np.ndarray]], schedule: str, **options: Any) -> list[list[list[int]]]:
    results = Program(module, schedule=schedule, **options).run_all(inputs)
    return [[np.asarray(value).tolist() for value in result] for result in results]


def program(random: Random, team: Team) -> ModuleOp:
    """A random program with a collective in a loop, each on a channel of its own."""
    while True:
        module = parse_hlo(hlo_program(random, size=6, team=team))
        bodies = [loop.body for loop in module.walk() if isinstance(loop, WhileOp)]
        if any(isinstance(op, GroupedOp | PermuteOp) for body in bodies for op in body.walk()):
            NeuronUniqueChannelIdEnforcer().apply(Context(), module)
            return module


def check(seed: int, schedules: int) -> None:
    """Rolled in program order is what rolled and unrolled must give in any order."""
    team = TEAMS[seed % len(TEAMS)]
    module = program(Random(seed), team)
    rng = np.random.default_rng(seed)
    inputs = [[np.int32(seed % 5), rng.integers(-3, 9, WIDTH, np.int32)] for _ in range(team.members)]
    expected = run(module, inputs, "program", warm_up=None)
    assert run(module, inputs, "program", warm_up=0) == expected
    unrolled = module.clone()
    for transform in (UnrollWhileLoop(), CallInliner(), TupleSimplifier()):
        transform.apply(Context(), unrolled)
    verify_module(unrolled)
    assert not shared_channels(unrolled)
    assert run(unrolled, inputs, "program", warm_up=0) == expected
    for schedule in range(schedules):
        assert run(unrolled, inputs, f"random:{schedule}") == expected, schedule
        if schedule < 3:
            assert run(module, inputs, f"random:{schedule}") == expected, schedule


@pytest.mark.parametrize("seed", range(16))
def test_unrolled_collectives(seed: int) -> None:
    check(seed, schedules=3)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(200))
def test_unrolled_collectives_in_many_orders(seed: int) -> None:
    check(seed, schedules=20)
