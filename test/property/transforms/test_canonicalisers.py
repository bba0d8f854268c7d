"""Canonicalisers, inliner and markers do not change what programs compute: before and after, bit for bit."""

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from property.hlo_programs import WIDTH, hlo_program
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xneuron.formats.hlo_text import parse_hlo
from xneuron.interpreters.evaluator import Program
from xneuron.transforms.boundary_marker_removal import remove_markers
from xneuron.transforms.call_inliner import inline_calls
from xneuron.transforms.canonicalize_boundary_marker import canonicalize_markers
from xneuron.transforms.canonicalize_loops import canonicalize
from xneuron.transforms.flatten_call_graph import flatten_call_graph
from xneuron.transforms.hlo_cse import merge_equal_instructions
from xneuron.transforms.hlo_dce import eliminate_dead_code
from xneuron.transforms.neuron_add_boundary_marker import NeuronAddBoundaryMarker
from xneuron.transforms.tuple_simplifier import simplify_tuples
from xneuron.transforms.while_loop_constant_sinking import sink_constants


def add_markers(module: ModuleOp) -> None:
    NeuronAddBoundaryMarker().apply(Context(), module)


def everything(module: ModuleOp) -> None:
    """In the order in which an unroller uses them, markers on while the others work."""
    add_markers(module)
    canonicalize_markers(module)
    canonicalize(module)
    inline_calls(module)
    merge_equal_instructions(module)
    eliminate_dead_code(module)
    remove_markers(module)
    canonicalize(module)
    eliminate_dead_code(module)


TRANSFORMS: dict[str, Callable[[ModuleOp], object]] = {
    "sink": lambda module: sink_constants(module, broadcasts=True),
    "tuples": simplify_tuples,
    "cse": merge_equal_instructions,
    "cse without layouts": lambda module: merge_equal_instructions(module, layout_sensitive=False),
    "dce": eliminate_dead_code,
    "inline": inline_calls,
    "flatten": flatten_call_graph,
    "canonicalize": canonicalize,
    "mark": add_markers,
    "everything": everything,
}


def bits(module: ModuleOp, seed: int) -> list[bytes]:
    """What the program gives for inputs made from the seed."""
    random = Random(seed)
    vector = np.array([random.randint(-9, 9) for _ in range(WIDTH)], np.int32)
    outputs = Program(module, max_iterations=1000).run(np.int32(random.randint(-5, 5)), vector)
    return [np.asarray(value).tobytes() for value in outputs]


def check(seed: int, size: int, depth: int) -> None:
    text = hlo_program(Random(seed), size, depth)
    expected = bits(parse_hlo(text), seed)
    for name, transform in TRANSFORMS.items():
        module = parse_hlo(text)
        transform(module)
        module.verify()
        assert bits(module, seed) == expected, name


EXAMPLES = st.tuples(st.integers(0, 2**32), st.integers(2, 12), st.integers(0, 2))


@given(EXAMPLES)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_same_results(example: tuple[int, int, int]):
    check(*example)


@pytest.mark.fuzz
@given(EXAMPLES)
@settings(max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_same_results_at_length(example: tuple[int, int, int]):
    check(*example)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_second_run_changes_nothing(name: str):
    """A fixpoint is one: the second time there is nothing to report. Marking reports nothing at all."""
    for seed in range(8):
        module = parse_hlo(hlo_program(Random(seed), 8))
        TRANSFORMS[name](module)
        once = str(module)
        assert not TRANSFORMS[name](module)
        assert str(module) == once
