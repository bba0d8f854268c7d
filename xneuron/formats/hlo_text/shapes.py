"""Shapes and layouts: text to types and back (xla-semantics.md d.3)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import cast

from xdsl.dialects.builtin import NoneAttr, TensorType, TupleType
from xdsl.ir import Attribute, TypeAttribute
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.types import (
    BY_NAME,
    DYNAMIC,
    BufferType,
    LayoutAttr,
    OpaqueType,
    Tensor,
    TokenType,
    element_of,
    elements_of,
    shape_of,
    tensor,
    tuple_of,
)
from xneuron.formats.hlo_text.lexer import IDENTIFIER, Scanner

PRIMITIVES = frozenset({*BY_NAME, "token", "opaque"})
_LEVELS = re.compile(r"[DCSH][+~]*")
_TILE_SIZE = re.compile(r"\d+|\*")
_MAX_RANK = 64
_MAX_NESTING = 100


def at_shape(scanner: Scanner) -> bool:
    """True if a shape comes next (an instruction's opcode otherwise)."""
    if scanner.at("("):
        return True
    word = scanner.word()
    return word in PRIMITIVES or (word == "b" and scanner.text.startswith("b(", scanner.pos))


def parse_shape(scanner: Scanner, depth: int = 0) -> Attribute:
    """Takes a shape with its layout."""
    if depth > _MAX_NESTING:
        scanner.error(f"maximum recursion depth exceeded: expected at most {_MAX_NESTING} nested tuples")
    if scanner.accept("("):
        return _parse_tuple(scanner, depth)
    word = scanner.word()
    if word == "b":
        return _parse_buffer(scanner, depth)
    if word not in PRIMITIVES:
        scanner.wrong("shape")
    scanner.pos += len(word)
    return _parse_array(scanner, word)


def _parse_tuple(scanner: Scanner, depth: int) -> Attribute:
    elements: list[Attribute] = []
    while not scanner.accept(")"):
        if elements:
            scanner.expect(",", " or ')' in the tuple shape")
        elements.append(parse_shape(scanner, depth + 1))
    return tuple_of(tuple(elements))


def _parse_buffer(scanner: Scanner, depth: int) -> Attribute:
    scanner.expect("b")
    scanner.expect("(")
    inner = parse_shape(scanner, depth + 1)
    scanner.expect(")")
    return BufferType(cast(TypeAttribute, inner))


def _parse_array(scanner: Scanner, primitive: str) -> Attribute:
    scanner.expect("[", " and the dimensions of the shape")
    start = scanner.pos
    extents: list[int] = []
    bounds: list[int] = []
    while not scanner.accept("]"):
        if extents:
            scanner.expect(",", " or ']' in the dimensions")
        extent, bound = _parse_extent(scanner)
        extents.append(extent)
        bounds.append(bound)
    if len(extents) > _MAX_RANK:
        scanner.error(f"expected at most {_MAX_RANK} dimensions, found {len(extents)}", start)
    braces = _parse_layout(scanner, len(extents)) if _at_layout(scanner) else ""
    if primitive not in BY_NAME:
        if extents:
            scanner.error(f"expected no dimensions for {primitive}, found {len(extents)}", start)
        return TokenType() if primitive == "token" else OpaqueType()
    encoding = f"bounds={bounds} {braces}".replace(", ", ",").rstrip() if max(bounds, default=-1) >= 0 else braces
    return tensor(BY_NAME[primitive].type, tuple(extents), LayoutAttr(encoding) if encoding else None)


def _parse_extent(scanner: Scanner) -> tuple[int, int]:
    if scanner.accept("?"):
        return DYNAMIC, -1
    if scanner.accept("<="):
        return DYNAMIC, scanner.integer("bound of the dimension", low=0)
    return scanner.integer("dimension", low=0), -1


def _at_layout(scanner: Scanner) -> bool:
    """True if `{` with an integer or a colon comes next: other braces are a computation's."""
    if not scanner.at("{"):
        return False
    brace = scanner.pos
    scanner.pos += 1
    is_layout = scanner.at(":") or scanner.at_integer()
    scanner.pos = brace
    return is_layout


def _parse_layout(scanner: Scanner, rank: int) -> str:
    """Takes layout braces; their canonical text, empty for the default layout."""
    scanner.expect("{")
    start = scanner.skip()
    order: list[int] = []
    while not scanner.at(":") and not scanner.at("}"):
        if order:
            scanner.expect(",", " or '}' in the layout")
        order.append(scanner.integer("minor-to-major dimension"))
    if len(order) != rank:
        scanner.error(f"Dimensions size is {rank}, but minor to major size is {len(order)}.", start)
    if sorted(order) != list(range(rank)):
        scanner.error(f"expected a permutation of the {rank} dimensions as layout, found {order}", start)
    rest = _parse_layout_rest(scanner) if scanner.accept(":") else ""
    scanner.expect("}", " to end the layout")
    if not rest and order == list(range(rank - 1, -1, -1)):
        return ""
    return f"{{{','.join(map(str, order))}{':' if rest else ''}{rest}}}"


def _parse_layout_rest(scanner: Scanner) -> str:
    """Takes what follows the colon of a layout, in XLA's order; its canonical text."""
    parts: list[str] = []
    if scanner.accept("D("):
        parts.append(f"D({_comma_list(scanner, _level)})")
    if scanner.accept("T"):
        parts.append("T" + _groups(scanner, _tile_size))
    if scanner.accept("L("):
        parts.append(f"L({_closed(scanner, scanner.integer('alignment', low=0))})")
    for mark in ("#", "*"):
        if scanner.accept(f"{mark}("):
            parts.append(f"{mark}({_closed(scanner, _primitive(scanner))})")
    for mark in ("E", "S"):
        if scanner.accept(f"{mark}("):
            parts.append(f"{mark}({_closed(scanner, scanner.integer('number', low=0))})")
    if scanner.accept("SC"):
        parts.append("SC" + _groups(scanner, _split))
    if scanner.accept("P("):
        parts.append(f"P({_closed(scanner, print_shape(parse_shape(scanner)))})")
    if scanner.accept("M("):
        parts.append(f"M({_closed(scanner, scanner.integer('number of bytes', low=0))})")
    return "".join(parts)


def _groups(scanner: Scanner, item: Callable[[Scanner], str]) -> str:
    text = ""
    while not text or scanner.at("("):
        scanner.expect("(")
        text += f"({_comma_list(scanner, item)})"
    return text


def _comma_list(scanner: Scanner, item: Callable[[Scanner], str]) -> str:
    items: list[str] = []
    while not scanner.accept(")"):
        if items:
            scanner.expect(",", " or ')' in the layout")
        items.append(item(scanner))
    return ",".join(items)


def _closed(scanner: Scanner, value: int | str) -> str:
    scanner.expect(")")
    return str(value)


def _level(scanner: Scanner) -> str:
    return scanner.need(_LEVELS, "dimension level type D, C, S or H")[0]


def _tile_size(scanner: Scanner) -> str:
    return scanner.need(_TILE_SIZE, "tile size or *")[0]


def _split(scanner: Scanner) -> str:
    dimension = scanner.integer("dimension", low=0)
    scanner.expect(":")
    return f"{dimension}:{scanner.integer('split index', low=0)}"


def _primitive(scanner: Scanner) -> str:
    name = scanner.need(IDENTIFIER, "element type")[0]
    if name not in BY_NAME:
        scanner.wrong("element type", scanner.pos - len(name))
    return name


def print_shape(type: Attribute, layout: bool = True) -> str:
    """The shape as HLO text spells it. Raises VerifyException for a type that HLO does not have."""
    if isinstance(type, TensorType):
        return _print_array(cast(Tensor, type), layout)
    if isinstance(type, TupleType):
        return "(" + ", ".join(numbered([print_shape(inner, layout) for inner in elements_of(type)])) + ")"
    if isinstance(type, TokenType):
        return "token[]"
    if isinstance(type, OpaqueType):
        return "opaque[]"
    if isinstance(type, BufferType):
        return f"b({print_shape(type.inner, layout)})"
    raise VerifyException(f"expected a type of HLO, found {type}")


def _print_array(type: Tensor, layout: bool) -> str:
    extents = shape_of(type)
    encoding = type.encoding
    if not isinstance(encoding, LayoutAttr | NoneAttr):
        raise VerifyException(f"expected a layout as encoding, found {encoding}")
    bounds = encoding.bounds if isinstance(encoding, LayoutAttr) else ()
    texts = [_print_extent(extent, bound) for extent, bound in zip(extents, bounds or [-1] * len(extents), strict=True)]
    braces = encoding.braces if isinstance(encoding, LayoutAttr) else ""
    if not braces and extents:
        braces = f"{{{','.join(str(d) for d in range(len(extents) - 1, -1, -1))}}}"
    return f"{element_of(type).name}[{','.join(texts)}]{braces if layout else ''}"


def _print_extent(extent: int, bound: int) -> str:
    if extent != DYNAMIC:
        return str(extent)
    return "?" if bound < 0 else f"<={bound}"


def numbered(items: list[str]) -> list[str]:
    """The items of a long list, every fifth with the comment that says its place."""
    return [f"/*index={at}*/{item}" if at and at % 5 == 0 else item for at, item in enumerate(items)]
