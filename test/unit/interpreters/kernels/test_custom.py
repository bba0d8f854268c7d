"""Custom calls with a meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xneuron.execution.errors import EvaluationError

Run = Callable[..., Any]
X = np.array([3, 1, 7, 5], np.float32)


@pytest.mark.parametrize(
    "target", ["Sharding", "SPMDFullToShardShape", "LayoutConstraint", "annotate_device_placement"]
)
def test_annotations_are_their_operand(run: Run, target: str):
    assert run(f'f32[4] custom-call(p0), custom_call_target="{target}"', X).tolist() == X.tolist()


def test_an_annotation_that_changes_the_shape_has_no_meaning(run: Run):
    with pytest.raises(EvaluationError, match="SPMDFullToShardShape"):
        run('f32[2] custom-call(p0), custom_call_target="SPMDFullToShardShape"', X)


@pytest.mark.parametrize(("direction", "expected"), [("GT", [7, 5]), ("LT", [1, 3])])
def test_top_k(run: Run, direction: str, expected: list[float]):
    comparator = f"""c {{ a = f32[] parameter(0) b = f32[] parameter(1) i = s32[] parameter(2) j = s32[] parameter(3)
      ROOT r = pred[] compare(a, b), direction={direction} }}"""
    line = '(f32[2], s32[2]) custom-call(p0), custom_call_target="TopK", called_computations={c}'
    values, indices = run(line, X, computations=comparator)
    assert values.tolist() == expected
    assert X[indices].tolist() == expected


def test_operations_exported_as_calls(run: Run):
    assert np.allclose(run('f32[4] custom-call(p0), custom_call_target="mhlo.sinh"', X), np.sinh(X))
    with pytest.raises(EvaluationError, match=r"mhlo\.unheard_of"):
        run('f32[4] custom-call(p0), custom_call_target="mhlo.unheard_of"', X)
