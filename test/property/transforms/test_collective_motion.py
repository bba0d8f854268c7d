"""Programs compute the same bits before and after collectives leave loops, whatever order each participant takes."""

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from property.collective_loops import Case, gather_case, leaves
from property.reduction_loops import reduction_case
from xdsl.context import Context
from xdsl.passes import ModulePass

from xneuron.formats.hlo_text.parser import parse_hlo
from xneuron.interpreters.evaluator import Program
from xneuron.remarks import collect
from xneuron.transforms.all_gather_trip_count import AllGatherTripCount
from xneuron.transforms.aws_neuron_rewrite_all_gather_trip_count import AwsNeuronRewriteAllGatherTripCount
from xneuron.transforms.neuron_move_reduce_scatter_while_loop import NeuronMoveReduceScatterWhileLoop

COLLECTIVES = ("all-gather", "all-gather-start", "reduce-scatter", "all-reduce")


def run(program: Program, case: Case) -> list[bytes]:
    return [np.asarray(leaf).tobytes() for leaf in leaves(program.run_all(case.inputs))]


def runs(program: Program, case: Case) -> int:
    """Collectives that one participant runs."""
    counts = program.profile.instructions
    return sum(counts.get(opcode, 0) for opcode in COLLECTIVES) // case.participants


def check(case: Case, passes: list[ModulePass], seed: int) -> None:
    module = parse_hlo(case.text)
    module.verify()
    before = Program(module, profile=True)
    expected = run(before, case)
    again = Program(module, schedule=f"random:{seed}")
    assert run(again, case) == expected
    module = parse_hlo(case.text)
    with collect() as remarks:
        for step in passes:
            step.apply(Context(), module)
    module.verify()
    for schedule in ("program", f"random:{seed}", f"random:{seed + 1}"):
        after = Program(module, profile=True, schedule=schedule)
        assert run(after, case) == expected
    saved = case.trips - 1 if case.moves else 0
    assert runs(after, case) == runs(before, case) - saved, [remark.as_text() for remark in remarks]
    if not case.moves:
        assert case.code in {remark.code for remark in remarks if remark.kind == "missed"}


def gathers(seed: int) -> None:
    check(gather_case(Random(seed)), [AllGatherTripCount()], seed)


def widened_in_place(seed: int) -> None:
    """The literal rewrite alone: the same values, as many gathers."""
    case = gather_case(Random(seed))
    case.moves, case.code = False, ""
    module = parse_hlo(case.text)
    expected = run(Program(module), case)
    AwsNeuronRewriteAllGatherTripCount(always=True).apply(Context(), module)
    module.verify()
    assert run(Program(module, schedule=f"random:{seed}"), case) == expected


def reductions(seed: int) -> None:
    check(reduction_case(Random(seed)), [NeuronMoveReduceScatterWhileLoop()], seed)


PROPERTIES = [gathers, widened_in_place, reductions]


@pytest.mark.parametrize("holds", PROPERTIES)
@pytest.mark.parametrize("seed", range(25))
def test_same_bits(holds: Callable[[int], None], seed: int) -> None:
    holds(seed)


@pytest.mark.fuzz
@pytest.mark.parametrize("holds", PROPERTIES)
@pytest.mark.parametrize("seed", range(25, 500, 25))
def test_same_bits_of_many(holds: Callable[[int], None], seed: int) -> None:
    for each in range(seed, seed + 25):
        holds(each)
