"""Windows that move over arrays, on all levels: reductions, and convolutions as products."""

import lowered
import numpy as np
import pytest

RNG = np.random.default_rng(2)


def reduction(
    operation: str, kind: str, shape: tuple[int, ...], result: tuple[int, ...], window: str, init: str
) -> str:
    return f"""HloModule m
    f {{ x = {kind}[] parameter(0)
      y = {kind}[] parameter(1)
      ROOT r = {kind}[] {operation}(x, y) }}
    ENTRY e {{ a = {kind}{list(shape)} parameter(0)
      i = {kind}[] constant({init})
      ROOT r = {kind}{list(result)} reduce-window(a, i), window={{{window}}}, to_apply=f }}"""


WINDOWS = [
    ((9,), (9,), "size=9 pad=8_0"),
    ((9,), (4,), "size=3 stride=2"),
    ((5, 6), (3, 3), "size=3x2 stride=1x2"),
    ((5, 6), (5, 3), "size=3x2 stride=1x2 pad=1_1x0_0"),
    ((5, 6), (6, 5), "size=2x4 pad=1_1x2_0 rhs_dilate=1x1"),
    ((5, 6), (3, 2), "size=2x3 stride=1x1 rhs_dilate=2x2"),
    ((5, 6), (8, 11), "size=2x1 lhs_dilate=2x2"),
    ((2, 6, 8, 3), (2, 3, 4, 3), "size=1x2x2x1 stride=1x2x2x1"),
    ((2, 5, 7, 3), (2, 3, 4, 3), "size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x1_1x0_0"),
    ((5, 6), (4, 4), "size=1x1 pad=-1_0x-1_-1"),
    ((4, 3), (1, 1), "size=4x3"),
    ((130, 40), (130, 40), "size=1x40 pad=0_0x39_0"),
]


@pytest.mark.parametrize(("shape", "result", "window"), WINDOWS)
@pytest.mark.parametrize(("operation", "init"), [("add", "7"), ("maximum", "-2147483648"), ("multiply", "1")])
def test_reductions(shape: tuple[int, ...], result: tuple[int, ...], window: str, operation: str, init: str) -> None:
    """An initial value that is not 0 counts once, and padding not at all."""
    x = RNG.integers(-(2**31), 2**31, shape, np.int32)
    lowered.agree(reduction(operation, "s32", shape, result, window, init), x)


def test_running_sums() -> None:
    x = RNG.integers(-9, 9, 300, np.int32)
    (found,) = lowered.agree(reduction("add", "s32", (300,), (300,), "size=300 pad=299_0", "0"), x)
    assert np.array_equal(found, np.cumsum(x))


def test_the_largest_of_negative_floats_is_not_the_padding() -> None:
    x = -np.ones((4, 4), np.float32)
    text = reduction("maximum", "f32", (4, 4), (4, 4), "size=3x3 pad=1_1x1_1", "-inf")
    assert (lowered.agree(text, x)[0] == -1).all()


ODD = """HloModule m
    f { x = s32[] parameter(0)
      y = s32[] parameter(1)
      z = s32[] multiply(x, x)
      ROOT r = s32[] subtract(z, y) }
    ENTRY e { a = s32[5,6] parameter(0)
      i = s32[] constant(3)
      ROOT r = s32[RESULT] reduce-window(a, i), window={WINDOW}, to_apply=f }"""


def test_any_computation_without_padding() -> None:
    text = ODD.replace("RESULT", "2,2").replace("WINDOW", "size=3x2 stride=2x4")
    lowered.agree(text, RNG.integers(-9, 9, (5, 6), np.int32))


@pytest.mark.parametrize("window", ["size=3x1 pad=1_1x0_0", "size=2x5 pad=1_0x4_0", "size=1x1 pad=0_0x0_0"])
def test_any_computation_leaves_padding_out(window: str) -> None:
    text = ODD.replace("RESULT", "5,6").replace("WINDOW", window)
    lowered.agree(text, RNG.integers(-9, 9, (5, 6), np.int32))


def test_the_largest_so_far_and_where_it_is() -> None:
    text = """HloModule m
    f { a = f32[] parameter(0)
      i = s32[] parameter(1)
      b = f32[] parameter(2)
      j = s32[] parameter(3)
      keeps = pred[] compare(a, b), direction=GE
      value = f32[] select(keeps, a, b)
      index = s32[] select(keeps, i, j)
      ROOT t = (f32[], s32[]) tuple(value, index) }
    ENTRY e { x = f32[40] parameter(0)
      n = s32[40] iota(), iota_dimension=0
      low = f32[] constant(-inf)
      zero = s32[] constant(0)
      ROOT r = (f32[40], s32[40]) reduce-window(x, n, low, zero), window={size=40 pad=39_0}, to_apply=f }"""
    x = RNG.permutation(40).astype(np.float32)
    values, where = lowered.agree(text, x)
    assert np.array_equal(values, np.maximum.accumulate(x))
    assert np.array_equal(x[where], values)


CONVOLUTIONS = [
    ((1, 9, 1), (3, 1, 1), (1, 7, 1), "size=3", "b0f_0io->b0f", ""),
    ((2, 9, 3), (3, 3, 4), (2, 5, 4), "size=3 stride=2 pad=1_1", "b0f_0io->b0f", ""),
    ((2, 3, 8, 8), (4, 3, 3, 3), (2, 4, 8, 8), "size=3x3 pad=1_1x1_1", "bf01_oi01->bf01", ""),
    ((2, 7, 8, 3), (3, 2, 3, 4), (2, 3, 4, 4), "size=3x2 stride=2x2 pad=1_0x0_1", "b01f_01io->b01f", ""),
    ((2, 7, 8, 3), (3, 2, 3, 4), (4, 3, 2, 2), "size=3x2 stride=2x3 rhs_dilate=1x2", "b01f_01io->f01b", ""),
    ((2, 4, 4, 3), (3, 3, 3, 2), (2, 5, 5, 2), "size=3x3 pad=0_0x0_0 lhs_dilate=2x2", "b01f_01io->b01f", ""),
    ((2, 5, 5, 3), (3, 3, 3, 2), (2, 3, 3, 2), "size=3x3 rhs_reversal=1x0", "b01f_01io->b01f", ""),
    ((2, 5, 5, 6), (3, 3, 2, 9), (2, 3, 3, 9), "size=3x3", "b01f_01io->b01f", ", feature_group_count=3"),
    ((2, 5, 5, 4), (3, 3, 1, 4), (2, 3, 3, 4), "size=3x3", "b01f_01io->b01f", ", feature_group_count=4"),
    ((6, 5, 5, 4), (3, 3, 4, 9), (2, 3, 3, 9), "size=3x3", "b01f_01io->b01f", ", batch_group_count=3"),
    ((3, 5), (5, 7), (3, 7), "", "bf_io->bf", ""),
]


@pytest.mark.parametrize(("left", "right", "result", "window", "labels", "groups"), CONVOLUTIONS)
@pytest.mark.parametrize("kind", ["f32", "s32"])
def test_convolutions(
    left: tuple[int, ...],
    right: tuple[int, ...],
    result: tuple[int, ...],
    window: str,
    labels: str,
    groups: str,
    kind: str,
) -> None:
    """Of small integers, so that float32 is exact."""
    window = f"window={{{window}}}, " if window else ""
    text = f"""HloModule m
    ENTRY e {{ x = {kind}{list(left)} parameter(0)
      w = {kind}{list(right)} parameter(1)
      ROOT r = {kind}{list(result)} convolution(x, w), {window}dim_labels={labels}{groups} }}"""
    dtype = np.float32 if kind == "f32" else np.int32
    x, w = (RNG.integers(-4, 5, shape).astype(dtype) for shape in (left, right))
    lowered.agree(text, x, w)


@pytest.mark.parametrize(
    ("shape", "source", "window"),
    [
        ((9,), (4,), "size=3 stride=2"),
        ((6, 8), (3, 4), "size=2x2 stride=2x2"),
        ((5, 6), (5, 6), "size=3x3 pad=1_1x1_1"),
        ((5, 6), (3, 4), "size=2x3 stride=2x2 pad=0_1x1_2"),
        ((2, 4, 4, 3), (2, 2, 2, 3), "size=1x2x2x1 stride=1x2x2x1"),
    ],
)
@pytest.mark.parametrize("direction", ["GE", "LE"])
def test_the_chosen_of_each_window_takes_the_source_value(
    shape: tuple[int, ...], source: tuple[int, ...], window: str, direction: str
) -> None:
    text = f"""HloModule m
    chooses {{ a = s32[] parameter(0)
      b = s32[] parameter(1)
      ROOT r = pred[] compare(a, b), direction={direction} }}
    sum {{ a = s32[] parameter(0)
      b = s32[] parameter(1)
      ROOT r = s32[] add(a, b) }}
    ENTRY e {{ x = s32{list(shape)} parameter(0)
      s = s32{list(source)} parameter(1)
      i = s32[] constant(1000)
      ROOT r = s32{list(shape)} select-and-scatter(x, s, i), window={{{window}}}, select=chooses, scatter=sum }}"""
    x, values = (RNG.integers(-9, 9, extents, np.int32) for extents in (shape, source))
    lowered.agree(text, x, values)
