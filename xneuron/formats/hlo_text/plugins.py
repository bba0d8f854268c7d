"""HLO text for `xdsl-opt`: frontend `hlo` (and the extension `.hlo`), target `hlo`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import ParseError
from xdsl.utils.frontend import Frontend
from xdsl.utils.lexer import Input, Span
from xdsl.utils.target import Target

from xneuron.formats.hlo_text.parser import parse_hlo
from xneuron.formats.hlo_text.printer import print_hlo


@dataclass(frozen=True)
class HloFrontend(Frontend):
    """Reads HLO text, in UTF-8."""

    name = "hlo"

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        content = input.read()
        try:
            return parse_hlo(content.decode(), input_name)
        except UnicodeDecodeError as error:
            span = Span(error.start, error.end, Input(content, input_name))
            raise ParseError(span, f"expected UTF-8 text, found {error.reason}") from None


@dataclass(frozen=True)
class HloTarget(Target):
    """Writes HLO text."""

    name = "hlo"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(print_hlo(module))
