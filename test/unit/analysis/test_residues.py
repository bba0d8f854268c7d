"""Sets of residues and the first entry of a progression, against looking at every residue."""

from hypothesis import given
from hypothesis import strategies as st

from xneuron.analysis.residues import Residues, first_multiple

MODULUS = 24
ranges = st.lists(st.tuples(st.integers(-60, 60), st.integers(-60, 60)), max_size=4)


def members(intervals: list[tuple[int, int]]) -> set[int]:
    return {value % MODULUS for low, high in intervals for value in range(low, high + 1)}


def listed(residues: Residues) -> set[int]:
    assert residues.intervals == tuple(sorted(residues.intervals))
    return {value for low, high in residues.intervals for value in range(low, high + 1)}


def test_first_multiple_on_every_small_case() -> None:
    for modulus in (1, 2, 3, 8, 12):
        for factor in range(modulus):
            for low in range(modulus):
                for high in range(modulus):
                    wanted = {(low + d) % modulus for d in range((high - low) % modulus + 1)}
                    first = next((t for t in range(modulus) if factor * t % modulus in wanted), None)
                    assert first_multiple(factor, modulus, low, high) == first


def test_first_multiple_of_any_size() -> None:
    """3 * t = 1 mod 2^64: the inverse of 3."""
    assert first_multiple(3, 1 << 64, 1, 1) == 0xAAAAAAAAAAAAAAAB


@given(ranges, ranges)
def test_sets(first: list[tuple[int, int]], second: list[tuple[int, int]]) -> None:
    a, b = Residues.of(MODULUS, first), Residues.of(MODULUS, second)
    assert listed(a) == members(first)
    assert listed(a | b) == members(first) | members(second)
    assert listed(a & b) == members(first) & members(second)
    assert listed(~a) == set(range(MODULUS)) - members(first)


@given(ranges, st.integers(-100, 100))
def test_moves(intervals: list[tuple[int, int]], by: int) -> None:
    residues = Residues.of(MODULUS, intervals)
    assert listed(residues.shifted(by)) == {(value + by) % MODULUS for value in members(intervals)}
    assert listed(residues.reflected(by)) == {(by - value) % MODULUS for value in members(intervals)}
    assert all((value in residues) == (value % MODULUS in members(intervals)) for value in range(-MODULUS, MODULUS))


@given(ranges, st.integers(-50, 50), st.integers(-50, 50))
def test_first_entry(intervals: list[tuple[int, int]], start: int, step: int) -> None:
    wanted = members(intervals)
    first = next((t for t in range(MODULUS) if (start + t * step) % MODULUS in wanted), None)
    assert Residues.of(MODULUS, intervals).first_entry(start, step) == first
