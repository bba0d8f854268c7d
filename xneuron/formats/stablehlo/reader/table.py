"""The table of translations: which function makes `hlo` ops of which StableHLO op.

Most ops are a row: class, and the attributes that become properties. The others are functions, in the files of their
chapters.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple, TypeAlias, TypeVar

from xdsl.dialects.builtin import FloatAttr, StringAttr, UnitAttr, f64
from xdsl.ir import Attribute, Operation

from xneuron.dialects.hlo.attributes import integer, ints
from xneuron.formats.stablehlo.reader.builder import Builder
from xneuron.formats.stablehlo.reader.values import numbers_of
from xneuron.formats.stablehlo.tree import Dense, Op, Value, list_of, of_kind

Translation: TypeAlias = Callable[[Builder], None]
Convert: TypeAlias = Callable[[Value], "Attribute | None"]
TranslationT = TypeVar("TranslationT", bound=Translation)

TABLE: dict[str, Translation] = {}
"""Translations by name of the op. Each works on `builder.op`, and says what its results became."""


def translates(*names: str) -> Callable[[TranslationT], TranslationT]:
    """Puts a function into the table."""

    def register(function: TranslationT) -> TranslationT:
        for name in names:
            TABLE[name] = function
        return function

    return register


class Property(NamedTuple):
    """A property of the `hlo` op, the StableHLO attribute it is made from, and how; None is no property."""

    name: str
    attribute: str
    convert: Convert


def rows(cls: type[Operation], properties: tuple[Property, ...], *names: str) -> None:
    """Puts ops into the table that keep their operands, and that have these properties."""

    def translate(builder: Builder) -> None:
        builder.finish(builder.emit(cls, builder.operands, properties=converted(builder.op, properties)))

    translates(*names)(translate)


def converted(op: Op, properties: tuple[Property, ...]) -> dict[str, Attribute]:
    """The properties that the op's attributes say."""
    found: dict[str, Attribute] = {}
    for name, attribute, convert in properties:
        value = convert(op.attributes[attribute]) if attribute in op.attributes else None
        if value is not None:
            found[name] = value
    return found


def dims(value: Value) -> Attribute:
    """A list of numbers."""
    return ints(numbers(value))


def some_dims(value: Value) -> Attribute | None:
    """A list of numbers; absent where it is empty."""
    return ints(numbers(value)) if value else None


def one_dim(value: Value) -> Attribute:
    """A number that HLO has as a list of one."""
    return ints((number(value),))


def integral(value: Value) -> Attribute:
    """A number."""
    return integer(number(value))


def several(value: Value) -> Attribute | None:
    """A number that is absent where it is 1."""
    return None if value == 1 else integral(value)


def real(value: Value) -> Attribute:
    """A real number that MLIR holds as f32: the shortest decimal of it."""
    number = of_kind(float, float(value) if isinstance(value, int) else value, "a number")
    single = struct.pack("f", number)
    texts = (f"{number:.{digits}g}" for digits in range(1, 10))
    return FloatAttr(next((x for x in map(float, texts) if struct.pack("f", x) == single), number), f64)


def flagged(value: Value) -> Attribute | None:
    """A flag, absent where false."""
    return UnitAttr() if value else None


def word(value: Value) -> Attribute:
    """A word of a closed list."""
    return StringAttr(str(value))


def numbers(value: Value) -> tuple[int, ...]:
    """The numbers of a list; `mhlo` has them as elements of a tensor."""
    if isinstance(value, Dense):
        return numbers_of(value)[0]
    return tuple(map(number, list_of(value, "numbers")))


def number(value: Value) -> int:
    """The number itself."""
    return of_kind(int, value, "an integer")
