"""What all instructions share: the header, operands, effects and one assembly format.

    bir.<opcode> "name"? <outs> = <ins> <keys> on <engine> {attributes}

Instructions write mutable handles and produce no SSA results, so their effects are what keeps xDSL's
`dce`, `cse` and `canonicalize` away from them: each reads what it names on the right, writes what it
names on the left.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from enum import Flag, auto
from typing import ClassVar, Self

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import opt_prop_def, prop_def, traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind

from .enums import DATA_PATH_ENGINES, Engine, EngineAttr, Opcode
from .expressions import Ref
from .keyed import KeyedOp, parse_value, print_value
from .operands import (
    Decoder,
    Encoder,
    Operand,
    OperandAttr,
    OperandLike,
    as_operand,
    handle,
    operand_leaves,
    operand_pieces,
    parse_operand,
)
from .syntax import Reader, print_pieces


class Takes(Flag):
    """What may stand in an operand position; on-chip and DRAM narrow down memory."""

    CHIP = auto()
    DRAM = auto()
    REGISTER = auto()
    IMMEDIATE = auto()
    MEMORY = CHIP | DRAM


class Instruction(KeyedOp, ABC):
    """The header of every instruction: its operands, its engine and its name."""

    HEADER: ClassVar[frozenset[str]] = frozenset({"ins", "outs", "engine", "instruction_name"})
    OPCODE: ClassVar[Opcode]

    values = var_operand_def()
    engine = prop_def(EngineAttr, default_value=EngineAttr(Engine.Unassigned))
    instruction_name = opt_prop_def(StringAttr)

    @property
    def label(self) -> str | None:
        """The instruction's own name, as in BIR-JSON."""
        return self.instruction_name.data if self.instruction_name else None

    def print_label(self, printer: Printer) -> None:
        if self.instruction_name:
            printer.print_string(" ")
            printer.print_string_literal(self.instruction_name.data)

    def print_engine(self, printer: Printer) -> None:
        if self.engine.data != Engine.Unassigned:
            printer.print_string(f" on {self.engine.data}")


def header(engine: Engine, label: str | None) -> dict[str, Attribute]:
    """Properties of the header."""
    named = {"instruction_name": StringAttr(label)} if label is not None else {}
    return {"engine": EngineAttr(engine), **named}


def parse_label(parser: Parser) -> str | None:
    """The optional name in front of an instruction's operands."""
    return parser.parse_optional_str_literal()


def parse_engine(parser: Parser) -> Engine:
    """The optional `on <engine>`."""
    return parser.parse_str_enum(Engine) if parser.parse_optional_keyword("on") else Engine.Unassigned


class InstructionEffects(MemoryEffect):
    """Reads every handle on the right and in offsets, writes every handle on the left."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance] | None:
        assert isinstance(op, DataInstruction)
        reads, writes = op.reads(), op.writes()
        # An instruction without outputs (a barrier) acts in ways that no handle shows.
        if not writes:
            return None
        return {EffectInstance(MemoryEffectKind.READ, value) for value in reads} | {
            EffectInstance(MemoryEffectKind.WRITE, value) for value in writes
        }


class DataInstruction(Instruction, ABC):
    """An instruction with inputs and outputs."""

    HEAD: ClassVar[str | None] = None
    """The key that is printed as a function of the inputs: `%z = add(%x, %y)`."""
    INPUTS: ClassVar[tuple[Takes, ...]] = ()
    """What each input may be; the last `OPTIONAL` of them may be left out."""
    OPTIONAL: ClassVar[int] = 0
    OUTPUTS: ClassVar[tuple[Takes, ...]] = ()
    ENGINES: ClassVar[frozenset[Engine]] = frozenset(DATA_PATH_ENGINES)
    """Engines that can run it; ALL and Unassigned always pass (reference e, code 400)."""

    ins = prop_def(ArrayAttr[OperandAttr])
    outs = prop_def(ArrayAttr[OperandAttr])

    traits = traits_def(InstructionEffects())

    def __init__(
        self,
        outs: Sequence[OperandLike] = (),
        ins: Sequence[OperandLike] = (),
        *,
        engine: Engine = Engine.Unassigned,
        label: str | None = None,
        **keys: object,
    ):
        properties = header(engine, label) | self.key_attributes(keys)
        values, stored = store(outs, ins)
        # All operands are one group, so that there is nothing for xDSL to sort into groups: three times as fast.
        Operation.__init__(self, operands=values, properties=properties | stored)

    @property
    def inputs(self) -> tuple[Operand, ...]:
        """What is read, in order; every memory, register and leaf is an SSA value."""
        decoder = Decoder(tuple(self.operands))
        return tuple(decoder.operand(attr) for attr in self.ins)

    @property
    def outputs(self) -> tuple[Operand, ...]:
        """What is written, in order."""
        decoder = Decoder(tuple(self.operands))
        return tuple(decoder.operand(attr) for attr in self.outs)

    def reads(self) -> set[SSAValue]:
        """Handles read, and the registers and induction variables that addresses depend on."""
        stored = [attr.data for attr in (*self.ins, *self.outs)]
        refs = [leaf.value for operand in stored for leaf in operand_leaves(operand)]
        return self._at([*refs, *(handle(attr.data) for attr in self.ins)])

    def writes(self) -> set[SSAValue]:
        """Handles written."""
        return self._at([handle(attr.data) for attr in self.outs])

    def _at(self, refs: Sequence[Ref]) -> set[SSAValue]:
        """The values at stored positions."""
        values = tuple(self.operands)
        return {values[ref] for ref in refs if isinstance(ref, int) and ref < len(values)}

    def verify_(self) -> None:
        from .verifier import verify_instruction

        verify_instruction(self)

    def print(self, printer: Printer) -> None:
        self.print_label(printer)
        if self.outs.data:
            printer.print_string(" ")
            print_operands(printer, self.outputs)
        if self.HEAD:
            printer.print_string(" = ")
            print_value(printer, self.properties[self.HEAD])
            with printer.in_parens():
                print_operands(printer, self.inputs)
        elif self.ins.data:
            printer.print_string(" = ")
            print_operands(printer, self.inputs)
        self.print_keys(printer, without=self.HEAD)
        self.print_engine(printer)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        label = parse_label(parser)
        reader = Reader(parser, ssa=True)
        outs = parse_operands(reader)
        ins, head = cls._parse_inputs(parser, reader)
        keys = cls.parse_keys(parser)
        engine = parse_engine(parser)
        attributes = parser.parse_optional_attr_dict()
        values, stored = store(outs, ins)
        properties = header(engine, label) | stored | head | keys
        return cls.create_instruction(values, properties, attributes)

    @classmethod
    def _parse_inputs(cls, parser: Parser, reader: Reader) -> tuple[list[Operand], dict[str, Attribute]]:
        if cls.HEAD is None:
            return (parse_operands(reader) if parser.parse_optional_punctuation("=") else []), {}
        parser.parse_punctuation("=")
        head = parse_value(parser, cls.key_definitions()[cls.HEAD].attribute)
        with parser.in_parens():
            return parse_operands(reader), {cls.HEAD: head}

    @classmethod
    def create_instruction(
        cls, values: list[SSAValue], properties: dict[str, Attribute], attributes: dict[str, Attribute]
    ) -> Self:
        """An instruction from stored parts."""
        return cls.create(operands=values, properties=properties, attributes=attributes)


def store(outs: Sequence[OperandLike], ins: Sequence[OperandLike]) -> tuple[list[SSAValue], dict[str, Attribute]]:
    """The operand list and the `ins` and `outs` properties that refer to it."""
    encoder = Encoder()
    stored_outs = ArrayAttr([encoder.operand(as_operand(out)) for out in outs])
    stored_ins = ArrayAttr([encoder.operand(as_operand(value)) for value in ins])
    return encoder.values, {"ins": stored_ins, "outs": stored_outs}


def print_operands(printer: Printer, operands: Sequence[Operand]) -> None:
    printer.print_list(operands, lambda operand: print_pieces(printer, operand_pieces(operand)))


def parse_operands(reader: Reader) -> list[Operand]:
    """A possibly empty comma-separated list; it ends where no operand starts."""
    if not _at_operand(reader):
        return []
    return reader.parser.parse_comma_separated_list(reader.parser.Delimiter.NONE, lambda: parse_operand(reader))


def _at_operand(reader: Reader) -> bool:
    rest = reader.parser.lexer.input.content[reader.parser.pos :][:10]
    return rest[:1] in ("%", "-") or rest[:1].isdigit() or rest.startswith(("memory(", "register(", "inf", "nan"))


def instructions_of(op: Operation) -> Iterator[Instruction]:
    """All instructions inside `op`, outermost first, in program order."""
    return (inner for inner in op.walk() if isinstance(inner, Instruction))
