"""StableHLO for `xdsl-opt`: target `stablehlo`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException
from xdsl.utils.target import Target

from xneuron.formats.stablehlo import process
from xneuron.formats.stablehlo.writer.module import write

ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class StablehloTarget(Target):
    """Writes StableHLO, verified and printed by JAX's MLIR.

    `locations`: print them or not. By default they are printed where the program has some: a program that came without
    goes without. `native_markers`: write boundary markers as the custom calls that Neuron's compiler knows, and no
    other back end runs.
    """

    name = "stablehlo"

    locations: bool | None = None
    native_markers: bool = False

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        # First of all: whoever lacks the extra should not wait for the translation.
        _explained(process.require_extra)
        text, any_source = write(module, self.native_markers)
        shown = any_source if self.locations is None else self.locations
        output.write(_explained(lambda: process.pretty(text, shown)).rstrip("\n") + "\n")


def _explained(work: Callable[[], ResultT]) -> ResultT:
    """The result of the work; DiagnosticException where MLIR is missing, refuses the text or ends."""
    try:
        return work()
    except (process.MissingExtra, process.Aborted) as error:
        raise DiagnosticException(str(error)) from None
    except process.Refused as error:
        raise DiagnosticException(f"MLIR refuses the StableHLO: {error}") from None
