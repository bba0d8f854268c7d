"""The list that the JAX programs join, and what they are called with. Names can be had without importing JAX."""

from __future__ import annotations

import ast
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
THEMES = ("loops", "branches", "arrays", "numerics", "learning", "calls", "devices")
"""The files with programs."""


@dataclass(frozen=True)
class Program:
    """A JAX function, jitted or not, and the arrays to call it with.

    `donated`: numbers of arguments that are donated. `parts`: for a program of four devices, how each argument lies
    on the mesh `{"x": 2, "y": 2}`: a `PartitionSpec` as a tuple of axes, for `pmap` on four devices in a row `("i",)`.
    `platform`: for which it is printed; on CPU, some linear algebra becomes calls of LAPACK.
    `tolerance`: largest distance of results from JAX's, in relation to the largest of them.
    """

    function: Callable[..., Any]
    arguments: tuple[np.ndarray, ...]
    donated: tuple[int, ...]
    parts: tuple[tuple[Any, ...], ...] | None
    platform: str
    tolerance: float


PROGRAMS: dict[str, Program] = {}


def program(
    *arguments: Any,
    donated: tuple[int, ...] = (),
    parts: tuple[tuple[Any, ...], ...] | None = None,
    platform: str = "cpu",
    tolerance: float = 1e-5,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Puts the function on the list under its own name. An argument is an array, or a function of a generator."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        rng = np.random.default_rng(zlib.crc32(function.__name__.encode()))
        values = tuple(np.asarray(a(rng) if callable(a) else a) for a in arguments)
        PROGRAMS[function.__name__] = Program(function, values, donated, parts, platform, tolerance)
        return function

    return register


def names(*themes: str) -> list[str]:
    """Names of all programs, or of those of some themes, in order."""
    found: list[str] = []
    for theme in themes or THEMES:
        tree = ast.parse((HERE / f"{theme}.py").read_text())
        found += [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and _is_program(node)]
    return found


def theme_of(name: str) -> str:
    """The file that a program is in."""
    return next(theme for theme in THEMES if name in names(theme))


def _is_program(node: ast.FunctionDef) -> bool:
    return any("program(" in ast.unparse(decorator) for decorator in node.decorator_list)


def f32(*shape: int, scale: float = 1.0) -> Callable[[np.random.Generator], np.ndarray]:
    """Normally distributed f32 numbers."""
    return lambda rng: (rng.standard_normal(shape) * scale).astype(np.float32)


def normal(dtype: Any, *shape: int) -> Callable[[np.random.Generator], np.ndarray]:
    """Normally distributed numbers of any float type."""
    return lambda rng: rng.standard_normal(shape).astype(np.float32).astype(dtype)


def integers(low: int, high: int, *shape: int, dtype: Any = np.int32) -> Callable[[np.random.Generator], np.ndarray]:
    """Integers in [low, high)."""
    return lambda rng: rng.integers(low, high, shape).astype(dtype)
