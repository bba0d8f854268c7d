"""Reductions on all levels: in tiles by one operation, slice by slice by any computation."""

from math import prod

import lowered
import numpy as np
import pytest

RNG = np.random.default_rng(5)


def reducer(operation: str, kind: str) -> str:
    return f"f {{ x = {kind}[] parameter(0)\n y = {kind}[] parameter(1)\n ROOT r = {kind}[] {operation}(x, y) }}"


def program(operation: str, kind: str, shape: tuple[int, ...], dims: tuple[int, ...], init: str | None) -> str:
    """Sums or their like of a parameter; the initial value is a constant, or the second parameter."""
    kept = [extent for d, extent in enumerate(shape) if d not in dims]
    value = f"constant({init})" if init is not None else "parameter(1)"
    return f"""HloModule m
    {reducer(operation, kind)}
    ENTRY e {{ a = {kind}{list(shape)} parameter(0)
      i = {kind}[] {value}
      ROOT r = {kind}{kept} reduce(a, i), dimensions={{{",".join(map(str, dims))}}}, to_apply=f }}"""


def integers(shape: tuple[int, ...], dtype: str = "int32") -> np.ndarray:
    info = np.iinfo(dtype)
    return RNG.integers(info.min, info.max, shape, dtype, endpoint=True)


SHAPES = [
    ((7,), (0,)),
    ((129,), (0,)),
    ((128, 3), (0, 1)),
    ((3, 5), (1,)),
    ((3, 5), (0,)),
    ((128, 16), (1,)),
    ((256, 6), (1,)),
    ((3, 5, 7), (1,)),
    ((3, 5, 7), (0, 2)),
    ((3, 5, 7), (1, 2)),
    ((3, 5, 7), (0,)),
    ((2, 3, 2, 5, 3, 2), (1, 4)),
    ((2, 3, 2, 5, 3, 2), (0, 2, 4)),
    ((4099, 3), (1,)),
    ((3, 4099), (1,)),
    ((4099, 3), (0,)),
    ((300, 2500), (1,)),
    ((300, 2500), (0,)),
    ((3, 70, 2100), (1,)),
    ((5, 3000, 7, 2), (1,)),
    ((3, 2, 3, 2, 3, 700), (0, 2, 4)),
    ((3, 1, 5), (1,)),
]
"""Scalars, lines, dimensions in any position, primes that no layout on chip favours, several tiles of each kind."""


@pytest.mark.parametrize(("shape", "dims"), SHAPES)
def test_sums_of_integers_wherever_the_terms_are(shape: tuple[int, ...], dims: tuple[int, ...]) -> None:
    lowered.agree(program("add", "s32", shape, dims, "0"), integers(shape))


@pytest.mark.parametrize(("shape", "dims"), [SHAPES[k] for k in (1, 2, 4, 7, 13, 16)])
def test_the_initial_value_is_a_runtime_scalar(shape: tuple[int, ...], dims: tuple[int, ...]) -> None:
    lowered.agree(program("add", "s32", shape, dims, None), integers(shape), np.int32(-1000))
    lowered.agree(program("multiply", "s32", shape, dims, "3"), integers(shape))


def test_one_scalar_of_many_tiles() -> None:
    x = integers((3, 128 * 2048 + 77))
    (found,) = lowered.agree(program("add", "s32", x.shape, (0, 1), "5"), x)
    assert found == np.int32(x.sum(dtype=np.int32) + np.int32(5))


@pytest.mark.parametrize("operation", ["add", "multiply", "maximum", "minimum", "and", "or", "xor"])
@pytest.mark.parametrize("kind", ["s8", "u16", "s32", "u32", "s64"])
def test_integers_of_any_type_wrap(operation: str, kind: str) -> None:
    x = integers((5, 33), ("int" if kind[0] == "s" else "uint") + kind[1:])
    lowered.agree(program(operation, kind, x.shape, (1,), "1"), x)
    lowered.agree(program(operation, kind, x.shape, (0, 1), "0"), x)


@pytest.mark.parametrize("operation", ["add", "multiply", "maximum", "minimum", "and", "or", "xor"])
def test_truth_values(operation: str) -> None:
    x = RNG.random((9, 4)) < 0.4
    lowered.agree(program(operation, "pred", x.shape, (1,), "false"), x)
    lowered.agree(program(operation, "pred", x.shape, (0,), "true"), x)


@pytest.mark.parametrize("operation", ["maximum", "minimum"])
@pytest.mark.parametrize("kind", ["float32", "float16", "bfloat16"])
def test_extremes_of_floats_are_exact(operation: str, kind: str) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = RNG.standard_normal((40, 50)).astype(getattr(ml_dtypes, kind, None) or kind)
    x[3, 4], x[5, 6], x[7, 8] = np.inf, -np.inf, np.nan
    name = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}[kind]
    init = "-inf" if operation == "maximum" else "inf"
    for dims in ((0,), (1,), (0, 1)):
        lowered.agree(program(operation, name, x.shape, dims, init), x)


@pytest.mark.parametrize(("shape", "dims"), [SHAPES[k] for k in (1, 3, 4, 7, 16, 17)])
def test_sums_of_floats(shape: tuple[int, ...], dims: tuple[int, ...]) -> None:
    """Up to rounding: HLO does not say in which order terms are added."""
    x = RNG.standard_normal(shape).astype(np.float32)
    results = lowered.run_levels(program("add", "f32", shape, dims, "0.5"), x)
    exact = x.sum(dims, dtype=np.float64) + 0.5
    for (found,) in results.values():
        np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-5 * np.sqrt(prod(shape)))


def test_sums_of_narrow_floats_are_rounded_once() -> None:
    """300 ones are 300, though bf16 has no 257; and the sum of many tiles is not rounded in between."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for shape in ((2, 300), (2, 5000)):
        x = np.ones(shape, ml_dtypes.bfloat16)
        for level in ("bir", "branches"):
            (found,) = lowered.run_levels(program("add", "bf16", shape, (1,), "0"), x)[level]
            assert (found == ml_dtypes.bfloat16(shape[1])).all()


def instructions(text: str) -> list[str]:
    skipped = ("bir.memory_location", "bir.return")
    return [op.name for op in lowered.function_of(lowered.lowered(text)).body.block.ops if op.name not in skipped]


def test_what_is_reduced_where_it_lies_does_not_move() -> None:
    text = f"""HloModule m
    {reducer("add", "f32")}
    ENTRY e {{ p = f32[128,16] parameter(0)
      a = f32[128,16] multiply(p, p)
      z = f32[] constant(0)
      s = f32[128] reduce(a, z), dimensions={{1}}, to_apply=f
      ROOT r = f32[128] add(s, s) }}"""
    assert instructions(text)[-3:] == ["bir.tensor_reduce", "bir.tensor_tensor", "bir.save"]
    assert instructions(text).count("bir.dma_copy") == 0


ARGMAX = """HloModule m
    f { a = f32[] parameter(0)
      i = s32[] parameter(1)
      b = f32[] parameter(2)
      j = s32[] parameter(3)
      larger = pred[] compare(a, b), direction=GE
      value = f32[] select(larger, a, b)
      index = s32[] select(larger, i, j)
      ROOT t = (f32[], s32[]) tuple(value, index) }
    ENTRY e { x = f32[SHAPE] parameter(0)
      n = s32[SHAPE] iota(), iota_dimension=AXIS
      low = f32[] constant(-inf)
      zero = s32[] constant(0)
      r = (f32[KEPT], s32[KEPT]) reduce(x, n, low, zero), dimensions={AXIS}, to_apply=f
      ROOT i = s32[KEPT] get-tuple-element(r), index=1 }"""


@pytest.mark.parametrize(("shape", "axis"), [((5, 7), 0), ((5, 7), 1), ((3, 4, 5), 1), ((9,), 0)])
def test_argmax(shape: tuple[int, ...], axis: int) -> None:
    kept = ",".join(str(extent) for d, extent in enumerate(shape) if d != axis)
    text = ARGMAX.replace("SHAPE", ",".join(map(str, shape))).replace("AXIS", str(axis)).replace("KEPT", kept)
    x = RNG.permutation(prod(shape)).reshape(shape).astype(np.float32)
    assert np.array_equal(lowered.agree(text, x)[0], x.argmax(axis))


def test_a_computation_that_is_not_associative_runs_in_order() -> None:
    text = """HloModule m
    f { x = s32[] parameter(0)
      y = s32[] parameter(1)
      three = s32[] constant(3)
      z = s32[] multiply(x, three)
      ROOT r = s32[] add(z, y) }
    ENTRY e { a = s32[3,4,5] parameter(0)
      i = s32[] parameter(1)
      ROOT r = s32[4] reduce(a, i), dimensions={2,0}, to_apply=f }"""
    lowered.agree(text, integers((3, 4, 5)), np.int32(7))


def test_map() -> None:
    text = """HloModule m
    f { x = s32[] parameter(0)
      y = s32[] parameter(1)
      ROOT r = s32[] multiply(x, y) }
    ENTRY e { a = s32[3,4] parameter(0)
      ROOT r = s32[3,4] map(a, a), dimensions={0,1}, to_apply=f }"""
    lowered.agree(text, integers((3, 4)))


def test_a_computation_with_a_loop_is_refused() -> None:
    text = """HloModule m
    c { p = (s32[]) parameter(0)
      x = s32[] get-tuple-element(p), index=0
      n = s32[] constant(9)
      ROOT r = pred[] compare(x, n), direction=LT }
    b { p = (s32[]) parameter(0)
      x = s32[] get-tuple-element(p), index=0
      y = s32[] add(x, x)
      ROOT r = (s32[]) tuple(y) }
    f { x = s32[] parameter(0)
      y = s32[] parameter(1)
      z = s32[] add(x, y)
      t = (s32[]) tuple(z)
      w = (s32[]) while(t), condition=c, body=b
      ROOT r = s32[] get-tuple-element(w), index=0 }
    ENTRY e { a = s32[4] parameter(0)
      i = s32[] constant(1)
      ROOT sums = s32[] reduce(a, i), dimensions={0}, to_apply=f }"""
    with pytest.raises(Exception, match="cannot lower reduce 'sums' to BIR: its computation has 'w', which is not"):
        lowered.lowered(text)
