"""One instruction to one line of HLO text, by the table of opcodes (xla-semantics.md d.9)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.func import CallOp
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.attributes import text_of
from xneuron.dialects.hlo.custom import OpaqueOp
from xneuron.dialects.hlo.data_movement import ConstantOp
from xneuron.dialects.hlo.types import PRED, compatible, tensor
from xneuron.formats.hlo_text.literals import print_literal
from xneuron.formats.hlo_text.opcodes import AFTER_DEPENDENCIES, BEFORE_DEPENDENCIES, PREDECESSORS, Row, Spec, rows
from xneuron.formats.hlo_text.shapes import numbered, print_shape

_PRED = tensor(PRED)


class LinePrinter:
    """Prints instructions. Texts of types and attributes are remembered by identity: the IR keeps them alive."""

    def __init__(self) -> None:
        table = rows()
        self._rows: dict[type[Operation], Row] = {row.op: row for row in table.values()}
        self._rows[table["conditional"].op] = table["conditional"]
        self._on_pred = table["conditional on pred"]
        self._leaf = table["constant"]
        self._shapes: dict[int, str] = {}
        self._values: dict[tuple[str, int], str] = {}

    def line(self, op: Operation, names: dict[int, str], called: Sequence[str], predecessors: Sequence[str]) -> str:
        """`%name = shape opcode(operands), attributes`.

        `names`: of values by `id`. `called`: names of the op's computations.
        """
        row = self._rows.get(type(op))
        if row is None:
            return self._opaque(op, names, predecessors)
        if len(op.results) != 1:
            raise VerifyException(f"expected one result for HLO text, found {len(op.results)}: {op.name}")
        result = op.results[0]
        shape = self._shapes.get(id(result.type)) or self.shape(result.type)
        inside = self._inside(op, names)
        if not (op.properties or op.attributes or called or predecessors):
            return f"{names[id(result)]} = {shape} {row.opcode}({inside})"
        attributes = self._attributes(self._refined(op, row), op, called, predecessors)
        return f"{names[id(result)]} = {shape} {row.opcode}({inside}){attributes}"

    def parameter(self, name: str, type: Attribute, number: int, attributes: dict[str, Attribute]) -> str:
        """`%name = shape parameter(number), attributes`."""
        rest = "".join(self._common(attributes, ()))
        return f"{name} = {self.shape(type)} parameter({number}){rest}"

    def shape(self, type: Attribute) -> str:
        """The text of a type."""
        if (text := self._shapes.get(id(type))) is None:
            text = self._shapes[id(type)] = print_shape(type)
        return text

    def _inside(self, op: Operation, names: dict[int, str]) -> str:
        """What stands in the parentheses: operands, or a constant's literal."""
        if isinstance(op, ConstantOp):
            return self._value("constant", op.value, print_literal)
        operands = [names[id(operand)] for operand in op.operands]
        return ", ".join(operands if len(operands) <= 5 else numbered(operands))

    def _refined(self, op: Operation, row: Row) -> Row:
        if row.opcode == "conditional" and op.operands and compatible(op.operands[0].type, _PRED):
            return self._on_pred
        return row

    def _attributes(self, row: Row, op: Operation, called: Sequence[str], predecessors: Sequence[str]) -> str:
        properties = op.attributes if isinstance(op, CallOp) else op.properties
        parts: list[str] = []
        rest = list(called)
        for spec in row.specs:
            if spec.regions:
                parts += _called(spec, op, rest)
            elif text := self._property(spec, properties):
                parts.append(text)
        return "".join([*parts, *self._common(op.attributes, predecessors)])

    def _property(self, spec: Spec, properties: dict[str, Attribute]) -> str:
        assert spec.kind is not None
        if len(spec.properties) > 1:
            return f", {spec.text}={spec.kind.show(*[properties[name] for name in spec.properties])}"
        value = properties.get(spec.properties[0]) if spec.properties else None
        if value is None:
            return f", {spec.text}={spec.kind.show(None)}" if spec.always else ""
        return self._value(spec.text, value, spec.kind.show)

    def _value(self, text: str, value: Attribute, show: Callable[..., str]) -> str:
        key = (text, id(value))
        if (shown := self._values.get(key)) is None:
            shown = self._values[key] = show(value) if text == "constant" else f", {text}={show(value)}"
        return shown

    def _common(self, attributes: dict[str, Attribute], predecessors: Sequence[str]) -> list[str]:
        parts = [self._property(spec, attributes) for spec in BEFORE_DEPENDENCIES] if attributes else []
        if predecessors:
            parts.append(f", {PREDECESSORS}={{{', '.join(predecessors)}}}")
        if attributes:
            parts += [self._property(spec, attributes) for spec in AFTER_DEPENDENCIES]
        return parts

    def _opaque(self, op: Operation, names: dict[int, str], predecessors: Sequence[str]) -> str:
        if not isinstance(op, OpaqueOp):
            raise VerifyException(f"expected an operation that HLO text can express, found {op.name}")
        result = op.results[0]
        own = text_of(op.attributes_text)
        rest = "".join(self._common(op.attributes, predecessors))
        inside = self._inside(op, names)
        head = f"{names[id(result)]} = {self.shape(result.type)} {op.opcode_name.data}({inside})"
        return f"{head}{f', {own}' if own else ''}{rest}"


def _called(spec: Spec, op: Operation, rest: list[str]) -> list[str]:
    """The part that names computations; takes those it names from `rest`."""
    if spec.ignored or (not spec.required and not rest):
        return []
    if spec.marks and spec.marks not in op.properties:
        return []
    if spec.regions == "one":
        if not rest:
            raise VerifyException(f"expected a computation as {spec.text} of {op.name}, found none")
        return [f", {spec.text}={rest.pop(0)}"]
    text = f", {spec.text}={{{', '.join(rest)}}}"
    rest.clear()
    return [text]
