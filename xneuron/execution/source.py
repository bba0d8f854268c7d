"""Writing Python functions as text and compiling them, one line per executed instruction.

`compile()` costs 7 to 10 µs a line, so only what runs again and again is worth it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from traceback import walk_tb
from types import TracebackType
from typing import Any, Generic, TypeVar

_Origin = TypeVar("_Origin")
_serial = count()


@dataclass(frozen=True)
class Listing(Generic[_Origin]):
    """The text of a compiled function and, line by line, what it came from."""

    text: str
    origins: list[_Origin | None]


class Listings(Generic[_Origin]):
    """The listings of all functions compiled for one program: tells an exception's origin."""

    def __init__(self) -> None:
        self._by_file: dict[str, Listing[_Origin]] = {}

    def __iter__(self) -> Iterator[Listing[_Origin]]:
        return iter(self._by_file.values())

    def add(self, filename: str, listing: Listing[_Origin]) -> None:
        """Registers the listing of a compiled function."""
        self._by_file[filename] = listing

    def origin(self, trace: TracebackType | None) -> _Origin | None:
        """What the innermost generated line of a traceback came from, None if there is no such line."""
        found: _Origin | None = None
        for frame, line in walk_tb(trace):
            if listing := self._by_file.get(frame.f_code.co_filename):
                found = listing.origins[line - 1] or found
        return found


@dataclass
class Mark:
    """A position in a source, which moves with what is inserted in front of it; remembers the indentation there."""

    position: int
    indent: str


class Source(Generic[_Origin]):
    """A Python function in the making: lines, indentation, fresh names, constants.

    `origin` is what the lines written next come from.
    """

    def __init__(self) -> None:
        self.origin: _Origin | None = None
        self._lines: list[str] = []
        self._origins: list[_Origin | None] = []
        self._indent = " "
        self._names = count()
        self._globals: dict[str, Any] = {}
        self._constants: dict[int, str] = {}
        self._marks: list[Mark] = []

    def line(self, text: str) -> None:
        """Appends a line at the current indentation."""
        self._lines.append(self._indent + text)
        self._origins.append(self.origin)

    @contextmanager
    def indented(self, header: str) -> Generator[None]:
        """Lines written inside belong to `header`; there must be at least one."""
        self.line(header)
        self._indent += " "
        try:
            yield
        finally:
            self._indent = self._indent[:-1]

    def fresh(self, prefix: str) -> str:
        """A variable name that occurs nowhere else."""
        return f"{prefix}{next(self._names)}"

    def constant(self, value: Any, prefix: str = "k") -> str:
        """The name under which the function sees a Python object; the same object has one name."""
        if (name := self._constants.get(id(value))) is None:
            name = self._constants[id(value)] = self.fresh(prefix)
            self._globals[name] = value  # keeps the object alive, and so its id
        return name

    def mark(self) -> Mark:
        """The position of the next line."""
        mark = Mark(len(self._lines), self._indent)
        self._marks.append(mark)
        return mark

    def rewind(self, mark: Mark) -> None:
        """Forgets the lines from the mark on."""
        del self._lines[mark.position :], self._origins[mark.position :]
        self._marks = [other for other in self._marks if other.position <= mark.position]

    def insert(self, mark: Mark, texts: list[str]) -> None:
        """Puts lines in at the mark, behind lines put in there before."""
        at, shift = mark.position, len(texts)
        self._lines[at:at] = [mark.indent + text for text in texts]
        self._origins[at:at] = [self.origin] * shift
        for other in self._marks:
            if other.position >= at:
                other.position += shift

    def __len__(self) -> int:
        return len(self._lines)

    def function(self, name: str, parameters: list[str], listings: Listings[_Origin]) -> Callable[..., Any]:
        """Compiles `def name(parameters)` with the lines as body; a generator function if a line yields."""
        filename = f"<{name} #{next(_serial)}>"
        text = "\n".join([f"def {name}({', '.join(parameters)}):", *self._lines, ""])
        exec(compile(text, filename, "exec"), self._globals)
        listings.add(filename, Listing(text, [None, *self._origins]))
        return self._globals.pop(name)
