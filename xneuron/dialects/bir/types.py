"""Types: a register handle, a memory location handle; and the attributes that hold one scalar."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.ir import Data, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from .enums import ON_CHIP, DType, MemorySpace


@irdl_attr_definition
class RegisterType(ParametrizedAttribute, TypeAttribute):
    """A handle to one register (or a lo/hi pair); how its bits are read is chosen at each use."""

    name = "bir.register"


@dataclass(frozen=True)
class Geometry:
    """Space, element type and shape of a memory location; on chip, dimension 0 is the partition."""

    space: MemorySpace
    dtype: DType
    shape: tuple[int, ...]

    @property
    def on_chip(self) -> bool:
        return self.space in ON_CHIP

    @property
    def partitions(self) -> int:
        return self.shape[0] if self.shape else 1

    @property
    def free_elements(self) -> int:
        """Elements of one partition."""
        return prod(self.shape[1:])

    @property
    def elements(self) -> int:
        return prod(self.shape)

    @property
    def bytes_per_partition(self) -> int:
        return self.free_elements * self.dtype.nbytes

    @property
    def whole(self) -> tuple[tuple[int, int], ...]:
        """The access pattern, as (step, num) pairs, that visits every element in row-major order."""
        pairs: list[tuple[int, int]] = []
        step = 1
        for extent in reversed(self.shape or (1,)):
            pairs.append((step, extent))
            step *= extent
        return tuple(reversed(pairs))


def print_geometry(printer: Printer, geometry: Geometry) -> None:
    dims = ", ".join(map(str, geometry.shape))
    printer.print_string(f"{geometry.space} {geometry.dtype} [{dims}]")


def parse_geometry(parser: AttrParser) -> Geometry:
    space = parser.parse_str_enum(MemorySpace)
    dtype = parser.parse_str_enum(DType)
    shape = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
    return Geometry(space, dtype, tuple(shape))


@irdl_attr_definition
class MemoryType(Data[Geometry], TypeAttribute):
    """A handle to one memory location, e.g. `!bir.memory<SB float32 [128, 4]>`."""

    name = "bir.memory"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Geometry:
        with parser.in_angle_brackets():
            return parse_geometry(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_geometry(printer, self.data)


@irdl_attr_definition
class FlagAttr(Data[bool], SpacedOpaqueSyntaxAttribute):
    """True or false, as the value of an instruction key."""

    name = "bir.flag"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> bool:
        return parser.parse_boolean()

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string("true" if self.data else "false")


@irdl_attr_definition
class LongAttr(Data[int], SpacedOpaqueSyntaxAttribute):
    """An integer."""

    name = "bir.long"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> int:
        return parser.parse_integer()

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(str(self.data))


@irdl_attr_definition
class NumberAttr(Data[int | float], SpacedOpaqueSyntaxAttribute):
    """A number that keeps whether it was written as an integer, infinities and NaN."""

    name = "bir.number"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> int | float:
        return parse_number(parser)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(number_text(self.data))


@irdl_attr_definition
class IntsAttr(Data[tuple[int, ...]], SpacedOpaqueSyntaxAttribute):
    """A list of integers, e.g. the pattern of an Iota flattened to step, num, step, num."""

    name = "bir.ints"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[int, ...]:
        return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer))

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"[{', '.join(map(str, self.data))}]")


def number_text(value: int | float) -> str:
    """Text that `parse_number` reads back to the same bits (Python's shortest repr)."""
    text = repr(value)
    # MLIR's lexer wants a fraction in front of an exponent: 1e-05 is not one number there.
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def parse_number(parser: AttrParser) -> int | float:
    negative = parser.parse_optional_punctuation("-") is not None
    word = parser.parse_optional_keyword_in(("inf", "nan"))
    value = float(word) if word else parser.parse_number()
    return -value if negative else value
