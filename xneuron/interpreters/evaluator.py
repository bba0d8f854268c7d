"""Running HLO programs on numpy values, by one participant or by many in lockstep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from xneuron.execution.errors import EvaluationError
from xneuron.execution.profile import Profile
from xneuron.interpreters.engine import WARM_UP, Engine, Options
from xneuron.interpreters.graphs import Graphs
from xneuron.interpreters.linking import single_block
from xneuron.interpreters.lockstep import run_in_program_order
from xneuron.interpreters.rendezvous import World
from xneuron.interpreters.replicas import Exchanges, Participants
from xneuron.interpreters.shuffled import run_in_random_order
from xneuron.interpreters.trace import Record, Tracer
from xneuron.interpreters.values import Value, input_value

PROGRAM_ORDER = "program"


def seed_of(schedule: str) -> int | None:
    """The seed of a random schedule, None for program order. Raises EvaluationError for anything else."""
    if schedule == PROGRAM_ORDER:
        return None
    kind, _, seed = schedule.partition(":")
    if kind != "random" or not seed.isdecimal():
        raise EvaluationError(f"expected schedule program or random:SEED, found {schedule}")
    return int(seed)


class Program:
    """A module ready to run, as often as one likes; plans and compiled code are shared by participants and runs.

    `symbol`: the function to run, by default the only public one. `replicas`, `partitions`: how many participants,
    by default what the module's header says. `schedule`: `program`, instructions in the order of the text, or
    `random:SEED`, each participant in its own order (`shuffled.py`). `max_iterations`: a loop that wants to run longer
    is an error. `profile`: count what runs (`.profile`). `trace`: called with a record per executed instruction
    (`trace.record`). `warm_up`: runs of a computation before it is compiled, None for never.

    The module must not change in between.
    """

    def __init__(
        self,
        module: ModuleOp,
        symbol: str | None = None,
        *,
        replicas: int | None = None,
        partitions: int | None = None,
        schedule: str = PROGRAM_ORDER,
        max_iterations: int | None = None,
        profile: bool = False,
        trace: Tracer | None = None,
        warm_up: int | None = WARM_UP,
    ) -> None:
        self.participants = Participants.of(module, replicas, partitions)
        self._seed = seed_of(schedule)
        self._trace = trace
        self.engine = Engine(module, Options(max_iterations, profile, trace and self._traced, warm_up))
        self.entry = self.engine.linker.entry(symbol)
        self._block = single_block(self.entry)
        self._exchanges = Exchanges(self.engine)
        self._graphs = Graphs(self.engine)

    @property
    def input_types(self) -> list[Attribute]:
        """Types of the parameters."""
        return [argument.type for argument in self._block.args]

    def run(self, *inputs: Any) -> list[Value]:
        """Runs the program on one participant; the outputs, a tuple result taken apart (inner tuples stay).

        Inputs are arrays of exactly the parameters' shapes and dtypes, or Python numbers. Raises EvaluationError.
        """
        if (count := len(self.participants)) != 1:
            raise EvaluationError(f"expected one participant, found {count}: use run_all", self.entry)
        return self.run_all([inputs])[0]

    def run_all(self, inputs: Sequence[Sequence[Any]]) -> list[list[Value]]:
        """Runs the program on all participants in lockstep; the outputs of each, as `run` returns them.

        `inputs`: those of each participant, numbered replica * partitions + partition. Raises EvaluationError, for a
        deadlock too.
        """
        if len(inputs) != len(self.participants):
            raise EvaluationError(
                f"expected inputs of {len(self.participants)} participants, found {len(inputs)}", self.entry
            )
        values = [self.inputs(*each) for each in inputs]
        with np.errstate(all="ignore"):
            results = self._results(values)
        return [list(cast(tuple[Value, ...], r)) if isinstance(r, tuple) else [r] for r in results]

    def _results(self, values: Sequence[Sequence[Value]]) -> list[Any]:
        world = World(self.participants, self._exchanges)
        if self._seed is not None:
            order = self._seed, self._enter, self._failed
            return run_in_random_order(self._graphs, world, self._block, values, *order)
        computation = self.engine.computation(self._block)
        resumables = [computation.run((), *each) for each in values]
        return run_in_program_order(world, resumables, self._enter, self._failed)

    def _enter(self, participant: int) -> None:
        self.engine.participant = participant

    def _failed(self, participant: int, exception: Exception) -> Exception:
        """The error to raise for an exception in a participant, which is named where there are many."""
        error = self.engine.failed(None, exception)
        if len(self.participants) == 1 or not isinstance(error, EvaluationError):
            return error
        return EvaluationError(f"{error.message} (in {self.participants.name(participant)})", error.op)

    def _traced(self, record: Record) -> None:
        """Adds who it was to a record of the engine."""
        if self._trace is not None:
            participant, who = self.engine.participant, self.participants
            self._trace({**record, "replica": who.replica(participant), "partition": who.partition(participant)})

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
        """What ran so far, in all participants together, if the program was made with `profile=True`."""
        moved = self._exchanges
        return replace(self.engine.profile(), collectives=dict(moved.executed), bytes_moved=dict(moved.moved))
