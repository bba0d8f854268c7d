"""Gather and scatter on all levels: every arrangement of dimension numbers, starts inside and outside."""

import lowered
import numpy as np
import pytest
from xdsl.ir import Operation

from xneuron.dialects.bir.instruction import DataInstruction
from xneuron.dialects.bir.operands import MemoryAccess

X = np.arange(5 * 7 * 3, dtype=np.float32).reshape(5, 7, 3)


def gathering(operand: str, indices: str, result: str, numbers: str) -> str:
    return f"""HloModule m
    ENTRY e {{ x = {operand} parameter(0)
      i = {indices} parameter(1)
      ROOT r = {result} gather(x, i), {numbers} }}"""


def instructions(text: str, name: str) -> list[Operation]:
    return [op for op in lowered.function_of(lowered.lowered(text)).walk() if op.name == name]


ROWS = "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,7}"


def test_rows_where_numpy_says() -> None:
    table, at = np.arange(35, dtype=np.float32).reshape(5, 7), np.int32([3, 0, 3, 4, 1, 2])
    (found,) = lowered.agree(gathering("f32[5,7]", "s32[6]", "f32[6,7]", ROWS), table, at)
    assert np.array_equal(found, table[at])


@pytest.mark.parametrize("kind", ["s8", "u8", "s32", "u32", "s64", "u64"])
def test_starts_are_clamped_whatever_their_type(kind: str) -> None:
    dtype = np.dtype(("int" if kind[0] == "s" else "uint") + kind[1:])
    info = np.iinfo(dtype)
    at = np.array([info.min, 3, info.max, 5, info.max // 2 + 1, 4], dtype)
    table = np.arange(35, dtype=np.float32).reshape(5, 7)
    lowered.agree(gathering("f32[5,7]", f"{kind}[6]", "f32[6,7]", ROWS), table, at)


@pytest.mark.parametrize(
    ("indices", "result", "numbers"),
    [
        ((4, 2), "f32[4,3]", "{1}, {0,1}, {0,1}, 1, {1,1,3}"),
        ((2, 4), "f32[4,3]", "{1}, {0,1}, {1,0}, 0, {1,1,3}"),
        ((4, 2), "f32[3,4]", "{0}, {0,1}, {0,1}, 1, {1,1,3}"),
        ((4, 3), "f32[2,4,2,2]", "{0,2,3}, {}, {0,1,2}, 1, {2,2,2}"),
        ((2, 4), "f32[2,5,4,2]", "{1,3}, {2}, {1}, 2, {5,2,1}"),
        ((2, 2, 3), "f32[2,2]", "{}, {0,1,2}, {2,0,1}, 2, {1,1,1}"),
        ((1,), "f32[4,7]", "{0,1}, {2}, {0}, 0, {4,7,1}"),
        ((2,), "f32[3,7]", "{0,1}, {2}, {0,2}, 0, {3,7,1}"),
    ],
)
def test_arrangements(indices: tuple[int, ...], result: str, numbers: str) -> None:
    names = ("offset_dims", "collapsed_slice_dims", "start_index_map", "index_vector_dim", "slice_sizes")
    text = ", ".join(f"{name}={number}" for name, number in zip(names, numbers.split(", "), strict=True))
    at = np.random.default_rng(3).integers(-1, 6, indices).astype(np.int32)
    lowered.agree(gathering("f32[5,7,3]", f"s32{list(indices)}", result, text), X, at)


def test_batching_dimensions() -> None:
    text = gathering(
        "f32[5,7,3]",
        "s32[3,5,2]",
        "f32[3,5,2,2]",
        "offset_dims={3}, collapsed_slice_dims={}, start_index_map={1}, operand_batching_dims={0,2}, "
        "start_indices_batching_dims={1,0}, index_vector_dim=3, slice_sizes={1,2,1}",
    )
    lowered.agree(text, X, np.random.default_rng(3).integers(-1, 8, (3, 5, 2)).astype(np.int32))


def test_one_loop_over_index_vectors_that_lie_evenly() -> None:
    text = gathering(
        "f32[5,7]",
        "s32[2,3]",
        "f32[2,3,7]",
        "offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,7}",
    )
    (loop,) = instructions(text, "bir.loop")
    wanted = ["bir.tensor_load", "bir.register_alu", "bir.register_alu", "bir.dma_copy"]
    assert [op.name for op in loop.walk()][1:] == wanted


def scattering(combine: str, operand: str, indices: str, updates: str, numbers: str) -> str:
    kind = operand.split("[")[0]
    return f"""HloModule m
    f {{ x = {kind}[] parameter(0)
      y = {kind}[] parameter(1)
      {combine.replace("KIND", kind)} }}
    ENTRY e {{ x = {operand} parameter(0)
      i = {indices} parameter(1)
      u = {updates} parameter(2)
      ROOT r = {operand} scatter(x, i, u), {numbers}, to_apply=f }}"""


REPLACE = "ROOT r = KIND[] copy(y)"
ADD = "ROOT r = KIND[] add(x, y)"
MIXED = "z = KIND[] multiply(x, x)\n ROOT r = KIND[] add(z, y)"
SCATTERED_ROWS = (
    "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1"
)


@pytest.mark.parametrize("combine", [REPLACE, ADD, MIXED])
@pytest.mark.parametrize("kind", ["s32", "s64", "u8"])
def test_rows_are_combined_in_order(combine: str, kind: str) -> None:
    """The same row several times, and rows that are none."""
    table = np.arange(20, dtype=np.int32).reshape(5, 4)
    at = np.array([3, 1, 3, 5, 0, 200, 3], np.dtype(("int" if kind[0] == "s" else "uint") + kind[1:]))
    updates = np.arange(28, dtype=np.int32).reshape(7, 4) - 9
    lowered.agree(scattering(combine, "s32[5,4]", f"{kind}[7]", "s32[7,4]", SCATTERED_ROWS), table, at, updates)


def test_negative_starts_are_skipped() -> None:
    at = np.int64([-1, 2, -(2**40), 2**32, 4])
    text = scattering(ADD, "s32[5,4]", "s64[5]", "s32[5,4]", SCATTERED_ROWS)
    (found,) = lowered.agree(text, np.zeros((5, 4), np.int32), at, np.ones((5, 4), np.int32))
    assert found.sum(1).tolist() == [0, 0, 4, 0, 4]


@pytest.mark.parametrize(
    ("indices", "updates", "numbers"),
    [
        ((4, 2), (4, 3), "{1}, {0,1}, {0,1}, 1"),
        ((2, 4), (3, 4), "{0}, {0,1}, {1,0}, 0"),
        ((4, 3), (2, 4, 2, 2), "{0,2,3}, {}, {0,1,2}, 1"),
        ((2, 2, 3), (2, 2), "{}, {0,1,2}, {2,0,1}, 2"),
        ((1,), (4, 7), "{0,1}, {2}, {0}, 0"),
    ],
)
@pytest.mark.parametrize("combine", [REPLACE, ADD])
def test_scatter_arrangements(indices: tuple[int, ...], updates: tuple[int, ...], numbers: str, combine: str) -> None:
    names = ("update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims", "index_vector_dim")
    text = ", ".join(f"{name}={number}" for name, number in zip(names, numbers.split(", "), strict=True))
    rng = np.random.default_rng(4)
    at = rng.integers(-1, 5, indices).astype(np.int32)
    values = rng.integers(-9, 9, updates).astype(np.float32)
    lowered.agree(scattering(combine, "f32[5,7,3]", f"s32{list(indices)}", f"f32{list(updates)}", text), X, at, values)


def test_scatter_with_batching_dimensions() -> None:
    numbers = (
        "update_window_dims={2}, inserted_window_dims={}, scatter_dims_to_operand_dims={1}, input_batching_dims={0}, "
        "scatter_indices_batching_dims={1}, index_vector_dim=2"
    )
    at = np.random.default_rng(4).integers(-1, 7, (2, 5)).astype(np.int32)
    updates = np.arange(2 * 5 * 2, dtype=np.float32).reshape(2, 5, 2)
    text = scattering(ADD, "f32[5,7]", "s32[2,5]", "f32[2,5,2]", numbers)
    lowered.agree(text, X[:, :, 0].copy(), at, updates)


def test_constant_indices() -> None:
    text = """HloModule m
    f { x = s32[] parameter(0)
      ROOT y = s32[] parameter(1) }
    ENTRY e { x = s32[5,4] parameter(0)
      u = s32[2,4] parameter(1)
      i = s32[2] constant({2, 2})
      j = s32[2] constant({7, 7})
      a = s32[5,4] scatter(x, i, u), NUMBERS, to_apply=f
      b = s32[5,4] scatter(a, j, u), NUMBERS, to_apply=f
      g = s32[2,4] gather(b, j), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
        index_vector_dim=1, slice_sizes={1,4}
      ROOT r = (s32[5,4], s32[2,4]) tuple(b, g) }""".replace("NUMBERS", SCATTERED_ROWS)
    lowered.agree(text, np.arange(20, dtype=np.int32).reshape(5, 4), -np.arange(8, dtype=np.int32).reshape(2, 4))


def test_several_operands_at_once() -> None:
    """The first becomes the larger of both, the second the value that came with it."""
    text = """HloModule m
    f { a = s32[] parameter(0)
      b = f32[] parameter(1)
      c = s32[] parameter(2)
      d = f32[] parameter(3)
      keeps = pred[] compare(a, c), direction=GE
      first = s32[] select(keeps, a, c)
      second = f32[] select(keeps, b, d)
      ROOT t = (s32[], f32[]) tuple(first, second) }
    ENTRY e { x = s32[6] parameter(0)
      y = f32[6] parameter(1)
      i = s32[9] parameter(2)
      u = s32[9] parameter(3)
      v = f32[9] parameter(4)
      ROOT r = (s32[6], f32[6]) scatter(x, y, i, u, v), update_window_dims={}, inserted_window_dims={0},
        scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f }"""
    rng = np.random.default_rng(8)
    at, values = rng.integers(-1, 7, 9).astype(np.int32), rng.integers(0, 9, 9).astype(np.int32)
    lowered.agree(text, np.full(6, 4, np.int32), np.zeros(6, np.float32), at, values, values.astype(np.float32) / 2)


def test_an_operand_that_is_also_its_update() -> None:
    text = """HloModule m
    f { x = s32[] parameter(0)
      ROOT y = s32[] parameter(1) }
    ENTRY e { p = s32[6] parameter(0)
      i = s32[6] parameter(1)
      x = s32[6] add(p, p)
      ROOT r = s32[6] scatter(x, i, x), update_window_dims={}, inserted_window_dims={0},
        scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f }"""
    lowered.agree(text, np.arange(6, dtype=np.int32), np.int32([5, 4, 3, 2, 1, 0]))


def test_counting_in_a_loop_in_place() -> None:
    """A histogram of a row per iteration: the counts never move as a whole."""
    state = "(s32[], s32[4,6], s32[5])"
    text = f"""HloModule m
    f {{ x = s32[] parameter(0)
      y = s32[] parameter(1)
      ROOT r = s32[] add(x, y) }}
    cond {{ p = {state} parameter(0)
      i = s32[] get-tuple-element(p), index=0
      n = s32[] constant(4)
      ROOT c = pred[] compare(i, n), direction=LT }}
    body {{ p = {state} parameter(0)
      i = s32[] get-tuple-element(p), index=0
      x = s32[4,6] get-tuple-element(p), index=1
      h = s32[5] get-tuple-element(p), index=2
      one = s32[] constant(1)
      zero = s32[] constant(0)
      j = s32[] add(i, one)
      row = s32[1,6] dynamic-slice(x, i, zero), dynamic_slice_sizes={{1,6}}
      at = s32[6] reshape(row)
      ones = s32[6] broadcast(one), dimensions={{}}
      h2 = s32[5] scatter(h, at, ones), update_window_dims={{}}, inserted_window_dims={{0}},
        scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=f
      ROOT t = {state} tuple(j, x, h2) }}
    ENTRY e {{ x = s32[4,6] parameter(0)
      zero = s32[] constant(0)
      h = s32[5] broadcast(zero), dimensions={{}}
      t = {state} tuple(zero, x, h)
      w = {state} while(t), condition=cond, body=body
      ROOT r = s32[5] get-tuple-element(w), index=2 }}"""
    x = np.random.default_rng(1).integers(0, 7, (4, 6)).astype(np.int32)
    (found,) = lowered.agree(text, x)
    assert found.tolist() == [int((x == k).sum()) for k in range(5)]
    inside = [op for loop in instructions(text, "bir.loop") for op in loop.walk() if isinstance(op, DataInstruction)]
    accesses = [a for op in inside for a in (*op.inputs, *op.outputs) if isinstance(a, MemoryAccess)]
    assert all(np.prod(access.nums) != len(found) for access in accesses)
