"""The quick way through ordinary lines: one regular expression a line, and memories keyed by pieces of text.

`%name = shape opcode(%a, %b), attributes` on a line of its own is nearly all of a dump. What the expression does not
match, or what is not in order about a line, is left to the general reader, which stands at the same place and gives
the same ops, or the error (test/property/test_hlo_text_paths.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import ParseError

from xneuron.dialects.hlo.types import compatible
from xneuron.formats.hlo_text.builder import Builder
from xneuron.formats.hlo_text.common import plain_metadata
from xneuron.formats.hlo_text.computations import Computation
from xneuron.formats.hlo_text.instructions import Said
from xneuron.formats.hlo_text.lexer import RESERVED, Scanner
from xneuron.formats.hlo_text.literals import parse_literal
from xneuron.formats.hlo_text.opcodes import Row
from xneuron.formats.hlo_text.shapes import PRIMITIVES, parse_shape

_NAME = r"[A-Za-z_][A-Za-z0-9_.-]*+"
_ARRAY = r"[a-z]\w*+\[[\d,]*+\](?:\{[\d,]*+(?::[^{}\n]*+)?\})?+"
_TUPLE = r"\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*+\))*+\))*+\)"
_LINE = re.compile(
    rf"\s*+(ROOT )?+(%?+{_NAME}) = ({_ARRAY}|{_TUPLE}) ([a-z][a-z0-9-]*+)\(([^()\n]*+)\)"
    r"(?:, ([^\r\n]*+))?+(?=\r?\n\s*+[%}A-Za-z_])"
)
_OPERAND = re.compile(rf"(?:({_ARRAY}) )?+%?+({_NAME})(?:, |$)")
_COMMENT = re.compile(r"/\*[^*]*\*/")
_WORDS = RESERVED | PRIMITIVES
_LONGEST_LITERAL = 64


class LineReader:
    """Reads ordinary lines. Its memories live as long as one parse."""

    def __init__(
        self,
        scanner: Scanner,
        builder: Builder,
        rows: dict[str, Row],
        attributes: Callable[[Row, Sequence[SSAValue]], Said],
    ) -> None:
        self.scanner = scanner
        self.builder = builder
        self.attributes = attributes
        # What these may say depends on their operands.
        special = ("conditional", "async-update", "async-done")
        self.rows = {opcode: row for opcode, row in rows.items() if opcode not in special}
        self.rows["parameter"] = rows["constant"]
        self.types: dict[str, Attribute] = {}
        self.literals: dict[tuple[str, str], Attribute] = {}
        self.said: dict[tuple[str, str | None], Said] = {}
        self.heads: dict[tuple[str, str], Said] = {}
        """What lists of attributes say before the metadata at their end."""
        self.metadata: dict[str, DictionaryAttr] = {}
        """Metadata by their text: instructions that JAX made of one operation share it."""

    def lines(self, computation: Computation, last: SSAValue | None) -> SSAValue | None:
        """Takes lines as long as they are ordinary; the last value."""
        scanner, text, match = self.scanner, self.scanner.text, _LINE.match
        while found := match(text, scanner.pos):
            root, name = found.group(1, 2)
            name = name.removeprefix("%")
            if name in computation.values or name in _WORDS or (root and computation.root is not None):
                break
            before = scanner.pos
            value = self._value(found, name)
            if value is None:
                scanner.pos = before
                break
            computation.values[name] = last = value
            if root:
                computation.root = value
        return last

    def _value(self, found: re.Match[str], name: str) -> SSAValue | None:
        """The value that a line defines, None if it takes a closer look."""
        shape, opcode, inside, rest = found.group(3, 4, 5, 6)
        row = self.rows.get(opcode)
        type = self.types.get(shape) or self._type(shape)
        if row is None or type is None:
            return None
        if row.opcode == "constant":
            return self._leaf(found, name, row, type)
        operands = self._operands(inside) if inside else ()
        if operands is None:
            return None
        if said := self.said.get((opcode, rest)):
            self.scanner.pos = found.end()
        else:
            said = self._said(found, row, operands)
        return self.builder.instruction(row, name, found.start(2), type, operands, said)

    def _type(self, text: str) -> Attribute | None:
        scanner = Scanner(text)
        try:
            type = parse_shape(scanner)
        except ParseError:
            return None
        if not scanner.at_end():
            return None
        self.types[text] = type
        return type

    def _operands(self, inside: str) -> Sequence[SSAValue] | None:
        values = self.builder.scope.values
        try:
            return [values[name] for name in inside.replace("%", "").split(", ")]
        except KeyError:
            return self._operands_with_shapes(_COMMENT.sub("", inside))

    def _operands_with_shapes(self, inside: str) -> Sequence[SSAValue] | None:
        """Operands as older dumps have them, `f32[2]{0} %a`."""
        operands: list[SSAValue] = []
        values, end = self.builder.scope.values, 0
        for found in _OPERAND.finditer(inside):
            shape, name = found.groups()
            value = values.get(name)
            if value is None or found.start() != end:
                return None
            declared = (self.types.get(shape) or self._type(shape)) if shape else value.type
            if declared is None or not compatible(declared, value.type):
                return None
            operands.append(value)
            end = found.end()
        return operands if end == len(inside) and not inside.endswith(", ") else None

    def _leaf(self, found: re.Match[str], name: str, row: Row, type: Attribute) -> SSAValue | None:
        shape, opcode, inside, rest = found.group(3, 4, 5, 6)
        value = None
        if opcode == "constant" and (value := self._literal(found, shape, type)) is None:
            return None
        if opcode == "parameter" and not inside.isdecimal():
            return None
        if said := self.said.get((row.opcode, rest)):
            self.scanner.pos = found.end()
        else:
            said = self._said(found, row, ())
        if value is not None:
            return self.builder.constant(name, found.start(2), type, value, said)
        return self.builder.parameter(int(inside), found.start(5), name, type, said)

    def _literal(self, found: re.Match[str], shape: str, type: Attribute) -> Attribute | None:
        inside = found[5]
        if value := self.literals.get((shape, inside)):
            return value
        scanner = self.scanner
        scanner.pos = found.start(5)
        value = parse_literal(scanner, type)
        if scanner.skip() != found.end(5):
            return None
        if len(inside) <= _LONGEST_LITERAL:
            self.literals[shape, inside] = value
        return value

    def _said(self, found: re.Match[str], row: Row, operands: Sequence[SSAValue]) -> Said:
        """Takes a list of attributes that was not seen before; remembers it if it fills the line."""
        rest = found[6]
        head, mark, fields = rest.rpartition("metadata={") if rest else ("", "", "")
        metadata = self.metadata.get(fields) or self._metadata(fields) if mark else None
        if metadata is not None and (known := self.heads.get((row.opcode, head))):
            self.scanner.pos = found.end()
            attributes = {**known.attributes, "metadata": metadata}
            return Said(known.properties, attributes, known.called, known.predecessors)
        self.scanner.pos = found.start(6) - 2 if rest is not None else found.end()
        said = self.attributes(row, operands)
        if self.scanner.pos != found.end() or (row.opcode == "broadcast" and "dimensions=" not in (rest or "")):
            return said
        if metadata is None:
            self.said[row.opcode, rest] = said
        else:
            others = {name: value for name, value in said.attributes.items() if name != "metadata"}
            self.heads[row.opcode, head] = replace(said, attributes=others)
        return said

    def _metadata(self, fields: str) -> DictionaryAttr | None:
        if (metadata := plain_metadata(fields)) is not None:
            self.metadata[fields] = metadata
        return metadata
