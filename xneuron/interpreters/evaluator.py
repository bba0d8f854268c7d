"""Running HLO programs on numpy values."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from xneuron.execution.errors import EvaluationError
from xneuron.execution.profile import Profile
from xneuron.interpreters.engine import WARM_UP, Engine, Options
from xneuron.interpreters.linking import single_block
from xneuron.interpreters.replicas import Exchanges, run_alone
from xneuron.interpreters.trace import Tracer
from xneuron.interpreters.values import Value, input_value


class Program:
    """A module ready to run, as often as one likes; plans and compiled code are kept between runs.

    `symbol`: the function to run, by default the only public one. `max_iterations`: a loop that wants to run longer is
    an error. `profile`: count what runs (`.profile`). `trace`: called with a record per executed instruction
    (`trace.record`). `warm_up`: runs of a computation before it is compiled, None for never.

    The module must not change in between.
    """

    def __init__(
        self,
        module: ModuleOp,
        symbol: str | None = None,
        *,
        max_iterations: int | None = None,
        profile: bool = False,
        trace: Tracer | None = None,
        warm_up: int | None = WARM_UP,
    ) -> None:
        self.engine = Engine(module, Options(max_iterations, profile, trace, warm_up))
        self.entry = self.engine.linker.entry(symbol)
        self._block = single_block(self.entry)
        self._exchanges = Exchanges(self.engine)

    @property
    def input_types(self) -> list[Attribute]:
        """Types of the parameters."""
        return [argument.type for argument in self._block.args]

    def run(self, *inputs: Any) -> list[Value]:
        """Runs the program on one participant; the outputs, a tuple result taken apart (inner tuples stay).

        Inputs are arrays of exactly the parameters' shapes and dtypes, or Python numbers. Raises EvaluationError.
        """
        values = self.inputs(*inputs)
        computation = self.engine.computation(self._block)
        with np.errstate(all="ignore"):
            try:
                result = run_alone(computation.run((), *values), self._exchanges)
            except Exception as exception:
                error = self.engine.failed(None, exception)
                if error is exception:
                    raise
                raise error from exception
        return list(result) if isinstance(result, tuple) else [result]  # pyright: ignore[reportUnknownArgumentType]

    def inputs(self, *inputs: Any) -> list[Value]:
        """The inputs as values of the parameters' types. Raises EvaluationError where they do not fit."""
        types = self.input_types
        if len(inputs) != len(types):
            raise EvaluationError(f"expected {len(types)} inputs, found {len(inputs)}", self.entry)
        return [self._input(index, given, type) for index, (given, type) in enumerate(zip(inputs, types, strict=True))]

    def _input(self, index: int, given: Any, type: Attribute) -> Value:
        try:
            return input_value(given, type)
        except EvaluationError as error:
            raise EvaluationError(f"input {index}: {error.message}", self.entry) from None

    @property
    def profile(self) -> Profile:
        """What ran so far, if the program was made with `profile=True`."""
        return self.engine.profile()
