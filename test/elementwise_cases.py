"""Many instructions in one program, run by the evaluator and as BIR, compared element by element."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from lowered import different, lowered, run_bir, run_hlo
from oracle.programs import DTYPES, edge_floats, edge_integers, shape

from xneuron.lowering.hlo_to_bir.layout import DTYPES as OF_BIR

INTEGERS = tuple(name for name in OF_BIR if name[0] in "su")
FLOATS = tuple(name for name in OF_BIR if "f" in name)
SUBNORMAL = (1e-45, -1e-45, 1e-40, -3e-39, 6e-8, 5.9e-8, 3e-5)
ENDS = (65504, -65520, 3.4e38, -3.4e38, 2.0**31, -(2.0**31), 2.0**32, 2.0**63, -(2.0**63), 2.0**64, 255, 256, -129)
FRACTIONS = (2.0**23 - 0.5, 2.0**22 + 0.5, 0.49999997, -0.49999997, 8388609, -16777217, 4194303.5, -0.75, 127.5)

Lines = Mapping[str, tuple[str, str]]
"""Result type and right side of each instruction, by a name for messages; operands are `p0`, `p1`, …."""


def floats(name: str, count: int = 24) -> np.ndarray:
    """Zeros, infinities, NaN, subnormal numbers, ends of ranges, ties of rounding, and normal numbers."""
    with np.errstate(all="ignore"):
        more = np.array([*SUBNORMAL, *ENDS, *FRACTIONS], np.float32).astype(DTYPES[name])
    return np.concatenate([edge_floats(name, count), more])


def integers(name: str, count: int = 10) -> np.ndarray:
    """Around zero, the ends of the range, and the width; and numbers of the whole range."""
    info = np.iinfo(DTYPES[name])
    random = np.random.default_rng(0).integers(info.min, info.max, count, DTYPES[name], endpoint=True)
    return np.concatenate([edge_integers(name), random])


def values(name: str) -> np.ndarray:
    """Of any type."""
    if name == "pred":
        return np.array([True, False, True, True])
    return integers(name) if name in INTEGERS else floats(name)


def program(lines: Lines, *arrays: np.ndarray) -> str:
    """A module that returns the results of all lines."""
    parameters = [f"  p{i} = {shape(array)} parameter({i})" for i, array in enumerate(arrays)]
    body = [f"  v{i} = {type} {rest}" for i, (type, rest) in enumerate(lines.values())]
    types = ", ".join(type for type, _ in lines.values())
    root = f"  ROOT r = ({types}) tuple({', '.join(f'v{i}' for i in range(len(lines)))})"
    return "\n".join(["HloModule m", "ENTRY e {", *parameters, *body, root, "}"])


def differences(lines: Lines, *arrays: np.ndarray) -> Iterator[str]:
    """What BIR makes of each line, where that is not what the evaluator makes of it."""
    for name, (wanted, found) in results(lines, *arrays).items():
        at = np.flatnonzero(different(wanted, found))
        if at.size:
            first = at[0]
            operands = [array.reshape(-1)[first] if array.size == wanted.size else array for array in arrays]
            pair = f"expected {wanted.reshape(-1)[first]}, found {found.reshape(-1)[first]}"
            yield f"{name} of {operands}: {pair} ({at.size} differ)"


def results(lines: Lines, *arrays: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The evaluator's result and the simulator's, by the line's name."""
    text = program(lines, *arrays)
    wanted = run_hlo(text, *arrays)
    found = run_bir(lowered(text), arrays, wanted, strict=True)
    return dict(zip(lines, zip(wanted, found, strict=True), strict=True))
