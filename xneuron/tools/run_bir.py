"""`xneuron-run` on BIR: memory locations are inputs and outputs by name, registers are set on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from xneuron.tools.diagnostics import UsageError, did_you_mean
from xneuron.tools.run_inputs import Parameter

SHOWN = 16
"""Registers that text output shows."""


def is_bir(module: ModuleOp) -> bool:
    """Whether there is a BIR function in the module."""
    return any(op.name == "bir.func" for op in module.body.block.ops)


def add_bir_arguments(parser: argparse.ArgumentParser) -> None:
    """The options for BIR programs alone."""
    parser.add_argument(
        "--register",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="Start with this value in a register (BIR); may be repeated",
    )
    parser.add_argument(
        "--strict", action="store_true", help="Reading a register or memory before it is written is an error (BIR)"
    )


def refuse_hlo_arguments(args: argparse.Namespace) -> None:
    """Raises UsageError where options for HLO were given for a BIR program."""
    given = {"--replicas": args.replicas, "--partitions": args.partitions}
    given["--schedule"] = None if args.schedule == "program" else args.schedule
    for option, value in given.items():
        if value is not None:
            raise UsageError(f"{option} is for HLO programs, found a bir.func")


def refuse_bir_arguments(args: argparse.Namespace) -> None:
    """Raises UsageError where options for BIR were given for another program."""
    for option, given in (("--register", args.register), ("--strict", args.strict)):
        if given:
            raise UsageError(f"{option} is for BIR programs, found no bir.func")


class BirProgram:
    """A BIR function made ready to run, as the evaluator's `Program` is."""

    def __init__(self, module: ModuleOp, args: argparse.Namespace, trace: Any = None) -> None:
        refuse_hlo_arguments(args)
        from xneuron.simulator.program import Program

        self.simulated = Program(
            module,
            args.symbol,
            max_iterations=args.max_iterations,
            strict=args.strict,
            profile=args.profile,
            trace=trace,
        )
        names = [op.label for op in self.simulated.function.registers]
        self._given = dict(_assignment(text, names) for text in args.register)
        self.registers: dict[str, int] = {}
        """Registers after the last run."""

    @property
    def parameters(self) -> list[Parameter]:
        """The locations to fill."""
        from xneuron.dialects.hlo.types import ELEMENTS, tensor
        from xneuron.simulator.dtypes import numpy_of

        by_numpy = {row.numpy: row.type for row in ELEMENTS}
        types = [tensor(by_numpy[numpy_of(op.geometry.dtype).name], op.geometry.shape) for op in self.simulated.inputs]
        labels = [op.label for op in self.simulated.inputs]
        return [Parameter(label, str(at), type) for at, (label, type) in enumerate(zip(labels, types, strict=True))]

    @property
    def output_names(self) -> list[str]:
        """The names of what `run` returns."""
        return [op.label for op in self.simulated.outputs]

    def run(self, *inputs: Any) -> list[Any]:
        """Runs on arrays for the parameters, in order; the output locations."""
        named = {parameter.name: value for parameter, value in zip(self.parameters, inputs, strict=True)}
        return list(self.simulate(named).values())

    def simulate(self, named: Mapping[str, Any]) -> Mapping[str, Any]:
        """Runs on arrays for locations by name; the output locations by name."""
        result = self.simulated.run(named, self._given)
        self.registers = result.registers
        return result.outputs

    def run_all(self, inputs: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """As `run`, for the one participant that there is."""
        return [self.run(*each) for each in inputs]

    @property
    def profile(self) -> Any:
        """What ran so far."""
        return self.simulated.profile

    def register_lines(self) -> list[str]:
        """Registers after the last run, as text."""
        lines = [f"register {name} = {value}" for name, value in self.registers.items()]
        return [*lines[:SHOWN], f"… {len(lines) - SHOWN} more registers"] if len(lines) > SHOWN else lines


def _assignment(text: str, known: Sequence[str]) -> tuple[str, int]:
    name, equals, value = text.partition("=")
    try:
        number = int(value, 0) if equals else None
    except ValueError:
        number = None
    if number is None:
        raise UsageError(f"expected --register NAME=VALUE with an integer, found '{text}'")
    if name not in known:
        raise UsageError(f"--register {text}: no register '{name}'{did_you_mean(name, known)}")
    return name, number
