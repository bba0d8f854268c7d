"""Small HLO texts around given arrays, and values on which operations are known to differ."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from oracle.xla import Program

from xneuron.dialects.hlo.types import ELEMENTS

DTYPES = {e.name: np.dtype(getattr(ml_dtypes, e.numpy, None) or e.numpy) for e in ELEMENTS}
NAMES = {dtype: name for name, dtype in DTYPES.items()}

INTEGERS = ("s2", "u2", "s4", "u4", "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64")
WIDE_FLOATS = ("f16", "bf16", "f32", "f64")
FLOATS = (
    *WIDE_FLOATS,
    *("f8e5m2", "f8e4m3fn", "f8e4m3", "f8e3m4", "f8e4m3b11fnuz", "f8e4m3fnuz", "f8e5m2fnuz", "f8e8m0fnu"),
)
"""Float types XLA's CPU back end computes with; f4 and f6 it only stores."""


def shape(array: np.ndarray) -> str:
    """`f32[2,3]`."""
    return f"{NAMES[array.dtype]}[{','.join(map(str, array.shape))}]"


def program(result: str, *arrays: np.ndarray, computations: str = "") -> Program:
    """A module whose root is the line `result`; `p0`, `p1`, … are its parameters."""
    parameters = [f"  p{i} = {shape(array)} parameter({i})" for i, array in enumerate(arrays)]
    lines = ["HloModule m", computations, "ENTRY e {", *parameters, f"  ROOT r = {result}", "}"]
    return Program.of("\n".join(lines), *arrays)


def operation(opcode: str, *arrays: np.ndarray, result: str = "", attributes: str = "") -> Program:
    """One instruction; `result` may be an element type alone, by default it is the first operand's."""
    first = arrays[0]
    if "[" not in result and "(" not in result:
        result = f"{result or NAMES[first.dtype]}[{','.join(map(str, first.shape))}]"
    operands = ", ".join(f"p{i}" for i in range(len(arrays)))
    return program(f"{result} {opcode}({operands}){attributes and ', '}{attributes}", *arrays)


def edge_integers(name: str) -> np.ndarray:
    """Around zero, the ends of the range, and the width."""
    bits, dtype = int(name[1:]), DTYPES[name]
    top = 1 << (bits - 1)
    patterns = {x % (1 << bits) for x in (0, 1, 2, 3, -1, -2, -3, top, top - 1, top + 1, 5, bits, bits - 1, -bits)}
    signed = name[0] == "s"
    values = sorted(x - (1 << bits) if signed and x >= top else x for x in patterns)
    return np.array(values, np.int64 if signed else np.uint64).astype(dtype)


def edge_floats(name: str, count: int = 24, seed: int = 0) -> np.ndarray:
    """Zeros, infinities, NaN, ties of rounding, ends of integer ranges, and normal numbers; no subnormal ones."""
    special = [0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, np.inf, -np.inf, np.nan, 3, 100, -7.25, 0.1]
    with np.errstate(all="ignore"):
        return np.array([*special, *np.random.default_rng(seed).normal(0, 3, count)]).astype(DTYPES[name])


def pairs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of the values, as two vectors."""
    return np.repeat(values, len(values)), np.tile(values, len(values))
