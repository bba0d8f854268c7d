"""A training step on four devices gives what XLA gives, before and after its collectives leave their loops."""

from pathlib import Path

import numpy as np
from oracle.xla import Program as OnXla
from oracle.xla import run_on_xla
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xneuron.formats.arrays import load_arrays
from xneuron.formats.hlo_text import parse_hlo, print_hlo
from xneuron.interpreters.evaluator import Program
from xneuron.transforms.all_gather_trip_count import AllGatherTripCount
from xneuron.transforms.neuron_move_reduce_scatter_while_loop import NeuronMoveReduceScatterWhileLoop

EXAMPLES = Path(__file__).parents[2] / "examples"
DEVICES, LAYERS = 4, 8


def devices() -> list[list[np.ndarray]]:
    """Inputs of each device: its part of the weights, all biases, its part of the batch."""
    weights, bias, batch = (load_arrays(EXAMPLES / "fsdp.npz")[name] for name in "012")
    return [[weights[device], bias, batch[device]] for device in range(DEVICES)]


def moved() -> ModuleOp:
    module = parse_hlo((EXAMPLES / "fsdp.hlo").read_text())
    for step in (AllGatherTripCount(), NeuronMoveReduceScatterWhileLoop()):
        step.apply(Context(), module)
    return module


def test_same_values_as_xla() -> None:
    before = (EXAMPLES / "fsdp.hlo").read_text()
    after = print_hlo(moved())
    first, second = run_on_xla([OnXla(text, devices(), partitions=DEVICES) for text in (before, after)])
    ours = Program(moved(), profile=True)
    mine = ours.run_all(devices())
    assert (ours.profile.collectives["all-gather"], ours.profile.collectives["reduce-scatter"]) == (1, 1)
    assert first.replicas is not None, first.error
    assert second.replicas is not None, second.error
    for theirs, moved_theirs, our in zip(first.replicas, second.replicas, mine, strict=True):
        for a, b, c in zip(theirs, moved_theirs, our, strict=True):
            np.testing.assert_array_equal(a, b)
            np.testing.assert_allclose(a, c, rtol=2e-5, atol=1e-6)
