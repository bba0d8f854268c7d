"""Which array buffers a generated function may overwrite: register allocation for arrays, by variable name.

A variable *owns* its buffer if no other live variable, tuple, constant or caller can reach it. An owned buffer
is free once its variable is dead; a result may then be written into it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable


class Buffers:
    """Owned and free buffers at one point of a straight line of code, and the spares a loop body asks for.

    `Key` is what makes two buffers interchangeable (dtype and shape). `spare` makes a variable name for a buffer that
    must exist when the line starts; without it there are no spares.
    """

    def __init__(self, spare: Callable[[], str] | None = None) -> None:
        self.owned: dict[str, Hashable] = {}
        self.spares: dict[str, Hashable] = {}
        self._free: dict[Hashable, list[str]] = {}
        self._spare = spare

    def own(self, name: str, key: Hashable) -> None:
        """From now on `name` alone holds its array."""
        self.owned[name] = key

    def share(self, name: str) -> None:
        """From now on others may hold the array of `name`."""
        self.owned.pop(name, None)

    def release(self, name: str) -> bool:
        """`name` is dead: its buffer is free, if it owned one. True if so."""
        if (key := self.owned.pop(name, None)) is None:
            return False
        self._free.setdefault(key, []).append(name)
        return True

    def take(self, key: Hashable) -> str | None:
        """A variable with a free buffer of that key, no longer free; a spare if there is none, or None."""
        if names := self._free.get(key):
            return names.pop()
        if self._spare is None:
            return None
        name = self._spare()
        self.spares[name] = key
        return name

    def restock(self) -> dict[str, str | None]:
        """For each spare where the next round gets it from: a free variable, or None where it must be made anew.

        Takes those variables; `free` lists what is left.
        """
        sources: dict[str, str | None] = {}
        for name, key in self.spares.items():
            names = self._free.get(key, [])
            if name in names:
                names.remove(name)
                sources[name] = name
            else:
                sources[name] = names.pop() if names else None
        return sources

    @property
    def free(self) -> list[str]:
        """All variables with free buffers."""
        return [name for names in self._free.values() for name in names]
