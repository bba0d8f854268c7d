"""`xneuron-run`: runs a program on given or random inputs; checks that a pipeline keeps its results."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp

from xneuron import __version__
from xneuron.tools.diagnostics import UsageError
from xneuron.tools.guard import OK, WRONG_PROGRAM, guarded, quiet_pipes
from xneuron.tools.levels import LEVELS, TOLERANCE, LoweredProgram, level_of, levels_below, lowered
from xneuron.tools.program_tool import ProgramTool
from xneuron.tools.run_bir import BirProgram, add_bir_arguments, is_bir, refuse_bir_arguments
from xneuron.tools.run_inputs import inputs_from_file, parameters_of, random_inputs
from xneuron.tools.run_outputs import as_json, as_text, first_difference, flat, profile_as_text
from xneuron.tools.usage import (
    recorded,
    writable,
)

if TYPE_CHECKING:
    from xneuron.interpreters.evaluator import Program

MAX_ITERATIONS = 1_000_000


class RunMain(ProgramTool):
    """The driver: reads, applies a pipeline, runs, shows. Results are made before any of them is shown."""

    DESCRIPTION = "Runs HLO programs, in any format the frontends read, and BIR."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_run_arguments(parser)

    def execute(self) -> int:
        """Does the work; returns the exit code."""
        with recorded(self.args.remarks):
            module = self.read()
            self.transform(module, self.args.passes)
            if self.args.check_pipeline is not None:
                return self.check(module)
            if self.args.check_levels:
                return self.check_levels(module)
            with self.tracer() as trace:
                program = self.program_at(module, self.args.through or level_of(module), trace)
                outputs = self.run(program, self.inputs(program))
        self.deliver(program, outputs)
        return OK

    def program(self, module: ModuleOp, trace: Any = None) -> Program | BirProgram:
        """The module made ready to run."""
        if is_bir(module):
            return BirProgram(module, self.args, trace)
        refuse_bir_arguments(self.args)
        from xneuron.interpreters.evaluator import Program

        args = self.args
        return Program(
            module,
            args.symbol,
            replicas=args.replicas,
            partitions=args.partitions,
            schedule=args.schedule,
            max_iterations=args.max_iterations,
            profile=args.profile,
            trace=trace,
        )

    def program_at(self, module: ModuleOp, level: str, trace: Any = None) -> Program | BirProgram:
        """The module made ready to run at a level."""
        if level == "hlo" or is_bir(module):
            return self.program(lowered(module, level, self.transform), trace)
        return LoweredProgram(self.source(module), lowered(module, level, self.transform), self.args, trace)

    def source(self, module: ModuleOp) -> Program:
        """The HLO program that another level runs."""
        from xneuron.interpreters.evaluator import Program

        return Program(module, self.args.symbol)

    def inputs(self, program: Program | BirProgram) -> list[list[Any]]:
        """What each participant runs on. Raises UsageError if there are parameters and nobody said."""
        bir = isinstance(program, BirProgram)
        parameters = program.parameters if bir else parameters_of(program.entry)
        count = 1 if bir else len(program.participants)
        if self.args.inputs is not None:
            return inputs_from_file(parameters, self.args.inputs, count)
        if self.args.random is not None:
            return random_inputs(parameters, self.args.random, count)
        if parameters:
            needed = ", ".join(map(str, parameters))
            raise UsageError(f"the program takes ({needed}): give --inputs FILE.npz or --random SEED")
        return [[] for _ in range(count)]

    def run(self, program: Program | BirProgram, inputs: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """The arrays that the program returns, for each participant."""
        return [[leaf for output in outputs for leaf in flat(output)] for outputs in program.run_all(inputs)]

    def check(self, module: ModuleOp) -> int:
        """Runs before and after the pipeline to check; says whether the results are the same."""
        program = self.program(module)
        inputs = self.inputs(program)
        before = self.run(program, inputs)
        changed = module.clone()
        self.transform(changed, self.args.check_pipeline)
        after = self.run(self.program(changed), inputs)
        difference = self.difference(program, before, after)
        if self.args.json:
            print(json.dumps({"equal": difference is None, "difference": difference}))
        else:
            print(difference or f"equal: {counted(before)} before and after {self.args.check_pipeline}")
        return WRONG_PROGRAM if difference else OK

    def check_levels(self, module: ModuleOp) -> int:
        """Runs at all levels from the program's own down; says whether the results are the same."""
        first, *others = levels_below(module)
        program = self.program_at(module, first)
        inputs = self.inputs(program)
        expected = self.run(program, inputs)
        difference = None
        for level in others:
            found = self.run(self.program_at(module, level), inputs)
            if (difference := self.difference(program, expected, found, TOLERANCE)) is not None:
                difference = f"{first} and {level} differ: {difference}"
                break
        if self.args.json:
            print(json.dumps({"equal": difference is None, "levels": [first, *others], "difference": difference}))
        else:
            print(difference or f"equal: {counted(expected)} at levels {', '.join([first, *others])}")
        return WRONG_PROGRAM if difference else OK

    def difference(
        self, program: Program | BirProgram, before: Sequence[Any], after: Sequence[Any], tolerance: float = 0.0
    ) -> str | None:
        """Where the results of two runs differ first; where there are many participants, in which one."""
        if self.args.tolerance is not None:
            tolerance = self.args.tolerance
        for participant, (old, new) in enumerate(zip(before, after, strict=True)):
            if (found := first_difference(old, new, tolerance)) is not None:
                return f"{whose(program, participant)}{found}"
        return None

    @contextmanager
    def tracer(self) -> Generator[Any]:
        """Writes each executed instruction to `--trace FILE`, while the program runs."""
        if self.args.trace is None:
            yield None
            return
        from xneuron.interpreters.trace import json_lines

        with writable(self.args.trace) as file:
            yield json_lines(file)

    def deliver(self, program: Program | BirProgram, outputs: Sequence[Sequence[Any]]) -> None:
        """Shows the outputs, or writes them to `--outputs FILE`."""
        profile = program.profile.as_dict() if self.args.profile else {}
        bir = program if isinstance(program, BirProgram) else None
        names = bir.output_names if bir else list(map(str, range(len(outputs[0]))))
        if self.args.outputs is not None:
            save(self.args.outputs, named(names, outputs))
        if self.args.json:
            shown = {"outputs": [[as_json(value) for value in each] for each in outputs], "profile": profile}
            print(json.dumps({**shown, "names": names, "registers": bir.registers} if bir else shown))
            return
        if self.args.outputs is None:
            for participant, values in enumerate(outputs):
                for name, value in zip(names, values, strict=True):
                    print(f"{whose(program, participant)}{name}: {as_text(value)}")
            for line in bir.register_lines() if bir else ():
                print(line)
        if profile:
            print(profile_as_text(profile), file=sys.stderr)


def whose(program: Program | BirProgram, participant: int) -> str:
    """`replica 1, `: whose outputs these are, where there are several participants."""
    if isinstance(program, BirProgram) or len(program.participants) == 1:
        return ""
    return f"{program.participants.name(participant)}, "


def counted(outputs: Sequence[Sequence[Any]]) -> str:
    """`2 outputs`, of all participants together."""
    count = sum(map(len, outputs))
    return f"{count} output{'' if count == 1 else 's'}"


def named(names: Sequence[str], outputs: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """Outputs by name; with several participants by `name@participant`."""
    if len(outputs) == 1:
        return dict(zip(names, outputs[0], strict=True))
    return {f"{name}@{r}": value for r, values in enumerate(outputs) for name, value in zip(names, values, strict=True)}


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `xneuron-run` alone."""
    add = parser.add_argument
    add("--symbol", metavar="NAME", help="Function to run (default: the only public one, the entry)")
    given = parser.add_mutually_exclusive_group()
    given.add_argument("--inputs", metavar="FILE", help="Read inputs from an .npz file, by parameter name or position")
    given.add_argument("--random", type=int, metavar="SEED", help="Random inputs; integers are in [0, 10)")
    add("--replicas", type=positive, metavar="N", help="Number of replicas (default: what the module's header says)")
    add("--partitions", type=positive, metavar="M", help="Partitions of each replica (default: the header's)")
    add(
        "--schedule",
        default="program",
        type=schedule,
        metavar="program|random:SEED",
        help="The order of instructions: that of the text, or for each participant one of its own",
    )
    add_bir_arguments(parser)
    add("--outputs", metavar="FILE", help="Write outputs to an .npz file")
    add("--json", action="store_true", help="Print one JSON object")
    add("--profile", action="store_true", help="Count executed instructions, iterations, collectives")
    add("--trace", metavar="FILE", help="Write a JSON line per executed instruction")
    add(
        "--max-iterations",
        type=int,
        default=MAX_ITERATIONS,
        metavar="N",
        help="A loop that wants to run longer is an error (default: %(default)s)",
    )
    add("--through", choices=list(LEVELS), help="The level to run at (default: the one that the program is at)")
    checks = parser.add_mutually_exclusive_group()
    checks.add_argument(
        "--check-pipeline", metavar="PIPELINE", help="Run before and after these passes; report the first difference"
    )
    checks.add_argument(
        "--check-levels", action="store_true", help="Run at all levels from the program's own down, and compare"
    )
    add(
        "--tolerance",
        type=float,
        metavar="R",
        help=f"Relative tolerance of a check (default: bits, and {TOLERANCE} between levels)",
    )
    add("-v", "--version", action="version", version=f"xneuron-run {__version__}")


def positive(text: str) -> int:
    """A number of participants."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"expected a number of at least 1, found '{text}'")
    return int(text)


def schedule(text: str) -> str:
    """The name of a schedule."""
    kind, _, seed = text.partition(":")
    if text != "program" and (kind != "random" or not seed.isdecimal()):
        raise argparse.ArgumentTypeError(f"expected program or random:SEED, found '{text}'")
    return text


def save(path: str, outputs: Mapping[str, Any]) -> None:
    """Writes outputs by name or position; a token has no data to write. Raises UsageError if that is impossible."""
    from xneuron.formats.arrays import save_arrays

    try:
        save_arrays(path, {name: value for name, value in outputs.items() if value is not None})
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error


def run(argv: Sequence[str]) -> int:
    """Runs the tool in this process; returns the exit code."""
    return guarded("xneuron-run", lambda sources: RunMain(argv, sources).execute(), argv)


def main() -> None:
    """The console script."""
    quiet_pipes()
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
