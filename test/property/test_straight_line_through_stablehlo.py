"""Random straight-line programs give on XLA, as our StableHLO, the bits that their HLO text gives there; and again
once that has been read back."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

pytest.importorskip("jaxlib")

from oracle.xla import Program, run_on_xla
from property.straight_line_programs import straight_line_program

from xneuron.formats.hlo_text import parse_hlo, print_hlo
from xneuron.formats.stablehlo.parser import parse_stablehlo
from xneuron.formats.stablehlo.writer import print_stablehlo


def forms(program: Program) -> list[Program]:
    """HLO text, StableHLO, StableHLO read and written as both."""
    text = print_stablehlo(parse_hlo(program.text))
    again = parse_stablehlo(text)
    return [
        program,
        replace(program, text=text, stablehlo=True),
        replace(program, text=print_stablehlo(again), stablehlo=True),
        replace(program, text=print_hlo(again)),
    ]


def agree(seeds: range) -> None:
    programs = [form for seed in seeds for form in forms(straight_line_program(Random(seed)))]
    outcomes = [[array.tobytes() for array in outcome.outputs] for outcome in run_on_xla(programs)]
    for index, seed in enumerate(seeds):
        first, *others = outcomes[4 * index : 4 * index + 4]
        assert others == [first] * 3, f"seed {seed}"


def test_straight_line_programs():
    agree(range(6))


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(10))
def test_many_straight_line_programs(block: int):
    agree(range(1000 + 25 * block, 1025 + 25 * block))
