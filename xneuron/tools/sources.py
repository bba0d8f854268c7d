"""Reading programs: a file, or standard input for `-` and no name; the format by extension, else by content.

A file `.mlir` is StableHLO where its content is.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from xneuron.formats.stablehlo.tree import BYTECODE
from xneuron.tools.diagnostics import ProgramError, UsageError

STDIN = "stdin"
_COMMENTS = re.compile(rb"(\s|//[^\n]*|/\*.*?\*/|#[^\n]*)*", re.DOTALL)
_ENTRY = re.compile(rb"^\s*ENTRY\s", re.MULTILINE)
_OBJECT = re.compile(rb"\s*\{\s*[\"}]")
# The first word of a line, or what stands behind the names of its results; not in comments and strings.
_MLIR_OP = re.compile(rb"^(?:[^\n\"/=]*=)?[ \t]*\"?(stablehlo|chlo|mhlo|vhlo|sdy|hlo|bir)\.[a-z]", re.MULTILINE)
_JAX_HEADER = re.compile(rb"^[ \t]*module @\S* attributes \{[^\n]*mhlo\.num_partitions", re.MULTILINE)
_BOUNDARY = re.compile(rb"^// -----[ \t\r]*\n?", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """A program's bytes and where they came from."""

    name: str
    content: bytes
    extension: str

    def format(self, known: frozenset[str]) -> str:
        """The frontend to read it with: the extension if that is one, else what the content looks like."""
        if self.extension == "mlir":
            return "stablehlo" if is_stablehlo(self.content) else "mlir"
        return self.extension if self.extension in known else sniff(self.content)

    def text(self) -> str:
        """The content for excerpts in messages."""
        return self.content.decode("utf-8", "replace")


Sources: TypeAlias = dict[str, Source]
"""What a tool has read, by name."""


def input_name(path: str | None) -> str:
    """What messages call the input."""
    return STDIN if path is None or path == "-" else path


def read_source(path: str | None) -> Source:
    """Reads a program. Raises UsageError if there is no such file."""
    if path is None or path == "-":
        return Source(STDIN, sys.stdin.buffer.read(), "")
    try:
        return Source(path, Path(path).read_bytes(), Path(path).suffix.removeprefix("."))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from error


def sniff(content: bytes) -> str:
    """`bir-json` for a JSON object, `hlo` for a text that starts with `HloModule` or has an ENTRY, `stablehlo` for MLIR
    bytecode and for MLIR whose first operation of a dialect that we know is one that JAX prints, else `mlir`.
    """
    if _OBJECT.match(content):
        return "bir-json"
    if is_stablehlo(content):
        return "stablehlo"
    start = match.end() if (match := _COMMENTS.match(content)) else 0
    is_hlo = content.startswith(b"HloModule", start) or _ENTRY.search(content)
    return "hlo" if is_hlo else "mlir"


def is_stablehlo(content: bytes) -> bool:
    """True for StableHLO as text or bytecode; looks no further than the first operation that decides."""
    if content.startswith(BYTECODE):
        return True
    if found := _MLIR_OP.search(content):
        return found[1] not in (b"hlo", b"bir")
    return _JAX_HEADER.search(content) is not None


def split(content: bytes) -> list[bytes]:
    """The parts between lines `// -----`, each with empty lines in front, so that its line numbers are the file's."""
    parts, at = list[bytes](), 0
    for boundary in (*_BOUNDARY.finditer(content), None):
        end = boundary.start() if boundary else len(content)
        parts.append(b"\n" * content.count(b"\n", 0, at) + content[at:end])
        at = boundary.end() if boundary else end
    return parts


def not_text(name: str, error: UnicodeDecodeError) -> ProgramError:
    """The error of a file that is no text."""
    return ProgramError(f"expected UTF-8 text, found byte 0x{error.object[error.start]:02x} at {error.start} in {name}")
