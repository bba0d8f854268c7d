"""Kinds of attribute values: how each is read from text and written back (xla-semantics.md d.5, d.6).

A kind is a pair of functions. Reading gives one attribute, or a tuple of them where one piece of text fills several
properties (`slice={[0:2]}` is starts, limits, strides), or None where the text says what absence says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr, FloatAttr, IntegerType, StringAttr, UnitAttr, f64
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.attributes import (
    DimLabelsAttr,
    WindowAttr,
    WindowDimension,
    int_list,
    int_of,
    integer,
    ints,
    pair_list,
    pairs,
    text_of,
)
from xneuron.dialects.hlo.replica_groups import ReplicaGroupsAttr
from xneuron.formats.hlo_text.lexer import ATTRIBUTE_NAME, DECIMAL, IDENTIFIER, Scanner, quote
from xneuron.formats.hlo_text.literals import parse_shaped_literal, print_shaped_literal
from xneuron.formats.hlo_text.shapes import parse_shape, print_shape

Value: TypeAlias = "Attribute | tuple[Attribute, ...] | None"


class Kind(NamedTuple):
    """`parse` takes the text after `name=`; `show` gives that text for the property (properties) of an op."""

    parse: Callable[[Scanner], Value]
    show: Callable[..., str]


UNIT = UnitAttr()
I1 = IntegerType(1)


def comma_list(scanner: Scanner, item: Callable[[Scanner], str], close: str) -> list[str]:
    """Takes items separated by commas up to the closing punctuation."""
    items: list[str] = []
    while not scanner.accept(close):
        if items:
            scanner.expect(",", f" or '{close}' in the list")
        items.append(item(scanner))
    return items


def list_in_braces(scanner: Scanner, item: Callable[[Scanner], str]) -> str:
    """Takes `{item,…}`; its canonical text, without spaces."""
    scanner.expect("{")
    return f"{{{','.join(comma_list(scanner, item, '}'))}}}"


def parse_ints(scanner: Scanner) -> tuple[int, ...]:
    """Takes `{0,1}`."""
    scanner.expect("{", " and a list of numbers")
    items: list[int] = []
    while not scanner.accept("}"):
        if items:
            scanner.expect(",", " or '}' in the list of numbers")
        items.append(scanner.integer())
    return tuple(items)


def parse_bool(scanner: Scanner) -> bool:
    """Takes `true` or `false`."""
    if scanner.accept_word("true"):
        return True
    if scanner.accept_word("false"):
        return False
    scanner.wrong("true or false")


def _parse_flag(scanner: Scanner) -> Value:
    return UNIT if parse_bool(scanner) else None


def _show_flag(value: Attribute | None) -> str:
    return "false" if value is None else "true"


def braced(numbers: Sequence[int]) -> str:
    """`{0,1}`."""
    return f"{{{','.join(map(str, numbers))}}}"


def _parse_pairs(scanner: Scanner) -> Value:
    scanner.expect("{", " and a list of lists")
    items: list[tuple[int, ...]] = []
    while not scanner.accept("}"):
        if items:
            scanner.expect(",", " or '}' in the list of lists")
        items.append(parse_ints(scanner))
    return pairs(items)


def _parse_source_target(scanner: Scanner) -> Value:
    start = scanner.skip()
    value = _parse_pairs(scanner)
    if any(len(pair) != 2 for pair in pair_list(cast(Attribute, value))):
        scanner.error("expects 2 elements in each pair of source_target_pairs", start)
    return value


def _show_pairs(value: Attribute) -> str:
    return f"{{{','.join(map(braced, pair_list(value)))}}}"


def enumeration(*choices: str) -> Kind:
    """One word of a closed list, kept as a string."""

    def parse(scanner: Scanner) -> Value:
        word = scanner.word()
        if word not in choices:
            scanner.wrong(f"one of {', '.join(choices)}")
        scanner.pos += len(word)
        return StringAttr(word)

    return Kind(parse, text_of)


def _parse_word(scanner: Scanner) -> Value:
    return StringAttr(scanner.need(IDENTIFIER, "name")[0])


def _show_string(value: Attribute) -> str:
    return quote(text_of(value))


def _parse_float(scanner: Scanner) -> Value:
    return FloatAttr(float(scanner.need(DECIMAL, "number")[0]), f64)


def _show_float(value: Attribute) -> str:
    return repr(cast("FloatAttr[object]", value).value.data).removesuffix(".0")  # pyright: ignore


_PRECISIONS = ("default", "high", "highest")


def _parse_precision(scanner: Scanner) -> Value:
    scanner.expect("{")
    start = scanner.skip()
    words = comma_list(scanner, lambda s: s.need(IDENTIFIER, "precision")[0].lower(), "}")
    for word in words:
        if word not in _PRECISIONS:
            scanner.error(f"expected one of {', '.join(_PRECISIONS)}, found {word}", start)
    return None if all(word == "default" for word in words) else ArrayAttr([StringAttr(word) for word in words])


def _show_precision(value: Attribute) -> str:
    return f"{{{','.join(text_of(word) for word in cast('ArrayAttr[Attribute]', value).data)}}}"


def _parse_slice(scanner: Scanner) -> Value:
    scanner.expect("{", " and the slices")
    ranges: list[tuple[int, int, int]] = []
    while not scanner.accept("}"):
        if ranges:
            scanner.expect(",", " or '}' in the slices")
        scanner.expect("[")
        start = scanner.integer("start of the slice")
        scanner.expect(":")
        limit = scanner.integer("limit of the slice")
        stride = scanner.integer("stride of the slice") if scanner.accept(":") else 1
        scanner.expect("]", " to end the slice")
        ranges.append((start, limit, stride))
    return tuple(ints([part[at] for part in ranges]) for at in range(3))


def _show_slice(starts: Attribute, limits: Attribute, strides: Attribute) -> str:
    parts = zip(int_list(starts), int_list(limits), int_list(strides), strict=True)
    return "{" + ", ".join(f"[{a}:{b}]" if c == 1 else f"[{a}:{b}:{c}]" for a, b, c in parts) + "}"


_PADDING = re.compile(r"-?\d+_-?\d+(?:_\d+)?(?:x-?\d+_-?\d+(?:_\d+)?)*(?![\w.])")


def _parse_padding(scanner: Scanner) -> Value:
    text = scanner.need(_PADDING, "padding like 1_2 or 1_2_0x0_0_1")[0]
    parts = [[int(number) for number in part.split("_")] for part in text.split("x")]
    return tuple(ints([(*part, 0)[at] for part in parts]) for at in range(3))


def _show_padding(low: Attribute, high: Attribute, interior: Attribute) -> str:
    parts = list(zip(int_list(low), int_list(high), int_list(interior), strict=True))
    if all(inner == 0 for _, _, inner in parts):
        return "x".join(f"{a}_{b}" for a, b, _ in parts)
    return "x".join(f"{a}_{b}_{c}" for a, b, c in parts)


_SIZES = re.compile(r"-?\d+(?:x-?\d+)*(?![\w.])")
_PADS = re.compile(r"-?\d+_-?\d+(?:x-?\d+_-?\d+)*(?![\w.])")
_WINDOW = {
    "size": "sizes",
    "stride": "strides",
    "pad": "padding",
    "lhs_dilate": "dilations",
    "rhs_dilate": "dilations",
    "rhs_reversal": "reversals",
}


def _parse_window(scanner: Scanner) -> Value:
    scanner.expect("{", " and a window")
    start = scanner.skip()
    columns: dict[str, list[str]] = {}
    while not scanner.accept("}"):
        key = scanner.need(ATTRIBUTE_NAME, "attribute of the window or '}'")[1]
        if key not in _WINDOW or key in columns:
            problem = "attribute already seen: " if key in columns else "unexpected attribute of the window: "
            scanner.error(problem + key, scanner.pos - len(key) - 1, scanner.pos - 1)
        columns[key] = _window_column(scanner, key)
    rank = len(columns.get("size", ()))
    if any(len(column) != rank for column in columns.values()):
        scanner.error(f"expected as many entries in each part of the window as in size ({rank})", start)
    return WindowAttr.of(_dimensions(columns, rank)) if rank else None


def _window_column(scanner: Scanner, key: str) -> list[str]:
    if key != "pad":
        return scanner.need(_SIZES, f"{_WINDOW[key]} like 1x2")[0].split("x")
    text = scanner.take(_PADS)
    if text is None:
        scanner.error("expects padding_low and padding_high separated by '_'", scanner.skip())
    return text[0].split("x")


def _dimensions(columns: dict[str, list[str]], rank: int) -> list[WindowDimension]:
    def column(key: str, default: str) -> list[str]:
        return columns.get(key, [default] * rank)

    pads = [pad.split("_") for pad in column("pad", "0_0")]
    rows = zip(
        column("size", "1"),
        column("stride", "1"),
        column("lhs_dilate", "1"),
        column("rhs_dilate", "1"),
        column("rhs_reversal", "0"),
        strict=True,
    )
    return [
        WindowDimension(int(size), int(stride), int(low), int(high), int(base), int(window), reversal != "0")
        for (low, high), (size, stride, base, window, reversal) in zip(pads, rows, strict=True)
    ]


def _show_braced_text(value: Attribute) -> str:
    return f"{{{text_of(value)}}}"


_DIM_LABELS = re.compile(r"([0-9bf?]{2,})_([0-9io?]{2,})->([0-9bf?]{2,})")


def _parse_dim_labels(scanner: Scanner) -> Value:
    start = scanner.skip()
    match = scanner.need(_DIM_LABELS, "dimension labels like b01f_01io->b01f")
    lhs, rhs, out = match.groups()
    if not len(lhs) == len(rhs) == len(out):
        scanner.error("convolution lhs, rhs, and output must have same rank", start)
    for labels, letters in ((lhs, "bf"), (rhs, "io"), (out, "bf")):
        wanted = sorted([*letters, *map(str, range(len(labels) - 2 - labels.count("?")))])
        if sorted(labels.replace("?", "")) != wanted:
            scanner.error(f"expected each of {', '.join(wanted)} once in the dimension labels, found {labels}", start)
    return DimLabelsAttr(match[0])


_MESH = re.compile(r"mesh\[('[^'\]]*'=\d+(?:,\s*'[^'\]]*'=\d+)*)\](?:,\s*device_ids=\(([\d,\s]*)\))?\s*\{([^}]*)\}")
_IOTA = re.compile(r"\[[\d,\s]+\]\s*<=\s*\[[\d,\s]+\](?:\s*T\([\d,\s]+\))?")


def _parse_groups(scanner: Scanner) -> Value:
    start = scanner.skip()
    if scanner.at("{"):
        text = list_in_braces(scanner, lambda s: braced(parse_ints(s)))
    elif match := scanner.take(_MESH):
        axes, devices, groups = (re.sub(r"\s", "", part or "") for part in match.groups())
        text = f"mesh[{axes}]{f', device_ids=({devices})' if devices else ''} {{{groups}}}"
    else:
        text = re.sub(r"\s", "", scanner.need(_IOTA, "replica groups like {{0,1},{2,3}} or [2,2]<=[4]")[0])
        if (text.count(",", text.index("<=")) > 0) != ("T" in text):
            scanner.error("expected T(…) exactly where the iota has two or more dimensions", start)
    try:
        return ReplicaGroupsAttr(text)
    except VerifyException as error:
        scanner.error(str(error), start)


def _show_groups(value: Attribute | None) -> str:
    return text_of(value, "{}")


def _parse_shapes(scanner: Scanner) -> Value:
    scanner.expect("{", " and a list of shapes")
    types: list[Attribute] = []
    while not scanner.accept("}"):
        if types:
            scanner.expect(",", " or '}' in the list of shapes")
        types.append(parse_shape(scanner))
    return ArrayAttr(types)


def _show_shapes(value: Attribute) -> str:
    return f"{{{', '.join(map(print_shape, cast('ArrayAttr[Attribute]', value).data))}}}"


def parse_index(scanner: Scanner) -> str:
    """Takes a shape index `{0,1}`; its text."""
    return braced(parse_ints(scanner))


def _alias(scanner: Scanner) -> str:
    output = parse_index(scanner)
    scanner.expect(":")
    scanner.expect("(")
    operand = scanner.integer("operand number", low=0)
    index = parse_index(scanner) if scanner.accept(",") else "{}"
    scanner.expect(")")
    return f"{output}: ({operand}, {index})"


def _parse_aliasing(scanner: Scanner) -> Value:
    scanner.expect("{")
    return StringAttr(f"{{{', '.join(comma_list(scanner, _alias, '}'))}}}")


def _parse_braces(scanner: Scanner) -> Value:
    return StringAttr(scanner.braces())


def _parse_int(scanner: Scanner) -> Value:
    return integer(scanner.integer())


def _show_int(value: Attribute) -> str:
    return str(int_of(value))


def _parse_int_list(scanner: Scanner) -> Value:
    return ints(parse_ints(scanner))


def _show_int_list(value: Attribute) -> str:
    return braced(int_list(value))


def _parse_string(scanner: Scanner) -> Value:
    return StringAttr(scanner.string())


INT = Kind(_parse_int, _show_int)
INTS = Kind(_parse_int_list, _show_int_list)
FLAG = Kind(_parse_flag, _show_flag)
FLOAT = Kind(_parse_float, _show_float)
WORD = Kind(_parse_word, text_of)
STRING = Kind(_parse_string, _show_string)
BRACES = Kind(_parse_braces, text_of)
PAIRS = Kind(_parse_pairs, _show_pairs)
SOURCE_TARGET = Kind(_parse_source_target, _show_pairs)
SLICE = Kind(_parse_slice, _show_slice)
PADDING = Kind(_parse_padding, _show_padding)
WINDOW = Kind(_parse_window, _show_braced_text)
DIM_LABELS = Kind(_parse_dim_labels, text_of)
GROUPS = Kind(_parse_groups, _show_groups)
PRECISION = Kind(_parse_precision, _show_precision)
SHAPE = Kind(parse_shape, print_shape)
SHAPES = Kind(_parse_shapes, _show_shapes)
LITERAL = Kind(parse_shaped_literal, print_shaped_literal)
ALIASING = Kind(_parse_aliasing, text_of)
