"""Pass pipelines for the tools: the names checked, the module verified between passes, failures that say where."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline, PassPipelineCallbackType
from xdsl.utils.arg_spec import parse_pipeline
from xdsl.utils.exceptions import DiagnosticException, PassFailedException

from xneuron.tools.diagnostics import ProgramError, UsageError, culprit, did_you_mean

Available = Mapping[str, Callable[[], type[ModulePass]]]


def parse(available: Available, spec: str) -> tuple[ModulePass, ...]:
    """The passes of a pipeline such as `cse,unroll-while-loop{max-instructions=10}`. Raises UsageError."""
    for part in parse_pipeline(spec):
        if part.name not in available:
            raise UsageError(f"unknown pass '{part.name}'{did_you_mean(part.name, available)}")
    try:
        return PassPipeline.parse_spec(dict(available), spec).passes
    except ValueError as error:
        raise UsageError(f"in pipeline '{spec}': {error}") from error


def verify(module: ModuleOp, after: str = "") -> None:
    """Checks each op and that values are defined before they are used. Raises ProgramError naming the op to blame."""
    from xneuron.analysis.verification import verify_module

    try:
        verify_module(module)
    except DiagnosticException as error:
        origin = f" (after pass {after})" if after else ""
        raise ProgramError(f"{error}{origin}", culprit(module)) from error


@dataclass
class Pipeline:
    """Passes with checks between them. `between` is told the pass before, the module, the pass after, at each step."""

    passes: tuple[ModulePass, ...]
    check: bool = True
    between: PassPipelineCallbackType | None = None
    running: str = ""

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Applies the passes in order. Raises ProgramError for a module or pass that is wrong."""
        try:
            PassPipeline(self.passes, self._step).apply(ctx, module)
        except PassFailedException as error:
            raise ProgramError(f"{self.running}: {error}", getattr(error, "op", None)) from error
        except Exception as error:
            error.add_note(f"in pass {self.running}")
            raise

    def _step(self, before: ModulePass | None, module: ModuleOp, after: ModulePass | None) -> None:
        if self.check:
            verify(module, before.name if before else "")
        if self.between:
            self.between(before, module, after)
        self.running = after.name if after else ""
