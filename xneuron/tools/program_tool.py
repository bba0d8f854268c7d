"""What the tools that look at one program share: its reading, in any format, and the passes applied to it first."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from io import BytesIO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.tools.command_line_tool import CommandLineTool
from xdsl.universe import Universe

from xneuron.tools import pipeline
from xneuron.tools.diagnostics import ProgramError
from xneuron.tools.sources import Sources, input_name, not_text, read_source
from xneuron.tools.usage import add_shared_arguments, check_options, usage_error, with_explicit_remarks


class ProgramTool(CommandLineTool):
    """A driver of one program. Subclasses add options, and say what to do with the program."""

    DESCRIPTION: str

    def __init__(self, argv: Sequence[str], sources: Sources) -> None:
        self.sources = sources
        self.ctx = Context()
        self.available_frontends = {}
        self.available_passes = Universe.get_multiverse().all_passes
        self.register_all_dialects()
        self.register_all_frontends()
        parser = argparse.ArgumentParser(description=self.DESCRIPTION)
        self.register_all_arguments(parser)
        self.args = parser.parse_args(with_explicit_remarks(argv))
        check_options("-f", self.available_frontends, self.args.frontend)
        self.ctx.allow_unregistered = self.args.allow_unregistered_dialect

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        arg_parser.error = lambda message: usage_error(arg_parser, message)
        arg_parser.add_argument("-p", "--passes", default="", metavar="PIPELINE", help="Apply these passes first")
        self.add_arguments(arg_parser)
        add_shared_arguments(arg_parser)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """The options of the tool alone."""
        raise NotImplementedError

    def get_input_name(self) -> str:
        return input_name(self.args.input_file)

    def read(self) -> ModuleOp:
        """The program. Raises ProgramError or ParseError."""
        source = read_source(self.args.input_file)
        self.sources[source.name] = source
        try:
            module = self.parse_chunk(BytesIO(source.content), source.format(frozenset(self.available_frontends)))
        except UnicodeDecodeError as error:
            raise not_text(source.name, error) from error
        if module is None:
            raise ProgramError("expected a module, found nothing")
        return module

    def transform(self, module: ModuleOp, spec: str) -> None:
        """Applies a pipeline; an empty one verifies."""
        steps = pipeline.parse(self.available_passes, spec)
        pipeline.Pipeline(steps, not self.args.disable_verify).apply(self.ctx, module)
