"""Which array buffers a generated function may overwrite: register allocation for arrays, by variable name.

A variable *owns* its buffer if no other live variable, tuple, constant or caller can reach it. An owned buffer
is free once its variable is dead; a result may then be written into it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable


class Buffers:
    """Which buffers are owned, which are free, and which spares a loop body asks for, at one point of straight code.

    A key is what makes two buffers interchangeable (dtype and shape). A variable that may hold a view *borrows* from
    the owner, whose buffer is not free before it is dead too. `spare` makes a variable name for a buffer that must
    exist when the line starts; without it there are no spares.
    """

    def __init__(self, spare: Callable[[], str] | None = None) -> None:
        self.spares: dict[str, Hashable] = {}
        self._spare = spare
        self._owned: dict[str, Hashable] = {}
        self._dead: set[str] = set()
        self._free: dict[Hashable, list[str]] = {}
        self._lenders: dict[str, set[str]] = {}
        self._borrowers: dict[str, set[str]] = {}

    def own(self, name: str, key: Hashable) -> None:
        """From now on `name` alone holds its array."""
        self._owned[name] = key

    def borrow(self, name: str, lenders: Iterable[str]) -> None:
        """`name` may hold a view of what the lenders hold."""
        for lender in lenders:
            for owner in {lender} & self._owned.keys() | self._lenders.get(lender, set()):
                self._lenders.setdefault(name, set()).add(owner)
                self._borrowers.setdefault(owner, set()).add(name)

    def share(self, name: str) -> None:
        """From now on others may hold the array of `name` for as long as they like."""
        self._owned.pop(name, None)
        for owner in self._lenders.pop(name, ()):
            self._owned.pop(owner, None)

    def key(self, name: str) -> Hashable | None:
        """The key of the buffer of `name`, if nobody else can reach that buffer."""
        return None if self._borrowers.get(name) else self._owned.get(name)

    def give(self, name: str) -> None:
        """`name` is dead, and another variable has its buffer now."""
        del self._owned[name]

    def release(self, name: str) -> bool:
        """`name` is dead: its buffer is free as soon as nobody borrows it. True if it owned one."""
        for owner in self._lenders.pop(name, ()):
            self._borrowers[owner].discard(name)
            if owner in self._dead and not self._borrowers[owner]:
                self._set_free(owner)
        if name not in self._owned:
            return False
        self._dead.add(name)
        if not self._borrowers.get(name):
            self._set_free(name)
        return True

    def _set_free(self, name: str) -> None:
        self._dead.discard(name)
        if (key := self._owned.pop(name, None)) is not None:
            self._free.setdefault(key, []).append(name)

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
