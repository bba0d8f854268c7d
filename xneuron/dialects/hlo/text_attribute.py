"""Attributes whose value is a canonical piece of HLO text.

Windows, dimension labels, replica groups, shardings, layouts have a compact notation that HLO text defines,
that people read, and that nothing here improves on. Such an attribute stores that notation; subclasses decode
it on demand and reject what does not decode.
"""

from __future__ import annotations

from abc import ABC

from xdsl.ir import Data
from xdsl.parser import AttrParser
from xdsl.printer import Printer


class TextAttribute(Data[str], ABC):
    """Prints as `#hlo.name<"text">`. `data` is canonical: equal meaning in the same spelling is equal text."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        with parser.in_angle_brackets():
            return parser.parse_str_literal()

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.data)
