"""Random programs with loops of every sort agree bit for bit on all levels, also after each of the unrollers."""

from __future__ import annotations

from random import Random

import lowered
import numpy as np
import pytest
from property.hlo_programs import WIDTH, hlo_program
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xneuron.formats.hlo_text import parse_hlo
from xneuron.transforms.neuron_add_boundary_marker import DISABLE
from xneuron.transforms.unroll_while_loop import UnrollWhileLoop
from xneuron.transforms.while_loop_unroller import WhileLoopUnroller

UNROLLERS: dict[str, ModulePass | None] = {
    "as it is": None,
    "unrolled": UnrollWhileLoop(),
    "wrapped": WhileLoopUnroller(),
    "by two": WhileLoopUnroller(unroll_factor=2),
}
LARGEST = 3_000
"""Instructions of a program that is still lowered: nested loops multiply when they are unrolled."""


def program(seed: int) -> ModuleOp:
    text = hlo_program(Random(seed), size=8, collectives=False, runtime=True)
    return parse_hlo(text, f"random{seed}.hlo")


def inputs(seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    return np.asarray(random.integers(-4, 8), np.int32), random.integers(-9, 9, WIDTH).astype(np.int32)


def check(seed: int) -> None:
    for unroller in UNROLLERS.values():
        module = program(seed)
        if unroller is not None:
            unroller.apply(Context(), module)
        if sum(1 for _ in module.walk()) <= LARGEST:
            lowered.agree(module, *inputs(seed))


@pytest.fixture(autouse=True)
def _unmarked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DISABLE, "1")


@pytest.mark.parametrize("seed", range(20))
def test_levels_agree(seed: int) -> None:
    check(seed)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(1000, 1500))
def test_levels_agree_on_many(seed: int) -> None:
    check(seed)
