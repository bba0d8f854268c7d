"""The list that the corpus' programs join, and the arrays they are called with."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Program(NamedTuple):
    """A JAX function and the arrays to trace and run it with."""

    function: Callable[..., Any]
    arguments: tuple[np.ndarray, ...]


PROGRAMS: dict[str, Program] = {}


def program(*arguments: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Puts the function on the list under its own name. An argument is an array, or a function of a generator."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        rng = np.random.default_rng(zlib.crc32(function.__name__.encode()))
        values = tuple(np.asarray(a(rng) if callable(a) else a) for a in arguments)
        PROGRAMS[function.__name__] = Program(function, values)
        return function

    return register


def f32(*shape: int, scale: float = 1.0) -> Callable[[np.random.Generator], np.ndarray]:
    """Normally distributed f32 numbers."""
    return lambda rng: (rng.standard_normal(shape) * scale).astype(np.float32)


def normal(dtype: Any, *shape: int) -> Callable[[np.random.Generator], np.ndarray]:
    """Normally distributed numbers of any float type."""
    return lambda rng: rng.standard_normal(shape).astype(np.float32).astype(dtype)


def integers(dtype: Any, low: int, high: int, *shape: int) -> Callable[[np.random.Generator], np.ndarray]:
    """Integers in [low, high)."""
    return lambda rng: rng.integers(low, high, shape).astype(dtype)
