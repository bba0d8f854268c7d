"""Dots, convolutions, linear algebra: against definitions written as sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracle.programs import DTYPES, shape

Run = Callable[..., Any]
RANDOM = np.random.default_rng(0)
PLAIN = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"


@pytest.mark.parametrize("name", ["s4", "s8", "u16", "s32", "u64"])
def test_dots_of_integers_wrap(run: Run, name: str):
    x = RANDOM.integers(-(2**62), 2**62, (3, 5)).astype(DTYPES[name])
    y = RANDOM.integers(-(2**62), 2**62, (5, 2)).astype(DTYPES[name])
    bits = int(name[1:])
    for i, row in enumerate(run(f"{name}[3,2] dot(p0, p1), {PLAIN}", x, y)):
        for j, value in enumerate(row):
            exact = sum(int(a) * int(b) for a, b in zip(x[i], y[:, j], strict=True))
            assert (int(value) - exact) % (1 << bits) == 0


def test_dot_of_preds_is_or_of_ands(run: Run):
    x, y = np.array([[True, True], [False, True]]), np.array([[True, False], [True, False]])
    assert run(f"pred[2,2] dot(p0, p1), {PLAIN}", x, y).tolist() == [[True, False], [True, False]]


def test_dot_of_bf16_rounds_once(run: Run):
    x = np.full((1, 300), 1, DTYPES["bf16"])
    assert float(run(f"bf16[1,1] dot(p0, p1), {PLAIN}", x, x.T.copy())[0, 0]) == 300
    assert run(f"f32[1,1] dot(p0, p1), {PLAIN}", x, x.T.copy()).dtype == np.float32


def test_batched_dot(run: Run):
    x, y = RANDOM.normal(size=(2, 3, 4)), RANDOM.normal(size=(4, 5, 2))
    attributes = "lhs_batch_dims={0}, rhs_batch_dims={2}, lhs_contracting_dims={2}, rhs_contracting_dims={0}"
    assert np.allclose(run(f"f64[2,3,5] dot(p0, p1), {attributes}", x, y), np.einsum("bik,kjb->bij", x, y))


def test_ragged_dots(run: Run):
    x, y = RANDOM.normal(size=(5, 3)), RANDOM.normal(size=(2, 3, 4))
    sizes = np.array([2, 1], np.int32)
    expected = np.concatenate([x[:2] @ y[0], x[2:3] @ y[1], np.zeros((2, 4))])
    attributes = "lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}"
    assert np.allclose(run(f"f64[5,4] ragged-dot(p0, p1, p2), {attributes}", x, y, sizes), expected)
    a, b = RANDOM.normal(size=(3, 5)), RANDOM.normal(size=(5, 4))
    expected = np.stack([a[:, :2] @ b[:2], a[:, 2:3] @ b[2:3]])
    attributes = "lhs_contracting_dims={1}, rhs_contracting_dims={0}, lhs_ragged_dims={1}"
    assert np.allclose(run(f"f64[2,3,4] ragged-dot(p0, p1, p2), {attributes}", a, b, sizes), expected)


def test_scaled_dot(run: Run):
    x, y = (RANDOM.integers(-4, 5, extents).astype(DTYPES["f8e4m3fn"]) for extents in ((2, 4), (4, 3)))
    left = np.array([[1, 2], [0.5, 4]]).astype(DTYPES["f8e8m0fnu"])
    right = np.array([[1, 1, 2], [2, 4, 1]]).astype(DTYPES["f8e8m0fnu"])
    wide = [v.astype(np.float64) for v in (x, y, left, right)]
    expected = (wide[0] * np.repeat(wide[2], 2, 1)) @ (wide[1] * np.repeat(wide[3], 2, 0))
    assert np.allclose(run(f"f32[2,3] scaled-dot(p0, p1, p2, p3), {PLAIN}", x, y, left, right), expected)


def convolved(x: np.ndarray, y: np.ndarray, places: int, at: Callable[[int, int], int], groups: int = 1) -> np.ndarray:
    """`b0f_0io->b0f` by its definition; `at(place, tap)` is the operand's index, which may not exist."""
    batch, extent, _ = x.shape
    taps, inner, outer = y.shape
    result = np.zeros((batch, places, outer))
    for place in range(places):
        for tap in range(taps):
            element = at(place, tap)
            if not 0 <= element < extent:
                continue
            for o in range(outer):
                group = o // (outer // groups)
                seen = x[:, element, group * inner : (group + 1) * inner]
                result[:, place, o] += seen @ y[tap, :, o]
    return result


@pytest.mark.parametrize(
    ("window", "places", "at"),
    [
        ("size=3", 5, lambda p, t: p + t),
        ("size=3 stride=2 pad=1_1", 4, lambda p, t: 2 * p + t - 1),
        ("size=3 pad=2_2 rhs_dilate=2", 7, lambda p, t: p + 2 * t - 2),
        ("size=3 lhs_dilate=2", 11, lambda p, t: (p + t) // 2 if (p + t) % 2 == 0 else -1),
        ("size=3 rhs_reversal=1", 5, lambda p, t: p + 2 - t),
    ],
)
def test_convolutions(run: Run, window: str, places: int, at: Callable[[int, int], int]):
    x, y = RANDOM.normal(size=(2, 7, 4)), RANDOM.normal(size=(3, 4, 5))
    line = f"f64[2,{places},5] convolution(p0, p1), window={{{window}}}, dim_labels=b0f_0io->b0f"
    assert np.allclose(run(line, x, y), convolved(x, y, places, at))


def test_grouped_convolutions(run: Run):
    x, y = RANDOM.normal(size=(2, 7, 4)), RANDOM.normal(size=(3, 2, 6))
    line = "f64[2,5,6] convolution(p0, p1), window={size=3}, dim_labels=b0f_0io->b0f, feature_group_count=2"
    assert np.allclose(run(line, x, y), convolved(x, y, 5, lambda p, t: p + t, groups=2))
    x, y = RANDOM.normal(size=(4, 7, 2)), RANDOM.normal(size=(3, 2, 6))
    line = "f64[2,5,6] convolution(p0, p1), window={size=3}, dim_labels=b0f_0io->b0f, batch_group_count=2"
    halves = [convolved(x[2 * g : 2 * g + 2], y[:, :, 3 * g : 3 * g + 3], 5, lambda p, t: p + t) for g in (0, 1)]
    assert np.allclose(run(line, x, y), np.concatenate(halves, -1))


@pytest.mark.parametrize("lower", ["true", "false"])
def test_cholesky(run: Run, lower: str):
    x = RANDOM.normal(size=(2, 4, 4)) + 1j * RANDOM.normal(size=(2, 4, 4))
    a = x @ x.conj().swapaxes(-1, -2) + np.eye(4)
    factor = run(f"{shape(a)} cholesky(p0), lower={lower}", a)
    assert np.allclose(factor, np.tril(factor) if lower == "true" else np.triu(factor))
    turned = factor.conj().swapaxes(-1, -2)
    assert np.allclose(factor @ turned if lower == "true" else turned @ factor, a)


def test_cholesky_of_an_indefinite_matrix_is_nan(run: Run):
    result = run("f32[2,2] cholesky(p0), lower=true", np.array([[-1, 0], [0, 1]], np.float32))
    assert np.isnan(result[0, 0])


@pytest.mark.parametrize("transpose", ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
@pytest.mark.parametrize("left", ["true", "false"])
@pytest.mark.parametrize("lower", ["true", "false"])
@pytest.mark.parametrize("unit", ["true", "false"])
def test_triangular_solve(run: Run, transpose: str, left: str, lower: str, unit: str):
    a = RANDOM.normal(size=(3, 3)) + 1j * RANDOM.normal(size=(3, 3)) + 3 * np.eye(3)
    b = RANDOM.normal(size=(3, 3)) + 0j
    line = f"c128[3,3] triangular-solve(p0, p1), left_side={left}, lower={lower}, unit_diagonal={unit}"
    x = run(f"{line}, transpose_a={transpose}", a, b)
    matrix = np.tril(a) if lower == "true" else np.triu(a)
    if unit == "true":
        np.fill_diagonal(matrix, 1)
    matrix = {"NO_TRANSPOSE": matrix, "TRANSPOSE": matrix.T, "ADJOINT": matrix.conj().T}[transpose]
    assert np.allclose(matrix @ x if left == "true" else x @ matrix, b)


def test_fourier_transforms(run: Run):
    x = RANDOM.normal(size=(3, 4)).astype(np.complex64)
    k = np.arange(4)
    matrix = np.exp(-2j * np.pi * np.outer(k, k) / 4)
    forward = run("c64[3,4] fft(p0), fft_type=FFT, fft_length={4}", x)
    assert forward.dtype == np.complex64
    assert np.allclose(forward, x @ matrix, atol=1e-5)
    assert np.allclose(run("c64[3,4] fft(p0), fft_type=IFFT, fft_length={4}", forward), x, atol=1e-5)
    real = x.real.copy()
    half = run("c64[3,3] fft(p0), fft_type=RFFT, fft_length={4}", real)
    assert np.allclose(half, (real @ matrix)[:, :3], atol=1e-5)
    assert np.allclose(run("f32[3,4] fft(p0), fft_type=IRFFT, fft_length={4}", half), real, atol=1e-5)


def test_batch_normalisations(run: Run):
    x, gradient = RANDOM.normal(size=(2, 3, 4))
    scale, offset = RANDOM.normal(size=(2, 4))
    attributes = "epsilon=0.01, feature_index=1"
    output, mean, variance = run(
        f"(f64[3,4], f64[4], f64[4]) batch-norm-training(p0, p1, p2), {attributes}", x, scale, offset
    )
    assert np.allclose(mean, x.mean(0))
    assert np.allclose(variance, ((x - x.mean(0)) ** 2).mean(0))
    assert np.allclose(output, (x - mean) / np.sqrt(variance + 0.01) * scale + offset)
    line = f"f64[3,4] batch-norm-inference(p0, p1, p2, p3, p4), {attributes}"
    assert np.allclose(run(line, x, scale, offset, mean, variance), output)
    line = f"(f64[3,4], f64[4], f64[4]) batch-norm-grad(p0, p1, p2, p3, p4), {attributes}"
    by_operand, by_scale, by_offset = run(line, x, scale, mean, variance, gradient)

    def loss(x: np.ndarray, scale: np.ndarray) -> float:
        return float(((x - x.mean(0)) / np.sqrt(x.var(0) + 0.01) * scale * gradient).sum())

    step = np.zeros_like(x)
    step[1, 2] = 1e-6
    assert np.allclose((loss(x + step, scale) - loss(x - step, scale)) / 2e-6, by_operand[1, 2], atol=1e-6)
    assert np.allclose((loss(x, scale + step[1]) - loss(x, scale - step[1])) / 2e-6, by_scale[2], atol=1e-6)
    assert np.allclose(by_offset, gradient.sum(0))
