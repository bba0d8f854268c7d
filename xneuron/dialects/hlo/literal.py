"""Literals: constants that keep every bit.

A literal stores the bytes of its elements (little endian, one element per whole bytes, row-major), a splat
as one element. xDSL's `dense<>` loses infinities and NaN payloads and expands splats; this does not.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, TensorType
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.numbers import number_from_text, number_to_text, pack
from xneuron.dialects.hlo.types import Tensor, element_count, element_of, spelled, tuple_of

SHORT = 16
"""Literals with at most this many elements print as numbers, longer ones as hexadecimal bytes."""


@irdl_attr_definition
class LiteralAttr(Data[tuple[Tensor, bytes]]):
    """`#hlo.literal<[1, 2, 3] : tensor<3xi32>>`; `<splat 0 : …>`; `<"0x…" : …>`.

    Build with `LiteralAttr.get`/`of`, which fold a splat to one element.
    """

    name = "hlo.literal"

    @staticmethod
    def from_bytes(type: Tensor, raw: bytes) -> LiteralAttr:
        """A literal from the bytes of all elements, or of one (a splat). Raises VerifyException on a wrong length."""
        size, count = element_of(type).bytes, element_count(type)
        if len(raw) not in (size * count, size if count else 0):
            raise VerifyException(f"expected {size * count} bytes for {spelled(type)}, found {len(raw)}")
        if count > 1 and len(raw) > size and raw == raw[:size] * count:
            raw = raw[:size]
        return LiteralAttr((type, raw))

    @staticmethod
    def of(type: Tensor, *values: Any) -> LiteralAttr:
        """A literal from Python numbers in row-major order; one number is a splat."""
        element = element_of(type)
        return LiteralAttr.from_bytes(type, b"".join(pack(element, value) for value in values))

    @property
    def type(self) -> Tensor:
        """The array type."""
        return self.data[0]

    @property
    def stored(self) -> bytes:
        """The stored bytes: one element for a splat."""
        return self.data[1]

    @property
    def is_splat(self) -> bool:
        """True if all elements are bitwise equal (a single element is)."""
        return len(self.data[1]) == element_of(self.type).bytes

    @property
    def bytes(self) -> bytes:
        """The bytes of all elements."""
        return self.stored * element_count(self.type) if self.is_splat else self.stored

    @property
    def scalar(self) -> int | float | complex | bool:
        """The value of an effective scalar or splat as a Python number. Raises VerifyException otherwise."""
        if not self.is_splat:
            raise VerifyException(f"expected a scalar literal, found {spelled(self.type)}")
        return unpacked(self)[0]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Tensor, bytes]:
        with parser.in_angle_brackets():
            content = _parse_content(parser)
            parser.parse_punctuation(":")
            type = parser.parse_type()
            if not isinstance(type, TensorType):
                parser.raise_error("expected a tensor type")
            type = cast(Tensor, type)
        element = element_of(type)
        raw = content if isinstance(content, bytes) else b"".join(number_from_text(element, t) for t in content)
        return LiteralAttr.from_bytes(type, raw).data

    def print_parameter(self, printer: Printer) -> None:
        element, size = element_of(self.type), element_of(self.type).bytes
        with printer.in_angle_brackets():
            numbers = [self.stored[at : at + size] for at in range(0, len(self.stored), size)][: SHORT + 1]
            if self.is_splat:
                printer.print_string(f'"{number_to_text(element, numbers[0])}"')
            elif len(numbers) <= SHORT:
                texts = (f'"{number_to_text(element, number)}"' for number in numbers)
                printer.print_string(f"[{', '.join(texts)}]")
            else:
                printer.print_string(f"0x{self.stored.hex().upper()}".join('""'))
            printer.print_string(" : ")
            printer.print_attribute(self.type)


def _parse_content(parser: AttrParser) -> bytes | list[str]:
    if (single := parser.parse_optional_str_literal()) is None:
        return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_str_literal)
    if single.startswith("0x") and "(" not in single:
        return bytes.fromhex(single[2:])
    return [single]


@lru_cache(maxsize=4096)
def unpacked(literal: LiteralAttr) -> tuple[Any, ...]:
    """Stored elements as Python numbers (bool, int, float, complex)."""
    from xneuron.dialects.hlo.numbers import unpack

    element = element_of(literal.type)
    raw = literal.stored
    return tuple(unpack(element, raw[at : at + element.bytes]) for at in range(0, len(raw), element.bytes))


@irdl_attr_definition
class TupleLiteralAttr(ParametrizedAttribute):
    """A constant of tuple type: `#hlo.tuple_literal<[…]>`."""

    name = "hlo.tuple_literal"
    elements: ArrayAttr[Attribute]

    @property
    def type(self) -> Attribute:
        """The tuple type."""
        return tuple_of(tuple(type_of(element) for element in self.elements.data))


@irdl_attr_definition
class ElidedAttr(ParametrizedAttribute):
    """`constant({...})`: a value the text left out. It can be printed, not evaluated."""

    name = "hlo.elided"
    type: TypeAttribute


def type_of(value: Attribute) -> Attribute:
    """The type of a constant's value."""
    if isinstance(value, LiteralAttr | TupleLiteralAttr | ElidedAttr):
        return value.type
    raise VerifyException(f"expected a literal, found {value}")
