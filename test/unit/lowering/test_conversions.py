"""Conversions of values, precisions and bits: what the evaluator gives, for all pairs of types."""

import re

import numpy as np
import pytest
from elementwise_cases import FLOATS, INTEGERS, differences, values
from lowered import agree, lowered
from oracle.programs import DTYPES, shape
from xdsl.dialects.func import FuncOp

from xneuron.lowering.hlo_to_bir.rules import NotLowerable

TYPES = (*INTEGERS, *FLOATS, "pred")


@pytest.mark.parametrize("name", TYPES)
def test_convert(name: str) -> None:
    x = values(name)
    assert not list(differences({to: (f"{to}[{x.size}]", "convert(p0)") for to in TYPES}, x))


@pytest.mark.parametrize("number", ["0", "1", "-1", "2.5", "-3.75", "inf", "-inf", "nan", "1e10", "-1e30", "0.1"])
def test_constants_are_converted_now(number: str) -> None:
    lines = {"k": ("f32[]", f"constant({number})")} | {to: (f"{to}[]", "convert(v0)") for to in TYPES}
    assert not list(differences(lines, np.zeros((), np.float32)))


def test_integer_constants_are_converted_now_where_one_rounding_does() -> None:
    numbers = [0, 1, -1, 255, 300, 2**24 + 1, 2**31 - 1, -(2**31), 2**60 + 1, 2**63 - 1]
    lines = {}
    for number in numbers:
        lines[f"{number}"] = ("s64[]", f"constant({number})")
        at = len(lines) - 1
        lines |= {f"{number} to {to}": (f"{to}[]", f"convert(v{at})") for to in TYPES}
    assert not list(differences(lines, np.zeros((), np.float32)))


PRECISIONS = [
    ("f32", 8, 23), ("f32", 8, 7), ("f32", 11, 7), ("f32", 5, 10), ("f32", 5, 2), ("f32", 4, 3), ("f32", 3, 4),
    ("f16", 5, 10), ("f16", 5, 2), ("f16", 8, 2), ("f16", 4, 3),
    ("bf16", 5, 10), ("bf16", 5, 2), ("bf16", 4, 3), ("bf16", 8, 30),
]  # fmt: skip


@pytest.mark.parametrize(("name", "exponent", "mantissa"), PRECISIONS)
def test_reduce_precision(name: str, exponent: int, mantissa: int) -> None:
    wide = DTYPES[name].itemsize == 4
    x = around_powers() if wide else np.arange(1 << 16, dtype=np.uint16).view(DTYPES[name])
    rest = f"reduce-precision(p0), exponent_bits={exponent}, mantissa_bits={mantissa}"
    assert not list(differences({name: (shape(x), rest)}, x))


def around_powers() -> np.ndarray:
    """Numbers close to powers of two, where exponents end and mantissas carry; and ties."""
    bases = np.exp2(np.arange(-140, 128)).astype(np.float32).view(np.int32)
    near = [bases + distance for distance in (-(1 << 20) - 1, -4097, -4096, -2048, -1, 0, 1, 4096, 1 << 15, 3 << 18)]
    found = np.concatenate(near).view(np.float32)
    return np.concatenate([found, -found, [np.inf, -np.inf, np.nan, 0.0, -0.0]]).astype(np.float32)


SAME_BITS = [
    ("s32", "u32"), ("u32", "s32"), ("s64", "u64"), ("u8", "s8"), ("f32", "f32"), ("pred", "pred"),
    ("f32", "s32"), ("f32", "u32"), ("s32", "f32"), ("u32", "f32"),
    ("bf16", "s16"), ("bf16", "u16"), ("s16", "bf16"), ("u16", "bf16"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "to"), SAME_BITS)
def test_bitcast_convert(name: str, to: str) -> None:
    x = values(name)
    lines = {"bits": (f"{to}[{x.size}]", "bitcast-convert(p0)"), "copy": (shape(x), "maximum(p0, p0)")}
    lines |= {"on chip": (f"{to}[{x.size}]", "bitcast-convert(v1)"), "k": (f"{name}[]", "constant(1)")}
    lines |= {"known": (f"{to}[]", "bitcast-convert(v3)")}
    assert not list(differences(lines, x))


def test_bits_of_a_scalar() -> None:
    text = """HloModule m
      ENTRY e {
        x = f32[] parameter(0)
        bits = s32[] bitcast-convert(x)
        k = s32[] constant(8388608)
        more = s32[] add(bits, k)
        ROOT twice = f32[] bitcast-convert(more)
      }"""
    assert agree(text, np.float32(2.5)) == [5.0]


REFUSED = {
    ("f16", "s16", "4"): "no instruction of BIR reads the bits of f16 as s16",
    ("u8", "f8e4m3fn", "4"): "no instruction of BIR reads the bits of u8 as f8e4m3fn",
    ("u32", "u8", "4,4"): "BIR does not take elements apart, from u32 to u8",
}


@pytest.mark.parametrize(("name", "to", "extents"), REFUSED)
def test_bits_that_nobody_reads(name: str, to: str, extents: str) -> None:
    text = f"HloModule m\nENTRY e {{\nx = {name}[4] parameter(0)\nROOT r = {to}[{extents}] bitcast-convert(x)\n}}"
    with pytest.raises(NotLowerable) as caught:
        lowered(text)
    reason = REFUSED[name, to, extents]
    assert str(caught.value) == f"cannot lower bitcast_convert 'r' to BIR: {reason}"


def test_precisions_that_nobody_has() -> None:
    text = """HloModule m
      ENTRY e {
        x = f32[4] parameter(0)
        ROOT r = f32[4] reduce-precision(x), exponent_bits=6, mantissa_bits=9
      }"""
    reason = "BIR has no floats of 6 bits of exponent and 9 of mantissa to round by"
    with pytest.raises(NotLowerable, match=f"cannot lower reduce_precision 'r' to BIR: {reason}"):
        lowered(text)


def test_a_conversion_to_the_same_type_is_another_name() -> None:
    """The old value is still needed under its other name when its place would be free."""
    text = """HloModule m
cond {
  s = (s32[], u32[3], u32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(2)
  ROOT more = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], u32[3], u32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = u32[3] get-tuple-element(s), index=1
  y = u32[3] get-tuple-element(s), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  same = u32[3] convert(y)
  new = u32[3] not(x)
  last = u32[3] add(same, same)
  ROOT t = (s32[], u32[3], u32[3]) tuple(next, last, new)
}
ENTRY e {
  x = u32[3] parameter(0)
  y = u32[3] parameter(1)
  zero = s32[] constant(0)
  init = (s32[], u32[3], u32[3]) tuple(zero, x, y)
  ROOT loop = (s32[], u32[3], u32[3]) while(init), condition=cond, body=body
}"""
    agree(text, *np.arange(6, dtype=np.uint32).reshape(2, 3))


def test_a_parameter_that_no_location_can_have() -> None:
    text = "HloModule m\nENTRY e { x = c64[2] parameter(0)\n ROOT r = f32[2] real(x) }"
    reason = "BIR has no elements like those of c64[2]"
    with pytest.raises(NotLowerable, match=re.escape(f"cannot lower parameter 'x' to BIR: {reason}")) as caught:
        lowered(text)
    assert isinstance(caught.value.op, FuncOp)
