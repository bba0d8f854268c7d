"""Element types as numpy types, and conversions between them.

Rules (reference `bir.md`, section i, and `docs/bir.md`): narrowing a float rounds to nearest even; between integers
the low bits are kept. From float to integer the reference is silent: here to nearest even, saturating, NaN gives 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from xneuron.dialects.bir.enums import DType

Array: TypeAlias = NDArray[Any]
Numpy: TypeAlias = np.dtype[Any]

SINGLE = np.dtype(np.float32)

_NAMES = {
    DType.fp4x4: np.uint16,  # four packed numbers: kept as bits, nothing computes on them
    DType.float8e3: ml_dtypes.float8_e3m4,
    DType.float8e4: ml_dtypes.float8_e4m3,
    DType.e4m3fn: ml_dtypes.float8_e4m3fn,
    DType.e8m0: ml_dtypes.float8_e8m0fnu,
    DType.float8e5: ml_dtypes.float8_e5m2,
    DType.bfloat16: ml_dtypes.bfloat16,
    DType.float32r: np.float32,
}


def numpy_of(dtype: DType) -> Numpy:
    """The numpy type that elements are kept in."""
    return np.dtype(_NAMES.get(dtype, dtype.value))


def is_integer(dtype: Numpy) -> bool:
    return dtype.kind in "iu"


def integer_word(dtypes: list[Numpy]) -> Numpy:
    """The integer type that arithmetic on all those integer types is done in."""
    word = np.result_type(*dtypes)
    return word if is_integer(word) else np.dtype(np.int64)


def scalar(value: int | float, dtype: Numpy) -> Any:
    """A number as a numpy scalar: integers keep their low bits, floats are rounded."""
    if not is_integer(dtype):
        return np.asarray(value, np.float64).astype(dtype)[()]
    if isinstance(value, float):
        return rounded(np.asarray(value), dtype)[()]
    bits = 8 * dtype.itemsize
    return np.asarray(value & ((1 << bits) - 1), f"u{dtype.itemsize}").astype(dtype)[()]


def rounded(values: Array, dtype: Numpy) -> Array:
    """Floats as integers: to nearest even, saturating, NaN gives 0."""
    wide = np.rint(values.astype(np.float64))
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    inside = np.where(np.isnan(wide), 0.0, np.clip(wide, low, np.nextafter(float(high) + 1, 0)))
    # The largest 64-bit integers are no float64: what is at or above the end becomes the end itself.
    return np.where(wide >= float(high), high, inside.astype(dtype)).astype(dtype)


def converted(values: Array, dtype: Numpy) -> Array:
    """The values in another type; the array itself where it is of that type."""
    if values.dtype == dtype:
        return values
    if is_integer(dtype) and values.dtype.kind not in "iub":
        return rounded(values, dtype)
    if values.dtype.itemsize == dtype.itemsize == 1 and not is_integer(dtype):
        values = values.astype(SINGLE)  # ml_dtypes has no direct way between all formats of a byte
    return values.astype(dtype)


def store(values: Any, out: Array) -> None:
    """Writes values of any type and as many elements into `out`."""
    values = np.asarray(values)
    if values.shape != out.shape:
        values = values.reshape(out.shape)
    np.copyto(out, converted(values, out.dtype), casting="unsafe")


def into(function: Callable[..., Any]) -> Callable[..., None]:
    """A function of arrays as one that writes its result into a further, last, array."""

    def run(*arrays: Any) -> None:
        store(function(*arrays[:-1]), arrays[-1])

    return run
