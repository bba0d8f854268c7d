"""Random straight-line programs over all element types that BIR has agree on all levels."""

from __future__ import annotations

from random import Random

import lowered
import numpy as np
import pytest
from property.straight_line_programs import straight_line_program

FLOATS = ("f32", "bf16", "f16")


def check(seed: int) -> None:
    """Equal bits; folds may be in another order, so that narrow floats are as close as their sums are."""
    program = straight_line_program(Random(seed), 40, FLOATS)
    results = lowered.run_levels(program.text, *program.replicas[0])
    for expected, structured, branched in zip(results["hlo"], results["bir"], results["branches"], strict=True):
        assert lowered.same_bits(structured, branched)
        if expected.dtype.kind in "biu":
            np.testing.assert_array_equal(structured, expected)
        else:
            wide = [array.astype(np.float64) for array in (structured, expected)]
            np.testing.assert_allclose(*wide, rtol=1e-2)


@pytest.mark.parametrize("seed", range(10))
def test_levels_agree(seed: int) -> None:
    check(seed)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(1000, 1500))
def test_levels_agree_on_many(seed: int) -> None:
    check(seed)
