"""Types and attributes of StableHLO as MLIR spells them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TupleType,
    UnitAttr,
    i1,
)
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.attributes import int_list
from xneuron.dialects.hlo.literal import LiteralAttr
from xneuron.dialects.hlo.types import (
    BY_TYPE,
    DYNAMIC,
    LayoutAttr,
    TokenType,
    elements_of,
    is_tensor,
    shape_of,
    spelled,
)

TOKEN = "!stablehlo.token"
_SPECIAL = re.compile(r'["\\\x00-\x1f\x7f]')
_NOT_IN_STABLEHLO = ("s1", "u1")


@irdl_attr_definition
class FutureType(ParametrizedAttribute):
    """What a start gives and a done takes: only StableHLO has a type for it."""

    name = "stablehlo.future"
    result: Attribute


@lru_cache(maxsize=4096)
def element_text(type: Attribute) -> str:
    """The element type: `f32`, `ui8`, `complex<f32>`. Raises VerifyException for one that StableHLO lacks."""
    row = BY_TYPE.get(type)
    if row is None or row.name in _NOT_IN_STABLEHLO:
        raise VerifyException(f"StableHLO has no element type {row.name if row else type}")
    return str(type)


@lru_cache(maxsize=65536)
def type_text(type: Attribute) -> str:
    """The type without layout; bounds of dynamic dimensions stay. Raises VerifyException for one StableHLO lacks."""
    if isinstance(type, TupleType):
        return f"tuple<{', '.join(map(type_text, elements_of(type)))}>"
    if isinstance(type, TokenType):
        return TOKEN
    if isinstance(type, FutureType):
        return f"!stablehlo.future<{type_text(type.result)}>"
    if not is_tensor(type):
        raise VerifyException(f"StableHLO has no type {spelled(type)}")
    extents = "".join("?x" if extent == DYNAMIC else f"{extent}x" for extent in shape_of(type))
    bounds = type.encoding.bounds if isinstance(type.encoding, LayoutAttr) else ()
    shown = f", #stablehlo.bounds<{', '.join('?' if b < 0 else str(b) for b in bounds)}>" if bounds else ""
    return f"tensor<{extents}{element_text(type.element_type)}{shown}>"


@lru_cache(maxsize=65536)
def leaf_types(type: Attribute) -> tuple[Attribute, ...]:
    """The types in a tuple type, nested ones flattened; of any other type, the type itself."""
    if not isinstance(type, TupleType):
        return (type,)
    return tuple([leaf for element in elements_of(type) for leaf in leaf_types(element)])


def quoted(text: str) -> str:
    """A string literal."""
    return f'"{_SPECIAL.sub(_escaped, text)}"'


def _escaped(match: re.Match[str]) -> str:
    return f"\\{ord(match[0]):02X}"


def boolean(value: bool) -> str:
    """`true` or `false`."""
    return "true" if value else "false"


def i64(value: int) -> str:
    """`1 : i64`."""
    return f"{value} : i64"


def i64s(values: Iterable[int]) -> str:
    """`array<i64: 1, 2>`."""
    return _array("i64", map(str, values))


def booleans(values: Iterable[bool]) -> str:
    """`array<i1: true, false>`."""
    return _array("i1", map(boolean, values))


def _array(element: str, values: Iterable[str]) -> str:
    listed = ", ".join(values)
    return f"array<{element}: {listed}>" if listed else f"array<{element}>"


def dimensions(attribute: Attribute | None) -> str:
    """`[0, 1]`, the numbers of an `array<i64: …>`; `[]` where it is absent."""
    return f"[{', '.join(map(str, int_list(attribute)))}]"


def matrix(rows: Sequence[Sequence[int]], columns: int = 0) -> str:
    """`dense<[[0, 1]]> : tensor<1x2xi64>`; `columns` is the width of a matrix without rows."""
    width = max(map(len, rows), default=columns)
    listed = ", ".join(f"[{', '.join(map(str, row))}]" for row in rows)
    return f"dense<{f'[{listed}]' if listed else ''}> : tensor<{len(rows)}x{width}xi64>"


def dense(value: LiteralAttr) -> str:
    """`dense<"0x…"> : tensor<…>`: all bytes of a constant, or those of one element for a splat."""
    stored = f'"0x{value.stored.hex().upper()}"' if value.stored else ""
    return f"dense<{stored}> : {type_text(value.type)}"


def dictionary(entries: Mapping[str, str]) -> str:
    """`{a = …, "b c" = …}`."""
    return f"{{{', '.join(f'{_key(key)} = {value}' for key, value in entries.items())}}}"


def _key(name: str) -> str:
    bare = name.replace("_", "a").replace(".", "a").replace("$", "a")
    return name if bare.isalnum() and bare.isascii() and not name[0].isdigit() and name[0] not in ".$" else quoted(name)


def attribute_text(attribute: Attribute) -> str:
    """A builtin attribute: flags, numbers, strings, lists and dictionaries of them."""
    match attribute:
        case UnitAttr():
            return "unit"
        case StringAttr():
            return quoted(attribute.data)
        case IntegerAttr() if attribute.type == i1:
            return boolean(bool(attribute.value.data))
        case IntegerAttr():
            return f"{attribute.value.data} : {attribute.type}"
        case FloatAttr():
            return f"{attribute.value.data:.17e} : {attribute.type}"
        case ArrayAttr():
            return f"[{', '.join(map(attribute_text, attribute.data))}]"
        case DictionaryAttr():
            return dictionary({key: attribute_text(value) for key, value in attribute.data.items()})
        case _:
            raise VerifyException(f"StableHLO has no attribute {attribute}")
