"""Conversions of values and of bits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracle.programs import DTYPES, shape

INF, NAN = math.inf, math.nan
Run = Callable[..., Any]


@pytest.mark.parametrize(
    ("source", "target", "value", "expected"),
    [
        ("f32", "s8", -129.5, -128),
        ("f32", "s8", 127.9, 127),
        ("f32", "u8", -0.9, 0),
        ("f32", "u8", 256.0, 255),
        ("f32", "s32", NAN, 0),
        ("f32", "s32", 2.0**31, 2**31 - 1),
        ("f64", "s64", INF, 2**63 - 1),
        ("f64", "s64", -(2.0**63), -(2**63)),
        ("f64", "u64", 2.0**63, 2**63),
        ("f64", "u64", 1e30, 2**64 - 1),
        ("f32", "s4", 9.0, 7),
        ("f32", "u2", 9.0, 3),
        ("f32", "pred", NAN, True),
        ("f32", "pred", -0.0, False),
        ("s32", "pred", 256, True),
        ("s32", "s8", 300, 44),
        ("s32", "u8", -1, 255),
        ("s8", "u32", -1, 2**32 - 1),
        ("s32", "s4", 23, 7),
        ("s4", "u2", -1, 3),
        ("pred", "f32", True, 1.0),
        ("s32", "f32", 16777217, 16777216.0),
        ("f64", "f32", 1e300, INF),
        ("f32", "bf16", 1.00390625, 1.0),
        ("f32", "f8e4m3fn", 1e9, NAN),
        ("f32", "f8e5m2", 1e9, INF),
        ("f32", "f8e4m3fn", 464.0, 448.0),
        ("f32", "f4e2m1fn", 100.0, 6.0),
        ("f8e5m2", "f8e4m3fn", 3.5, 3.5),
        ("f4e2m1fn", "s8", -6.0, -6),
        ("f4e2m1fn", "u32", 1.5, 1),
        ("bf16", "s64", -3.5, -3),
        ("bf16", "u64", 2.0**70, 2**64 - 1),
        ("f8e5m2", "s64", 57344.0, 57344),
        ("f16", "u64", INF, 2**64 - 1),
        ("c64", "f32", 1.5 - 2j, 1.5),
        ("c64", "s32", 1.5 - 2j, 1),
        ("c64", "pred", 2j, True),
        ("f32", "c128", 1.5, 1.5 + 0j),
    ],
)
def test_values(run: Run, source: str, target: str, value: Any, expected: Any):
    with np.errstate(all="ignore"):
        operand = np.array([value]).astype(DTYPES[source])
    for result in (run(f"{target}[1] convert(p0)", operand)[0], run(f"{target}[] convert(p0)", operand[0])):
        assert result.dtype == DTYPES[target]
        assert complex(result) == complex(expected) or (np.isnan(expected) and np.isnan(float(result)))


BYTES = np.array([[0x21, 0x43], [0xF5, 0x80]], np.uint8)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("s8[2,2]", [[0x21, 0x43], [-11, -128]]),
        ("u16[2]", [0x4321, 0x80F5]),
        ("s4[2,2,2]", [[[1, 2], [3, 4]], [[5, -1], [0, -8]]]),
        ("u2[2,2,4]", [[[1, 0, 2, 0], [3, 0, 0, 1]], [[1, 1, 3, 3], [0, 0, 0, 2]]]),
    ],
)
def test_bits(run: Run, target: str, expected: list[Any]):
    result = run(f"{target} bitcast-convert(p0)", BYTES)
    assert result.astype(np.int64).tolist() == expected
    back = run("u8[2,2] bitcast-convert(p0)", result)
    assert back.tolist() == BYTES.tolist()


def test_bits_of_scalars(run: Run):
    assert run("s32[] bitcast-convert(p0)", np.float32(1)) == 0x3F800000
    assert run("u32[2] bitcast-convert(p0)", np.float64(1)).tolist() == [0, 0x3FF00000]
    result = run("f64[] bitcast-convert(p0)", np.array([0, 0x3FF00000], np.uint32))
    assert isinstance(result, np.float64)
    assert result == 1


def test_nan_keeps_its_payload(run: Run):
    bits = np.array([0x7FC00001, 0xFF800001], np.uint32)
    x = run("f32[2] bitcast-convert(p0)", bits)
    assert run("u32[2] bitcast-convert(p0)", x).tolist() == bits.tolist()
    assert shape(x) == "f32[2]"
