"""What moves elements without computing, on all levels, bit by bit."""

from math import prod

import lowered
import numpy as np
import pytest

PRIMES = "f32[3,5,7]"
"""Three dimensions that no layout on chip favours."""


def numbers(shape: tuple[int, ...], dtype: object = np.float32) -> np.ndarray:
    """All different, so that no element can stand for another."""
    return np.arange(1, prod(shape) + 1, dtype=np.int64).reshape(shape).astype(dtype)


def agree(result: str, instruction: str, *arrays: np.ndarray, kinds: str = "f32") -> np.ndarray:
    """`r = instruction` of parameters `a, b, …`, the same on all levels."""
    names = "abcdef"[: len(arrays)]
    parameters = [
        f"{n} = {kinds}{list(x.shape)} parameter({k})" for k, (n, x) in enumerate(zip(names, arrays, strict=True))
    ]
    text = "HloModule m\nENTRY e {\n" + "\n".join(parameters) + f"\n ROOT r = {result} {instruction} }}"
    return lowered.agree(text, *arrays)[0]


def agree_from_chip(result: str, instruction: str, x: np.ndarray) -> np.ndarray:
    """The same of `a = x + x`, computed in the program."""
    shape = f"f32{list(x.shape)}"
    body = f"p = {shape} parameter(0)\n a = {shape} add(p, p)\n ROOT r = {result} {instruction}"
    text = f"HloModule m\nENTRY e {{ {body} }}"
    return lowered.agree(text, x)[0]


@pytest.mark.parametrize("order", ["0,2,1", "2,1,0", "1,0,2", "2,0,1"])
def test_transpose(order: str) -> None:
    x = numbers((3, 5, 7))
    wanted = x.transpose([int(d) for d in order.split(",")])
    result = f"f32{list(wanted.shape)}"
    assert np.array_equal(agree(result, f"transpose(a), dimensions={{{order}}}", x), wanted)
    assert np.array_equal(agree_from_chip(result, f"transpose(a), dimensions={{{order}}}", x), 2 * wanted)


def test_transposes_of_many_dimensions_are_loops_over_the_smallest() -> None:
    x = numbers((2, 3, 2, 5, 3, 2), np.int32)
    instruction = "transpose(a), dimensions={5,4,3,2,1,0}"
    text = f"HloModule m\nENTRY e {{\n a = s32[2,3,2,5,3,2] parameter(0)\n ROOT r = s32[2,3,5,2,3,2] {instruction} }}"
    assert np.array_equal(lowered.agree(text, x)[0], x.transpose())
    loops = [op for op in lowered.function_of(lowered.lowered(text)).walk() if op.name == "bir.loop"]
    assert len(loops) == 2


def test_a_large_transpose_is_one_copy_in_dram() -> None:
    x = numbers((700, 600))
    assert np.array_equal(agree("f32[600,700]", "transpose(a), dimensions={1,0}", x), x.T)


@pytest.mark.parametrize(
    ("extents", "dimensions", "shape"),
    [
        ((7,), "0", (7, 13)),
        ((7,), "1", (13, 7)),
        ((3, 5), "0,2", (3, 2, 5)),
        ((3, 1), "1,2", (4, 3, 1)),
        ((), "", (11,)),
        ((), "", (130, 2100)),
        ((1,), "0", (1,)),
        ((2, 3), "1,4", (2, 2, 2, 2, 3)),
    ],
)
def test_broadcast(extents: tuple[int, ...], dimensions: str, shape: tuple[int, ...]) -> None:
    instruction = f"broadcast(a), dimensions={{{dimensions}}}"
    agree(f"f32{list(shape)}", instruction, numbers(extents))
    agree_from_chip(f"f32{list(shape)}", instruction, numbers(extents))


def test_a_splat_that_is_moved_stays_a_number() -> None:
    text = """HloModule m
    ENTRY e { c = f32[] constant(2.5)
      b = f32[3,5] broadcast(c), dimensions={}
      t = f32[5,3] transpose(b), dimensions={1,0}
      s = f32[2,3] slice(t), slice={[1:3],[0:3]}
      ROOT r = f32[2,3] reverse(s), dimensions={0} }"""
    assert (lowered.agree(text)[0] == 2.5).all()
    ops = [op.name for op in lowered.function_of(lowered.lowered(text)).body.block.ops]
    assert [ops.count("bir.memset"), ops.count("bir.dma_copy")] == [1, 1]


@pytest.mark.parametrize(
    "bounds", ["[0:3],[1:4],[2:3]", "[1:3:2],[0:5:2],[0:7:3]", "[2:3],[0:5:4],[6:7]", "[0:2],[0:5],[0:7]"]
)
def test_slice(bounds: str) -> None:
    x = numbers((3, 5, 7))
    index = tuple(slice(*map(int, part.split(":"))) for part in bounds.strip("[]").split("],["))
    wanted = x[index]
    assert np.array_equal(agree(f"f32{list(wanted.shape)}", f"slice(a), slice={{{bounds}}}", x), wanted)


@pytest.mark.parametrize("dimensions", ["0", "1", "2", "0,2", "0,1,2"])
def test_reverse(dimensions: str) -> None:
    x = numbers((3, 5, 7))
    wanted = np.flip(x, [int(d) for d in dimensions.split(",")])
    assert np.array_equal(agree(PRIMES, f"reverse(a), dimensions={{{dimensions}}}", x), wanted)


@pytest.mark.parametrize("dimension", [0, 1, 2])
def test_concatenate(dimension: int) -> None:
    x, y = numbers((3, 5, 7)), -numbers((3, 5, 7))
    shape = [3, 5, 7]
    shape[dimension] *= 3
    found = agree(f"f32{shape}", f"concatenate(a, b, a), dimensions={{{dimension}}}", x, y)
    assert np.array_equal(found, np.concatenate([x, y, x], dimension))


def test_concatenate_scalars_and_splats() -> None:
    text = """HloModule m
    ENTRY e { x = f32[] parameter(0)
      a = f32[1] reshape(x)
      c = f32[1] constant({7})
      d = f32[2] constant({3, 3})
      ROOT r = f32[5] concatenate(c, a, d, a), dimensions={0} }"""
    assert lowered.agree(text, np.float32(1))[0].tolist() == [7, 1, 3, 3, 1]


@pytest.mark.parametrize(
    ("padding", "shape"),
    [
        ("1_2x0_0", (6, 5)),
        ("0_0_1x2_1_2", (5, 16)),
        ("-1_0x1_-2", (2, 4)),
        ("-1_-1_1x0_0", (3, 5)),
        ("-3_4x0_0", (4, 5)),
        ("5_-3x0_0", (5, 5)),
        ("-1_-1x-2_-2", (1, 1)),
        ("130_130x0_2100", (263, 2105)),
    ],
)
def test_pad(padding: str, shape: tuple[int, ...]) -> None:
    x, value = numbers((3, 5)), np.float32(-1)
    agree(f"f32{list(shape)}", f"pad(a, b), padding={padding}", x, value)


@pytest.mark.parametrize("type", ["s8", "u8", "s32", "u64", "f32", "bf16", "f16"])
@pytest.mark.parametrize(("shape", "dimension"), [("7", 0), ("3,5", 0), ("3,5", 1), ("2,131,3", 1), ("1,4099", 1)])
def test_iota(type: str, shape: str, dimension: int) -> None:
    agree(f"{type}[{shape}]", f"iota(), iota_dimension={dimension}")


@pytest.mark.parametrize("type", ["s32", "f32"])
def test_iota_of_many_tiles(type: str) -> None:
    agree(f"{type}[800000]", "iota(), iota_dimension=0")


@pytest.mark.parametrize("kind", ["pred", "s8", "u16", "s64", "bf16", "f8e4m3fn"])
def test_elements_of_any_type_move(kind: str) -> None:
    type = {
        "bf16": "bfloat16",
        "f8e4m3fn": "float8_e4m3fn",
        "pred": "bool",
        "s8": "int8",
        "u16": "uint16",
        "s64": "int64",
    }
    ml_dtypes = pytest.importorskip("ml_dtypes")
    dtype = np.dtype(getattr(ml_dtypes, type[kind], None) or type[kind])
    x = (numbers((3, 5)) % 2).astype(dtype) if kind == "pred" else numbers((3, 5), dtype)
    agree(f"{kind}[5,3]", "transpose(a), dimensions={1,0}", x, kinds=kind)


def test_what_keeps_the_order_costs_nothing() -> None:
    text = """HloModule m
    ENTRY e { a = f32[3,5] parameter(0)
      b = f32[3,1,5] broadcast(a), dimensions={0,2}
      t = f32[1,3,5] transpose(b), dimensions={1,0,2}
      s = f32[1,3,5] slice(t), slice={[0:1],[0:3],[0:5]}
      v = f32[1,3,5] reverse(s), dimensions={0}
      ROOT r = f32[1,3,5] add(v, v) }"""
    lowered.agree(text, numbers((3, 5)))
    ops = {op.name for op in lowered.function_of(lowered.lowered(text)).body.block.ops}
    assert ops == {"bir.memory_location", "bir.load", "bir.tensor_tensor", "bir.save", "bir.return"}


def test_a_renamed_value_survives_the_update_of_what_it_names() -> None:
    """The slice is another name of the state's buffer, which the body must not overwrite before it is read."""
    text = """HloModule m
    cond { p = (s32[], f32[1,4], f32[1,4]) parameter(0)
      i = s32[] get-tuple-element(p), index=0
      n = s32[] constant(3)
      ROOT c = pred[] compare(i, n), direction=LT }
    body { p = (s32[], f32[1,4], f32[1,4]) parameter(0)
      i = s32[] get-tuple-element(p), index=0
      x = f32[1,4] get-tuple-element(p), index=1
      y = f32[1,4] get-tuple-element(p), index=2
      old = f32[1,4] reverse(x), dimensions={0}
      x2 = f32[1,4] add(x, y)
      y2 = f32[1,4] add(old, y)
      one = s32[] constant(1)
      j = s32[] add(i, one)
      ROOT t = (s32[], f32[1,4], f32[1,4]) tuple(j, x2, y2) }
    ENTRY e { a = f32[1,4] parameter(0)
      b = f32[1,4] parameter(1)
      z = s32[] constant(0)
      t = (s32[], f32[1,4], f32[1,4]) tuple(z, a, b)
      w = (s32[], f32[1,4], f32[1,4]) while(t), condition=cond, body=body
      x = f32[1,4] get-tuple-element(w), index=1
      y = f32[1,4] get-tuple-element(w), index=2
      ROOT r = (f32[1,4], f32[1,4]) tuple(x, y) }"""
    lowered.agree(text, numbers((1, 4)), numbers((1, 4)))
