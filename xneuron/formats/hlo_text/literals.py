"""Literals: the values of constants, text to bytes and back (xla-semantics.md d.4)."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from math import prod
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, TensorType, TupleType
from xdsl.ir import Attribute, TypeAttribute
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.literal import ElidedAttr, LiteralAttr, TupleLiteralAttr, type_of
from xneuron.dialects.hlo.numbers import number_from_text, number_to_text
from xneuron.dialects.hlo.types import DYNAMIC, Element, Tensor, element_of, elements_of, shape_of, spelled
from xneuron.formats.hlo_text.lexer import Scanner
from xneuron.formats.hlo_text.shapes import parse_shape, print_shape

_NUMBER = re.compile(r"-?(?:nan\(0[xX][0-9a-fA-F]+\)|true|false|inf|nan|\d[\w.]*(?:(?<=[eE])[+-]\d+)?)")
_ROW = re.compile(r"[-\d.eE+,\s]*+")
_SPECIAL = ("inf", "-inf")
_STRUCT = {"s8": "b", "s16": "h", "s32": "i", "u8": "B", "u16": "H", "u32": "I", "f32": "f", "f64": "d"}


def parse_literal(scanner: Scanner, type: Attribute) -> Attribute:
    """Takes a literal of the given shape."""
    if isinstance(type, TupleType):
        return _parse_tuple(scanner, elements_of(type), spelled=False)
    if not isinstance(type, TensorType):
        scanner.error(f"unsupported constant in shape: {spelled(type)}")
    return _parse_array(scanner, cast(Tensor, type))


def parse_shaped_literal(scanner: Scanner) -> Attribute:
    """Takes a literal that stands alone: each leaf has its shape in front."""
    if scanner.accept("("):
        scanner.pos -= 1
        return _parse_tuple(scanner, (), spelled=True)
    return parse_literal(scanner, parse_shape(scanner))


def _parse_tuple(scanner: Scanner, types: tuple[Attribute, ...], spelled: bool) -> Attribute:
    scanner.expect("(", " to begin the tuple literal")
    elements: list[Attribute] = []
    while not scanner.at(")") if spelled else len(elements) < len(types):
        if elements:
            scanner.expect(",", " between the elements of the tuple literal")
        elements.append(parse_shaped_literal(scanner) if spelled else parse_literal(scanner, types[len(elements)]))
    scanner.expect(")", " to end the tuple literal")
    return TupleLiteralAttr(ArrayAttr(elements))


def _parse_array(scanner: Scanner, type: Tensor) -> Attribute:
    shape = shape_of(type)
    if DYNAMIC in shape:
        scanner.error(f"expected a static shape for a constant, found {spelled(type)}")
    if shape and _accept_elided(scanner):
        return ElidedAttr(cast(TypeAttribute, type))
    if shape and (raw := _parse_plain_numbers(scanner, type)) is not None:
        return LiteralAttr.from_bytes(type, raw)
    if prod(shape) > len(scanner.text):
        scanner.error(f"expected {prod(shape)} elements for {spelled(type)}, found a text that is too short for them")
    return LiteralAttr.from_bytes(type, b"".join(_Numbers(scanner, type).take(0)))


def _accept_elided(scanner: Scanner) -> bool:
    start = scanner.skip()
    if scanner.accept("{") and scanner.accept("...") and scanner.accept("}"):
        return True
    scanner.pos = start
    return False


def _parse_plain_numbers(scanner: Scanner, type: Tensor) -> bytes | None:
    """Takes a vector of ordinary numbers at once; None, nothing taken, where a closer look is needed."""
    code, count = _STRUCT.get(element_of(type).name), prod(shape_of(type))
    if code is None or len(shape_of(type)) != 1 or not scanner.at("{"):
        return None
    row = _ROW.match(scanner.text, scanner.pos + 1)
    if row is None or not scanner.text.startswith("}", row.end()):
        return None
    numbers = row[0].split(",")
    if len(numbers) != count:
        return None
    try:
        values = [float(number) if code in "fd" else int(number) for number in numbers]
        raw = struct.pack(f"<{count}{code}", *values)
    except (ValueError, struct.error, OverflowError):
        return None
    if math.inf in values or -math.inf in values:  # the text of which says a number, too large for a double
        return None
    scanner.pos = row.end() + 1
    return raw


class _Numbers:
    """The general reader of array literals: checks every brace, remembers the bytes of numbers it has seen."""

    def __init__(self, scanner: Scanner, type: Tensor) -> None:
        self.scanner = scanner
        self.shape = shape_of(type)
        self.element = element_of(type)
        self.seen: dict[str, bytes] = {}

    def take(self, depth: int) -> list[bytes]:
        """Bytes of the numbers of one sub-array."""
        if depth == len(self.shape):
            return [self.number()]
        scanner, extent = self.scanner, self.shape[depth]
        scanner.expect("{", f" for dimension {depth} of the literal")
        raw: list[bytes] = []
        for index in range(extent):
            while scanner.accept(","):
                pass
            if scanner.at("}"):
                scanner.error(f"expected {extent} elements in dimension {depth} of the literal, found {index}")
            raw += self.take(depth + 1)
        while scanner.accept(","):
            pass
        if not scanner.accept("}"):
            scanner.wrong(f"'}}' after {extent} elements in dimension {depth} of the literal")
        return raw

    def number(self) -> bytes:
        scanner = self.scanner
        start = scanner.skip()
        text = self.number_text()
        if (raw := self.seen.get(text)) is None:
            try:
                raw = self.seen[text] = number_from_text(self.element, text)
            except VerifyException as error:
                scanner.error(str(error), start, scanner.pos)
        return raw

    def number_text(self) -> str:
        scanner = self.scanner
        if self.element.kind != "complex":
            text = scanner.need(_NUMBER, f"number of {self.element.name}")[0]
            if self.element.kind in ("int", "uint", "pred") and not _integral(text):
                what = f"expects integer for primitive type: {self.element.name}"
                scanner.error(f"{what}, found {text}", scanner.pos - len(text), scanner.pos)
            if text not in _SPECIAL and "nan" not in text and math.isinf(_double(text)):
                scanner.error(f"constant {text} is out of range for a double", scanner.pos - len(text), scanner.pos)
            return text
        scanner.expect("(", " and a complex number")
        real = scanner.need(_NUMBER, "real part")[0]
        scanner.expect(",", " between real and imaginary part")
        imaginary = scanner.need(_NUMBER, "imaginary part")[0]
        scanner.expect(")", " to end the complex number")
        return f"({real}, {imaginary})"


def _double(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _integral(text: str) -> bool:
    return text in ("true", "false") or text.removeprefix("-").isdecimal()


def print_literal(value: Attribute) -> str:
    """The literal inside `constant(…)`."""
    if isinstance(value, ElidedAttr):
        return "{...}"
    if isinstance(value, TupleLiteralAttr):
        return f"( {', '.join(map(print_literal, value.elements.data))} )"
    if not isinstance(value, LiteralAttr):
        raise VerifyException(f"expected a literal, found {value}")
    return _print_array(value)


def print_shaped_literal(value: Attribute) -> str:
    """A literal that stands alone: with the shape of each leaf."""
    if isinstance(value, TupleLiteralAttr):
        return f"( {', '.join(map(print_shaped_literal, value.elements.data))} )"
    return f"{print_shape(type_of(value))} {print_literal(value)}"


def _print_array(value: LiteralAttr) -> str:
    element, shape = element_of(value.type), shape_of(value.type)
    if not shape:
        return _number(element, value.stored)
    if 0 in shape:
        return _nested(shape, 0, iter(()))
    texts = _texts(element, value.stored)
    return _nested(shape, 0, iter(texts * prod(shape) if value.is_splat else texts))


def _texts(element: Element, raw: bytes) -> list[str]:
    if element.kind == "pred":
        return ["1" if byte else "0" for byte in raw]
    size = element.bytes
    parts = [raw[at : at + size] for at in range(0, len(raw), size)]
    known = {part: _number(element, part) for part in set(parts)}
    return [known[part] for part in parts]


_MINUS_ZERO = re.compile(r"-0(?=[,)]|$)")


def _number(element: Element, raw: bytes) -> str:
    """The number's text. XLA reads `-0` as the integer 0: only `-0.0` keeps the sign."""
    text = number_to_text(element, raw)
    return _MINUS_ZERO.sub("-0.0", text) if element.kind in ("float", "complex") else text


def _nested(shape: tuple[int, ...], depth: int, texts: Iterator[str]) -> str:
    extent = shape[depth]
    if depth == len(shape) - 1:
        row = ", ".join([next(texts) for _ in range(extent)])
        return f"{{ {row} }}" if depth and extent > 1 else f"{{{row}}}"
    if extent == 0:
        return "{}"
    return f"{{ {', '.join(_nested(shape, depth + 1, texts) for _ in range(extent))} }}"
