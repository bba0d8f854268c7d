"""Arrays in `.npz` files, also of types numpy cannot store.

The key of an array is a parameter's name or its position (`"0"`). numpy has no bf16, f8 or int4: such an array is
stored as the unsigned integers of its bits, under the key `name@type` with HLO's name of the type (`0@bf16`). A number
behind the `@` is a participant's (`0@3`, `0@3@bf16`) and belongs to the name.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xneuron.dialects.hlo.types import BY_NAME, ELEMENTS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[Any]

_BY_NUMPY = {row.numpy: row for row in ELEMENTS}


class ArrayFileError(ValueError):
    """An `.npz` file that cannot be read, or that does not say what it should."""


def save_arrays(path: str | Path, arrays: Mapping[str, Array]) -> None:
    """Writes the arrays to an `.npz` file, the same bytes each time."""
    import numpy as np

    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            key, stored = _encode(name, np.asarray(array))
            # A fixed date, unlike `np.savez`: equal arrays give equal files.
            with archive.open(zipfile.ZipInfo(f"{key}.npy"), "w") as entry:
                np.lib.format.write_array(entry, stored, allow_pickle=False)


def load_arrays(path: str | Path) -> dict[str, Array]:
    """Reads an `.npz` file, or a single array `0` from an `.npy` file.

    Raises ArrayFileError on anything but arrays of numbers, OSError if there is no file.
    """
    import numpy as np

    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {"0": loaded}
        with loaded as archive:
            return dict(_decode(key, archive[key]) for key in archive.files)
    except (ValueError, zipfile.BadZipFile, AttributeError, EOFError) as error:
        raise ArrayFileError(f"expected an .npz file of arrays, found {path} ({error})") from error


def _encode(name: str, array: Array) -> tuple[str, Array]:
    import numpy as np

    if array.dtype.isbuiltin == 1:
        return name, np.asarray(array, order="C")
    element = _BY_NUMPY[array.dtype.name]
    return f"{name}@{element.name}", np.asarray(array, order="C").view(f"u{element.bytes}")


def _decode(key: str, array: Array) -> tuple[str, Array]:
    name, at, type_name = key.rpartition("@")
    if not at or type_name.isdecimal():
        return key, array
    if (element := BY_NAME.get(type_name)) is None:
        raise ArrayFileError(f"expected an element type of HLO after '@', found {key!r}")
    dtype = dtype_of(element.numpy)
    if array.dtype.itemsize != dtype.itemsize:
        raise ArrayFileError(f"expected {dtype.itemsize} bytes an element for {key!r}, found {array.dtype}")
    return name, array.view(dtype)


def dtype_of(numpy_name: str) -> np.dtype[Any]:
    """The dtype by its name in numpy or ml_dtypes."""
    import ml_dtypes
    import numpy as np

    return np.dtype(getattr(ml_dtypes, numpy_name, None) or numpy_name)


def hlo_name(dtype: np.dtype[Any]) -> str:
    """HLO's name of a dtype: `f32`, `pred`, `bf16`."""
    return _BY_NUMPY[dtype.name].name
