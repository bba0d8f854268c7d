"""What JAX prints of the programs and what they compute: asked once per test process, in a process of its own."""

from __future__ import annotations

import pickle
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

FORMS = ("pretty", "debug", "generic", "bytecode")
WORKER = Path(__file__).with_name("worker.py")


class Printed(NamedTuple):
    """A program's texts by form; arguments and results for each device."""

    texts: dict[str, bytes]
    arguments: list[list[np.ndarray]]
    results: list[list[np.ndarray]]
    tolerance: float


@cache
def printed() -> dict[str, Printed]:
    """All programs, by name."""
    with TemporaryDirectory() as directory:
        out = Path(directory) / "programs"
        process = subprocess.run([sys.executable, WORKER, out], capture_output=True, text=True, check=False)
        assert process.returncode == 0, process.stderr[-3000:]
        found = pickle.loads(out.read_bytes())
    return {name: Printed(**fields) for name, fields in found.items()}


def distance(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The largest difference, in relation to the largest finite magnitude; infinite for different types or NaN."""
    if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
        return np.inf
    wide = np.complex128 if theirs.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        a, b = ours.astype(wide), theirs.astype(wide)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        size = np.abs(b)[np.isfinite(b)].max(initial=1e-30)
        apart = np.where(same, 0.0, np.nan_to_num(np.abs(a - b) / size, nan=np.inf))
    return float(apart.max(initial=0.0))
