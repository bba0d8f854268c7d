"""What stands behind an instruction's operands: its list of attributes, read by the table of opcodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute

from xneuron.formats.hlo_text.computations import Computation
from xneuron.formats.hlo_text.kinds import UNIT
from xneuron.formats.hlo_text.lexer import ATTRIBUTE_NAME, IDENTIFIER, Scanner
from xneuron.formats.hlo_text.opcodes import COMMON, PREDECESSORS, Row, Spec


@dataclass
class Said:
    """An attribute list. `predecessors` are names with their positions: they mean something in one computation only."""

    properties: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    attributes: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    called: list[Computation] = field(default_factory=list[Computation])
    predecessors: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])


def parse_attributes(
    scanner: Scanner, row: Row, computation: Callable[[], Computation], optional: bool, nested: bool
) -> Said:
    """Takes `, name=value` as often as it comes, not at all behind a `nested` instruction.

    `computation` takes a computation's name or body. `optional`: required attributes that have an empty form may be
    left out (dimensions of the broadcast of a scalar).
    """
    said, called, seen = Said(), dict[str, list[Computation]](), set[str]()
    end = scanner.pos
    while not nested and scanner.accept(","):
        name = _attribute_name(scanner, row, seen)
        spec = row.named.get(name)
        if name == PREDECESSORS:
            said.predecessors = _parse_predecessors(scanner)
        elif spec is not None and spec.regions:
            called[name] = _parse_called(scanner, spec, computation)
        elif spec is not None:
            _store(spec, _value(scanner, spec), said.properties)
        else:
            _store(COMMON[name], _value(scanner, COMMON[name]), said.attributes)
        end = scanner.pos
    scanner.pos = end
    _complete(scanner, row, seen, said, called, optional)
    return said


def _attribute_name(scanner: Scanner, row: Row, seen: set[str]) -> str:
    name = scanner.need(ATTRIBUTE_NAME, "attribute name")[1]
    start = scanner.pos - len(name) - 1
    if name in seen:
        scanner.error(f"attribute {name} already exists", start, start + len(name))
    if name not in row.allowed:
        allowed = ", ".join(sorted(row.allowed))
        scanner.error(f'unexpected attribute "{name}". Allowed attributes: {allowed}', start, start + len(name))
    seen.add(name)
    return name


def _value(scanner: Scanner, spec: Spec) -> Attribute | tuple[Attribute, ...] | None:
    assert spec.kind is not None
    return spec.kind.parse(scanner)


def _store(spec: Spec, value: Attribute | tuple[Attribute, ...] | None, into: dict[str, Attribute]) -> None:
    if isinstance(value, tuple):
        into.update(zip(spec.properties, value, strict=True))
    elif value is not None and not spec.ignored and value != spec.default:
        into[spec.properties[0]] = value


def _parse_predecessors(scanner: Scanner) -> list[tuple[str, int]]:
    scanner.expect("{", " and names of instructions")
    names: list[tuple[str, int]] = []
    while not scanner.accept("}"):
        if names:
            scanner.expect(",", " or '}' in the list of instructions")
        start = scanner.skip()
        scanner.accept("%")
        names.append((scanner.need(IDENTIFIER, "name of an instruction")[0], start))
    return names


def _parse_called(scanner: Scanner, spec: Spec, computation: Callable[[], Computation]) -> list[Computation]:
    if spec.regions == "one":
        return [computation()]
    scanner.expect("{", " and computations")
    found: list[Computation] = []
    while not scanner.accept("}"):
        if found:
            scanner.expect(",", " or '}' in the list of computations")
        found.append(computation())
    return found


def _complete(
    scanner: Scanner,
    row: Row,
    seen: set[str],
    said: Said,
    called: dict[str, list[Computation]],
    optional: bool,
) -> None:
    for spec in row.specs:
        if spec.text not in seen and spec.required and not optional:
            scanner.error(f"attribute {spec.text} is expected but not seen", scanner.pos - 1)
        if spec.text not in seen and spec.implied is not None and (optional or not spec.required):
            said.properties[spec.properties[0]] = spec.implied
        if spec.regions and not spec.ignored:
            said.called += called.get(spec.text, [])
        if spec.marks and spec.text in seen:
            said.properties[spec.marks] = UNIT
    if said.called and "to_apply" in seen and "called_computations" in seen:
        scanner.error("expected one of to_apply and called_computations, found both")
    if said.called:
        said.properties["computations"] = ArrayAttr([computation.attribute for computation in said.called])
