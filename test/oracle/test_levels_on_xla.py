"""JAX programs with loops on all levels: evaluator, simulator with loops and with branches, and XLA give the same.

What BIR cannot express is refused, by the name of the first instruction.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import lowered
import numpy as np
import pytest
from oracle.test_corpus import NAMES, assert_close, assert_same_bits, grouped, inputs_of, module_of, text_of, xla
from oracle.xla import Program, run_on_xla
from xdsl.context import Context

from xneuron.dialects.hlo.functions import entry_of
from xneuron.formats.hlo_text import parse_hlo
from xneuron.lowering.convert_hlo_to_bir import lower
from xneuron.lowering.hlo_to_bir.rules import NotLowerable
from xneuron.tools.run_inputs import parameters_of, random_inputs

WITH_LOOPS = [name for name in NAMES if " while(" in text_of(f"{name}.before")]
REFUSED = {
    "mandelbrot": "BIR has no elements like those of c64",
}
LOWERED = [name for name in WITH_LOOPS if name not in REFUSED]
ASKED_FOR = {"fori_traced", "fixed_point", "nested_traced", "scan_matmul", "softmax_over_blocks", "traced_down"}
"""A bound given at run time, iterations until nothing moves, one dynamic loop in another, a product in a scan, softmax
over blocks, from one number down to another."""


@cache
def levels(name: str) -> dict[str, list[np.ndarray]]:
    return lowered.run_levels(module_of(f"{name}.before"), *inputs_of(name))


def test_there_are_enough_programs() -> None:
    assert len(LOWERED) >= 30
    assert set(LOWERED) >= ASKED_FOR


@pytest.mark.parametrize("name", grouped(LOWERED))
def test_levels_agree_with_xla(name: str) -> None:
    found = levels(name)
    assert_same_bits(found["branches"], found["bir"])
    assert_close(found["bir"], found["hlo"])
    for level in found.values():
        assert_close(level, xla(name))


@pytest.mark.parametrize("name", REFUSED)
def test_what_bir_cannot_express_is_refused(name: str) -> None:
    module = module_of(f"{name}.before")
    before = str(module)
    with pytest.raises(NotLowerable, match=REFUSED[name]):
        lower(Context(), module)
    assert str(module) == before


EXAMPLES = Path(__file__).parents[2] / "examples"
NOT_FOR_ONE_CORE = {"fsdp": "cannot lower all_gather 'all_gather.3'"}


@pytest.mark.parametrize("name", [path.stem for path in sorted(EXAMPLES.glob("*.hlo"))])
def test_examples(name: str) -> None:
    """All of them, on all levels and on XLA; collectives are refused."""
    text = (EXAMPLES / f"{name}.hlo").read_text()
    module = parse_hlo(text, f"{name}.hlo")
    if name in NOT_FOR_ONE_CORE:
        with pytest.raises(NotLowerable, match=NOT_FOR_ONE_CORE[name]):
            lower(Context(), module)
        return
    (inputs,) = random_inputs(parameters_of(entry_of(module)), 9)
    (outcome,) = run_on_xla([Program.of(text, *inputs)])
    for level in lowered.run_levels(module, *inputs).values():
        assert_close(level, outcome.outputs)
