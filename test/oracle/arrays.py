"""Named arrays in an npz file, bit for bit, also of element types that npz does not know."""

from __future__ import annotations

import json
from pathlib import Path

import ml_dtypes
import numpy as np


def dtype_named(name: str) -> np.dtype:
    """The numpy or ml_dtypes dtype of a name."""
    return np.dtype(getattr(ml_dtypes, name, name))


def save_arrays(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Writes bytes of each array, plus one entry that says their dtypes and shapes."""
    about = {name: [str(value.dtype), list(value.shape)] for name, value in arrays.items()}
    raw = {name: np.frombuffer(value.tobytes(), np.uint8) for name, value in arrays.items()}
    np.savez(path, **{"about": np.array(json.dumps(about))}, **{f"raw.{name}": value for name, value in raw.items()})


def load_arrays(path: Path) -> dict[str, np.ndarray]:
    """What `save_arrays` wrote, names in order."""
    with np.load(path) as file:
        about = json.loads(str(file["about"]))
        return {
            name: np.frombuffer(file[f"raw.{name}"].tobytes(), dtype_named(dtype)).reshape(shape)
            for name, (dtype, shape) in about.items()
        }
