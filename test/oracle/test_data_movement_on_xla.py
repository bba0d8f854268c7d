"""Data movement against XLA, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.agreement import check
from oracle.programs import DTYPES, operation, program, shape
from oracle.xla import Program

RANDOM = np.random.default_rng(0)
X = RANDOM.integers(-99, 99, (4, 3, 5)).astype(np.int32)


def test_shapes():
    check(
        {
            "transpose": operation("transpose", X, result="s32[5,4,3]", attributes="dimensions={2,0,1}"),
            "reshape": operation("reshape", X, result="s32[6,10]"),
            "reshape to a scalar": operation("reshape", X[:1, :1, :1].copy(), result="s32[]"),
            "reverse": operation("reverse", X, attributes="dimensions={0,2}"),
            "broadcast": operation("broadcast", X[0], result="s32[2,3,4,5]", attributes="dimensions={1,3}"),
            "broadcast of a scalar": operation("broadcast", X[0, 0, 0], result="s32[2,3]", attributes="dimensions={}"),
            "slice": operation("slice", X, result="s32[2,2,2]", attributes="slice={[1:4:2],[0:2],[0:5:3]}"),
            "concatenate": operation(
                "concatenate", X, X[:, :1].copy(), result="s32[4,4,5]", attributes="dimensions={1}"
            ),
            "copy": operation("copy", X),
            "convert and copy": program("f32[4,3,5] convert(p0)", X),
        }
    )


@pytest.mark.parametrize("name", ["s4", "u8", "s16", "s32", "u64", "bf16", "f16", "f32", "f64", "c64"])
def test_iota(name: str):
    check({"iota": Program.of(f"HloModule m\nENTRY e {{ ROOT r = {name}[3,70] iota(), iota_dimension=1 }}")})


def test_pads():
    value = np.int32(-7)
    cases = [
        ("0_0x1_2x0_0", "s32[4,6,5]"),
        ("-1_0x0_-1x-2_1", "s32[3,2,4]"),
        ("0_0_1x1_1_2x0_0_3", "s32[7,9,17]"),
        ("-2_-1_1x0_0x-4_3_1", "s32[4,3,8]"),
        ("-9_0_3x3_-4_1x0_0", "s32[4,4,5]"),
    ]
    check({text: operation("pad", X, value, result=result, attributes=f"padding={text}") for text, result in cases})


@pytest.mark.parametrize("name", ["s8", "u8", "s32", "u32", "s64", "u64"])
def test_dynamic_slices_clamp_their_starts(name: str):
    dtype = DTYPES[name]
    info = np.iinfo(dtype)
    update = np.full((2, 1, 4), 1000, np.int32)
    programs = {}
    for starts in ([0, 0, 0], [1, 2, 1], [3, 3, 3], [info.max, info.max, info.max], [info.min, info.min, 0]):
        scalars = [dtype.type(start) for start in starts]
        programs[f"slice {starts}"] = operation(
            "dynamic-slice", X, *scalars, result="s32[2,1,4]", attributes="dynamic_slice_sizes={2,1,4}"
        )
        programs[f"update {starts}"] = operation("dynamic-update-slice", X, update, *scalars)
    check(programs)


GATHERS = {
    "rows": (
        "offset_dims={1,2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3,5}",
        np.array([3, 0, -1, 7, 2], np.int32),
        "s32[5,3,5]",
    ),
    "elements": (
        "offset_dims={}, collapsed_slice_dims={0,1,2}, start_index_map={0,1,2}, index_vector_dim=1, "
        "slice_sizes={1,1,1}",
        RANDOM.integers(-2, 6, (7, 3)).astype(np.int64),
        "s32[7]",
    ),
    "windows, index vector in front": (
        "offset_dims={0,3}, collapsed_slice_dims={0}, start_index_map={2,0}, index_vector_dim=0, slice_sizes={1,2,3}",
        RANDOM.integers(-2, 6, (2, 4, 6)).astype(np.int32),
        "s32[2,4,6,3]",
    ),
    "unsigned indices": (
        "offset_dims={1,2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3,5}",
        np.array([3, 2**64 - 1, 0], np.uint64),
        "s32[3,3,5]",
    ),
    "batching": (
        "offset_dims={2}, collapsed_slice_dims={}, start_index_map={2}, operand_batching_dims={0,1}, "
        "start_indices_batching_dims={1,0}, index_vector_dim=2, slice_sizes={1,1,2}",
        RANDOM.integers(-1, 6, (3, 4, 1)).astype(np.int32),
        "s32[3,4,2]",
    ),
    "no indices": (
        "offset_dims={0,1,2}, collapsed_slice_dims={}, start_index_map={1}, index_vector_dim=0, slice_sizes={2,2,5}",
        np.array([2], np.int32),
        "s32[2,2,5]",
    ),
}


@pytest.mark.parametrize("name", GATHERS)
def test_gathers(name: str):
    attributes, indices, result = GATHERS[name]
    check({name: operation("gather", X, indices, result=result, attributes=attributes)})


ADD = "f { a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = s32[] add(a, b) }"
KEEP = "f { a = s32[] parameter(0) ROOT b = s32[] parameter(1) }"
MIX = """f { a = s32[] parameter(0) b = s32[] parameter(1) c = s32[] constant(3) d = s32[] multiply(a, c)
  ROOT r = s32[] subtract(d, b) }"""
MAX = "f { a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = s32[] maximum(b, a) }"
SCATTERS = {
    "rows": (
        "update_window_dims={1,2}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
        np.array([3, 0, -1, 7, 0, 3], np.int32),
        (6, 3, 5),
    ),
    "elements": (
        "update_window_dims={}, inserted_window_dims={0,1,2}, scatter_dims_to_operand_dims={2,0,1}, index_vector_dim=0",
        RANDOM.integers(-1, 4, (3, 40)).astype(np.int32),
        (40,),
    ),
    "windows that do not fit": (
        "update_window_dims={0,2}, inserted_window_dims={1}, scatter_dims_to_operand_dims={0,2}, index_vector_dim=1",
        RANDOM.integers(-1, 4, (9, 2)).astype(np.int64),
        (2, 9, 3),
    ),
    "batching": (
        "update_window_dims={2}, inserted_window_dims={}, scatter_dims_to_operand_dims={2}, input_batching_dims={0,1}, "
        "scatter_indices_batching_dims={1,0}, index_vector_dim=2",
        RANDOM.integers(-1, 5, (3, 4, 1)).astype(np.int32),
        (3, 4, 2),
    ),
}


@pytest.mark.parametrize("combiner", [ADD, KEEP, MIX, MAX], ids=["add", "keep", "mix", "max"])
def test_scatters(combiner: str):
    programs = {}
    for name, (attributes, indices, extents) in SCATTERS.items():
        updates = RANDOM.integers(-99, 99, extents).astype(np.int32)
        line = f"{shape(X)} scatter(p0, p1, p2), to_apply=f, {attributes}"
        programs[name] = program(line, X, indices, updates, computations=combiner)
    check(programs)


def test_scatter_of_several_operands():
    computation = """f { a = s32[] parameter(0) b = f32[] parameter(1) c = s32[] parameter(2) d = f32[] parameter(3)
      e = s32[] add(a, c) g = f32[] multiply(b, d) ROOT t = (s32[], f32[]) tuple(e, g) }"""
    x, y = np.arange(6, dtype=np.int32), np.linspace(1, 2, 6).astype(np.float32)
    indices = np.array([[1], [5], [1], [9]], np.int32)
    u, v = np.array([10, 20, 30, 40], np.int32), np.array([2, 3, 4, 5], np.float32)
    line = (
        "(s32[6], f32[6]) scatter(p0, p1, p2, p3, p4), to_apply=f, update_window_dims={}, inserted_window_dims={0}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1"
    )
    check({"two operands": program(line, x, y, indices, u, v, computations=computation)})
