"""Every kind of collective in every group mode, on four devices: bit for bit what XLA gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from collective_programs import CASES, Case
from oracle.agreement import relative
from oracle.xla import Program, run_on_xla

from xneuron.formats.hlo_text import parse_hlo
from xneuron.interpreters.evaluator import Program as Evaluation


def on_xla(case: Case) -> bool:
    """False for what XLA's CPU back end or its StableHLO cannot express."""
    empty_array_all_to_all = case.kind.name in ("all-to-all", "all-to-all.async") and "{}" in case.mode.attributes
    return not (empty_array_all_to_all or case.kind.name == "collective-broadcast")


def test_collectives_on_xla():
    cases = [case for case in CASES if on_xla(case)]
    inputs = {case.name: case.inputs(seed) for seed, case in enumerate(cases)}
    programs = [Program(case.text(), inputs[case.name], partitions=case.mode.partitions) for case in cases]
    for case, outcome in zip(cases, run_on_xla(programs), strict=True):
        assert outcome.replicas is not None, f"{case.name}: {outcome.error}"
        ours = Evaluation(parse_hlo(case.text())).run_all(inputs[case.name])
        for participant, (mine, theirs) in enumerate(zip(ours, outcome.replicas, strict=True)):
            for one, other in zip(mine, theirs, strict=True):
                np.testing.assert_array_equal(np.asarray(one), other, f"{case.name}, participant {participant}")


def test_a_program_from_jax_on_four_partitions():
    """All-gathers of weights and reduce-scatters of gradients in loops."""
    text = (Path(__file__).parents[2] / "examples" / "fsdp.hlo").read_text()
    rng = np.random.default_rng(0)
    shapes = [(8, 4, 16), (8, 16), (2, 16)]
    inputs = [[rng.standard_normal(shape).astype(np.float32) / 4 for shape in shapes] for _ in range(4)]
    (outcome,) = run_on_xla([Program(text, inputs, partitions=4)])
    assert outcome.replicas is not None, outcome.error
    ours = Evaluation(parse_hlo(text)).run_all(inputs)
    for mine, theirs in zip(ours, outcome.replicas, strict=True):
        for one, other in zip(mine, theirs, strict=True):
            assert relative(np.asarray(one), other).max() < 1e-5
