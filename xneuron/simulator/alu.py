"""The ALU operations on tensors: numpy functions in integers or in float32.

Rules (reference `bir.md`, sections b and i): arithmetic is in float32 unless the operation is bitwise or all operands
are integers, comparisons give 1 or 0, integers wrap. Ours, as on registers: integer `divide` and `mod` round towards
minus infinity and give 0 for a zero divisor, shift counts are modulo the width, integer `average` rounds down; +0 is
larger than -0 for `max` and `min`, as in IEEE 754-2019 and HLO.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xneuron.dialects.bir.enums import UNARY_ALU_OPS, AluOpType
from xneuron.execution.errors import EvaluationError
from xneuron.interpreters.kernels.floats import maximum, minimum, reciprocal_root
from xneuron.interpreters.kernels.integers import power, signed, unsigned
from xneuron.simulator.dtypes import SINGLE, Numpy, integer_word, is_integer

Function = Callable[..., Any]

BITWISE = frozenset(
    {
        AluOpType.bitwise_not,
        AluOpType.bitwise_and,
        AluOpType.bitwise_or,
        AluOpType.bitwise_xor,
        AluOpType.arith_shift_left,
        AluOpType.arith_shift_right,
        AluOpType.logical_shift_left,
        AluOpType.logical_shift_right,
    }
)
"""Operations on bit patterns: integers only (NKI calls them bitvec operators)."""

_EITHER: dict[AluOpType, Function] = {
    AluOpType.add: np.add,
    AluOpType.subtract: np.subtract,
    AluOpType.mult: np.multiply,
    AluOpType.elemwise_mul: np.multiply,
    AluOpType.max: np.maximum,
    AluOpType.min: np.minimum,
    AluOpType.mod: np.remainder,
    AluOpType.logical_and: np.logical_and,
    AluOpType.logical_or: np.logical_or,
    AluOpType.logical_xor: np.logical_xor,
    AluOpType.is_equal: np.equal,
    AluOpType.not_equal: np.not_equal,
    AluOpType.is_gt: np.greater,
    AluOpType.is_ge: np.greater_equal,
    AluOpType.is_lt: np.less,
    AluOpType.is_le: np.less_equal,
    AluOpType.abs: np.absolute,
    AluOpType.abs_max: lambda a, b: np.maximum(np.absolute(a), np.absolute(b)),
    AluOpType.abs_min: lambda a, b: np.minimum(np.absolute(a), np.absolute(b)),
}


def _shift_left(a: Any, b: Any) -> Any:
    return np.left_shift(a, _count(a, b))


def _shift_right_arithmetic(a: Any, b: Any) -> Any:
    return np.right_shift(a.view(signed(a.dtype)), _count(a, b).astype(signed(a.dtype))).view(a.dtype)


def _shift_right_logical(a: Any, b: Any) -> Any:
    return np.right_shift(a.view(unsigned(a.dtype)), _count(a, b).astype(unsigned(a.dtype))).view(a.dtype)


def _count(a: Any, b: Any) -> Any:
    """The count modulo the width, in the type of what is shifted."""
    return np.bitwise_and(b, 8 * a.dtype.itemsize - 1).astype(a.dtype)


def _with_out(function: Function, ufunc: np.ufunc) -> Function:
    """`function`, which is `ufunc` but for zeros, with `out=`, which may be an operand."""

    def run(a: Any, b: Any, out: Any = None) -> Any:
        apart = out is not None and not (np.may_share_memory(out, a) or np.may_share_memory(out, b))
        if apart and ufunc(a, b, out=out).all():
            return out
        result = function(a, b)
        if out is not None:
            np.copyto(out, result)
        return result

    return run


_MAXIMUM, _MINIMUM = _with_out(maximum, np.maximum), _with_out(minimum, np.minimum)
_INTEGER: dict[AluOpType, Function] = {
    **_EITHER,
    AluOpType.bitwise_not: np.invert,
    AluOpType.bitwise_and: np.bitwise_and,
    AluOpType.bitwise_or: np.bitwise_or,
    AluOpType.bitwise_xor: np.bitwise_xor,
    AluOpType.arith_shift_left: _shift_left,
    AluOpType.arith_shift_right: _shift_right_arithmetic,
    AluOpType.logical_shift_left: _shift_left,
    AluOpType.logical_shift_right: _shift_right_logical,
    # numpy's own answer for a zero divisor is 0, here and for the remainder.
    AluOpType.divide: np.floor_divide,
    AluOpType.mod_int: np.remainder,
    AluOpType.average: lambda a, b: (a & b) + ((a ^ b) >> a.dtype.type(1)),
    AluOpType.pow: power,
}

_FLOAT: dict[AluOpType, Function] = {
    **_EITHER,
    AluOpType.max: _MAXIMUM,
    AluOpType.min: _MINIMUM,
    AluOpType.divide: np.divide,
    AluOpType.mod_int: lambda a, b: np.remainder(np.trunc(a), np.trunc(b)),
    AluOpType.average: lambda a, b: (a + b) * np.float32(0.5),
    AluOpType.pow: np.power,
    AluOpType.rsqrt: reciprocal_root,
}


def word_of(ops: list[AluOpType], dtypes: list[Numpy]) -> Numpy:
    """The type that operations on operands of those types compute in. Raises EvaluationError for bits of floats."""
    integers = all(map(is_integer, dtypes))
    for op in ops:
        if op in BITWISE and not integers:
            kinds = ", ".join(sorted({dtype.name for dtype in dtypes}))
            raise EvaluationError(f"{op} on {kinds} is not supported yet: expected integers")
    return integer_word(dtypes) if integers and AluOpType.rsqrt not in ops else SINGLE


def function_of(op: AluOpType, word: Numpy) -> Function:
    """The operation on arrays of type `word`; a unary one takes one. Comparisons answer booleans."""
    return (_INTEGER if is_integer(word) else _FLOAT)[op]


def takes_out(function: Function) -> bool:
    """True if a function can write its result into an array of the word's type."""
    return isinstance(function, np.ufunc) or function in (_MAXIMUM, _MINIMUM)


def is_unary(op: AluOpType) -> bool:
    """True if the operation ignores its second operand."""
    return op in UNARY_ALU_OPS
