"""`xneuron-opt`: xdsl-opt that recognises HLO, says what happened to each loop, and explains errors."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException, ParseError, ShrinkException
from xdsl.xdsl_opt_main import xDSLOptMain

from xneuron import __version__
from xneuron.tools import pipeline
from xneuron.tools.diagnostics import ProgramError
from xneuron.tools.guard import MISSED, OK, WRONG_PROGRAM, guarded, quiet_pipes
from xneuron.tools.requirements import requirements, watched
from xneuron.tools.sources import Sources, input_name, not_text, read_source, split
from xneuron.tools.usage import (
    add_shared_arguments,
    check_options,
    recorded,
    usage_error,
    with_explicit_remarks,
    write_text,
)

if TYPE_CHECKING:
    from xneuron.remarks import Remark


class OptMain(xDSLOptMain):
    """The driver: text in, passes, text out. All output is made before any of it is written."""

    version_format = f"xneuron-opt {__version__} (xdsl {{xdsl_version}})"

    def __init__(self, argv: Sequence[str], sources: Sources) -> None:
        self.sources = sources
        super().__init__("Reads, transforms and writes HLO and MLIR programs.", with_explicit_remarks(argv))

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        add_shared_arguments(arg_parser)
        arg_parser.add_argument(
            "--require",
            action="append",
            default=[],
            metavar="PASS[:LOOP]",
            help="Exit with 3, saying why, if the pass refuses the loop (any loop, if none is named); may be repeated",
        )
        arg_parser.error = lambda message: usage_error(arg_parser, message)

    def setup_pipeline(self) -> None:
        check_options("-t", self.available_targets, self.args.target)
        check_options("-f", self.available_frontends, self.args.frontend)
        passes = pipeline.parse(self.available_passes, self.args.passes)
        self.required = requirements(self.args.require, [each.name for each in passes])
        self.started = time.perf_counter()
        self.steps = pipeline.Pipeline(passes, not self.args.disable_verify, self.report)

    def get_input_name(self) -> str:
        return input_name(self.args.input_file)

    def execute(self) -> int:
        """Does the work; returns the exit code."""
        try:
            with recorded(self.args.remarks), watched(self.required) as remarks:
                output = "// -----\n".join([self.process(chunk) for chunk in self.read_chunks()])
        except ShrinkException:
            print("Success, can shrink")
            return OK
        self.write(output)
        if self.args.shrink:
            print("Failure, can't shrink")
            return WRONG_PROGRAM
        return self.check_required(remarks)

    def check_required(self, remarks: Sequence[Remark]) -> int:
        """Says on stderr which required transformations were missed; the exit code."""
        failures = [text for each in self.required for text in each.failures(remarks)]
        for text in failures:
            print(f"required: {text}", file=sys.stderr)
        return MISSED if failures else OK

    def read_chunks(self) -> list[bytes]:
        """The input, in parts under `--split-input-file`; notes which frontend it is for."""
        source = read_source(self.args.input_file)
        self.sources[source.name] = source
        self.input_format = source.format(frozenset(self.available_frontends))
        return split(source.content) if self.args.split_input_file else [source.content]

    def process(self, chunk: bytes) -> str:
        """One program from text to text; under xdsl-opt's diagnostic options an error is text as well."""
        try:
            module = self.parse_chunk(BytesIO(chunk), self.input_format)
            if module is None:
                return ""
            self.apply_passes(module)
            return self.output_resulting_program(module)
        except ParseError as error:
            if not self.args.parsing_diagnostics:
                raise
            return f"{error}\n"
        except UnicodeDecodeError as error:
            raise not_text(self.get_input_name(), error) from error
        except (DiagnosticException, ProgramError) as error:
            if not self.args.verify_diagnostics:
                raise
            return _as_xdsl_shows(error)

    def apply_passes(self, prog: ModuleOp) -> None:
        self.steps.apply(self.ctx, prog)

    def report(self, before: ModulePass | None, module: ModuleOp, after: ModulePass | None) -> None:
        """`--time-passes` and `--print-between-passes`, on stderr: stdout is for the result."""
        if before and self.args.time_passes:
            print(f"Pass {before.name} took {time.perf_counter() - self.started} seconds", file=sys.stderr)
        if before and after and self.args.print_between_passes:
            print(f"IR after {before.name}:\n{self.output_resulting_program(module)}", file=sys.stderr)
        self.started = time.perf_counter()

    def write(self, output: str) -> None:
        """Delivers the whole output at once."""
        if self.args.output_file in (None, "-"):
            sys.stdout.write(output)
        else:
            write_text(self.args.output_file, output)


def _as_xdsl_shows(error: Exception) -> str:
    """The message, then the IR with the message under the op at fault."""
    origin = error.__cause__ or error
    return "".join(f"{part}\n" for part in (origin, *getattr(origin, "__notes__", ())))


def run(argv: Sequence[str]) -> int:
    """Runs the tool in this process; returns the exit code."""
    return guarded("xneuron-opt", lambda sources: OptMain(argv, sources).execute(), argv)


def main() -> None:
    """The console script."""
    quiet_pipes()
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
