"""StableHLO in: `parse_stablehlo` for text in any form, bytecode and portable artifacts."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from xneuron.formats.stablehlo import process
from xneuron.formats.stablehlo.reader.builder import Source
from xneuron.formats.stablehlo.reader.errors import StablehloError, Untranslatable, fail, refuse
from xneuron.formats.stablehlo.reader.module import module_of
from xneuron.formats.stablehlo.tree import BYTECODE, Op


def parse_stablehlo(content: bytes | str, name: str = "<unknown>") -> ModuleOp:
    """The module in the `hlo` dialect, not yet verified.

    Raises ParseError with a position in a text, StablehloError where there is none: where MLIR refuses the module, for
    what HLO cannot express, and where the extra `jax` is not installed.
    """
    content = content.encode() if isinstance(content, str) else content
    text = None if content.startswith(BYTECODE) else content.decode(errors="replace")
    try:
        return translated(process.parse(content), name, text)
    except process.Refused as error:
        refuse(text, name, error)
    except (process.Aborted, process.MissingExtra) as error:
        raise StablehloError(str(error)) from None


def translated(root: Op, name: str, text: str | None = None) -> ModuleOp:
    """The module of a tree. `text` is what it was read from, for names and positions. Raises as `parse_stablehlo`."""
    source = Source(name, [] if text is None else text.split("\n"))
    try:
        return module_of(root, source)
    except Untranslatable as error:
        fail(text, name, error.op.place, error.message, error.op.name)
