"""Functions of complex numbers that numpy lacks or defines differently, for arrays and numpy scalars.

Formulas: hlo_evaluator_typed_visitor.h. Results near infinities and branch cuts may differ from XLA's CPU code, which
is not consistent there itself.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

from typing import Any

import numpy as np

from xneuron.interpreters.kernels.integers import choose


def build(real: Any, imaginary: Any) -> Any:
    """The complex number of two parts, exactly (`re + im * 1j` is not for infinities and NaN)."""
    dtype = np.complex64 if real.dtype == np.float32 else np.complex128
    result = np.empty(np.broadcast_shapes(real.shape, imaginary.shape), dtype)
    result.real, result.imag = real, imaginary
    return result[()]


def sign(a: Any) -> Any:
    """a / |a|; a zero is its own sign."""
    size = np.abs(a)
    zero = size == 0
    return choose(zero, a, a / choose(zero, size.dtype.type(1), size))


def reciprocal_root(a: Any) -> Any:
    """1 / sqrt(a)."""
    return a.dtype.type(1) / np.sqrt(a)


def logistic(a: Any) -> Any:
    """1 / (1 + exp(-a))."""
    one = a.dtype.type(1)
    return one / (one + np.exp(-a))


def arc_tangent(y: Any, x: Any) -> Any:
    """-i log((x + iy) / sqrt(x² + y²))."""
    i = x.dtype.type(1j)
    return -i * np.log((x + i * y) / np.sqrt(x * x + y * y))


def power(a: Any, b: Any) -> Any:
    """a to the power b; 1 where both are 0."""
    return choose((a == 0) & (b == 0), a.dtype.type(1), np.power(a, b))
