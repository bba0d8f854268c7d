"""Names in HLO text: sanitised and made unique the way XLA does it (xla-semantics.md c.7)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from xneuron.formats.hlo_text.shapes import PRIMITIVES

_VALID = r"[A-Za-z_][A-Za-z0-9_.-]*+"
_ALL_VALID = re.compile(rf"(?:{_VALID} )*+")
_BAD = re.compile(r"[^A-Za-z0-9_.-]")
_NUMBERED = re.compile(r"(.+)\.(\d+)")


class Uniquifier:
    """Hands out names that were not handed out before: a taken `x.3` becomes `x.N` with the next free N."""

    def __init__(self) -> None:
        self.taken: set[str] = set()
        self._next: dict[str, int] = {}

    def take(self, name: str) -> str:
        """`name` itself if it is free, else the next free one with its stem."""
        taken = self.taken
        if name in taken:
            name = self._fresh(name)
        taken.add(name)
        return name

    def take_all(self, names: list[str]) -> list[str]:
        """`take` for each, at once where no two are equal and none is taken."""
        together = set(names)
        if len(together) < len(names) or not together.isdisjoint(self.taken):
            return [self.take(name) for name in names]
        self.taken |= together
        return names

    def _fresh(self, name: str) -> str:
        match = _NUMBERED.fullmatch(name)
        stem = match[1] if match else name
        number = self._next.get(stem, 1)
        while f"{stem}.{number}" in self.taken:
            number += 1
        self._next[stem] = number + 1
        return f"{stem}.{number}"


def are_valid(names: Iterable[str]) -> bool:
    """True if every name can stand in a text as it is. One regular expression for all: names are many."""
    return _ALL_VALID.fullmatch(" ".join([*names, ""])) is not None and PRIMITIVES.isdisjoint(names)


def sanitized(name: str) -> str:
    """A valid name near to this one."""
    name = _BAD.sub("_", name) or "_"
    if not (name[0].isalpha() or name[0] == "_"):
        name = f"_{name}"
    return f"{name}_" if name in PRIMITIVES else name
