"""How results are shown and compared."""

import json

import ml_dtypes
import numpy as np
import pytest

from xneuron.tools.diagnostics import ProgramError
from xneuron.tools.run_outputs import as_json, as_text, first_difference, flat

NAN_WITH_PAYLOAD = np.uint32(0x7FC00123).view(np.float32)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float32(0.5), {"dtype": "f32", "shape": [], "data": 0.5}),
        (np.array([[1, -2]], np.int8), {"dtype": "s8", "shape": [1, 2], "data": [[1, -2]]}),
        (np.array([True, False]), {"dtype": "pred", "shape": [2], "data": [True, False]}),
        (np.array([1.5, 3], ml_dtypes.bfloat16), {"dtype": "bf16", "shape": [2], "data": [1.5, 3.0]}),
        (np.array([7, -8], ml_dtypes.int4), {"dtype": "s4", "shape": [2], "data": [7, -8]}),
        (np.array([np.inf, -np.inf, np.nan]), {"dtype": "f64", "shape": [3], "data": ["inf", "-inf", "nan"]}),
        (np.array([1 + 2j], np.complex64), {"dtype": "c64", "shape": [1], "data": [[1.0, 2.0]]}),
        (np.zeros((0, 3), np.uint16), {"dtype": "u16", "shape": [0, 3], "data": []}),
        (None, {"dtype": "token", "shape": [], "data": None}),
    ],
)
def test_json(value: object, expected: object) -> None:
    record = as_json(value)
    assert record == expected
    json.dumps(record, allow_nan=False)  # strict JSON


def test_text() -> None:
    assert as_text(np.array([1, 2], np.int32)) == "s32[2] [1, 2]"
    assert as_text(np.bool_(True)) == "pred[] True"
    assert "..." in as_text(np.zeros((100, 100), np.float32))
    assert as_text(None) == "token[]"


def test_flat() -> None:
    assert flat(((1, (2,)), (), None)) == [1, 2, None]


def difference(before: object, after: object, tolerance: float = 0.0) -> str:
    return str(first_difference([np.int32(0), before], [np.int32(0), after], tolerance))


def test_first_difference_names_the_place() -> None:
    before = np.arange(6, dtype=np.float32).reshape(2, 3)
    after = before.copy()
    after[1, 1:] = 9
    assert difference(before, after) == "output 1[1, 1] differs: 4.0 before, 9.0 after (2 of 6 elements differ)"
    assert difference(np.int8(3), np.int8(4)) == "output 1 differs: 3 before, 4 after (1 of 1 elements differ)"


@pytest.mark.parametrize(
    ("before", "after", "equal"),
    [
        (np.float32(0.0), np.float32(-0.0), False),
        (np.float32(np.nan), np.float32(-np.nan), True),
        (np.float32(np.nan), NAN_WITH_PAYLOAD, True),
        (np.complex64(complex(1, 0.0)), np.complex64(complex(1, -0.0)), False),
        (np.array([1], ml_dtypes.bfloat16), np.array([1], ml_dtypes.bfloat16), True),
        (np.array([1], ml_dtypes.float8_e5m2), np.array([1.25], ml_dtypes.float8_e5m2), False),
        (np.array([1], ml_dtypes.int4), np.array([2], ml_dtypes.int4), False),
        (np.array([True]), np.array([False]), False),
        (np.zeros((0,), np.float32), np.zeros((0,), np.float32), True),
        (None, None, True),
    ],
)
def test_what_differs(before: object, after: object, equal: bool) -> None:
    assert (first_difference([before], [after]) is None) == equal


def test_tolerance_is_relative() -> None:
    assert first_difference([np.float32(1000)], [np.float32(1000.5)], 1e-3) is None
    assert first_difference([np.float32(1000)], [np.float32(1002)], 1e-3)
    assert first_difference([np.int32(100_000)], [np.int32(100_001)], 1e-3)


def test_tolerance_is_about_the_largest_element() -> None:
    large = np.array([1000, 0, np.inf], np.float32)
    assert first_difference([large], [large + np.array([0, 0.5, 0], np.float32)], 1e-3) is None
    assert first_difference([large], [large + np.array([0, 2, 0], np.float32)], 1e-3)
    assert first_difference([large], [np.array([1000, 0, -np.inf], np.float32)], 1e-3)


def test_other_types_are_no_comparison() -> None:
    with pytest.raises(ProgramError, match=r"results changed from \(s32\[\]\) to \(f32\[2\]\)"):
        first_difference([np.int32(1)], [np.zeros(2, np.float32)])
