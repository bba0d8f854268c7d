"""BIR-JSON for `xdsl-opt`: frontends `bir-json` and `json` (the extension), target `bir-json`."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import IO, NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.utils.exceptions import ParseError
from xdsl.utils.frontend import Frontend
from xdsl.utils.lexer import Input, Span
from xdsl.utils.target import Target

from xneuron.fastir import file_location
from xneuron.formats.bir_json.document import JSON, BirJsonError, decode, encode, locate, show_path, starts
from xneuron.formats.bir_json.reader import read_module
from xneuron.formats.bir_json.scope import Placed
from xneuron.formats.bir_json.writer import write_module


def parse_bir_json(text: str, name: str = "<unknown>") -> ModuleOp:
    """The module in a text, not yet verified. Raises ParseError with a position, and the path of the value at fault."""
    document = _decode(text, name)
    try:
        module, placed = read_module(document)
    except BirJsonError as error:
        where = show_path(error.path)
        message = f"{error.message} (at {where})" if where else error.message
        raise ParseError(Span(*locate(text, error.path), Input(text, name)), message) from None
    _set_locations(placed, text, name)
    return module


def _set_locations(placed: Placed, text: str, name: str) -> None:
    """Tells operations where they were read, for the messages of the verifier and the simulator."""
    offsets = starts(text)
    lines = [0, *(found.end() for found in re.finditer("\n", text))]
    file = StringAttr(name)
    for op, node in placed:
        offset = offsets[node.path]
        line = bisect_right(lines, offset)
        op.location = file_location(file, line, offset - lines[line - 1] + 1)


def _decode(text: str, name: str) -> JSON:
    def fail(at: int, message: str) -> NoReturn:
        raise ParseError(Span(at, min(at + 1, len(text)), Input(text, name)), message) from None

    try:
        return decode(text)
    except json.JSONDecodeError as error:
        fail(error.pos, f"expected JSON: {error.msg}")
    except ValueError as error:
        # A number of thousands of digits; Python does not say where.
        fail(0, f"expected JSON: {error}")


def print_bir_json(module: ModuleOp) -> str:
    """The text of a module of BIR functions. Raises VerifyException for what BIR-JSON cannot express."""
    return encode(write_module(module))


@dataclass(frozen=True)
class BirJsonFrontend(Frontend):
    """Reads BIR-JSON of version 1 or 2, in UTF-8."""

    name = "bir-json"

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        content = input.read()
        try:
            return parse_bir_json(content.decode(), input_name)
        except UnicodeDecodeError as error:
            span = Span(error.start, error.end, Input(content, input_name))
            raise ParseError(span, f"expected UTF-8 text, found {error.reason}") from None


@dataclass(frozen=True)
class JsonFrontend(BirJsonFrontend):
    """The same by the extension of its files: xDSL chooses a frontend by that."""

    name = "json"


@dataclass(frozen=True)
class BirJsonTarget(Target):
    """Writes BIR-JSON of version 2."""

    name = "bir-json"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(print_bir_json(module))
