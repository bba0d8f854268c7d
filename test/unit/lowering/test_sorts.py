"""Sorts on all levels, by any order, of several operands, stable."""

import lowered
import numpy as np
import pytest

RNG = np.random.default_rng(6)


def sorting(shape: tuple[int, ...], axis: int, comparison: str = "LT") -> str:
    return f"""HloModule m
    before {{ a = s32[] parameter(0)
      b = s32[] parameter(1)
      ROOT r = pred[] compare(a, b), direction={comparison} }}
    ENTRY e {{ x = s32{list(shape)} parameter(0)
      ROOT r = s32{list(shape)} sort(x), dimensions={{{axis}}}, to_apply=before }}"""


@pytest.mark.parametrize(
    ("shape", "axis"), [((1,), 0), ((2,), 0), ((3,), 0), ((40,), 0), ((5, 8), 0), ((5, 8), 1), ((3, 7, 4), 1)]
)
def test_any_dimension(shape: tuple[int, ...], axis: int) -> None:
    x = RNG.integers(-20, 20, shape, np.int32)
    assert np.array_equal(lowered.agree(sorting(shape, axis), x)[0], np.sort(x, axis))


@pytest.mark.parametrize("size", [6, 7])
def test_the_worst_order(size: int) -> None:
    x = np.arange(size, dtype=np.int32)
    assert np.array_equal(lowered.agree(sorting((size,), 0, "GT"), x)[0], x[::-1])


def test_operands_move_together_and_equal_keys_keep_their_order() -> None:
    text = """HloModule m
    before { a = s32[] parameter(0)
      b = s32[] parameter(1)
      i = f32[] parameter(2)
      j = f32[] parameter(3)
      ROOT r = pred[] compare(a, b), direction=LT }
    ENTRY e { x = s32[2,9] parameter(0)
      y = f32[2,9] parameter(1)
      ROOT r = (s32[2,9], f32[2,9]) sort(x, y), dimensions={1}, is_stable=true, to_apply=before }"""
    keys = RNG.integers(0, 3, (2, 9)).astype(np.int32)
    values = np.arange(18, dtype=np.float32).reshape(2, 9)
    _, found = lowered.agree(text, keys, values)
    assert np.array_equal(found, np.take_along_axis(values, np.argsort(keys, 1, kind="stable"), 1))


def test_the_same_operand_twice() -> None:
    text = """HloModule m
    before { a = s32[] parameter(0)
      b = s32[] parameter(1)
      i = s32[] parameter(2)
      j = s32[] parameter(3)
      ROOT r = pred[] compare(a, b), direction=LT }
    ENTRY e { p = s32[9] parameter(0)
      x = s32[9] add(p, p)
      ROOT r = (s32[9], s32[9]) sort(x, x), dimensions={0}, to_apply=before }"""
    lowered.agree(text, RNG.integers(-9, 9, 9, np.int32))


def test_floats_in_total_order() -> None:
    text = """HloModule m
    before { a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT r = pred[] compare(a, b), direction=LT, type=TOTALORDER }
    ENTRY e { x = f32[7] parameter(0)
      ROOT r = f32[7] sort(x), dimensions={0}, to_apply=before }"""
    lowered.agree(text, np.float32([1, np.inf, -0.0, 0.0, -np.inf, np.nan, -2]))


def test_the_operand_stays_as_it_was() -> None:
    text = (
        sorting((9,), 0)
        .replace("ROOT r = s32[9] sort", "y = s32[9] sort")
        .replace("to_apply=before }", "to_apply=before\n ROOT t = (s32[9], s32[9]) tuple(x, y) }")
    )
    x = RNG.integers(-9, 9, 9, np.int32)
    assert np.array_equal(lowered.agree(text, x)[0], x)


@pytest.mark.parametrize("largest", ["true", "false"])
@pytest.mark.parametrize("kind", ["f32", "s32"])
def test_the_first_few(largest: str, kind: str) -> None:
    text = f"""HloModule m
    ENTRY e {{ x = {kind}[3,9] parameter(0)
      ROOT r = ({kind}[3,4], s32[3,4]) topk(x), k=4, largest={largest} }}"""
    x = RNG.integers(-3, 3, (3, 9)).astype(np.float32 if kind == "f32" else np.int32)
    values, where = lowered.agree(text, x)
    assert np.array_equal(np.take_along_axis(x, where, 1), values)
    assert np.array_equal(values, np.sort(-x if largest == "true" else x, 1)[:, :4] * (-1 if largest == "true" else 1))


def test_the_first_few_of_special_floats() -> None:
    text = """HloModule m
    ENTRY e { x = f32[8] parameter(0)
      r = (f32[5], s32[5]) topk(x), k=5, largest=true
      ROOT i = s32[5] get-tuple-element(r), index=1 }"""
    lowered.agree(text, np.float32([-0.0, 1, np.nan, 0.0, -np.inf, np.inf, 0.0, -1]))
