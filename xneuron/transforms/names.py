"""Fresh names, numbered as XLA's name uniquer numbers them (xla-semantics.md c.7)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable


class Names:
    """The names in use. `fresh` costs the same however many there are."""

    def __init__(self, used: Iterable[str]) -> None:
        self._used = set(used)
        self._next: defaultdict[str, int] = defaultdict(lambda: 1)

    def fresh(self, name: str) -> str:
        """`name` if it is free, else `name.1`, `name.2`, …; taken from now on."""
        candidate = name
        while candidate in self._used:
            candidate = f"{name}.{self._next[name]}"
            self._next[name] += 1
        self._used.add(candidate)
        return candidate
