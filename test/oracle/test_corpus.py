"""The corpus: HLO from JAX programs is read, written, run as XLA runs it, unrolled, and run again.

Values come from XLA's own run of the text that JAX made. XLA's optimised texts cannot be fed to it again (it aborts):
their values are compared with those of the text they were made from, and XLA only reads what we print of them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle.xla import Program as XlaProgram
from oracle.xla import run_on_xla
from oracle.xla_text import reprinted, without_tables
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.formats.arrays import load_arrays
from xneuron.formats.hlo_text.parser import parse_hlo
from xneuron.formats.hlo_text.printer import print_hlo
from xneuron.interpreters.evaluator import Program
from xneuron.tools.run_outputs import flat
from xneuron.transforms.unroll_while_loop import UnrollWhileLoop

CORPUS = Path(__file__).parents[1] / "corpus"
NAMES = sorted(path.name.removesuffix(".before.hlo") for path in CORPUS.glob("*.before.hlo"))
TEXTS = [f"{name}.{stage}" for name in NAMES for stage in ("before", "after")]
BATCH = 12
"""Programs per XLA process: starting one costs a second, and a test run may need only a few."""


def grouped(names: list[str]) -> list[Any]:
    """Parameters such that programs which share an XLA process run in the same worker (`--dist loadgroup`)."""
    return [pytest.param(name, marks=pytest.mark.xdist_group(f"xla{batch_of(name)}")) for name in names]


def batch_of(name: str) -> int:
    return NAMES.index(name.partition(".")[0]) // BATCH


# Loops whose number of iterations depends on an argument.
LOOPS_LEFT = {
    "collatz": 1,
    "fixed_point": 1,
    "fori_traced": 1,
    "fori_traced_range": 1,
    "gcd_batched": 1,
    "nested_traced": 2,
    "newton_sqrt": 1,
    "softmax_over_blocks": 2,
    "stack_and_sum": 1,
    "traced_down": 1,
}


def text_of(name: str) -> str:
    return (CORPUS / f"{name}.hlo").read_text()


WITH_LOOPS = [name for name in NAMES if " while(" in text_of(f"{name}.before")]


def module_of(name: str) -> ModuleOp:
    return parse_hlo(text_of(name), f"{name}.hlo")


def inputs_of(name: str) -> list[np.ndarray]:
    return list(load_arrays(CORPUS / f"{name.partition('.')[0]}.npz").values())


def unrolled(name: str) -> ModuleOp:
    module = module_of(name)
    UnrollWhileLoop().apply(Context(), module)
    module.verify()
    return module


def run(module: ModuleOp, name: str) -> list[np.ndarray]:
    return [leaf for output in Program(module).run(*inputs_of(name)) for leaf in flat(output)]


@cache
def _xla_batch(index: int, stage: str) -> dict[str, list[np.ndarray]]:
    """XLA's outputs for one batch of programs: their own texts, or our texts of them unrolled."""
    names = NAMES[index * BATCH : (index + 1) * BATCH]
    names = [name for name in names if stage != "unrolled" or name in WITH_LOOPS]
    texts = [print_hlo(unrolled(f"{n}.before")) if stage == "unrolled" else text_of(f"{n}.{stage}") for n in names]
    outcomes = run_on_xla([XlaProgram.of(t, *inputs_of(n)) for t, n in zip(texts, names, strict=True)])
    return {name: outcome.outputs for name, outcome in zip(names, outcomes, strict=True)}


def xla(name: str, stage: str = "before") -> list[np.ndarray]:
    return _xla_batch(batch_of(name), stage)[name.partition(".")[0]]


# How far results may be from XLA's: sums in another order, transcendental functions of another library. Types that are
# not here must be equal (NaN is NaN).
TOLERANCE = {"float64": 1e-12, "float32": 2e-5, "float16": 2e-3, "bfloat16": 2e-2, "complex64": 2e-5}


def assert_close(found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    assert [(np.asarray(a).dtype, np.shape(a)) for a in found] == [(a.dtype, a.shape) for a in expected]
    for index, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        tolerance = TOLERANCE.get(theirs.dtype.name, 0)
        if theirs.dtype.kind in "biu":
            np.testing.assert_array_equal(ours, theirs, f"output {index}")
            continue
        wide = np.complex128 if theirs.dtype.kind == "c" else np.float64
        np.testing.assert_allclose(
            np.asarray(ours).astype(wide), theirs.astype(wide), tolerance, tolerance, err_msg=f"output {index}"
        )


def assert_same_bits(found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    assert [np.asarray(a).tobytes() for a in found] == [np.asarray(a).tobytes() for a in expected]


def test_there_is_a_corpus() -> None:
    assert len(NAMES) >= 25
    assert len(TEXTS) == len(list(CORPUS.glob("*.hlo")))


@pytest.mark.parametrize("name", TEXTS)
def test_text_is_a_fixpoint(name: str) -> None:
    module = module_of(name)
    module.verify()
    printed = print_hlo(module)
    assert print_hlo(parse_hlo(printed)) == printed


@pytest.mark.parametrize("name", grouped(TEXTS))
def test_values(name: str) -> None:
    assert_close(run(module_of(name), name), xla(name))


@pytest.mark.parametrize("name", TEXTS)
def test_unrolled_values(name: str) -> None:
    """Unrolling changes no bit."""
    module = unrolled(name)
    assert_same_bits(run(module, name), run(module_of(name), name))
    left = sum(isinstance(op, WhileOp) for op in module.walk())
    assert left == LOOPS_LEFT.get(name.partition(".")[0], 0)


@pytest.mark.parametrize("name", grouped(WITH_LOOPS))
def test_xla_runs_what_we_unrolled(name: str) -> None:
    """Our text of the unrolled program, read and run by XLA."""
    assert_close(xla(name, "unrolled"), xla(name))


def instructions_and_parameters(text: str) -> tuple[list[str], list[str]]:
    """Lines in order, and apart from them the parameters: a scheduled text may have them anywhere, ours comes first."""
    lines = without_tables(text).splitlines()
    parameters = [line for line in lines if " parameter(" in line]
    return [line for line in lines if " parameter(" not in line], sorted(parameters)


# Calls of it pass arrays in another layout than the callee's; our types say so, by a copy in between.
WITH_COPIES = "transformer_grad.before"


@cache
def _reprinted() -> dict[str, tuple[str, str]]:
    """Per text, what XLA makes of the original and what it makes of ours."""
    texts = reprinted([text for name in TEXTS for text in (text_of(name), print_hlo(module_of(name)))])
    return dict(zip(TEXTS, zip(texts[::2], texts[1::2], strict=True), strict=True))


@pytest.mark.xdist_group("reprinted")
@pytest.mark.parametrize("name", TEXTS)
def test_xla_reads_the_same_in_what_we_print(name: str) -> None:
    """Nothing that XLA knows of a program is lost on the way through our IR: names, layouts, metadata, bits."""
    original, ours = _reprinted()[name]
    assert not ours.startswith("error: ")
    if name != WITH_COPIES:
        assert instructions_and_parameters(ours) == instructions_and_parameters(original)
