"""A JSON document whose values know where they stand, so that an error about a value names its place.

The text is decoded by the standard library at full speed; a `Node` carries the path from the root, and only an
error turns a path into a position in the text (`locate`).
"""

from __future__ import annotations

import json
import re
from difflib import get_close_matches
from enum import Enum
from typing import NoReturn, TypeAlias, TypeVar

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"
Object: TypeAlias = dict[str, JSON]
Path: TypeAlias = tuple[str | int, ...]
EnumT = TypeVar("EnumT", bound=Enum)

_DECODER = json.JSONDecoder(parse_constant={"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}.__getitem__)
"""Non-finite numbers are strings in BIR-JSON; the literals that JavaScript has for them are read as such."""
_SPACE = re.compile(r"[ \t\n\r]*")
_FLOATS = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}
_SHOWN = 40
"""Characters of a wrong value that a message shows."""


class BirJsonError(Exception):
    """A document that is no BIR program: what is wrong, and the path to the value at fault."""

    def __init__(self, message: str, path: Path) -> None:
        super().__init__(message)
        self.message = message
        self.path = path


class Node:
    """A value of the document; each way to look at it raises BirJsonError if the value is something else."""

    __slots__ = ("key", "parent", "value")

    def __init__(self, value: JSON, parent: Node | None = None, key: str | int = "") -> None:
        self.value = value
        self.parent = parent
        self.key = key

    @property
    def path(self) -> Path:
        return () if self.parent is None else (*self.parent.path, self.key)

    def error(self, message: str) -> NoReturn:
        raise BirJsonError(message, self.path)

    def wrong(self, expected: str) -> NoReturn:
        """The value is not what it should be."""
        shown = json.dumps(self.value)
        self.error(f"expected {expected} but got {shown if len(shown) <= _SHOWN else shown[:_SHOWN] + '…'}")

    def fields(self) -> Fields:
        """The keys of an object."""
        return Fields(self)

    def items(self) -> list[Node]:
        """The elements of an array."""
        if not isinstance(self.value, list):
            self.wrong("an array")
        return [Node(value, self, index) for index, value in enumerate(self.value)]

    def text(self) -> str:
        """A string of Unicode characters."""
        if not isinstance(self.value, str) or not (self.value.isascii() or _is_unicode(self.value)):
            self.wrong("a string")
        return self.value

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            self.wrong("true or false")
        return self.value

    def integer(self, least: int | None = None) -> int:
        """An integer, at least `least`."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            self.wrong("an integer")
        if least is not None and self.value < least:
            self.wrong(f"an integer of at least {least}")
        return self.value

    def number(self) -> int | float:
        """A number, or one of the strings `inf`, `-inf`, `nan`."""
        if isinstance(self.value, str) and self.value in _FLOATS:
            return _FLOATS[self.value]
        if not isinstance(self.value, int | float) or isinstance(self.value, bool):
            self.wrong("a number")
        return self.value

    def word(self, words: type[EnumT]) -> EnumT:
        """A member of a closed word list."""
        text = self.text()
        try:
            return words(text)
        except ValueError:
            close = get_close_matches(text, [str(member.value) for member in words], n=1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
        self.error(f"Unknown {words.__name__} string: {text}{hint}")


class Fields:
    """An object's keys, taken one by one; `rest` is what nobody has asked for."""

    def __init__(self, node: Node) -> None:
        if not isinstance(node.value, dict):
            node.wrong("an object")
        self.node = node
        self.rest: Object = dict(node.value)

    def take(self, *spellings: str) -> Node | None:
        """The value of a key under the first of its spellings that is there."""
        for name in spellings:
            if name in self.rest:
                return Node(self.rest.pop(name), self.node, name)
        return None

    def need(self, *spellings: str) -> Node:
        """The value of a key that must be there."""
        if (found := self.take(*spellings)) is None:
            self.node.error(f"expected the key '{spellings[0]}'")
        return found

    def items(self, *spellings: str) -> list[Node]:
        """The elements of an array that may be left out."""
        found = self.take(*spellings)
        return found.items() if found else []

    def end(self) -> None:
        """Refuses keys that are left, where there is no place to keep them."""
        for name in self.rest:
            self.node.error(f"unexpected key '{name}'")


def _is_unicode(text: str) -> bool:
    """Whether there are no halves of surrogate pairs, which JSON can escape and no text can hold."""
    return not any("\ud800" <= char <= "\udfff" for char in text)


def number_json(value: int | float) -> JSON:
    """The inverse of `Node.number`."""
    return value if isinstance(value, int) or value - value == 0 else str(value)


def decode(text: str) -> JSON:
    """The document in a text. Raises json.JSONDecodeError, which has a position, or ValueError."""
    value, end = _DECODER.raw_decode(text, _skip(text, 0))
    if (rest := _skip(text, end)) != len(text):
        raise json.JSONDecodeError("expected the end of the document", text, rest)
    return value


def encode(document: JSON) -> str:
    """Text with sorted keys, indented by 2."""
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def show_path(path: Path) -> str:
    """`functions[0].blocks[1]`; empty for the root."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).removeprefix(".")


def locate(text: str, path: Path) -> tuple[int, int]:
    """Where the value at `path` starts and ends in a text that `decode` accepts."""
    start = _skip(text, 0)
    for key in path:
        inside = _skip(text, start + 1)
        start = _item(text, inside, key) if isinstance(key, int) else _member(text, inside, key)
    return start, _DECODER.raw_decode(text, start)[1]


def _skip(text: str, at: int) -> int:
    """The next character that is no white space."""
    return _SPACE.match(text, at).end()  # pyright: ignore[reportOptionalMemberAccess] # it matches everywhere


def _past(text: str, at: int) -> int:
    """The start of what follows the value at `at`."""
    return _following(text, _DECODER.raw_decode(text, at)[1])


def _following(text: str, end: int) -> int:
    """The start of what follows a value that ends at `end`, behind the comma or colon."""
    at = _skip(text, end)
    return at if text[at] in "]}" else _skip(text, at + 1)


def _item(text: str, at: int, index: int) -> int:
    for _ in range(index):
        at = _past(text, at)
    return at


def _member(text: str, at: int, key: str) -> int:
    """As in the decoded object, the last of several equal keys counts."""
    found = at
    while text[at] != "}":
        name = _DECODER.raw_decode(text, at)[0]
        at = _past(text, at)
        found = at if name == key else found
        at = _past(text, at)
    return found


_HOLDERS = frozenset(
    {"module", "functions", "allocations", "storages", "memorylocations", "blocks", "basic_blocks", "instructions"}
)
"""Keys of what becomes operations."""


def starts(text: str) -> dict[Path, int]:
    """Where the objects that become operations start, by path: one more run over a text that `decode` accepts."""
    found: dict[Path, int] = {}
    _walk(text, _skip(text, 0), (), found)
    return found


def _walk(text: str, at: int, path: Path, found: dict[Path, int]) -> int:
    """Notes the object or array at `at` and what is inside; where it ends."""
    found[path] = at
    is_array = text[at] == "["
    at = _skip(text, at + 1)
    number = 0
    while text[at] not in "]}":
        key: str | int = number
        if not is_array:
            key, at = _DECODER.raw_decode(text, at)[0], _past(text, at)
        if text[at] in "[{" and (is_array or key in _HOLDERS):
            at = _following(text, _walk(text, at, (*path, key), found))
        else:
            at = _past(text, at)
        number += 1
    return at + 1
