"""A StableHLO module as plain data: what the process with MLIR in it hands to the reader. No MLIR, no IR of ours."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

from xdsl.utils.exceptions import VerifyException

BYTECODE = b"ML\xefR"
"""How MLIR's bytecode begins, and with it every portable artifact."""
KindT = TypeVar("KindT")


class Type(NamedTuple):
    """A type. `kind`: `tensor`, `tuple`, `token`, or `other`, which `element` spells.

    Of a tensor: element type in MLIR's spelling, extents (-1 where dynamic) and bounds (empty, or one per dimension, -1
    where there is none). Of a tuple: its `parts`.
    """

    kind: str
    element: str = ""
    shape: tuple[int, ...] = ()
    bounds: tuple[int, ...] = ()
    parts: tuple[Type, ...] = ()


class Dense(NamedTuple):
    """Constant elements: little-endian bytes, one byte for narrower elements; or MLIR's text of them.

    `text` is what stands in `dense<…>`, for element types whose bytes the bindings do not give. A splat is one
    element.
    """

    type: Type
    splat: bool
    data: bytes | None
    text: str = ""


class Struct(NamedTuple):
    """An attribute with named fields, such as `#stablehlo.gather<…>`; `text` is how MLIR spells it."""

    name: str
    fields: dict[str, Value]
    text: str


class Raw(NamedTuple):
    """An attribute of which only MLIR's spelling is known."""

    text: str


Value: TypeAlias = "bool | int | float | str | list[Value] | dict[str, Value] | Type | Dense | Struct | Raw"
"""An attribute. Enumerations and symbols are strings, unit attributes True, arrays lists."""


def of_kind(kind: type[KindT], value: Value | None, what: str) -> KindT:
    """The value, which is of this kind. Raises VerifyException for any other, saying `what` was expected."""
    if not isinstance(value, kind):
        raise VerifyException(f"expected {what}, found {spelled(value)}")
    return value


def list_of(value: Value | None, what: str) -> list[Value]:
    """The list that the value is. Raises VerifyException as `of_kind`."""
    return cast("list[Value]", of_kind(list, value, what))


def spelled(value: Value | None) -> Any:
    """An attribute for messages."""
    return value.text if isinstance(value, Struct | Raw) else "none" if value is None else value


class Place(NamedTuple):
    """Line and column in the StableHLO text, counted from 1; line 0 where it came as bytecode."""

    line: int = 0
    column: int = 0


class Origin(NamedTuple):
    """What JAX says of an operation: the name (`jit(f)/sin`), and the user's innermost Python frame, line 0 if none."""

    name: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0


class Op(NamedTuple):
    """An operation, `dialect.name`. Values are numbers, unique in the module."""

    name: str
    operands: tuple[int, ...]
    results: tuple[int, ...]
    types: tuple[Type, ...]
    attributes: dict[str, Value]
    regions: tuple[tuple[Block, ...], ...]
    place: Place
    origin: Origin


class Block(NamedTuple):
    """A block; `names` are what JAX calls its arguments, empty where it says nothing, `places` where they stand."""

    arguments: tuple[int, ...]
    types: tuple[Type, ...]
    names: tuple[str, ...]
    places: tuple[Place, ...]
    ops: tuple[Op, ...]


class Diagnostic(NamedTuple):
    """What MLIR says against a text, at a place in it."""

    place: Place
    message: str
    notes: tuple[str, ...] = ()
