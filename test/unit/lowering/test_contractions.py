"""Dots on all levels: floats up to rounding, integers exactly, in any arrangement of dimensions."""

from math import prod

import lowered
import numpy as np
import pytest

RNG = np.random.default_rng(11)

DOTS = [
    # lhs, rhs, (lhs batch, rhs batch), (lhs contracting, rhs contracting)
    ((), (), "", ""),
    ((7,), (7,), "", "0=0"),
    ((5,), (3,), "", ""),
    ((300,), (300,), "", "0=0"),
    ((3, 5), (5,), "", "1=0"),
    ((5,), (5, 3), "", "0=0"),
    ((3, 5), (5, 7), "", "1=0"),
    ((5, 3), (7, 5), "", "0=1"),
    ((8, 8), (8, 8), "", "1=0"),
    ((128, 4), (4, 3), "", "1=0"),
    ((3, 1), (1, 7), "", "1=0"),
    ((2, 3, 5), (2, 5, 7), "0=0", "2=1"),
    ((3, 2, 5), (5, 7, 2), "1=2", "2=0"),
    ((2, 3, 5, 7), (7, 3, 4), "", "1=1,3=0"),
    ((2, 3, 4, 5, 6), (6, 3, 2, 7, 4), "0=2,2=4", "4=0,1=1"),
    ((2, 3, 4), (2, 3, 5), "0=0,1=1", ""),
    ((131, 300), (300, 17), "", "1=0"),
    ((140, 9), (9, 1030), "", "1=0"),
    ((260, 257), (257, 600), "", "1=0"),
    ((2, 130, 4), (2, 4, 515), "0=0", "2=1"),
]
"""Scalars, vectors, matrices, several batch, free and contracting dimensions, more than a tile of each."""


def numbers(text: str) -> tuple[list[int], list[int]]:
    pairs = [tuple(map(int, pair.split("="))) for pair in text.split(",") if pair]
    return [a for a, _ in pairs], [b for _, b in pairs]


def wanted(x: np.ndarray, y: np.ndarray, batch: str, contracting: str) -> np.ndarray:
    """By numpy's own notation, in float64 or int64."""
    (lb, rb), (lc, rc) = numbers(batch), numbers(contracting)
    left, right = list(range(x.ndim)), list(range(10, 10 + y.ndim))
    for a, b in (*zip(lb, rb, strict=True), *zip(lc, rc, strict=True)):
        right[b] = left[a]
    free = (
        [left[d] for d in range(x.ndim) if d not in (*lb, *lc)],
        [right[d] for d in range(y.ndim) if d not in (*rb, *rc)],
    )
    wide = np.int64 if x.dtype.kind in "iu" else np.float64
    return np.asarray(
        np.einsum(x.astype(wide), left, y.astype(wide), right, [*(left[d] for d in lb), *free[0], *free[1]])
    )


def program(
    left: np.ndarray, right: np.ndarray, batch: str, contracting: str, kinds: str, shape: tuple[int, ...]
) -> str:
    a, b, r = kinds.split()
    (lb, rb), (lc, rc) = numbers(batch), numbers(contracting)
    names = [("lhs_batch_dims", lb), ("rhs_batch_dims", rb), ("lhs_contracting_dims", lc), ("rhs_contracting_dims", rc)]
    dims = "".join(f", {name}={{{','.join(map(str, d))}}}" for name, d in names if d)
    return f"""HloModule m
    ENTRY e {{ x = {a}{list(left.shape)} parameter(0)
      y = {b}{list(right.shape)} parameter(1)
      ROOT r = {r}{list(shape)} dot(x, y){dims} }}"""


@pytest.mark.parametrize(("left", "right", "batch", "contracting"), DOTS)
def test_floats(left: tuple[int, ...], right: tuple[int, ...], batch: str, contracting: str) -> None:
    """Up to rounding: HLO does not say in which order products are added."""
    x, y = (RNG.standard_normal(shape).astype(np.float32) for shape in (left, right))
    exact = wanted(x, y, batch, contracting)
    results = lowered.run_levels(program(x, y, batch, contracting, "f32 f32 f32", exact.shape), x, y)
    for (found,) in results.values():
        np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(("left", "right", "batch", "contracting"), [dot for dot in DOTS if prod(dot[0]) < 20000])
def test_integers_are_exact(left: tuple[int, ...], right: tuple[int, ...], batch: str, contracting: str) -> None:
    """Products that float32 does not have, and sums that wrap."""
    x, y = (RNG.integers(-(2**31), 2**31, shape, np.int32) for shape in (left, right))
    exact = wanted(x, y, batch, contracting)
    (found,) = lowered.agree(program(x, y, batch, contracting, "s32 s32 s32", exact.shape), x, y)
    assert np.array_equal(found, exact.astype(np.int32))


@pytest.mark.parametrize(
    "kinds", ["s8 s8 s32", "s8 s8 s8", "u8 u8 u32", "s16 s16 s32", "s32 s32 s64", "u8 s8 s32", "s64 s64 s64"]
)
def test_integers_of_any_type(kinds: str) -> None:
    dtypes = [np.dtype(("int" if kind[0] == "s" else "uint") + kind[1:]) for kind in kinds.split()]
    x = RNG.integers(np.iinfo(dtypes[0]).min, np.iinfo(dtypes[0]).max, (4, 33), dtypes[0], endpoint=True)
    y = RNG.integers(np.iinfo(dtypes[1]).min, np.iinfo(dtypes[1]).max, (33, 3), dtypes[1], endpoint=True)
    lowered.agree(program(x, y, "", "1=0", kinds, (4, 3)), x, y)


def test_truth_values() -> None:
    x, y = RNG.random((4, 9)) < 0.3, RNG.random((9, 5)) < 0.3
    (found,) = lowered.agree(program(x, y, "", "1=0", "pred pred pred", (4, 5)), x, y)
    assert np.array_equal(found, (x.astype(int) @ y.astype(int)) > 0)


@pytest.mark.parametrize(
    "kinds", ["bf16 bf16 bf16", "bf16 bf16 f32", "f16 f16 f16", "f8e4m3fn f8e4m3fn f32", "f32 bf16 f32"]
)
def test_narrow_floats_are_rounded_once(kinds: str) -> None:
    """Small integers and their products are exact in float32, so that all levels agree bit by bit."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    names = {"bf16": "bfloat16", "f16": "float16", "f32": "float32", "f8e4m3fn": "float8_e4m3fn"}
    dtypes = [np.dtype(getattr(ml_dtypes, names[kind], None) or names[kind]) for kind in kinds.split()]
    x, y = (
        RNG.integers(-7, 8, shape).astype(dtype) for shape, dtype in zip([(5, 200), (200, 3)], dtypes, strict=False)
    )
    lowered.agree(program(x, y, "", "1=0", kinds, (5, 3)), x, y)


def test_products_of_numbers_known_in_advance() -> None:
    text = """HloModule m
    ENTRY e { x = f32[3,5] parameter(0)
      two = f32[] constant(2)
      y = f32[5,4] broadcast(two), dimensions={}
      ROOT r = f32[3,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"""
    x = RNG.integers(-9, 9, (3, 5)).astype(np.float32)
    assert np.array_equal(lowered.agree(text, x)[0], 2 * x.sum(1, keepdims=True).repeat(4, 1))


def test_a_chain_of_products_in_a_loop() -> None:
    text = """HloModule m
    cond { p = (s32[], f32[6,6], f32[6,6]) parameter(0)
      i = s32[] get-tuple-element(p), index=0
      n = s32[] constant(5)
      ROOT c = pred[] compare(i, n), direction=LT }
    body { p = (s32[], f32[6,6], f32[6,6]) parameter(0)
      i = s32[] get-tuple-element(p), index=0
      one = s32[] constant(1)
      j = s32[] add(i, one)
      x = f32[6,6] get-tuple-element(p), index=1
      w = f32[6,6] get-tuple-element(p), index=2
      y = f32[6,6] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      ROOT t = (s32[], f32[6,6], f32[6,6]) tuple(j, y, w) }
    ENTRY e { x = f32[6,6] parameter(0)
      w = f32[6,6] parameter(1)
      zero = s32[] constant(0)
      t = (s32[], f32[6,6], f32[6,6]) tuple(zero, x, w)
      l = (s32[], f32[6,6], f32[6,6]) while(t), condition=cond, body=body
      ROOT r = f32[6,6] get-tuple-element(l), index=1 }"""
    x, w = (RNG.integers(-2, 3, (6, 6)).astype(np.float32) for _ in range(2))
    assert np.array_equal(lowered.agree(text, x, w)[0], x @ np.linalg.matrix_power(w, 5))


def test_a_sum_of_floats_as_an_integer_is_refused() -> None:
    x = np.zeros((2, 2), np.float32)
    text = program(x, x, "", "1=0", "f32 f32 s32", (2, 2))
    with pytest.raises(Exception, match="cannot lower dot 'r' to BIR: no instruction of BIR cuts a sum of products"):
        lowered.lowered(text)
