"""Operations with keys: the op-specific fields of BIR, kept as properties and printed as `<key = value>`.

The keys of an operation are its IRDL properties that are not part of the header, in order of definition.
A key that equals its default is not printed, and not written to BIR-JSON either (the skip-default rule).
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Data
from xdsl.irdl import IRDLOperation, OptPropertyDef
from xdsl.parser import Parser
from xdsl.printer import Printer


@dataclass(frozen=True)
class Key:
    """One key: the attribute class that holds it, and its default (None when there is none)."""

    name: str
    attribute: type[Data[Any]]
    default: Data[Any] | None
    required: bool

    def is_default(self, attr: Data[Any]) -> bool:
        """True for the default itself: 0, 0.0 and -0.0 are equal, but not the same."""
        default = self.default
        return default is not None and attr == default and repr(attr.data) == repr(default.data)


class KeyedOp(IRDLOperation, ABC):
    """An operation whose non-header properties are keys; key values are plain Python values."""

    HEADER: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    @cache
    def key_definitions(cls) -> dict[str, Key]:
        """The keys by name."""
        found: dict[str, Key] = {}
        for name, definition in cls.get_irdl_definition().properties.items():
            if name in cls.HEADER:
                continue
            bases = definition.constr.get_bases()
            assert bases, f"{cls.name}.{name} must be held by one attribute class"
            (attribute,) = (cast(type[Data[Any]], base) for base in bases)
            default = cast("Data[Any] | None", definition.default_value)
            required = default is None and not isinstance(definition, OptPropertyDef)
            found[name] = Key(name, attribute, default, required)
        return found

    @classmethod
    def key_attributes(cls, values: Mapping[str, object]) -> dict[str, Attribute]:
        """Attributes for the given key values; None means absent."""
        definitions = cls.key_definitions()
        if unknown := values.keys() - definitions.keys():
            raise TypeError(f"{cls.name} has no key {sorted(unknown)[0]!r}, only {', '.join(definitions)}")
        return {name: definitions[name].attribute.new(v) for name, v in values.items() if v is not None}

    def key(self, name: str) -> Any:
        """The value of a key, its default where it is absent (None where it has none)."""
        attr = self._key_attribute(name)
        return None if attr is None else attr.data

    def _key_attribute(self, name: str) -> Data[Any] | None:
        default = self.key_definitions()[name].default
        return cast("Data[Any] | None", self.properties.get(name, default))

    def is_default(self, name: str) -> bool:
        """Whether the key needs no mention."""
        key, attr = self.key_definitions()[name], self._key_attribute(name)
        return key.default is None if attr is None else key.is_default(attr)

    def print_keys(self, printer: Printer, without: str | None = None) -> None:
        """` <key = value, …>` for all keys but those at their default."""
        shown = [n for n in self.key_definitions() if n != without and not self.is_default(n)]
        if not shown:
            return
        printer.print_string(" ")
        with printer.in_angle_brackets():
            printer.print_list(shown, lambda name: self._print_key(printer, name))

    def _print_key(self, printer: Printer, name: str) -> None:
        printer.print_string(f"{name} = ")
        print_value(printer, self.properties[name])

    @classmethod
    def parse_keys(cls, parser: Parser) -> dict[str, Attribute]:
        """The inverse of `print_keys`."""
        found: dict[str, Attribute] = {}
        if not parser.parse_optional_punctuation("<"):
            return found
        while not parser.parse_optional_punctuation(">"):
            if found:
                parser.parse_punctuation(",")
            name = parser.parse_keyword_in(tuple(cls.key_definitions()), f" as a key of {cls.name}")
            parser.parse_punctuation("=")
            found[name] = parse_value(parser, cls.key_definitions()[name].attribute)
        return found


def print_value(printer: Printer, attr: Attribute) -> None:
    """A key value as a bare word, number, string or list."""
    match attr:
        case StringAttr():
            printer.print_string_literal(attr.data)
        case Data():
            attr.print_parameter(printer)  # pyright: ignore[reportUnknownMemberType]
        case _:
            printer.print_attribute(attr)


def parse_value(parser: Parser, attribute: type[Data[Any]]) -> Attribute:
    """The inverse of `print_value`."""
    if attribute is StringAttr:
        return StringAttr(parser.parse_str_literal())
    return attribute.new(attribute.parse_parameter(parser))
