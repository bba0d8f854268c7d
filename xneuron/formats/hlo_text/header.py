"""The first line of a module and the tables behind it: attributes of the module op (xla-semantics.md d.2)."""

from __future__ import annotations

import re
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, FunctionType, StringAttr
from xdsl.ir import Attribute

from xneuron.dialects.hlo.attributes import int_list, integer, ints, text_of
from xneuron.formats.hlo_text import common, kinds
from xneuron.formats.hlo_text.kinds import Kind, Value, comma_list, parse_bool, parse_index
from xneuron.formats.hlo_text.lexer import ATTRIBUTE_NAME, IDENTIFIER, Scanner, quote
from xneuron.formats.hlo_text.shapes import numbered, parse_shape, print_shape

PREFIX = "hlo."
LAYOUT = "entry_computation_layout"

_ALIAS_KIND = re.compile(r"must-alias|may-alias")


def _parse_layout(scanner: Scanner) -> Value:
    scanner.expect("{", " and the shapes of the entry computation")
    scanner.expect("(", " and the shapes of the parameters")
    inputs: list[Attribute] = []
    while not scanner.accept(")"):
        if inputs:
            scanner.expect(",", " or ')' in the shapes of the parameters")
        inputs.append(parse_shape(scanner))
    scanner.expect("->")
    output = parse_shape(scanner)
    scanner.expect("}")
    return FunctionType.from_lists(inputs, [output])


def show_layout(value: Attribute) -> str:
    """`{(f32[4]{0})->f32[4]{0}}`."""
    function = cast(FunctionType, value)
    inputs = ", ".join(numbered([print_shape(type) for type in function.inputs.data]))
    return f"{{({inputs})->{print_shape(function.outputs.data[0])}}}"


def _input_output_alias(scanner: Scanner) -> str:
    output = parse_index(scanner)
    scanner.expect(":")
    scanner.expect("(")
    parameter = scanner.integer("parameter number", low=0)
    scanner.expect(",", " and the index in the parameter")
    parts = [str(parameter), parse_index(scanner)]
    if scanner.accept(","):
        parts.append(scanner.need(_ALIAS_KIND, "must-alias or may-alias")[0])
    else:
        parts.append("may-alias")
    scanner.expect(")")
    return f"{output}: ({', '.join(parts)})"


def _donor(scanner: Scanner) -> str:
    scanner.expect("(")
    parameter = scanner.integer("parameter number", low=0)
    scanner.expect(",", " and the index in the parameter")
    index = parse_index(scanner)
    scanner.expect(")")
    return f"({parameter}, {index})"


def _parse_aliases(scanner: Scanner) -> Value:
    scanner.expect("{")
    return StringAttr(f"{{ {', '.join(comma_list(scanner, _input_output_alias, '}'))} }}")


def _parse_donors(scanner: Scanner) -> Value:
    scanner.expect("{")
    return StringAttr(f"{{ {', '.join(comma_list(scanner, _donor, '}'))} }}")


def _parse_bools(scanner: Scanner) -> Value:
    if not scanner.accept("{"):
        values = [parse_bool(scanner)]
    else:
        values = [text == "true" for text in comma_list(scanner, lambda s: str(parse_bool(s)).lower(), "}")]
    return DenseArrayBase.from_list(kinds.I1, values) if any(values) else None


def _show_bools(value: Attribute) -> str:
    return f"{{{','.join('true' if bit else 'false' for bit in int_list(value))}}}"


_ATTRIBUTES: dict[str, Kind] = {
    "is_scheduled": kinds.FLAG,
    "input_output_alias": Kind(_parse_aliases, text_of),
    "buffer_donor": Kind(_parse_donors, text_of),
    "alias_passthrough_params": kinds.FLAG,
    LAYOUT: Kind(_parse_layout, show_layout),
    "allow_spmd_sharding_propagation_to_parameters": Kind(_parse_bools, _show_bools),
    "allow_spmd_sharding_propagation_to_output": Kind(_parse_bools, _show_bools),
    "replica_count": kinds.INT,
    "num_partitions": kinds.INT,
    "frontend_attributes": common.FRONTEND_ATTRIBUTES,
    "origin_recovery_table": kinds.BRACES,
    "debug_attributes": kinds.BRACES,
}
"""Attributes of a module, in printing order."""

_ONE = integer(1)

_TABLES: dict[str, tuple[str, ...]] = {
    "FileNames": (),
    "FunctionNames": (),
    "FileLocations": ("file_name_id", "function_name_id", "line", "end_line", "column", "end_column"),
    "StackFrames": ("file_location_id", "parent_frame_id"),
}
"""Tables behind the header: their fields, none for a table of strings."""


def parse_header(scanner: Scanner) -> tuple[str, dict[str, Attribute]]:
    """Takes `HloModule name, …` and the tables; the name and the module op's attributes."""
    scanner.accept_word("HloModule")
    scanner.accept("%")
    name = scanner.need(IDENTIFIER, "name of the module")[0]
    scanner.accept(":")
    found: dict[str, Attribute] = {}
    seen: set[str] = set()
    while scanner.accept(","):
        _parse_attribute(scanner, seen, found)
    for table, fields in _TABLES.items():
        if scanner.accept_word(table):
            found[PREFIX + _key(table)] = _parse_table(scanner, fields)
    return name, found


def _parse_attribute(scanner: Scanner, seen: set[str], found: dict[str, Attribute]) -> None:
    name = scanner.need(ATTRIBUTE_NAME, "attribute of the module")[1]
    start = scanner.pos - len(name) - 1
    if name in seen:
        scanner.error(f"attribute {name} already exists", start, start + len(name))
    if name not in _ATTRIBUTES:
        allowed = ", ".join(sorted(_ATTRIBUTES))
        scanner.error(f'unexpected attribute "{name}". Allowed attributes: {allowed}', start, start + len(name))
    seen.add(name)
    value = _ATTRIBUTES[name].parse(scanner)
    assert not isinstance(value, tuple)
    if value is not None and not (value == _ONE and name in ("replica_count", "num_partitions")):
        found[PREFIX + name] = value


def _key(table: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"_\1", table).lower()


def _parse_table(scanner: Scanner, fields: tuple[str, ...]) -> Attribute:
    rows: list[Attribute] = []
    while scanner.at_integer():
        start = scanner.skip()
        if scanner.integer("id", low=0) != len(rows) + 1:
            scanner.wrong(f"id {len(rows) + 1}", start)
        rows.append(_parse_row(scanner, fields) if fields else StringAttr(scanner.string()))
    return ArrayAttr(rows)


def _parse_row(scanner: Scanner, fields: tuple[str, ...]) -> Attribute:
    scanner.expect("{")
    values = dict.fromkeys(fields, 0)
    while not scanner.accept("}"):
        name = scanner.need(ATTRIBUTE_NAME, "field of the table")[1]
        if name not in fields:
            scanner.wrong(f"one of {', '.join(fields)}", scanner.pos - len(name) - 1)
        values[name] = scanner.integer()
        scanner.accept(",")
    return ints(list(values.values()))


def print_header(name: str, attributes: dict[str, Attribute]) -> str:
    """The header line and the tables."""
    parts = [f"HloModule {name}"]
    for key, kind in _ATTRIBUTES.items():
        if (value := attributes.get(PREFIX + key)) is not None:
            parts.append(f"{key}={kind.show(value)}")
    tables = [_print_table(table, attributes[key]) for table in _TABLES if (key := PREFIX + _key(table)) in attributes]
    return "\n\n".join([", ".join(parts), *tables])


def _print_table(table: str, value: Attribute) -> str:
    rows = cast("ArrayAttr[Attribute]", value).data
    fields = _TABLES[table]
    lines = [f"{at} {_print_row(row, fields) if fields else quote(text_of(row))}" for at, row in enumerate(rows, 1)]
    return "\n".join([table, *lines])


def _print_row(row: Attribute, fields: tuple[str, ...]) -> str:
    pairs = zip(fields, int_list(row), strict=True)
    return f"{{{' '.join(f'{field}={value}' for field, value in pairs if value or not field.endswith('_id'))}}}"
