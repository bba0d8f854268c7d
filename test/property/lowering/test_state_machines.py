"""Random state machines agree bit for bit on all levels, wherever their values live."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import lowered
import numpy as np
import pytest
from property.lowering.state_machines import LINE_SHAPE, MATRIX_SHAPE, state_machine
from xdsl.ir import SSAValue

from xneuron.lowering.hlo_to_bir import layout, storage
from xneuron.lowering.hlo_to_bir.homes import Homes


def check(seed: int) -> None:
    numbers = np.random.default_rng(seed)
    lines = (numbers.integers(low, 8, LINE_SHAPE).astype(np.int32) for low in (-9, -2))
    matrix = numbers.integers(-9, 9, MATRIX_SHAPE).astype(np.int32)
    lowered.agree(state_machine(Random(seed)), np.int32(numbers.integers(-4, 8)), *lines, matrix)


@pytest.mark.parametrize("seed", range(20))
def test_levels_agree(seed: int) -> None:
    check(seed)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(1000, 1500))
def test_levels_agree_on_many(seed: int) -> None:
    check(seed)


@pytest.fixture
def anywhere(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Values that could be on chip are in DRAM at random."""
    places, random, in_dram = dict[object, bool](), Random(seed), Homes.in_dram

    def in_dram_or_not(self: Homes, value: SSAValue, path: tuple[int, ...] = ()) -> bool:
        if (value, path) not in places:
            places[value, path] = in_dram(self, value, path) or random.random() < 0.5
        return places[value, path]

    monkeypatch.setattr(Homes, "in_dram", in_dram_or_not)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch, seed: int) -> Iterator[None]:
    """A machine on which few values fit: 2 partitions of a few bytes, tiles of one or two elements."""
    monkeypatch.setattr(storage, "VALUES", (0, 16, 24)[seed % 3])
    monkeypatch.setattr(layout, "PARTITIONS", 2)
    monkeypatch.setattr(layout, "TILE", 1 + seed % 2)
    layout.on_chip.cache_clear()
    yield
    layout.on_chip.cache_clear()


@pytest.mark.parametrize("seed", range(100, 108))
@pytest.mark.usefixtures("anywhere")
def test_levels_agree_wherever_values_are(seed: int) -> None:
    check(seed)


@pytest.mark.parametrize("seed", range(200, 208))
@pytest.mark.usefixtures("tiny")
def test_levels_agree_on_a_tiny_machine(seed: int) -> None:
    check(seed)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(2000, 2250))
@pytest.mark.usefixtures("tiny", "anywhere")
def test_levels_agree_on_many_in_other_places(seed: int) -> None:
    check(seed)
