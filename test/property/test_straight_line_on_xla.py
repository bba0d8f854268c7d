"""Random straight-line programs give on XLA what they give here, bit for bit."""

from __future__ import annotations

from random import Random

import pytest

pytest.importorskip("jaxlib")

from oracle.agreement import check
from property.straight_line_programs import straight_line_program


def agree(seeds: range) -> None:
    check({f"seed {seed}": straight_line_program(Random(seed)) for seed in seeds})


def test_straight_line_programs():
    agree(range(20))


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(20))
def test_many_straight_line_programs(block: int):
    agree(range(1000 + 50 * block, 1050 + 50 * block))
