"""HLO text to IR: modules, computations, instructions (xla-semantics.md d.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import NoReturn

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, SSAValue

from xneuron.dialects.hlo.types import PRED, compatible, spelled, tensor
from xneuron.fastir import collector_off
from xneuron.formats.hlo_text.async_sugar import split_opcode
from xneuron.formats.hlo_text.builder import Builder
from xneuron.formats.hlo_text.computations import Computation
from xneuron.formats.hlo_text.fastpath import LineReader
from xneuron.formats.hlo_text.header import parse_header
from xneuron.formats.hlo_text.instructions import Said, parse_attributes
from xneuron.formats.hlo_text.lexer import IDENTIFIER, RESERVED, Scanner
from xneuron.formats.hlo_text.literals import parse_literal
from xneuron.formats.hlo_text.opcodes import SHAPE_REQUIRED, Row, rows
from xneuron.formats.hlo_text.shapes import PRIMITIVES, at_shape, parse_shape

_NOTHING = Said()


def parse_hlo(text: str, filename: str = "<stdin>") -> ModuleOp:
    """The module that a text in HLO syntax describes. Raises ParseError, with the place, for anything else.

    Not verified: shapes that are spelled out are taken as they are (xla-semantics.md d.2-d.7).
    """
    scanner = Scanner(text, filename)
    with collector_off():
        try:
            return Parser(scanner).module()
        except RecursionError:
            scanner.error("maximum recursion depth exceeded: expected less nesting")


class Parser:
    """One parse: computations by name, the builder, and the position in the text."""

    def __init__(self, scanner: Scanner) -> None:
        self.scanner = scanner
        self.builder = Builder(scanner)
        self.computations: dict[str, Computation] = {}
        self.rows = rows()
        self.line_reader = LineReader(scanner, self.builder, self.rows, self.attributes)

    def module(self) -> ModuleOp:
        """Takes the whole text."""
        scanner = self.scanner
        name, attributes = parse_header(scanner) if scanner.word() == "HloModule" else ("", dict[str, Attribute]())
        if not name and self._at_instruction():
            return self._assembled("_", attributes, self._single_instruction())
        entry: Computation | None = None
        while not scanner.at_end():
            start = scanner.pos
            is_entry = scanner.accept_word("ENTRY")
            if is_entry and entry is not None:
                scanner.error("expects only one ENTRY", start, start + len("ENTRY"))
            computation = self.computation()
            entry = computation if is_entry else entry
        if not self.computations:
            scanner.wrong("computation")
        entry = entry or list(self.computations.values())[-1]
        return self._assembled(name or f"module_{entry.name}", attributes, entry)

    def _assembled(self, name: str, attributes: dict[str, Attribute], entry: Computation) -> ModuleOp:
        functions = [
            computation.function(computation is entry)
            for computation in self.computations.values()
            if computation is entry or computation.called or not computation.used
        ]
        return ModuleOp(functions, attributes, StringAttr(name))

    def _at_instruction(self) -> bool:
        """True if `name =` comes next rather than a computation."""
        scanner, start = self.scanner, self.scanner.skip()
        scanner.accept("%")
        found = scanner.word() not in (None, "ENTRY") and scanner.take(IDENTIFIER) is not None and scanner.at("=")
        scanner.pos = start
        return found

    def _single_instruction(self) -> Computation:
        computation = self.computations["_"] = Computation("_", scratch=True)
        self.builder.scope = computation
        computation.root = self.instruction()
        if not self.scanner.at_end():
            self.scanner.wrong("end of text after a single instruction")
        return computation

    def computation(self) -> Computation:
        """Takes `name (parameters) -> shape { instructions }`, the middle part optional."""
        scanner, start = self.scanner, self.scanner.skip()
        name = self.name("name of a computation")
        if name in self.computations:
            scanner.error(f"computation already exists: {name}", start)
        computation = Computation(name)
        declared, at = self._signature() if scanner.at("(") else (None, start)
        self._body(computation)
        if declared is not None and not compatible(declared, computation.type):
            scanner.error(
                f"Shape of computation {name}, {spelled(declared)}, is not compatible with that of its root "
                f"instruction {computation.root_name}, {spelled(computation.type)}",
                at,
            )
        if scanner.accept(","):
            scanner.expect("execution_thread=")
            computation.thread = scanner.string()
        self.computations[name] = computation
        return computation

    def _signature(self) -> tuple[Attribute, int]:
        """Takes `(name: shape, …) -> shape`; the result's shape and its position. The rest is looked at, not used."""
        scanner = self.scanner
        scanner.expect("(")
        first = True
        while not scanner.accept(")"):
            if not first:
                scanner.expect(",", " or ')' in the parameters")
            first = False
            scanner.accept("%")
            scanner.need(IDENTIFIER, "name of a parameter")
            scanner.accept(":")
            parse_shape(scanner)
        scanner.expect("->", " and the shape of the computation")
        start = scanner.skip()
        return parse_shape(scanner), start

    def _body(self, computation: Computation) -> None:
        """Takes `{ instructions }` into the computation."""
        scanner, start, outer = self.scanner, self.scanner.skip(), self.builder.scope
        scanner.expect("{", " and the instructions of the computation")
        self.builder.scope = computation
        last: SSAValue | None = None
        while True:
            last = self.line_reader.lines(computation, last)
            if scanner.accept("}"):
                break
            at = scanner.skip()
            is_root = scanner.accept_word("ROOT")
            if is_root and computation.root is not None:
                scanner.error("one computation should have only one ROOT", at, at + len("ROOT"))
            last = self.instruction()
            computation.root = last if is_root else computation.root
        computation.root = computation.root or last
        if computation.root is None:
            scanner.error("expected at least one instruction in the computation, found none", start)
        if computation.numbers != list(range(len(computation.numbers))):
            missing = next(at for at, number in enumerate(computation.numbers) if at != number)
            scanner.error(f"expected a parameter({missing}), found parameters {computation.numbers}", start)
        self.builder.scope = outer

    def called_computation(self) -> Computation:
        """Takes the name of a computation, or a body in its place."""
        scanner, start = self.scanner, self.scanner.skip()
        if scanner.at("{"):
            computation = Computation("_")
            self._body(computation)
            return computation
        scanner.accept("%")
        name = scanner.need(IDENTIFIER, "name of a computation or '{'")[0]
        if (found := self.computations.get(name)) is None:
            scanner.error(f"computation does not exist: {name}{_hint(name, self.computations)}", start, scanner.pos)
        return found

    def name(self, what: str) -> str:
        """Takes a name to define. Without `%` it must not be a word of the grammar."""
        scanner, start = self.scanner, self.scanner.skip()
        marked = scanner.accept("%")
        name = scanner.need(IDENTIFIER, what)[0]
        if marked and name in PRIMITIVES:
            scanner.error(f"illegal instruction name: {name}; suggest renaming to: {name}_", start, scanner.pos)
        if not marked and (name in RESERVED or name in PRIMITIVES):
            hint = f"; write %{name}" if name in RESERVED else ""
            scanner.error(f"expected {what}, found the reserved word {name}{hint}", start, scanner.pos)
        scanner.accept(":")
        return name

    def instruction(self) -> SSAValue:
        """Takes `name = shape opcode(operands), attributes`; its value."""
        scanner, start = self.scanner, self.scanner.skip()
        name = self.name("name of an instruction")
        values = self.builder.scope.values
        if name in values:
            scanner.error(f"instruction already exists: {name}", start)
        scanner.expect("=", " in the instruction")
        value = values[name] = self._right_hand_side(name, start)
        return value

    def _right_hand_side(self, name: str | None, start: int) -> SSAValue:
        """Takes `shape opcode(operands)`, and attributes unless the instruction is nested and has no name."""
        scanner = self.scanner
        type = parse_shape(scanner) if at_shape(scanner) else None
        at = scanner.skip()
        opcode = scanner.need(IDENTIFIER, "opcode")[0]
        if type is None and opcode in SHAPE_REQUIRED:
            scanner.error(f"cannot infer shape for opcode: {opcode}", at, scanner.pos)
        if opcode == "parameter" or opcode == "constant":
            assert type is not None
            return self._leaf(opcode, name, start, type)
        row = self.rows.get(opcode)
        if row is None and (short := split_opcode(opcode)):
            return self._async(*short, name, start, type)
        row = row or self._unknown(opcode, at)
        scanner.expect("(", " and the operands")
        operands = self._operands()
        row = self._refined(row, operands)
        said = self.attributes(row, operands, nested=name is None)
        name = name or f"{opcode}.anon"
        if row.opcode in ("async-update", "async-done"):
            return self.builder.async_rest(row, "", name, start, type, operands, said)
        return self.builder.instruction(row, name, start, type, operands, said)

    def _leaf(self, opcode: str, name: str | None, start: int, type: Attribute) -> SSAValue:
        """Takes `(number)` of a parameter, `(literal)` of a constant."""
        scanner = self.scanner
        scanner.expect("(", f" after {opcode}")
        at = scanner.skip()
        if opcode == "constant":
            value = parse_literal(scanner, type)
            scanner.expect(")", " after the literal")
            said = self.attributes(self.rows["constant"], (), nested=name is None)
            return self.builder.constant(name or "constant.anon", start, type, value, said)
        number = scanner.integer("parameter number")
        if number < 0:
            scanner.error("parameter number must be >= 0", at)
        scanner.expect(")", " after the parameter number")
        said = self.attributes(self.rows["constant"], (), nested=name is None)
        return self.builder.parameter(number, at, name or "parameter.anon", type, said)

    def _unknown(self, opcode: str, at: int) -> NoReturn:
        hint = _hint(opcode, self.rows)
        self.scanner.error(f"expects opcode but sees: {opcode}, error: Unknown opcode: {opcode}{hint}", at)

    def _async(self, row: Row, suffix: str, name: str | None, start: int, type: Attribute | None) -> SSAValue:
        """Takes the operands and attributes of `X-start`, `X-update`, `X-done`."""
        if type is None:
            self.scanner.error(f"cannot infer shape for opcode: async{suffix}", start)
        self.scanner.expect("(", " and the operands")
        operands = self._operands()
        if suffix == "-start":
            row = self._refined(row, operands)
            said = self.attributes(row, operands, nested=name is None)
            return self.builder.async_start(row, name, start, type, operands, said)
        said = self.attributes(self.rows[f"async{suffix}"], operands, nested=name is None)
        return self.builder.async_rest(self.rows[f"async{suffix}"], row.opcode, name, start, type, operands, said)

    def _refined(self, row: Row, operands: Sequence[SSAValue]) -> Row:
        """A conditional on a pred has attributes of its own."""
        if row.opcode == "conditional" and operands and compatible(operands[0].type, tensor(PRED)):
            return self.rows["conditional on pred"]
        return row

    def attributes(self, row: Row, operands: Sequence[SSAValue], nested: bool = False) -> Said:
        """Takes the attributes of an instruction; none of a nested one."""
        of_scalar = row.opcode == "broadcast" and bool(operands) and spelled(operands[0].type).endswith("[]")
        return parse_attributes(self.scanner, row, self.called_computation, of_scalar, nested)

    def _operands(self) -> list[SSAValue]:
        scanner = self.scanner
        operands: list[SSAValue] = []
        while not scanner.accept(")"):
            if operands:
                scanner.expect(",", " or ')' in the operands")
            operands.append(self._operand())
        return operands

    def _operand(self) -> SSAValue:
        """Takes `shape name`, `name#0`, or a nested `shape opcode(operands)`."""
        scanner, start = self.scanner, self.scanner.skip()
        declared = parse_shape(scanner) if at_shape(scanner) else None
        at = scanner.skip()
        marked = scanner.accept("%")
        name = scanner.need(IDENTIFIER, "operand")[0]
        if not marked and scanner.at("("):
            scanner.pos = start
            return self._right_hand_side(None, start)
        value = self._defined(name, at, declared)
        while scanner.accept("#"):
            name = f"{name}#{(index := scanner.integer('index', low=0))}"
            value = self._element(name, value, index, at)
        if declared is not None and not compatible(declared, value.type):
            scanner.error(
                f"The declared operand shape {spelled(declared)} is not compatible with the shape of the operand "
                f"instruction {spelled(value.type)}.",
                start,
            )
        return value

    def _defined(self, name: str, at: int, declared: Attribute | None) -> SSAValue:
        scope = self.builder.scope
        if (value := scope.values.get(name)) is not None:
            return value
        if not scope.scratch or declared is None:
            hint = _hint(name, scope.values)
            self.scanner.error(f"instruction does not exist: {name}{hint}", at, self.scanner.pos)
        value = scope.values[name] = self.builder.parameter(len(scope.numbers), at, name, declared, _NOTHING)
        return value

    def _element(self, name: str, value: SSAValue, index: int, at: int) -> SSAValue:
        """The get-tuple-element behind `%t#0`, made once."""
        values = self.builder.scope.values
        if name not in values:
            values[name] = self.builder.element(value, index, at)
        return values[name]


def _hint(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name, known, 1)
    return f"; did you mean {close[0]}?" if close else ""
