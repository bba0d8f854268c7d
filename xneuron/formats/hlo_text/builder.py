"""From what an instruction's text says to the op it stands for. Knows IR; of text only positions, for errors."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FileLineColLoc, StringAttr, SymbolRefAttr, TupleType
from xdsl.dialects.func import CallOp
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.attributes import integer, text_of
from xneuron.dialects.hlo.base import HloOp
from xneuron.dialects.hlo.control_flow import ControlDependencyOp, GetTupleElementOp
from xneuron.dialects.hlo.data_movement import ConstantOp, CopyOp
from xneuron.dialects.hlo.types import TokenType, compatible, elements_of, spelled
from xneuron.fastir import append, build, file_location, retype
from xneuron.formats.hlo_text.async_sugar import base_opcode, start_of
from xneuron.formats.hlo_text.computations import Computation
from xneuron.formats.hlo_text.instructions import Said
from xneuron.formats.hlo_text.lexer import Scanner
from xneuron.formats.hlo_text.opcodes import THREAD, Row, rows

_NOT_YET = TokenType()
MOST_COPIES = 1_000_000
"""Instructions that copies of shared computations may amount to; more is a text that explodes."""


class Builder:
    """Adds ops to the computation that is being read (`scope`)."""

    def __init__(self, scanner: Scanner) -> None:
        self.scanner = scanner
        self.scope = Computation("")
        self.copies = 0
        self._file = StringAttr(scanner.name)
        self._line, self._counted, self._line_start = 1, 0, 0

    def location(self, start: int) -> FileLineColLoc:
        """Line and column of a position. Cheap where positions are asked for in order: lines are counted on."""
        text = self.scanner.text
        if start < self._line_start:
            return file_location(self._file, text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start))
        if start > self._counted:
            if newlines := text.count("\n", self._counted, start):
                self._line += newlines
                self._line_start = text.rfind("\n", self._counted, start) + 1
            self._counted = start
        return file_location(self._file, self._line, start - self._line_start + 1)

    def parameter(self, number: int, at: int, name: str | None, type: Attribute, said: Said) -> SSAValue:
        """An argument of the computation. `at`: where the number stands."""
        argument = self.scope.add_parameter(number, type, name)
        if argument is None:
            self.scanner.error(f"Duplicate parameter number {number}", at)
        if said.attributes:
            self.scope.parameters[number] = DictionaryAttr(said.attributes)
        return argument

    def constant(self, name: str | None, start: int, type: Attribute, value: Attribute, said: Said) -> SSAValue:
        """A constant op."""
        op = build(ConstantOp, (), type, {"value": value}, said.attributes.copy(), name, self.location(start))
        return self._appended(op, said)

    def instruction(
        self, row: Row, name: str | None, start: int, type: Attribute | None, operands: Sequence[SSAValue], said: Said
    ) -> SSAValue:
        """The op of any other opcode; its result type is inferred where the text has none."""
        count = len(operands)
        if count < row.fewest or (row.most is not None and count > row.most):
            self.scanner.error(f"expects {row.fewest} operands, but has {count} operands", start)
        location = self.location(start)
        if row.op is CallOp:
            op = self._call(name, location, type, operands, said)
        else:
            regions = [self._region(computation, start) for computation in said.called] if said.called else ()
            properties, attributes = said.properties.copy(), said.attributes.copy()
            op = build(row.op, operands, type or _NOT_YET, properties, attributes, name, location, regions)
            if type is None:
                self._infer(op, row, start)
        return self._appended(op, said)

    def async_start(
        self, row: Row, name: str | None, start: int, type: Attribute, operands: Sequence[SSAValue], said: Said
    ) -> SSAValue:
        """`X-start`: wraps X, which gets the attributes that are its own, in a computation."""
        parts = elements_of(type) if isinstance(type, TupleType) else ()
        if len(parts) < 2 or not isinstance(parts[0], TupleType):
            self.scanner.error(
                "AsyncStart expects the op shape to be in the form of ((async-operands), async-outputs, state), "
                f"found {spelled(type)}",
                start,
            )
        thread = said.properties.pop(THREAD.text, None)
        outer, wrapper = self.scope, Computation("async_computation", thread=text_of(thread))
        self.scope = wrapper
        arguments = [
            self.parameter(number, start, f"param_{number}", operand.type, Said())
            for number, operand in enumerate(operands)
        ]
        inner = Said(said.properties, {}, said.called, [])
        wrapper.root = self.instruction(row, row.opcode, start, parts[1], arguments, inner)
        self.scope = outer
        properties: dict[str, Attribute] = {"computations": ArrayAttr([wrapper.attribute])}
        if thread is not None:
            properties[THREAD.text] = thread
        outside = Said(properties, said.attributes, [wrapper], said.predecessors)
        return self.instruction(rows()["async-start"], name, start, type, operands, outside)

    def async_rest(
        self,
        row: Row,
        opcode: str,
        name: str | None,
        start: int,
        type: Attribute | None,
        operands: Sequence[SSAValue],
        said: Said,
    ) -> SSAValue:
        """`X-update` and `X-done` (or `async-…` if `opcode` is empty), checked against the start."""
        began = start_of(operands[0]) if operands else None
        if began is None:
            self.scanner.error("AsyncUpdate and AsyncDone expect a single async op as their operand.", start)
        if opcode and (expected := base_opcode(began)) != opcode:
            self.scanner.error(f"Expect async wrapped opcode to be {expected}, but got {opcode}", start)
        if (thread := said.properties.get(THREAD.text)) not in (None, known := began.async_execution_thread):
            found = f"{text_of(known) or 'main'}, but got {text_of(thread)}"
            self.scanner.error(f"Expect async_execution_thread to be {found}", start)
        if said.properties.get("computations", began.computations) != began.computations:
            self.scanner.error(
                f"Expect async wrapped computation to be that of the start, but got {said.called[0].name}"
            )
        rest = Said({}, said.attributes, [], said.predecessors)
        return self.instruction(row, name, start, type, operands, rest)

    def element(self, value: SSAValue, index: int, start: int) -> SSAValue:
        """Element `index` of a tuple, as `%name#index` says."""
        try:
            type = elements_of(value.type)[index]
        except (VerifyException, IndexError):
            self.scanner.error(f"expected a tuple with an element {index}", start)
        op = build(GetTupleElementOp, (value,), type, {"index": integer(index)}, {}, None, self.location(start))
        return self._appended(op, Said())

    def _appended(self, op: Operation, said: Said) -> SSAValue:
        append(self.scope.block, op)
        self.scope.size += 1
        (value,) = op.results
        for name, at in said.predecessors:
            if (before := self.scope.values.get(name)) is None:
                self.scanner.error(f"instruction does not exist: {name}", at)
            append(self.scope.block, build(ControlDependencyOp, (before, value), None, {}, {}, None, op.location))
        return value

    def _call(
        self, name: str | None, location: Attribute, type: Attribute | None, operands: Sequence[SSAValue], said: Said
    ) -> Operation:
        """A `func.call`, whose types must be the function's to the letter: where only layouts differ, a copy adapts."""
        callee = said.called[0]
        callee.called = True
        types = [argument.type for argument in callee.block.args]
        if len(types) == len(operands):
            operands = [self._adapted(value, to, location) for value, to in zip(operands, types, strict=True)]
        attributes = {**said.properties, **said.attributes}
        del attributes["computations"]
        properties: dict[str, Attribute] = {"callee": SymbolRefAttr(callee.name)}
        if type is None or type == callee.type or not compatible(type, callee.type):
            return build(CallOp, operands, type or callee.type, properties, attributes, name, location)
        call = build(CallOp, operands, callee.type, properties, attributes, None, location)
        append(self.scope.block, call)
        return build(CopyOp, (call.results[0],), type, {}, {}, name, location)

    def _adapted(self, value: SSAValue, type: Attribute, location: Attribute) -> SSAValue:
        if value.type is type or value.type == type or not compatible(value.type, type):
            return value
        copy = build(CopyOp, (value,), type, {}, {}, None, location)
        append(self.scope.block, copy)
        return copy.results[0]

    def _region(self, computation: Computation, start: int) -> Region:
        self.scope.size += computation.size
        if computation.used:
            self.copies += computation.size
        if self.copies > MOST_COPIES:
            self.scanner.error(f"expected shared computations to expand to at most {MOST_COPIES} instructions", start)
        return computation.region()

    def _infer(self, op: Operation, row: Row, start: int) -> None:
        assert isinstance(op, HloOp)
        try:
            type = op.infer()
        except VerifyException as error:
            self.scanner.error(f"failed to infer shape for opcode: {row.opcode}, error: {error}", start)
        if type is None:
            self.scanner.error(f"cannot infer shape for opcode: {row.opcode}", start)
        retype(op.results[0], type)
