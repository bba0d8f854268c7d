"""Random bits against XLA, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.agreement import check
from oracle.programs import program, shape
from oracle.xla import Program

LAST = 2**64 - 1
SHAPES = [("u8", "3,4"), ("u16", "7"), ("u32", "3,5"), ("u32", ""), ("u64", "3,3")]


def generators(algorithm: str, state: np.ndarray) -> Program:
    """All result types in one module: compiling the rounds is what takes time."""
    types = [f"({shape(state)}, {name}[{extents}])" for name, extents in SHAPES]
    lines = [f"g{i} = {t} rng-bit-generator(p0), algorithm={algorithm}" for i, t in enumerate(types)]
    result = f"({', '.join(types)}) tuple({', '.join(f'g{i}' for i in range(len(types)))})"
    built = program(result, state)
    return Program(built.text.replace("  ROOT", "\n".join(["", *lines, "  ROOT"])), built.replicas)


@pytest.mark.parametrize("algorithm", ["rng_three_fry", "rng_philox", "rng_default"])
def test_random_bits(algorithm: str):
    states = [[7, 9], [LAST, LAST - 1]]
    if algorithm == "rng_philox":
        states = [[LAST, LAST - 1], [7, LAST, 5]]
    check({str(state): generators(algorithm, np.array(state, np.uint64)) for state in states})
