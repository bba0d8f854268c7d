"""Functions, and how a region of basic blocks is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import StringAttr, SymbolNameConstraint
from xdsl.ir import Attribute, Block, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, SymbolOpInterface

from .storage import MemoryLocationOp, RegisterOp


def print_body(printer: Printer, region: Region) -> None:
    """` label "name"? { … }`: the first block prints no label of its own, so its name comes in front."""
    if (first := region.blocks.first) and first.name_hint:
        printer.print_string(" label ")
        printer.print_string_literal(first.name_hint)
    printer.print_string(" ")
    printer.print_region(region, print_entry_block_args=False, print_empty_block=False)


def parse_body(parser: Parser, arguments: Sequence[Parser.Argument] = ()) -> Region:
    """The inverse of `print_body`."""
    label = parser.parse_str_literal() if parser.parse_optional_keyword("label") else None
    region = parser.parse_region(arguments or None)
    if not region.blocks:
        region.add_block(Block())
    if label and Block.is_valid_name(label):
        region.blocks[0].name_hint = label
    return region


def block_names(region: Region) -> dict[Block, str]:
    """A name for every block, unique in the region: its own, with a decimal suffix on a collision."""
    found: dict[Block, str] = {}
    taken: set[str] = set()
    for number, block in enumerate(region.blocks):
        stem = block.name_hint or f"bb{number}"
        name, suffix = stem, 0
        while name in taken:
            suffix += 1
            name = f"{stem}_{suffix}"
        taken.add(name)
        found[block] = name
    return found


@irdl_op_definition
class FuncOp(IRDLOperation):
    """A function: storage handles at the top of its first block, then instructions in basic blocks.

    bir.func @main {
      %r = bir.register "r"
      bir.register_move %r = 5
      bir.return
    }
    """

    name = "bir.func"

    sym_name = prop_def(SymbolNameConstraint())
    body = region_def()

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    def __init__(self, name: str, body: Region | None = None):
        super().__init__(properties={"sym_name": StringAttr(name)}, regions=[Region(Block()) if body is None else body])

    @property
    def registers(self) -> tuple[RegisterOp, ...]:
        """Registers, in order of definition."""
        return tuple(op for op in self.entry.ops if isinstance(op, RegisterOp))

    @property
    def memory_locations(self) -> tuple[MemoryLocationOp, ...]:
        """Memory locations, in order of definition."""
        return tuple(op for op in self.entry.ops if isinstance(op, MemoryLocationOp))

    @property
    def entry(self) -> Block:
        return self.body.blocks[0]

    def verify_(self) -> None:
        from .verifier import verify_function

        verify_function(self)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        print_body(printer, self.body)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties: dict[str, Attribute] = {"sym_name": parser.parse_symbol_name()}
        attributes = parser.parse_optional_attr_dict_with_keyword()
        region = parse_body(parser)
        return cls.create(properties=properties, attributes=attributes.data if attributes else {}, regions=[region])
