"""A cursor over HLO text: skips what is between tokens, takes what is asked for, or says what it found instead.

The grammar is context dependent (`1x2`, `0_1x2_3`, `b01f_01io->b01f` are single tokens, xla-semantics.md d.1), so the
parser asks for the token it wants instead of sorting characters into tokens beforehand.
"""

from __future__ import annotations

import re
from typing import NoReturn

from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Span

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
ATTRIBUTE_NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_.-]*)=")
INTEGER = re.compile(r"-?\d+(?![\w.])")
DECIMAL = re.compile(r"-?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|inf|nan)(?![\w.])")
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*+)"|' r"'((?:[^'\\\n]|\\.)*+)'")

_TRIVIA = re.compile(r"(?:[ \t\r\n]++|/\*(?:[^*]|\*(?!/))*+\*/|//[^\r\n]*+)*+")
_TOKEN = re.compile(rf"%?{IDENTIFIER.pattern}|-?\d[\w.]*|{STRING.pattern}|->|<=|\.\.\.|.", re.DOTALL)

RESERVED = frozenset(
    "true false inf nan HloModule ENTRY ROOT FileNames FunctionNames FileLocations StackFrames maximal replicated "
    "manual last_tile_dim_replicate shard_as shard_like unknown unreduced".split()
)
"""Words that need `%` to be a name (with the names of element types, which the caller knows)."""


class Scanner:
    """A position in a text. Every method that takes something first skips white space and comments."""

    def __init__(self, text: str, name: str = "<stdin>") -> None:
        self.text = text
        self.name = name
        self.pos = 0

    def skip(self) -> int:
        """Goes to the next token; its position."""
        pos = self.pos
        if self.text[pos : pos + 1] > "/":
            return pos
        match = _TRIVIA.match(self.text, pos)
        assert match is not None
        self.pos = match.end()
        if self.text.startswith("/*", self.pos):
            self.error("expected */ to end the comment, found end of text")
        return self.pos

    def at(self, literal: str) -> bool:
        """True if this punctuation or word comes next."""
        return self.text.startswith(literal, self.skip())

    def at_integer(self) -> bool:
        """True if an integer comes next."""
        return INTEGER.match(self.text, self.skip()) is not None

    def at_end(self) -> bool:
        """True if nothing more comes."""
        return self.skip() == len(self.text)

    def accept(self, literal: str) -> bool:
        """Takes this punctuation if it comes next."""
        if self.text.startswith(literal, self.skip()):
            self.pos += len(literal)
            return True
        return False

    def expect(self, literal: str, why: str = "") -> None:
        """Takes this punctuation or raises ParseError."""
        if not self.accept(literal):
            self.wrong(f"'{literal}'{why}")

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Takes what matches the pattern, if anything does."""
        if match := pattern.match(self.text, self.skip()):
            self.pos = match.end()
        return match

    def need(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        """Takes what matches the pattern or raises ParseError."""
        if match := self.take(pattern):
            return match
        self.wrong(what)

    def word(self) -> str | None:
        """The identifier that comes next, not taken."""
        match = IDENTIFIER.match(self.text, self.skip())
        return match[0] if match else None

    def accept_word(self, word: str) -> bool:
        """Takes this whole word if it comes next."""
        if self.word() != word:
            return False
        self.pos += len(word)
        return True

    def integer(self, what: str = "integer", low: int = -(1 << 63)) -> int:
        """Takes a 64-bit integer; what lies above the signed range is read as the same bits (d.1)."""
        start = self.skip()
        value = int(self.need(INTEGER, what)[0][:40])
        if not -(1 << 63) <= value < 1 << 64 or value < low:
            self.wrong(what if low < 0 else f"{what} of at least {low}", start)
        return value if value < 1 << 63 else value - (1 << 64)

    def string(self, what: str = "string") -> str:
        """Takes a quoted string; its characters."""
        return unescape(self.string_token(what)[1:-1])

    def string_token(self, what: str = "string") -> str:
        """Takes a quoted string as it is written."""
        return self.need(STRING, what)[0]

    def braces(self, what: str = "'{'") -> str:
        """Takes everything from a brace to the one that closes it, quoted strings skipped, as it is written."""
        if not self.at("{"):
            self.wrong(what)
        start = self.pos
        end = end_of_braces(self.text, start)
        if end is None:
            self.error("expected '}' to match this brace, found end of text", start)
        self.pos = end
        return self.text[start:end]

    def found(self, pos: int | None = None) -> str:
        """The token at a position, for messages."""
        match = _TOKEN.match(self.text, self.skip() if pos is None else pos)
        if match is None:
            return "end of text"
        return match[0] if len(match[0]) <= 60 else match[0][:57] + "..."

    def wrong(self, what: str, pos: int | None = None) -> NoReturn:
        """Raises ParseError: `what` was expected, something else found."""
        pos = self.skip() if pos is None else pos
        self.error(f"expected {what}, found {self.found(pos)}", pos)

    def error(self, message: str, start: int | None = None, end: int | None = None) -> NoReturn:
        """Raises ParseError at a position (the next token's by default)."""
        start = min(self.pos if start is None else start, len(self.text))
        match = _TOKEN.match(self.text, start)
        end = end if end is not None else match.end() if match and match[0] != "\n" else start
        raise ParseError(Span(start, end, Input(self.text, self.name)), message) from None


_BRACE = re.compile(rf'[{{}}]|{STRING.pattern}|"')


def end_of_braces(text: str, start: int) -> int | None:
    """The position after the brace that closes the one at `start`, or None."""
    depth = 0
    for match in _BRACE.finditer(text, start):
        if match[0] == "{":
            depth += 1
        elif match[0] == "}":
            depth -= 1
            if depth == 0:
                return match.end()
        elif match[0] == '"':
            return None
    return None


def is_dictionary(text: str) -> bool:
    """True if the whole text is one pair of braces and what is in them: such strings are printed without quotes."""
    return text.startswith("{") and end_of_braces(text, 0) == len(text)


_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_CONTROL = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}
_SPECIAL = re.compile(rb'[\x00-\x1f\x7f-\xff"\'\\]')
_NOT_PLAIN = re.compile(r"[^ !#-&(-\[\]-~]")
_NAMED = {b"\n": b"\\n", b"\t": b"\\t", b"\r": b"\\r", b'"': b'\\"', b"'": b"\\'", b"\\": b"\\\\"}


def unescape(text: str) -> str:
    """C escapes to characters; bytes that are no UTF-8 become surrogates."""
    if "\\" not in text:
        return text
    raw = _ESCAPE.sub(_unescaped, text.encode("utf-8", "surrogateescape"))
    return raw.decode("utf-8", "surrogateescape")


def _unescaped(match: re.Match[bytes]) -> bytes:
    octal, hexadecimal, letter = match.groups()
    if octal or hexadecimal:
        return bytes([int(octal, 8) & 0xFF if octal else int(hexadecimal, 16)])
    return _CONTROL.get(letter, letter)


def quote(text: str) -> str:
    """A quoted string as XLA prints it: C escapes, octal for what is not ASCII."""
    if _NOT_PLAIN.search(text) is None:
        return f'"{text}"'
    raw = text.encode("utf-8", "surrogateescape")
    return '"' + _SPECIAL.sub(lambda m: _NAMED.get(m[0]) or b"\\%03o" % m[0][0], raw).decode("ascii") + '"'
