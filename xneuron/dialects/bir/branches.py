"""Terminators: branches between the basic blocks of one region, and ways out of it."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar, Self

from xdsl.ir import Block
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, successor_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure

from .enums import BranchCompareOp, BranchCompareOpAttr, Engine, Opcode
from .instruction import (
    DataInstruction,
    Instruction,
    Takes,
    header,
    parse_engine,
    parse_label,
    parse_operands,
    print_operands,
    store,
)
from .operands import OperandLike
from .syntax import Reader


@irdl_op_definition
class CompareAndBranchOp(DataInstruction):
    """Goes to `on_true` if the comparison holds, else to `on_false`; compares in the left operand's dtype.

    bir.compare_and_branch IS_LTREG(%i, %limit) ^body, ^exit
    """

    name = "bir.compare_and_branch"
    OPCODE: ClassVar = Opcode.CompareAndBranch
    INPUTS: ClassVar = (Takes.REGISTER, Takes.REGISTER | Takes.IMMEDIATE)

    comp_op = prop_def(BranchCompareOpAttr)
    on_true = successor_def()
    on_false = successor_def()

    traits = traits_def(IsTerminator())

    def __init__(
        self,
        comp_op: BranchCompareOp,
        left: OperandLike,
        right: OperandLike,
        on_true: Block,
        on_false: Block,
        *,
        engine: Engine = Engine.Unassigned,
        label: str | None = None,
    ):
        values, stored = store([], [left, right])
        properties = {**header(engine, label), **stored, "comp_op": BranchCompareOpAttr(comp_op)}
        IRDLOperation.__init__(self, operands=[values], properties=properties, successors=[on_true, on_false])

    def print(self, printer: Printer) -> None:
        self.print_label(printer)
        printer.print_string(f" {self.comp_op.data}")
        with printer.in_parens():
            print_operands(printer, self.inputs)
        printer.print_string(" ")
        printer.print_list(self.successors, printer.print_block_name)
        self.print_engine(printer)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        label = parse_label(parser)
        comp_op = parser.parse_str_enum(BranchCompareOp)
        with parser.in_parens():
            values, stored = store([], parse_operands(Reader(parser, ssa=True)))
        on_true = parser.parse_successor()
        parser.parse_punctuation(",")
        on_false = parser.parse_successor()
        engine = parse_engine(parser)
        return cls.create(
            operands=values,
            properties={**header(engine, label), **stored, "comp_op": BranchCompareOpAttr(comp_op)},
            successors=[on_true, on_false],
            attributes=parser.parse_optional_attr_dict(),
        )


class PlainTerminator(Instruction, ABC):
    """A terminator of at most one successor and no other operand."""

    SUCCESSORS: ClassVar[int] = 0

    def __init__(self, *successors: Block, engine: Engine = Engine.Unassigned, label: str | None = None):
        super().__init__(operands=[[]], properties=header(engine, label), successors=successors)

    def print(self, printer: Printer) -> None:
        self.print_label(printer)
        if self.successors:
            printer.print_string(" ")
        printer.print_list(self.successors, printer.print_block_name)
        self.print_engine(printer)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        label = parse_label(parser)
        targets = [parser.parse_successor() for _ in range(cls.SUCCESSORS)]
        engine = parse_engine(parser)
        return cls.create(
            properties=header(engine, label),
            successors=targets,
            attributes=parser.parse_optional_attr_dict(),
        )


@irdl_op_definition
class UnconditionalBranchOp(PlainTerminator):
    """Goes to `target`.

    bir.unconditional_branch ^exit
    """

    name = "bir.unconditional_branch"
    OPCODE: ClassVar = Opcode.UnconditionalBranch
    SUCCESSORS: ClassVar = 1

    target = successor_def()

    traits = traits_def(IsTerminator())


@irdl_op_definition
class ReturnOp(PlainTerminator):
    """Ends the function."""

    name = "bir.return"
    OPCODE: ClassVar = Opcode.Return

    traits = traits_def(IsTerminator())


@irdl_op_definition
class ExitOp(PlainTerminator):
    """Aborts the program: an error when it runs."""

    name = "bir.exit"
    OPCODE: ClassVar = Opcode.Exit

    traits = traits_def(IsTerminator())


@irdl_op_definition
class BreakOp(PlainTerminator):
    """Leaves the innermost enclosing loop."""

    name = "bir.break"
    OPCODE: ClassVar = Opcode.Break

    traits = traits_def(IsTerminator())

    def verify_(self) -> None:
        from .verifier import verify_placement

        verify_placement(self)


@irdl_op_definition
class ContinueOp(IRDLOperation):
    """Ends this trip of the innermost enclosing loop: the end of its block list, not a BIR instruction."""

    name = "bir.continue"

    traits = traits_def(IsTerminator(), Pure())

    def verify_(self) -> None:
        from .verifier import verify_placement

        verify_placement(self)

    assembly_format = "attr-dict"
