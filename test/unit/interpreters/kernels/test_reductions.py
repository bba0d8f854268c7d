"""Reductions, windows, scans, sorts, top-k: small cases by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

Run = Callable[..., Any]


def reducer(opcode: str, element: str = "s32") -> str:
    return f"f {{ a = {element}[] parameter(0) b = {element}[] parameter(1) ROOT r = {element}[] {opcode}(a, b) }}"


X = np.array([[1, 2, 3], [4, 5, 6]], np.int32)


@pytest.mark.parametrize(
    ("opcode", "initial", "expected"),
    [("add", 10, [16, 25]), ("multiply", 2, [12, 240]), ("maximum", 5, [5, 6]), ("minimum", 3, [1, 3])],
)
def test_the_initial_value_counts_once(run: Run, opcode: str, initial: int, expected: list[int]):
    line = "s32[2] reduce(p0, p1), dimensions={1}, to_apply=f"
    assert run(line, X, np.int32(initial), computations=reducer(opcode)).tolist() == expected


def test_sums_wrap_and_keep_their_type(run: Run):
    x = np.full((3,), 100, np.int8)
    result = run("s8[] reduce(p0, p1), dimensions={0}, to_apply=f", x, np.int8(0), computations=reducer("add", "s8"))
    assert isinstance(result, np.int8)
    assert result == 44


def test_reduction_of_nothing_is_the_initial_value(run: Run):
    line = "f32[2] reduce(p0, p1), dimensions={1}, to_apply=f"
    for opcode in ("add", "maximum", "divide"):
        result = run(line, np.zeros((2, 0), np.float32), np.float32(7), computations=reducer(opcode, "f32"))
        assert result.tolist() == [7, 7]


def test_any_computation_is_folded_in_row_major_order(run: Run):
    digits = """f { a = s32[] parameter(0) b = s32[] parameter(1) t = s32[] constant(10) c = s32[] multiply(a, t)
      ROOT r = s32[] add(c, b) }"""
    assert run("s32[] reduce(p0, p1), dimensions={1,0}, to_apply=f", X, np.int32(0), computations=digits) == 123456
    result = run("s32[3] reduce(p0, p1), dimensions={0}, to_apply=f", X, np.int32(0), computations=digits)
    assert result.tolist() == [14, 25, 36]


def test_several_operands(run: Run):
    computation = """f { a = s32[] parameter(0) b = f32[] parameter(1) c = s32[] parameter(2) d = f32[] parameter(3)
      e = s32[] add(a, c) g = f32[] maximum(b, d) ROOT t = (s32[], f32[]) tuple(e, g) }"""
    line = "(s32[2], f32[2]) reduce(p0, p1, p2, p3), dimensions={1}, to_apply=f"
    operands = X, X.astype(np.float32), np.int32(0), np.float32(4.5)
    sums, extremes = run(line, *operands, computations=computation)
    assert sums.tolist() == [6, 15]
    assert extremes.tolist() == [4.5, 6]


def test_zeros_of_both_signs(run: Run):
    x = np.array([[-0.0, 0.0], [0.0, -0.0], [-0.0, -0.0], [0.0, 0.0]], np.float32)
    line = "f32[4] reduce(p0, p1), dimensions={1}, to_apply=f"
    largest = run(line, x, np.float32(-np.inf), computations=reducer("maximum", "f32"))
    assert np.signbit(largest).tolist() == [False, False, True, False]
    smallest = run(line, x, np.float32(np.inf), computations=reducer("minimum", "f32"))
    assert np.signbit(smallest).tolist() == [True, True, True, False]


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ("size=2", [3, 5, 7]),
        ("size=2 stride=2", [3, 7]),
        ("size=4 pad=3_0", [1, 3, 6, 10]),
        ("size=2 pad=1_1 rhs_dilate=2", [2, 4, 6, 3]),
        ("size=2 lhs_dilate=2", [1, 2, 2, 3, 3, 4]),
        ("size=2 pad=-1_0", [5, 7]),
    ],
)
def test_windows(run: Run, window: str, expected: list[int]):
    x = np.array([1, 2, 3, 4], np.int32)
    line = f"s32[{len(expected)}] reduce-window(p0, p1), window={{{window}}}, to_apply=f"
    assert run(line, x, np.int32(0), computations=reducer("add")).tolist() == expected


def test_windows_do_not_visit_padding(run: Run):
    x = np.array([1, 2], np.int32)
    count = "f { a = s32[] parameter(0) b = s32[] parameter(1) o = s32[] constant(1) ROOT r = s32[] add(a, o) }"
    line = "s32[4] reduce-window(p0, p1), window={size=3 pad=2_2}, to_apply=f"
    assert run(line, x, np.int32(100), computations=count).tolist() == [101, 102, 102, 101]


def test_select_and_scatter(run: Run):
    computations = """ge { a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = pred[] compare(a, b), direction=GE }
    add { c = s32[] parameter(0) d = s32[] parameter(1) ROOT s = s32[] add(c, d) }"""
    x = np.array([3, 1, 3, 9], np.int32)
    source = np.array([10, 20, 40], np.int32)
    line = "s32[4] select-and-scatter(p0, p1, p2), window={size=2}, select=ge, scatter=add"
    assert run(line, x, source, np.int32(0), computations=computations).tolist() == [10, 0, 20, 40]


@pytest.mark.parametrize(("flag", "expected"), [("", [1, 3, 6]), (", is_reverse=true", [6, 5, 3])])
def test_scan(run: Run, flag: str, expected: list[int]):
    computation = """f { x = s32[] parameter(0) c = s32[] parameter(1) s = s32[] add(x, c)
      ROOT t = (s32[], s32[]) tuple(s, s) }"""
    line = f"(s32[3], s32[]) scan(p0, p1), dimensions={{0}}, num_carries=1, to_apply=f{flag}"
    sums, last = run(line, np.array([1, 2, 3], np.int32), np.int32(0), computations=computation)
    assert sums.tolist() == expected
    assert last == 6


def comparator(rule: str) -> str:
    return f"f {{ a = f32[] parameter(0) b = f32[] parameter(1) {rule} }}"


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("ROOT r = pred[] compare(a, b), direction=LT", [-1, 0, 2, 5]),
        ("ROOT r = pred[] compare(a, b), direction=GT", [5, 2, 0, -1]),
        ("ROOT r = pred[] compare(b, a), direction=LT", [5, 2, 0, -1]),
        ("x = f32[] abs(a) y = f32[] abs(b) ROOT r = pred[] compare(x, y), direction=LT", [0, -1, 2, 5]),
    ],
)
def test_sorts(run: Run, rule: str, expected: list[float]):
    x = np.array([2, -1, 5, 0], np.float32)
    line = "f32[4] sort(p0), dimensions={0}, to_apply=f"
    assert run(line, x, computations=comparator(rule)).tolist() == expected


BY_KEY = "x = s32[] negate(a) y = s32[] negate(b) ROOT r = pred[] compare(x, y), direction=LT"
TURNED = "x = s32[] not(b) y = s32[] not(a) ROOT r = pred[] compare(x, y), direction=GT"
BY_ANYTHING = "x = pred[] compare(a, b), direction=GT ROOT r = pred[] and(x, x)"


@pytest.mark.parametrize("rule", [BY_KEY, TURNED, BY_ANYTHING], ids=["key", "turned", "anything"])
@pytest.mark.parametrize("extent", [0, 1, 2, 3, 5, 8, 13, 64, 100])
def test_sorts_by_any_comparator_are_stable(run: Run, extent: int, rule: str):
    random = np.random.default_rng(extent)
    keys = random.integers(0, 5, (2, extent)).astype(np.int32)
    payload = np.broadcast_to(np.arange(extent, dtype=np.int32), (2, extent)).copy()
    computation = f"""f {{ a = s32[] parameter(0) b = s32[] parameter(1) c = s32[] parameter(2) d = s32[] parameter(3)
      {rule} }}"""
    line = f"(s32[2,{extent}], s32[2,{extent}]) sort(p0, p1), dimensions={{1}}, is_stable=true, to_apply=f"
    sorted_keys, sorted_payload = run(line, keys, payload, computations=computation)
    for row in range(2):
        expected = sorted(range(extent), key=lambda i: -int(keys[row, i]))
        assert sorted_payload[row].tolist() == expected
        assert sorted_keys[row].tolist() == [int(keys[row, i]) for i in expected]


def test_top_k(run: Run):
    x = np.array([[3, 1, 3, 7], [-1, -2, -1, -3]], np.float32)
    values, indices = run("(f32[2,2], s32[2,2]) topk(p0), k=2, largest=true", x)
    assert values.tolist() == [[7, 3], [-1, -1]]
    assert indices.tolist() == [[3, 0], [0, 2]]
    values, indices = run("(f32[2,2], s32[2,2]) topk(p0), k=2, largest=false", x)
    assert indices.tolist() == [[1, 0], [3, 1]]


def test_map_of_a_computation_that_is_not_elementwise(run: Run):
    computation = """f { a = s32[] parameter(0) b = s32[2] broadcast(a), dimensions={} z = s32[] constant(1)
      ROOT r = s32[] reduce(b, z), dimensions={0}, to_apply=g }
    """
    computations = reducer("add").replace("f {", "g {") + "\n" + computation
    assert run("s32[2,3] map(p0), dimensions={0,1}, to_apply=f", X, computations=computations).tolist() == [
        [3, 5, 7],
        [9, 11, 13],
    ]


UNLIKE = (
    "o = s32[] constant(0) x = s32[] add(a, o) y = s32[] subtract(b, o) ROOT r = pred[] compare(x, y), direction=LT"
)
CROSSED = "o = s32[] subtract(a, b) x = s32[] subtract(b, a) ROOT r = pred[] compare(o, x), direction=LT"


@pytest.mark.parametrize("rule", [UNLIKE, CROSSED])
def test_comparators_without_a_key(run: Run, rule: str):
    computation = f"f {{ a = s32[] parameter(0) b = s32[] parameter(1) {rule} }}"
    x = np.array([3, 1, 2], np.int32)
    assert run("s32[3] sort(p0), dimensions={0}, to_apply=f", x, computations=computation).tolist() == [1, 2, 3]


def test_windows_in_padding_select_nothing(run: Run):
    computations = """ge { a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = pred[] compare(a, b), direction=GE }
    add { c = s32[] parameter(0) d = s32[] parameter(1) ROOT s = s32[] add(c, d) }"""
    x, source = np.array([3, 1], np.int32), np.array([10, 20, 40], np.int32)
    line = "s32[2] select-and-scatter(p0, p1, p2), window={size=2 stride=2 pad=2_2}, select=ge, scatter=add"
    assert run(line, x, source, np.int32(0), computations=computations).tolist() == [20, 0]
