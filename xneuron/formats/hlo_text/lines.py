"""One instruction to one line of HLO text, by the table of opcodes (xla-semantics.md d.9)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.func import CallOp
from xdsl.ir import Attribute, Operation, OpResult
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.attributes import text_of
from xneuron.dialects.hlo.custom import OpaqueOp
from xneuron.dialects.hlo.types import PRED, compatible, element_of, tensor
from xneuron.fastir import operands_of
from xneuron.formats.hlo_text.async_sugar import base_opcode, wrapped
from xneuron.formats.hlo_text.kinds import Kind
from xneuron.formats.hlo_text.literals import print_literal
from xneuron.formats.hlo_text.opcodes import (
    COMMON,
    COMMON_RANK,
    PREDECESSORS,
    PREDECESSORS_RANK,
    THREAD,
    Row,
    Spec,
    rows,
)
from xneuron.formats.hlo_text.shapes import numbered, print_shape

_PRED = tensor(PRED)


class LinePrinter:
    """Prints instructions. Texts of types and attributes are remembered by identity: the IR keeps them alive."""

    def __init__(self) -> None:
        table = rows()
        self._rows: dict[type[Operation], Row] = {row.op: row for row in table.values()}
        self._rows[table["conditional"].op] = table["conditional"]
        self._on_pred = table["conditional on pred"]
        self._constant = table["constant"]
        self._shapes: dict[int, str] = {}
        self._values: dict[tuple[str, int], str] = {}

    def line(
        self, op: Operation, result: OpResult, names: dict[int, str], called: Sequence[str], before: Sequence[str]
    ) -> str:
        """`%name = shape opcode(operands), attributes`.

        `names`: of values by `id`. `called`: names of the op's computations; `before`: of its control predecessors.
        """
        row = self._rows.get(type(op))
        if row is None:
            return self._opaque(op, result, names, before)
        shape = self._shapes.get(id(result.type)) or self.shape(result.type)
        if row is self._constant:
            inside = self._value("", op.properties["value"], print_literal)
        else:
            operands = [names[id(operand)] for operand in operands_of(op)]
            inside = ", ".join(operands if len(operands) <= 5 else numbered(operands))
        if row.opcode.startswith("async-"):
            return self._async(op, row, f"{names[id(result)]} = {shape}", inside, called, before)
        if not (op.properties or op.attributes or called or before or row.specs):
            return f"{names[id(result)]} = {shape} {row.opcode}({inside})"
        attributes = self._attributes(self._refined(op, row), op, called, before)
        return f"{names[id(result)]} = {shape} {row.opcode}({inside}){attributes}"

    def parameter(self, name: str, type: Attribute, number: int, attributes: Mapping[str, Attribute]) -> str:
        """`%name = shape parameter(number), attributes`."""
        return f"{name} = {self.shape(type)} parameter({number}){self._common(attributes, ())}"

    def shape(self, type: Attribute) -> str:
        """The text of a type."""
        if (text := self._shapes.get(id(type))) is None:
            text = self._shapes[id(type)] = print_shape(type)
        return text

    def _refined(self, op: Operation, row: Row) -> Row:
        if row.opcode == "conditional" and op.operands and compatible(op.operands[0].type, _PRED):
            return self._on_pred
        return row

    def _attributes(self, row: Row, op: Operation, called: Sequence[str], before: Sequence[str]) -> str:
        properties = op.attributes if type(op) is CallOp else op.properties
        parts: list[str] = []
        rest = list(called)
        for spec in row.specs:
            if spec.ignored or (spec.text == "type" and _is_default(op)):
                continue
            if spec.regions:
                parts += _called(spec, op, rest)
            elif spec.properties[0] in properties:
                parts.append(self._property(spec, properties))
            elif spec.always:
                parts.append(f", {spec.text}={_kind(spec).show(None)}")
        if op.attributes or before:
            parts.append(self._common(op.attributes, before))
        return "".join(parts)

    def _async(
        self, op: Operation, row: Row, head: str, inside: str, called: Sequence[str], before: Sequence[str]
    ) -> str:
        """`X-start` and its like where that says it all, else `async-start` and its like."""
        suffix = row.opcode.removeprefix("async")
        opcode, inner = base_opcode(op), wrapped(op)
        if inner is None:
            return f"{head} {opcode}{suffix}({inside}){self._attributes(row, op, called, before)}"
        thread = self._property(THREAD, op.properties) if THREAD.text in op.properties else ""
        own = self._attributes(self._refined(inner, self._rows[type(inner)]), inner, called, ())
        return f"{head} {opcode}{suffix}({inside}){thread}{own}{self._common(op.attributes, before)}"

    def _property(self, spec: Spec, properties: Mapping[str, Attribute]) -> str:
        show = _kind(spec).show
        if len(spec.properties) == 1:
            return self._value(f", {spec.text}=", properties[spec.properties[0]], show)
        return f", {spec.text}={show(*[properties[name] for name in spec.properties])}"

    def _value(self, prefix: str, value: Attribute, show: Callable[..., str]) -> str:
        key = (prefix, id(value))
        if (shown := self._values.get(key)) is None:
            shown = self._values[key] = prefix + _shown(show, value, prefix)
        return shown

    def _common(self, attributes: Mapping[str, Attribute], before: Sequence[str]) -> str:
        """Attributes that any instruction may have; others that the op carries are not HLO's."""
        if len(attributes) == 1 and not before:
            (name,) = attributes
            return self._property(COMMON[name], attributes) if name in COMMON else ""
        ranked = [
            (COMMON_RANK[name], self._property(COMMON[name], attributes)) for name in attributes if name in COMMON
        ]
        if before:
            ranked.append((PREDECESSORS_RANK, f", {PREDECESSORS}={{{', '.join(before)}}}"))
        return "".join([text for _, text in sorted(ranked)])

    def _opaque(self, op: Operation, result: OpResult, names: dict[int, str], before: Sequence[str]) -> str:
        if not isinstance(op, OpaqueOp):
            raise VerifyException(f"expected an operation that HLO text can express, found {op.name}")
        inside = ", ".join(numbered([names[id(operand)] for operand in op.operands]))
        own = f", {text_of(op.attributes_text)}" if op.attributes_text else ""
        head = f"{names[id(result)]} = {self.shape(result.type)} {op.opcode_name.data}({inside})"
        return f"{head}{own}{self._common(op.attributes, before)}"


_COMPARISONS = {"float": "FLOAT", "complex": "FLOAT", "int": "SIGNED", "uint": "UNSIGNED", "pred": "UNSIGNED"}


def _is_default(op: Operation) -> bool:
    """True if a compare's type is what the type of its operands implies anyway."""
    kind = element_of(operands_of(op)[0].type).kind
    return text_of(op.properties.get("compare_type")) == _COMPARISONS[kind]


def _shown(show: Callable[..., str], value: Attribute, prefix: str) -> str:
    try:
        return show(value)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise VerifyException(f"expected a value of the kind that '{prefix.strip(' ,')}' has, found {value}") from None


def _kind(spec: Spec) -> Kind:
    assert spec.kind is not None
    return spec.kind


def _called(spec: Spec, op: Operation, rest: list[str]) -> list[str]:
    """The part that names computations; takes those it names from `rest`."""
    if not spec.required and not rest:
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
