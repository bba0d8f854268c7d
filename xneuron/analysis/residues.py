"""Sets of machine integers as intervals of residues, and when an arithmetic progression first enters one.

A counter of width w lives in Z/2^w whatever its sign; `i < 10` is a set of residues, and a loop that adds k leaves
when `init + t*k mod 2^w` first falls into the set of values that fail the condition. All of it exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Residues:
    """A subset of Z/modulus: sorted, disjoint, not adjacent inclusive intervals of [0, modulus)."""

    modulus: int
    intervals: tuple[tuple[int, int], ...]

    @staticmethod
    def of(modulus: int, intervals: Iterable[tuple[int, int]]) -> Residues:
        """The set of all integers in the given inclusive intervals, taken modulo `modulus`; empty where high < low."""
        pieces = [piece for low, high in intervals for piece in _wrapped(modulus, low, high)]
        return Residues(modulus, _merged(sorted(pieces)))

    @staticmethod
    def all(modulus: int) -> Residues:
        """Every residue."""
        return Residues(modulus, ((0, modulus - 1),))

    @staticmethod
    def none(modulus: int) -> Residues:
        """No residue."""
        return Residues(modulus, ())

    def __contains__(self, value: int) -> bool:
        residue = value % self.modulus
        return any(low <= residue <= high for low, high in self.intervals)

    def __or__(self, other: Residues) -> Residues:
        return Residues(self.modulus, _merged(sorted(self.intervals + other.intervals)))

    def __and__(self, other: Residues) -> Residues:
        return ~(~self | ~other)

    def __invert__(self) -> Residues:
        edges = [-1, *(edge for interval in self.intervals for edge in interval), self.modulus]
        gaps = zip(edges[::2], edges[1::2], strict=True)
        return Residues(self.modulus, tuple((a + 1, b - 1) for a, b in gaps if a + 1 <= b - 1))

    def shifted(self, offset: int) -> Residues:
        """All x + offset."""
        return Residues.of(self.modulus, ((low + offset, high + offset) for low, high in self.intervals))

    def reflected(self, total: int) -> Residues:
        """All total - x."""
        return Residues.of(self.modulus, ((total - high, total - low) for low, high in self.intervals))

    def first_entry(self, start: int, step: int) -> int | None:
        """The smallest t >= 0 with `start + t*step` in the set, None if there is none."""
        hits = [first_multiple(step, self.modulus, low - start, high - start) for low, high in self.intervals]
        return min((hit for hit in hits if hit is not None), default=None)


def _wrapped(modulus: int, low: int, high: int) -> list[tuple[int, int]]:
    if high < low:
        return []
    if high - low >= modulus - 1:
        return [(0, modulus - 1)]
    low, high = low % modulus, high % modulus
    return [(low, high)] if low <= high else [(0, high), (low, modulus - 1)]


def _merged(intervals: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for low, high in intervals:
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def first_multiple(factor: int, modulus: int, low: int, high: int) -> int | None:
    """The smallest t >= 0 with `t*factor mod modulus` in the cyclic interval [low, high], None if there is none.

    Euclid's algorithm. If no multiple of a lies in [l, r] itself, then t*a - y*m must, for the smallest y > 0 such that
    y*m mod a lies in [-r mod a, -l mod a]: the same question about (m mod a, a).
    """
    a, low, high = factor % modulus, low % modulus, high % modulus
    if low > high or low == 0:  # the interval contains 0
        return 0
    if a == 0:
        return None
    t = -(-low // a)
    if a * t <= high:
        return t
    y = first_multiple(modulus % a, a, -high, -low)
    return None if y is None else -(-(low + modulus * y) // a)
