"""Shapes, slices, pads, gather and scatter: small cases by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xneuron.execution.errors import EvaluationError
from xneuron.formats.hlo_text import parse_hlo
from xneuron.interpreters.evaluator import Program

Run = Callable[..., Any]
X = np.arange(6, dtype=np.int32).reshape(2, 3)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("s32[3,2] transpose(p0), dimensions={1,0}", [[0, 3], [1, 4], [2, 5]]),
        ("s32[3,2] reshape(p0)", [[0, 1], [2, 3], [4, 5]]),
        ("s32[2,3] reverse(p0), dimensions={1}", [[2, 1, 0], [5, 4, 3]]),
        ("s32[1,2] slice(p0), slice={[1:2], [0:3:2]}", [[3, 5]]),
        ("s32[2,3] copy(p0)", [[0, 1, 2], [3, 4, 5]]),
        ("s32[2,2,3] broadcast(p0), dimensions={1,2}", [[[0, 1, 2], [3, 4, 5]]] * 2),
        ("s32[3,2]{0,1} bitcast(p0)", [[0, 3], [1, 4], [2, 5]]),
        ("s32[6] bitcast(p0)", [0, 1, 2, 3, 4, 5]),
        ("u32[2,3] bitcast(p0)", [[0, 1, 2], [3, 4, 5]]),
        ("s32[] get-dimension-size(p0), dimensions={1}", 3),
    ],
)
def test_shapes(run: Run, line: str, expected: Any):
    assert run(line, X).tolist() == expected


@pytest.mark.parametrize("name", ["s2", "u4", "s8", "bf16", "f32", "c64"])
def test_iota(run: Run, name: str):
    assert run(f"{name}[2,2] iota(), iota_dimension=1").astype(complex).tolist() == [[0, 1], [0, 1]]


def test_iota_wraps_in_narrow_integers(run: Run):
    assert run("u2[6] iota(), iota_dimension=0").astype(int).tolist() == [0, 1, 2, 3, 0, 1]


@pytest.mark.parametrize(
    ("padding", "expected"),
    [
        ("1_2", [9, 0, 1, 2, 9, 9]),
        ("-1_0", [1, 2]),
        ("0_0_1", [0, 9, 1, 9, 2]),
        ("-1_-1_1", [9, 1, 9]),
        ("1_-3_2", [9, 0, 9, 9, 1]),
        ("-7_9_2", [9, 9, 9, 9, 9, 9, 9, 9, 9]),
    ],
)
def test_pads(run: Run, padding: str, expected: list[int]):
    line = f"s32[{len(expected)}] pad(p0, p1), padding={padding}"
    assert run(line, np.arange(3, dtype=np.int32), np.int32(9)).tolist() == expected


@pytest.mark.parametrize(("start", "first"), [(0, 0), (2, 2), (4, 3), (2**31 - 1, 3), (-1, 0), (-(2**31), 0)])
def test_dynamic_slices_clamp(run: Run, start: int, first: int):
    x = np.arange(5, dtype=np.int32)
    at = np.int32(start)
    assert run("s32[2] dynamic-slice(p0, p1), dynamic_slice_sizes={2}", x, at).tolist() == [first, first + 1]
    expected = x.copy()
    expected[first : first + 2] = [-1, -2]
    update = np.array([-1, -2], np.int32)
    assert run("s32[5] dynamic-update-slice(p0, p1, p2)", x, update, at).tolist() == expected.tolist()
    assert x.tolist() == [0, 1, 2, 3, 4]


def test_unsigned_starts_are_not_negative(run: Run):
    x = np.arange(5, dtype=np.int32)
    line = "s32[2] dynamic-slice(p0, p1), dynamic_slice_sizes={2}"
    assert run(line, x, np.uint32(2**32 - 1)).tolist() == [3, 4]
    assert run(line, x, np.uint64(2**64 - 1)).tolist() == [3, 4]
    assert run(line, x, np.uint8(255)).tolist() == [3, 4]


ROWS = "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}"


def test_gather_clamps(run: Run):
    indices = np.array([1, 0, -5, 7], np.int32)
    assert run(f"s32[4,3] gather(p0, p1), {ROWS}", X, indices)[:, 0].tolist() == [3, 0, 0, 3]


ADD = "f { a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = s32[] add(a, b) }"
KEEP = "f { a = s32[] parameter(0) ROOT b = s32[] parameter(1) }"
DOUBLE = """f { a = s32[] parameter(0) b = s32[] parameter(1) c = s32[] add(a, a) ROOT r = s32[] add(c, b) }"""
POINTS = (
    "to_apply=f, update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1"
)


@pytest.mark.parametrize(
    ("combiner", "expected"), [(ADD, [4, 10, 0, 0]), (KEEP, [3, 10, 0, 0]), (DOUBLE, [2 * 1 + 3, 10, 0, 0])]
)
def test_scatter_in_order_and_out_of_bounds(run: Run, combiner: str, expected: list[int]):
    x = np.zeros(4, np.int32)
    indices, updates = np.array([0, 1, 0, 4, -1], np.int32), np.array([1, 10, 3, 100, 1000], np.int32)
    assert run(f"s32[4] scatter(p0, p1, p2), {POINTS}", x, indices, updates, computations=combiner).tolist() == expected
    assert not x.any()


def test_scatter_skips_whole_windows(run: Run):
    attributes = "to_apply=f, update_window_dims={1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}"
    line = f"s32[4] scatter(p0, p1, p2), {attributes}, index_vector_dim=1"
    indices = np.array([[2], [3], [-1]], np.int32)
    updates = np.array([[1, 2], [3, 4], [5, 6]], np.int32)
    result = run(line, np.zeros(4, np.int32), indices, updates, computations=ADD)
    assert result.tolist() == [0, 0, 1, 2]


def test_set_dimension_size(run: Run):
    text = """HloModule m
    ENTRY e { p = s32[4] parameter(0) n = s32[] parameter(1)
      ROOT r = s32[<=4] set-dimension-size(p, n), dimensions={0} }"""
    program = Program(parse_hlo(text))
    x = np.arange(4, dtype=np.int32)
    assert program.run(x, np.int32(2))[0].tolist() == [0, 1]
    with pytest.raises(EvaluationError, match="expected a size of at most 4, found 5"):
        program.run(x, np.int32(5))


def test_each_of_two_slices_is_clamped(run: Run):
    """XLA merges the two and clamps the sum of the starts."""
    text = """HloModule m
    ENTRY e { x = s32[6] parameter(0) i = s32[] parameter(1) j = s32[] parameter(2)
      a = s32[4] dynamic-slice(x, i), dynamic_slice_sizes={4}
      ROOT b = s32[2] dynamic-slice(a, j), dynamic_slice_sizes={2} }"""
    x = np.arange(6, dtype=np.int32)
    assert Program(parse_hlo(text)).run(x, np.int32(2), np.int32(-9))[0].tolist() == [2, 3]
    assert Program(parse_hlo(text)).run(x, np.int32(9), np.int32(-9))[0].tolist() == [2, 3]
