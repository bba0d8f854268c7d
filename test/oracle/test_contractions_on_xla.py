"""Dots, convolutions and linear algebra against XLA: integers bit for bit, floats within a tolerance."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from oracle.agreement import check
from oracle.programs import DTYPES, program, shape

RANDOM = np.random.default_rng(0)
TOLERANCE = {"f32": 1e-5, "f64": 1e-12, "bf16": 1e-2, "f16": 2e-3, "c64": 1e-5, "c128": 1e-12, "f8e4m3fn": 0.2}


def values(name: str, *extents: int) -> np.ndarray:
    """Small whole numbers for integers, else normal ones."""
    if name[0] in "su":
        return RANDOM.integers(-100, 100, extents).astype(DTYPES[name])
    x = RANDOM.normal(size=extents)
    return (x + 1j * RANDOM.normal(size=extents) if name[0] == "c" else x).astype(DTYPES[name])


DOTS = {
    "vector": ((5,), (5,), "lhs_contracting_dims={0}, rhs_contracting_dims={0}", ()),
    "matrix": ((4, 5), (5, 3), "lhs_contracting_dims={1}, rhs_contracting_dims={0}", (4, 3)),
    "turned": ((5, 4), (3, 5), "lhs_contracting_dims={0}, rhs_contracting_dims={1}", (4, 3)),
    "outer": ((4,), (3,), "", (4, 3)),
    "batched": (
        (3, 2, 4, 5),
        (5, 2, 6, 3),
        "lhs_batch_dims={1,0}, rhs_batch_dims={1,3}, lhs_contracting_dims={3}, rhs_contracting_dims={0}",
        (2, 3, 4, 6),
    ),
    "two dimensions": ((3, 4, 5), (5, 2, 3), "lhs_contracting_dims={0,2}, rhs_contracting_dims={2,0}", (4, 2)),
    "nothing to sum": ((4, 0), (0, 3), "lhs_contracting_dims={1}, rhs_contracting_dims={0}", (4, 3)),
}


def dots(operands: str, result: str) -> dict:
    found = {}
    for name, (lhs, rhs, attributes, extents) in DOTS.items():
        x, y = values(operands, *lhs), values(operands, *rhs)
        line = f"{result}[{','.join(map(str, extents))}] dot(p0, p1){attributes and ', '}{attributes}"
        found[name] = program(line, x, y)
    return found


@pytest.mark.parametrize("name", ["s8", "u8", "s16", "s32", "u32", "s64"])
def test_dots_of_integers_wrap(name: str):
    check(dots(name, name), fuse=True)


@pytest.mark.parametrize(("operands", "result"), [("s8", "s32"), ("u8", "u32"), ("s8", "s16")])
def test_dots_of_integers_into_wider_ones(operands: str, result: str):
    check(dots(operands, result), fuse=True)


@pytest.mark.parametrize("name", ["f32", "f64", "bf16", "f16", "c64", "c128"])
def test_dots_of_floats(name: str):
    check(dots(name, name), tolerance=TOLERANCE[name], fuse=True)


@pytest.mark.parametrize(("operands", "result"), [("bf16", "f32"), ("f16", "f32"), ("f8e4m3fn", "f32")])
def test_dots_of_narrow_floats_into_wide_ones(operands: str, result: str):
    check(dots(operands, result), tolerance=1e-5, fuse=True)


CONVOLUTIONS = {
    "plain": ((2, 6, 7, 3), (3, 2, 3, 4), "size=3x2", "b01f_01io->b01f", "", (2, 4, 6, 4)),
    "strides": ((2, 6, 7, 3), (3, 2, 3, 4), "size=3x2 stride=2x3 pad=1_1x0_2", "b01f_01io->b01f", "", (2, 3, 3, 4)),
    "dilations": (
        (2, 6, 7, 3),
        (3, 2, 3, 4),
        "size=3x2 stride=2x1 pad=2_1x3_0 lhs_dilate=2x3 rhs_dilate=2x4",
        "b01f_01io->b01f",
        "",
        (2, 5, 18, 4),
    ),
    "reversed": ((2, 6, 7, 3), (3, 2, 3, 4), "size=3x2 rhs_reversal=1x1", "b01f_01io->b01f", "", (2, 4, 6, 4)),
    "cut": ((2, 6, 7, 3), (3, 2, 3, 4), "size=3x2 pad=-1_0x1_-2", "b01f_01io->b01f", "", (2, 3, 5, 4)),
    "other order": ((3, 2, 7, 6), (4, 3, 2, 3), "size=3x2", "fb10_oi10->0fb1", "", (4, 4, 2, 6)),
    "feature groups": ((2, 6, 4), (3, 2, 6), "size=3", "b0f_0io->b0f", ", feature_group_count=2", (2, 4, 6)),
    "batch groups": ((4, 6, 3), (3, 3, 6), "size=3", "b0f_0io->b0f", ", batch_group_count=2", (2, 4, 6)),
    "depthwise": ((2, 6, 4), (3, 1, 8), "size=3 pad=1_1", "b0f_0io->b0f", ", feature_group_count=4", (2, 6, 8)),
    "no space": ((2, 3), (3, 4), "", "bf_io->bf", "", (2, 4)),
}


@pytest.mark.parametrize("name", ["s32", "f32", "bf16", "c64"])
def test_convolutions(name: str):
    programs = {}
    for key, (lhs, rhs, window, labels, groups, extents) in CONVOLUTIONS.items():
        size = f"window={{{window}}}, " if window else ""
        line = f"{name}[{','.join(map(str, extents))}] convolution(p0, p1), {size}dim_labels={labels}{groups}"
        programs[key] = program(line, values(name, *lhs), values(name, *rhs))
    if name[0] == "s":
        programs.pop("batch groups")  # XLA's CPU code has them for floats only
    check(programs, tolerance=TOLERANCE.get(name, 0))


@pytest.mark.parametrize("name", ["f32", "f64", "c64"])
@pytest.mark.parametrize("lower", ["true", "false"])
def test_cholesky(name: str, lower: str):
    x = values(name, 2, 5, 5)
    a = x @ x.conj().swapaxes(-1, -2) + 5 * np.eye(5).astype(x.dtype)
    check({"cholesky": program(f"{shape(a)} cholesky(p0), lower={lower}", a)}, tolerance=TOLERANCE[name] * 10)


def test_triangular_solve():
    programs = {}
    cases = [("NO_TRANSPOSE", "true"), ("TRANSPOSE", "false"), ("ADJOINT", "false")]
    for (transpose, unit), left, lower in product(cases, ("true", "false"), ("true", "false")):
        a = values("c128", 2, 4, 4) / 4 + 2 * np.eye(4)
        b = values("c128", 2, 4, 3) if left == "true" else values("c128", 2, 3, 4)
        flags = f"left_side={left}, lower={lower}, unit_diagonal={unit}, transpose_a={transpose}"
        programs[flags] = program(f"{shape(b)} triangular-solve(p0, p1), {flags}", a, b)
    check(programs, tolerance=1e-11)


def test_fourier_transforms():
    real, cplx = values("f32", 3, 4, 6), values("c64", 3, 4, 6)
    half = np.fft.rfft(real).astype(np.complex64)
    programs = {
        "FFT": program("c64[3,4,6] fft(p0), fft_type=FFT, fft_length={4,6}", cplx),
        "IFFT": program("c64[3,4,6] fft(p0), fft_type=IFFT, fft_length={6}", cplx),
        "RFFT": program("c64[3,4,4] fft(p0), fft_type=RFFT, fft_length={6}", real),
        "RFFT 2": program("c64[3,4,4] fft(p0), fft_type=RFFT, fft_length={4,6}", real),
        "IRFFT": program("f32[3,4,6] fft(p0), fft_type=IRFFT, fft_length={6}", half),
    }
    check(programs, tolerance=1e-5)


def test_batch_normalisations():
    x, gradient = values("f32", 3, 4, 5), values("f32", 3, 4, 5)
    scale, offset, mean = (values("f32", 4) for _ in range(3))
    variance = np.abs(values("f32", 4)) + np.float32(0.5)
    same, both = "f32[3,4,5]", "(f32[3,4,5], f32[4], f32[4])"
    attributes = "epsilon=0.001, feature_index=1"
    programs = {
        "inference": program(
            f"{same} batch-norm-inference(p0, p1, p2, p3, p4), {attributes}", x, scale, offset, mean, variance
        ),
        "training": program(f"{both} batch-norm-training(p0, p1, p2), {attributes}", x, scale, offset),
        "grad": program(
            f"{both} batch-norm-grad(p0, p1, p2, p3, p4), {attributes}", x, scale, mean, variance, gradient
        ),
    }
    check(programs, tolerance=1e-5)
