"""HLO values as numpy values.

| HLO | here |
|---|---|
| array of rank 1 and more | `numpy.ndarray`, never written to once it is a value |
| array of rank 0 | numpy *scalar* (`np.int32(3)`), never a 0-d array: Python operators on scalars are 15 times faster |
| tuple | Python tuple |
| token | None |
| pred | `np.bool_`; bf16, f8*, s4, … are ml_dtypes types, one element per byte or more |
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias, cast

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Attribute

from xneuron.dialects.hlo.literal import ElidedAttr, LiteralAttr, TupleLiteralAttr
from xneuron.dialects.hlo.types import DYNAMIC, Tensor, TokenType, element_of, elements_of, shape_of, spelled
from xneuron.execution.errors import EvaluationError

DType: TypeAlias = np.dtype[Any]
Array: TypeAlias = np.ndarray[Any, DType]
Scalar: TypeAlias = np.generic
Value: TypeAlias = "Array | Scalar | tuple[Any, ...] | None"


@lru_cache(maxsize=4096)
def dtype_of(type: Attribute) -> DType:
    """The numpy dtype of a tensor type's elements. Raises VerifyException for anything but a tensor."""
    name = element_of(type).numpy
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def is_scalar(type: Attribute) -> bool:
    """True for arrays of rank 0, whose values are numpy scalars."""
    return isinstance(type, TensorType) and not cast(Tensor, type).shape.data


def static_shape(type: Attribute) -> tuple[int, ...]:
    """Extents of a tensor type. Raises EvaluationError where one is dynamic."""
    shape = shape_of(type)
    if DYNAMIC in shape:
        raise EvaluationError(f"expected static extents, found {spelled(type)}")
    return shape


def as_value(array: Any) -> Array | Scalar:
    """The array (or scalar) as a value: a numpy scalar where the rank is 0."""
    return array if array.ndim else array[()]


def zeros(type: Attribute) -> Value:
    """Zeros (false, None for tokens) of any type."""
    if isinstance(type, TupleType):
        return tuple(zeros(inner) for inner in elements_of(type))
    if isinstance(type, TokenType):
        return None
    return as_value(np.zeros(static_shape(type), dtype_of(type)))


def literal_value(literal: Attribute) -> Value:
    """The value of a constant's attribute: a view of its bytes, no copy; a splat is one element broadcast.

    Raises EvaluationError for a value that the text left out.
    """
    if isinstance(literal, TupleLiteralAttr):
        return tuple(literal_value(element) for element in literal.elements.data)
    if isinstance(literal, ElidedAttr):
        raise EvaluationError("expected the value of a constant, found one that the text left out ({...})")
    if not isinstance(literal, LiteralAttr):
        raise EvaluationError(f"expected a literal, found {literal}")
    stored = np.frombuffer(literal.stored, dtype_of(literal.type))
    shape = static_shape(literal.type)
    if literal.is_splat:
        return as_value(np.broadcast_to(stored.reshape(()), shape))
    return as_value(stored.reshape(shape))


def input_value(value: Any, type: Attribute) -> Value:
    """What a caller gave for a parameter, as a value of that type.

    Arrays must have the type's shape and dtype exactly; Python numbers are converted. Raises EvaluationError.
    """
    if isinstance(type, TupleType):
        inner = elements_of(type)
        if not isinstance(value, tuple | list) or len(cast("tuple[Any, ...]", value)) != len(inner):
            raise EvaluationError(f"expected {spelled(type)}, found {described(value)}")
        return tuple(input_value(v, t) for v, t in zip(cast("tuple[Any, ...]", value), inner, strict=True))
    if isinstance(type, TokenType):
        return None
    return _input_array(value, type)


def _input_array(value: Any, type: Attribute) -> Array | Scalar:
    wanted = dtype_of(type)
    array = np.asarray(value, wanted if isinstance(value, bool | int | float | complex) else None)
    if not fits(array, type):
        raise EvaluationError(f"expected {spelled(type)}, found {described(array)}")
    return as_value(array)


def fits(value: Any, type: Attribute) -> bool:
    """True if a value has the type, dynamic extents aside."""
    if isinstance(type, TupleType):
        inner = elements_of(type)
        return isinstance(value, tuple) and len(value) == len(inner) and all(map(fits, value, inner))  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(type, TokenType):
        return value is None
    return value is not None and value.dtype == dtype_of(type) and _same_extents(value.shape, shape_of(type))


def _same_extents(found: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    return len(found) == len(wanted) and all(DYNAMIC in (a, b) or a == b for a, b in zip(wanted, found, strict=True))


def described(value: Any) -> str:
    """`float32[2,3]`, `a tuple of 2`: how messages name a value."""
    if isinstance(value, tuple | list):
        return f"a tuple of {len(cast('tuple[Any, ...]', value))}"
    if isinstance(value, np.ndarray | np.generic):
        extents = ",".join(map(str, cast(Array, value).shape))
        return f"{cast(Array, value).dtype}[{extents}]"
    return type(value).__name__
