"""Real programs through `while_loop_unroller`: XLA runs the printed result to the values of the rolled program.

Boundary markers are off: they are custom calls that XLA's CPU back end does not know.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from oracle.test_corpus import assert_close, assert_same_bits, inputs_of, module_of, run, text_of
from oracle.xla import Program as XlaProgram
from oracle.xla import run_on_xla
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xneuron.analysis.trip_count import TripCount, trip_count
from xneuron.analysis.verification import verify_module
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.formats.hlo_text.printer import print_hlo
from xneuron.transforms.neuron_add_boundary_marker import DISABLE
from xneuron.transforms.while_loop_unroller import WhileLoopUnroller

NAMES = ["rnn", "transformer", "transformer_grad", "scan_grad"]
FORMS = {
    "full": WhileLoopUnroller(wrap_in_trivial_loop=False),
    "wrapped": WhileLoopUnroller(),
    "by 2": WhileLoopUnroller(unroll_factor=2),
    "by 4": WhileLoopUnroller(unroll_factor=4),
}


@pytest.fixture(autouse=True)
def _unmarked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DISABLE, "1")


def unrolled(name: str, form: str) -> ModuleOp:
    module = module_of(f"{name}.before")
    FORMS[form].apply(Context(), module)
    verify_module(module)
    return module


@cache
def _on_xla() -> dict[tuple[str, str], list[np.ndarray]]:
    """XLA's outputs of each program as it is (form "") and in each form, all from one process."""
    keys = [(name, form) for name in NAMES for form in ("", *FORMS)]
    texts = [print_hlo(unrolled(*key)) if key[1] else text_of(f"{key[0]}.before") for key in keys]
    outcomes = run_on_xla([XlaProgram.of(text, *inputs_of(name)) for text, (name, _) in zip(texts, keys, strict=True)])
    return {key: outcome.outputs for key, outcome in zip(keys, outcomes, strict=True)}


@pytest.mark.xdist_group("unroller")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
def test_xla_runs_the_unrolled_program(name: str, form: str) -> None:
    assert_close(_on_xla()[name, form], _on_xla()[name, ""])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
def test_no_bit_changes(name: str, form: str) -> None:
    """On our evaluator; no loop is left of a full unroll, nor of one by more than there are iterations."""
    module, rolled = unrolled(name, form), module_of(f"{name}.before")
    assert_same_bits(run(module, name), run(rolled, name))
    counts = [trip_count(op) for op in rolled.walk() if isinstance(op, WhileOp)]
    least = {"full": None, "wrapped": 1, "by 2": 2, "by 4": 4}[form]
    longer = [c for c in counts if least and isinstance(c, TripCount) and c.count > least]
    assert any(isinstance(op, WhileOp) for op in module.walk()) == bool(longer)
