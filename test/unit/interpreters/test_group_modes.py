"""Every kind of collective in every group mode against a definition in numpy, in program order and in random orders."""

import numpy as np
import pytest
from collective_programs import CASES, Case

from xneuron.dialects.hlo.channels import GroupedOp, PermuteOp
from xneuron.dialects.hlo.group_modes import group_mode
from xneuron.formats.hlo_text import parse_hlo
from xneuron.interpreters.evaluator import Program


@pytest.mark.parametrize("schedule", ["program", "random:1"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_collective(case: Case, schedule: str):
    module = parse_hlo(case.text())
    module.verify()
    inputs = case.inputs(1)
    results = Program(module, schedule=schedule).run_all(inputs)
    for ours, numpys in zip(results, case.expected(inputs), strict=True):
        for one, other in zip(ours, numpys, strict=True):
            np.testing.assert_array_equal(np.asarray(one), other)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_mode(case: Case):
    ops = parse_hlo(case.text()).walk()
    (op,) = (op for op in ops if isinstance(op, GroupedOp | PermuteOp))
    assert group_mode(op).value == case.mode.name.split(".")[0]
