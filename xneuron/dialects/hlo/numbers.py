"""One number, three forms: bytes as stored, a Python number, the text HLO and MLIR show.

Text is exact: the shortest decimal that reads back to the same bits, `inf`, `-inf`, `nan`, and `nan(0x…)` where the
payload is not the canonical one (xla-semantics.md d.1, d.4). No numpy here: reading a program must start fast.
"""

from __future__ import annotations

import math
import re
import struct
from typing import Any, NamedTuple

from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.types import BY_NAME, Element


class FloatFormat(NamedTuple):
    """Bits of a binary format. `finite` has no infinities; `fnuz` has one NaN, at negative zero, and no -0."""

    exponent: int
    mantissa: int
    bias: int
    finite: bool = False
    fnuz: bool = False


FORMATS: dict[str, FloatFormat] = {
    "f64": FloatFormat(11, 52, 1023),
    "f32": FloatFormat(8, 23, 127),
    "f16": FloatFormat(5, 10, 15),
    "bf16": FloatFormat(8, 7, 127),
    "f8e5m2": FloatFormat(5, 2, 15),
    "f8e4m3": FloatFormat(4, 3, 7),
    "f8e3m4": FloatFormat(3, 4, 3),
    "f8e4m3fn": FloatFormat(4, 3, 7, finite=True),
    "f8e4m3b11fnuz": FloatFormat(4, 3, 11, finite=True, fnuz=True),
    "f8e4m3fnuz": FloatFormat(4, 3, 8, finite=True, fnuz=True),
    "f8e5m2fnuz": FloatFormat(5, 2, 16, finite=True, fnuz=True),
    "f8e8m0fnu": FloatFormat(8, 0, 127, finite=True),
    "f6e2m3fn": FloatFormat(2, 3, 1, finite=True),
    "f6e3m2fn": FloatFormat(3, 2, 3, finite=True),
    "f4e2m1fn": FloatFormat(2, 1, 1, finite=True),
}
"""Formats by HLO name. f4 and f6 have neither infinity nor NaN; f8e8m0fnu is unsigned without mantissa."""

NO_NAN = frozenset({"f6e2m3fn", "f6e3m2fn", "f4e2m1fn"})
_NATIVE = {"f16": "<e", "f32": "<f", "f64": "<d"}


def pack(element: Element, value: Any) -> bytes:
    """Bytes of a Python number. Integers wrap to the width; floats round to nearest even."""
    match element.kind:
        case "pred":
            return b"\1" if value else b"\0"
        case "int" | "uint":
            return _pack_integer(element, int(value))
        case "complex":
            part = _part(element)
            return pack(part, complex(value).real) + pack(part, complex(value).imag)
        case _:
            return float_bits(element, float(value)).to_bytes(element.bytes, "little")


def unpack(element: Element, raw: bytes) -> Any:
    """The Python number (bool, int, float, complex) of one stored element."""
    match element.kind:
        case "pred":
            return raw != b"\0"
        case "int" | "uint":
            return int.from_bytes(raw, "little", signed=element.kind == "int")
        case "complex":
            part, half = _part(element), element.bytes // 2
            return complex(unpack(part, raw[:half]), unpack(part, raw[half:]))
        case _:
            return bits_float(element, int.from_bytes(raw, "little"))


def _pack_integer(element: Element, value: int) -> bytes:
    bits = element.bits
    value &= (1 << bits) - 1
    if element.kind == "int" and value >> (bits - 1):
        value -= 1 << bits
    return value.to_bytes(element.bytes, "little", signed=element.kind == "int")


def _part(element: Element) -> Element:
    return BY_NAME["f32" if element.name == "c64" else "f64"]


def bits_float(element: Element, bits: int) -> float:
    """The value of a bit pattern; every NaN gives Python's NaN."""
    if native := _NATIVE.get(element.name):
        return struct.unpack(native, bits.to_bytes(element.bytes, "little"))[0]
    form = FORMATS[element.name]
    if is_nan_bits(element, bits):
        return math.nan
    sign = -1.0 if bits >> (form.exponent + form.mantissa) & 1 and element.name != "f8e8m0fnu" else 1.0
    exponent = bits >> form.mantissa & ((1 << form.exponent) - 1)
    mantissa = bits & ((1 << form.mantissa) - 1)
    if not form.finite and exponent == (1 << form.exponent) - 1:
        return sign * math.inf
    if exponent == 0 and element.name != "f8e8m0fnu":
        return sign * math.ldexp(mantissa, 1 - form.bias - form.mantissa)
    return sign * math.ldexp(mantissa + (1 << form.mantissa), exponent - form.bias - form.mantissa)


def is_nan_bits(element: Element, bits: int) -> bool:
    """True if the pattern is one of the format's NaNs."""
    form = FORMATS[element.name]
    magnitude = bits & ((1 << (form.exponent + form.mantissa)) - 1)
    if element.name in NO_NAN:
        return False
    if form.fnuz:
        return bits == 1 << (form.exponent + form.mantissa)
    if form.finite:
        return magnitude == (1 << (form.exponent + form.mantissa)) - 1
    return magnitude > ((1 << form.exponent) - 1) << form.mantissa


def float_bits(element: Element, value: float) -> int:
    """The bit pattern nearest to `value` (ties to even). Too large: infinity, or NaN, or the largest (no NaN)."""
    if native := _NATIVE.get(element.name):
        return _native_bits(element, native, value)
    if math.isnan(value) or (math.isinf(value) and FORMATS[element.name].finite):
        return nan_bits(element, negative=math.copysign(1, value) < 0)
    return _round_bits(element, value)


def _native_bits(element: Element, native: str, value: float) -> int:
    try:
        return int.from_bytes(struct.pack(native, value), "little")
    except OverflowError:
        return _native_bits(element, native, math.copysign(math.inf, value))


def nan_bits(element: Element, payload: int | None = None, negative: bool = False) -> int:
    """A NaN of the format; the canonical one without a payload. Raises VerifyException if it cannot be said."""
    form = FORMATS[element.name]
    sign = 1 << (form.exponent + form.mantissa)
    if element.name in NO_NAN:
        raise VerifyException(f"{element.name} has no NaN")
    if form.fnuz:
        return sign
    if form.finite:
        return (sign - 1) | (sign if negative and element.name != "f8e8m0fnu" else 0)
    payload = 1 << (form.mantissa - 1) if payload is None else payload
    if not 0 < payload < 1 << form.mantissa:
        raise VerifyException(f"tries to set NaN payload 0x{payload:x}, which {element.name} cannot hold")
    return ((1 << form.exponent) - 1) << form.mantissa | payload | (sign if negative else 0)


def _round_bits(element: Element, value: float) -> int:
    form = FORMATS[element.name]
    if element.name == "f8e8m0fnu":
        return _round_exponent(value)
    sign = 1 << (form.exponent + form.mantissa) if math.copysign(1, value) < 0 else 0
    bits = _round_magnitude(form, abs(value))
    largest = _largest(element)
    if bits > largest:
        if element.name in NO_NAN:
            return sign | largest
        bits = nan_bits(element) if form.finite else ((1 << form.exponent) - 1) << form.mantissa
    if form.fnuz and bits == 0:
        return 0
    return bits | sign


def _round_magnitude(form: FloatFormat, value: float) -> int:
    """Bits of a non-negative number as if the exponent range went on for ever."""
    if value == 0:
        return 0
    if math.isinf(value):
        return 1 << (form.exponent + form.mantissa)
    exponent = max(math.frexp(value)[1] - 1, 1 - form.bias)
    steps = round(math.ldexp(value, form.mantissa - exponent))
    return steps + ((exponent + form.bias - 1) << form.mantissa)


def _largest(element: Element) -> int:
    form = FORMATS[element.name]
    top = (1 << (form.exponent + form.mantissa)) - 1
    if element.name in NO_NAN or form.fnuz:
        return top
    return top - 1 if form.finite else (((1 << form.exponent) - 1) << form.mantissa) - 1


def _round_exponent(value: float) -> int:
    """f8e8m0fnu: a power of two; anything not positive, or too large, is NaN."""
    if not value > 0 or math.isinf(value):
        return 0xFF
    mantissa, exponent = math.frexp(value)
    up = mantissa >= 0.75  # ties go up, as in ml_dtypes
    return min(max(exponent - 1 + up + 127, 0), 0xFF)


def number_to_text(element: Element, raw: bytes) -> str:
    """The exact text of one stored element."""
    match element.kind:
        case "pred":
            return "true" if raw != b"\0" else "false"
        case "int" | "uint":
            return str(unpack(element, raw))
        case "complex":
            part, half = _part(element), element.bytes // 2
            return f"({number_to_text(part, raw[:half])}, {number_to_text(part, raw[half:])})"
        case _:
            return _float_text(element, int.from_bytes(raw, "little"))


def _float_text(element: Element, bits: int) -> str:
    if is_nan_bits(element, bits):
        return _nan_text(element, bits)
    value = bits_float(element, bits)
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if element.name == "f64" or value == int(value):
        return _trimmed(repr(value))
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if float_bits(element, float(text)) == bits:
            return text
    return _trimmed(repr(value))


def _trimmed(text: str) -> str:
    return text.removesuffix(".0")


def _nan_text(element: Element, bits: int) -> str:
    form = FORMATS[element.name]
    negative = not form.fnuz and bits >> (form.exponent + form.mantissa) & 1 and element.name != "f8e8m0fnu"
    payload = bits & ((1 << form.mantissa) - 1)
    canonical = form.finite or payload == 1 << (form.mantissa - 1)
    return ("-" if negative else "") + ("nan" if canonical else f"nan(0x{payload:x})")


_NAN = re.compile(r"(-?)nan(?:\(0x([0-9a-fA-F]+)\))?")
_COMPLEX = re.compile(r"\(\s*([^,()]+(?:\(0x[0-9a-fA-F]+\))?)\s*,\s*([^,()]+(?:\(0x[0-9a-fA-F]+\))?)\s*\)")


def number_from_text(element: Element, text: str) -> bytes:
    """Bytes of the number a text says. Raises VerifyException for one the type cannot hold."""
    match element.kind:
        case "pred":
            if text not in ("true", "false"):
                return pack(element, _integer(text, "expected true or false") != 0)
            return pack(element, text == "true")
        case "int" | "uint":
            return pack(element, checked_integer(element, _integer(text, f"expected a number of {element.name}")))
        case "complex":
            if not (match := _COMPLEX.fullmatch(text)):
                raise VerifyException(f"expected a complex number like (1, 2), found {text}")
            part = _part(element)
            return number_from_text(part, match[1].strip()) + number_from_text(part, match[2].strip())
        case _:
            return checked_float(element, text).to_bytes(element.bytes, "little")


def _integer(text: str, expectation: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise VerifyException(f"{expectation}, found {text}") from None


def checked_integer(element: Element, value: int) -> int:
    """`value`, if the type can hold it. 64-bit integers take either reading of the bits, as XLA does (d.4)."""
    low, high = (0, (1 << element.bits) - 1)
    if element.kind == "int":
        low, high = -(1 << (element.bits - 1)), (1 << (element.bits - 1)) - 1
    if element.bits == 64:
        low, high = -(1 << 63), (1 << 64) - 1
    if not low <= value <= high:
        raise VerifyException(
            f"value {value} is out of range for literal's primitive type {element.name.upper()} namely [{low}, {high}]"
        )
    return value


def checked_float(element: Element, text: str) -> int:
    """Bits of a float's text. Raises VerifyException if it is no number or rounds to infinity without saying inf."""
    if match := _NAN.fullmatch(text):
        payload = int(match[2], 16) if match[2] else None
        return nan_bits(element, payload, negative=match[1] == "-")
    try:
        value = float(text)
    except ValueError:
        raise VerifyException(f"expected a number of {element.name}, found {text}") from None
    if FORMATS[element.name].finite and math.isinf(value):
        raise VerifyException(f"{element.name} has no infinity")
    bits = float_bits(element, value)
    rounded_away = element.name not in NO_NAN and not math.isfinite(bits_float(element, bits))
    if rounded_away and not math.isinf(value) and not math.isnan(value):
        raise VerifyException(f"value {text} is out of range for literal's primitive type {element.name.upper()}")
    return bits
