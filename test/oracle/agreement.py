"""Comparing what xneuron and XLA compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from oracle.xla import Program, run_on_xla

from xneuron.formats.hlo_text.parser import parse_hlo
from xneuron.interpreters.evaluator import Program as Evaluation


def evaluate(program: Program) -> list[np.ndarray]:
    """Outputs of a program for one replica on xneuron's evaluator, tuples flattened, tokens left out."""
    module = parse_hlo(program.text)
    module.verify()
    return [np.asarray(x) for x in _flat(Evaluation(module).run(*program.replicas[0]))]


def _flat(values: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if isinstance(value, tuple):
            found += _flat(value)
        elif value is not None:
            found.append(value)
    return found


def distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Units in the last place between elements; any two NaN are equal, a NaN and a number infinitely far apart.

    0 is bitwise equality (but for payloads of NaN). For complex numbers, the larger of both parts.
    """
    if a.dtype.kind == "c":
        return np.maximum(distance(a.real.copy(), b.real.copy()), distance(a.imag.copy(), b.imag.copy()))
    if a.dtype.kind in "biu" or "int" in a.dtype.name:
        return np.where(a == b, 0.0, np.inf)
    with np.errstate(all="ignore"):
        nan_a, nan_b = (np.isnan(x.astype(np.float64)) for x in (a, b))
    apart = np.abs(_places(a) - _places(b))
    return np.where(nan_a | nan_b, np.where(nan_a & nan_b, 0.0, np.inf), apart)


def _places(x: np.ndarray) -> np.ndarray:
    """How many floats lie between x and zero, signed; -0 is one below +0."""
    bits = x.view(f"i{x.dtype.itemsize}").astype(np.longdouble)
    lowest = np.longdouble(np.iinfo(f"i{x.dtype.itemsize}").min)
    return np.where(bits < 0, lowest - bits - 1, bits)


def relative(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Distance in relation to the largest finite magnitude: for sums, which round in different orders."""
    with np.errstate(all="ignore"):
        x, y = (v.astype(np.complex128 if v.dtype.kind == "c" else np.float64) for v in (a, b))
        same = (x == y) | (np.isnan(x) & np.isnan(y))
        size = np.abs(y)[np.isfinite(y)].max(initial=1e-30)
        return np.where(same, 0.0, np.nan_to_num(np.abs(x - y) / size, nan=np.inf))


def check(
    programs: Mapping[str, Program],
    ulps: float | Mapping[str, float] = 0,
    tolerance: float | None = None,
    fuse: bool = False,
) -> None:
    """Asserts that all programs give on xneuron what they give on XLA.

    `ulps`: units in the last place, for all or by name. `tolerance`: relative, instead. `fuse`: as in `Program`, for
    all. A program that XLA refuses fails as well: every test program is one that XLA can run.
    """
    programs = {name: replace(program, fuse=fuse or program.fuse) for name, program in programs.items()}
    failures: list[str] = []
    for (name, program), outcome in zip(programs.items(), run_on_xla(list(programs.values())), strict=True):
        if outcome.replicas is None:
            failures.append(f"{name}: XLA: {outcome.error[:300]}")
            continue
        bound = ulps if isinstance(ulps, int | float) else ulps.get(name, 0)
        failures += [f"{name}: {text}" for text in _differences(program, outcome.outputs, bound, tolerance)]
    assert not failures, f"{len(failures)} differences\n" + "\n".join(failures[:20])


def _differences(program: Program, expected: list[np.ndarray], ulps: float, tolerance: float | None) -> list[str]:
    actual = evaluate(program)
    if [(x.dtype, x.shape) for x in actual] != [(x.dtype, x.shape) for x in expected]:
        return [f"types {[(x.dtype, x.shape) for x in actual]}, on XLA {[(x.dtype, x.shape) for x in expected]}"]
    found: list[str] = []
    for number, (ours, theirs) in enumerate(zip(actual, expected, strict=True)):
        apart, bound = (distance(ours, theirs), ulps) if tolerance is None else (relative(ours, theirs), tolerance)
        if not (wrong := np.argwhere(apart > bound)).size:
            continue
        at = tuple(wrong[0])
        inputs = [x[at] for x in program.replicas[0] if np.shape(x) == ours.shape]
        found.append(
            f"output {number}, {len(wrong)} of {ours.size} elements by up to {apart.max()}; at {tuple(map(int, at))} "
            f"of {inputs}: {ours[at]}, on XLA {theirs[at]}"
        )
    return found
