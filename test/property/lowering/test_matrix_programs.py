"""Matrices that are moved, updated in place, reduced and multiplied in loops agree bit for bit on all levels."""

from __future__ import annotations

from random import Random

import lowered
import numpy as np
import pytest
from property.lowering.matrix_programs import N, matrix_program


def check(seed: int) -> None:
    random = Random(seed)
    text, count = matrix_program(random)
    matrices = np.random.default_rng(seed).integers(-3, 8, (count, N, N)).astype(np.int32)
    lowered.agree(text, *matrices, np.int32(random.randint(-1, 6)))


@pytest.mark.parametrize("seed", range(15))
def test_levels_agree(seed: int) -> None:
    check(seed)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(1000, 1500))
def test_levels_agree_on_many(seed: int) -> None:
    check(seed)
