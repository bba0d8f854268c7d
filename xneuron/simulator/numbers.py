"""Register values: Python integers that stand for 32 (or 64) bits.

A register is kept as the signed value of its bits; every other reading is made from that.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np

from xneuron.simulator.dtypes import rounded

UNWRITTEN = -1
"""What a register holds until written: 0xFFFFFFFF (reference `bir.md`, section b)."""
MIN32, MAX32 = -(2**31), 2**31 - 1


def signed(value: int, bits: int = 32) -> int:
    """The signed value of the low bits."""
    half = 1 << (bits - 1)
    return ((value + half) & ((1 << bits) - 1)) - half


def float_bits(value: float) -> int:
    """The bits of a float32, as a signed integer."""
    return int(np.asarray(value, np.float64).astype(np.float32).view(np.int32))


def bits_float(value: int) -> float:
    """The float32 of those bits."""
    return struct.unpack("<f", struct.pack("<i", value))[0]


def power(base: int, exponent: int, bits: int) -> int:
    """`base ** exponent`, wrapping; a negative power is 0 unless the base is 1 or -1."""
    if exponent >= 0:
        return signed(pow(base, exponent, 1 << bits), bits)
    return base ** (exponent & 1) if base in (1, -1) else 0


def reciprocal_root(value: int, bits: int) -> int:
    """`1 / sqrt(value)` in float32, as an integer of that many bits."""
    with np.errstate(all="ignore"):
        root = np.float32(1) / np.sqrt(np.asarray(value, np.float32))
        return int(rounded(np.asarray(root), np.dtype(f"i{bits // 8}")))


def counter(lb: int, ub: int, stride: int) -> range | Iterator[int]:
    """The values of an induction variable: those that no longer fit wrap, as a 32-bit counter does."""
    values = range(lb, ub, stride)
    return values if ub <= MAX32 + 1 else map(signed, values)
