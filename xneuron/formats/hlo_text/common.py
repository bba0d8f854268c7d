"""Attributes that every instruction may have (xla-semantics.md d.5): discardable attributes of an op."""

from __future__ import annotations

import re
from typing import cast

from immutabledict import immutabledict
from xdsl.dialects.builtin import DictionaryAttr, StringAttr
from xdsl.ir import Attribute

from xneuron.dialects.hlo.attributes import ShardingAttr, int_of, integer, text_of
from xneuron.fastir import data_attribute
from xneuron.formats.hlo_text.kinds import Kind, Value, comma_list, list_in_braces, parse_bool
from xneuron.formats.hlo_text.lexer import ATTRIBUTE_NAME, DECIMAL, IDENTIFIER, Scanner, is_dictionary, quote, unescape
from xneuron.formats.hlo_text.sharding import parse_sharding

_METADATA = {
    "op_type": "string",
    "op_name": "string",
    "source_file": "string",
    "source_line": "integer",
    "source_end_line": "integer",
    "source_column": "integer",
    "source_end_column": "integer",
    "profile_type": "braced integer",
    "deduplicated_name": "string",
    "scheduling_name": "string",
    "stack_frame_id": "integer",
    "metadata_payload": "string",
}
"""Fields of `metadata`, in the order in which they are printed."""

_VALUES = {"string": r'"((?:[^"\\\n]|\\.)*+)"', "integer": r"(\d{1,18}+)", "braced integer": r"\{(\d{1,18}+)\}"}
_PLAIN_METADATA = re.compile(
    rf"{''.join(f'(?:{key}={_VALUES[kind]}(?: |(?=}})))?+' for key, kind in _METADATA.items())}\}}"
)
"""Metadata as XLA prints them, behind the opening brace: fields in order, a space between."""
_RANK = {key: rank for rank, key in enumerate(_METADATA)}
_FIELDS = tuple((key, kind == "string") for key, kind in _METADATA.items())


def _parse_metadata(scanner: Scanner) -> Value:
    scanner.expect("{", " and metadata")
    fields: dict[str, Attribute] = {}
    while not scanner.accept("}"):
        key = scanner.need(ATTRIBUTE_NAME, "field of the metadata or '}'")[1]
        at = scanner.pos - len(key) - 1
        if key not in _METADATA:
            scanner.error(f'unexpected attribute "{key}". Allowed attributes: {", ".join(sorted(_METADATA))}', at)
        if key in fields:
            scanner.error(f"attribute {key} already exists", at)
        fields[key] = _parse_field(scanner, _METADATA[key])
        scanner.accept(",")
    return DictionaryAttr(fields) if fields else None


def plain_metadata(text: str) -> DictionaryAttr | None:
    """Metadata in the form XLA prints, `text` being all behind the opening brace; None for any other form."""
    if (found := _PLAIN_METADATA.fullmatch(text)) is None:
        return None
    fields: dict[str, Attribute] = {
        key: data_attribute(StringAttr, unescape(value) if "\\" in value else value)
        if is_string
        else integer(int(value))
        for (key, is_string), value in zip(_FIELDS, found.groups(), strict=True)
        if value is not None
    }
    return data_attribute(DictionaryAttr, immutabledict(fields)) if fields else None


def _parse_field(scanner: Scanner, kind: str) -> Attribute:
    if kind == "string":
        return StringAttr(scanner.string())
    if kind == "integer":
        return integer(scanner.integer())
    scanner.expect("{")
    value = integer(scanner.integer())
    scanner.expect("}")
    return value


def _show_metadata(value: Attribute) -> str:
    fields = cast(DictionaryAttr, value).data
    parts = [_show_field(key, fields[key]) for key in sorted(fields, key=_RANK.__getitem__)]
    return f"{{{' '.join(parts)}}}"


def _show_field(key: str, value: Attribute) -> str:
    if isinstance(value, StringAttr):
        return f"{key}={quote(value.data)}"
    return f"{key}={{{int_of(value)}}}" if _METADATA[key] == "braced integer" else f"{key}={int_of(value)}"


def parse_raw(scanner: Scanner) -> str:
    """Takes `"text"` or `{json}`; the characters. (Which of the two it was can be told from the characters.)"""
    return scanner.braces() if scanner.at("{") else scanner.string("string or '{'")


def show_raw(text: str) -> str:
    """A string that is printed without quotes if it is a dictionary (d.9)."""
    return text if is_dictionary(text) else quote(text)


def _parse_frontend_attributes(scanner: Scanner) -> Value:
    scanner.expect("{", " and frontend attributes")
    found: dict[str, Attribute] = {}
    while not scanner.accept("}"):
        if found:
            scanner.expect(",", " or '}' in the frontend attributes")
        key = scanner.need(ATTRIBUTE_NAME, "name of a frontend attribute")[1]
        if key in found:
            scanner.error(f"attribute {key} already exists", scanner.pos - len(key) - 1)
        found[key] = StringAttr(parse_raw(scanner))
    return DictionaryAttr(found) if found else None


def _show_frontend_attributes(value: Attribute) -> str:
    items = cast(DictionaryAttr, value).data.items()
    return f"{{{','.join(f'{key}={show_raw(text_of(text))}' for key, text in items)}}}"


def _parse_backend_config(scanner: Scanner) -> Value:
    text = parse_raw(scanner)
    return StringAttr(text) if text else None


def _statistic(scanner: Scanner) -> str:
    key = scanner.need(ATTRIBUTE_NAME, "name of a statistic")[0]
    return key + scanner.need(DECIMAL, "number")[0]


def _replicated(scanner: Scanner) -> str:
    return "true" if parse_bool(scanner) else "false"


_ACCURACY_MODES = ("default", "highest")


def _parse_accuracy(scanner: Scanner) -> Value:
    scanner.expect("{")
    if scanner.accept("mode="):
        mode = scanner.need(IDENTIFIER, "mode")[0]
        if mode not in _ACCURACY_MODES:
            scanner.wrong("mode default or highest", scanner.pos - len(mode))
        text = f"{{mode={mode}}}" if mode != "default" else ""
    else:
        scanner.expect("tolerance=", " or 'mode='")
        scanner.expect("{")
        text = f"{{tolerance={{{','.join(comma_list(scanner, _statistic, '}'))}}}}}"
    scanner.expect("}")
    return StringAttr(text) if text else None


def _parse_sharding(scanner: Scanner) -> Value:
    return ShardingAttr(parse_sharding(scanner))


def _show_raw(value: Attribute) -> str:
    return show_raw(text_of(value))


def _parse_statistics(scanner: Scanner) -> Value:
    return StringAttr(list_in_braces(scanner, _statistic))


def _parse_replication(scanner: Scanner) -> Value:
    return StringAttr(list_in_braces(scanner, _replicated))


SHARDING = Kind(_parse_sharding, text_of)
METADATA = Kind(_parse_metadata, _show_metadata)
FRONTEND_ATTRIBUTES = Kind(_parse_frontend_attributes, _show_frontend_attributes)
BACKEND_CONFIG = Kind(_parse_backend_config, _show_raw)
STATISTICS = Kind(_parse_statistics, text_of)
ACCURACY = Kind(_parse_accuracy, text_of)
REPLICATION = Kind(_parse_replication, text_of)
