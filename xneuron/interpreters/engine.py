"""The engine: computations run as plans first, and as generated code once they are hot.

Plans cost nothing to speak of to make; generated code runs several times faster, and costs 10 µs an instruction to
compile. A computation is hot when its plan has run `warm_up` times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation, Region

from xneuron.dialects.hlo.base import opcode_of
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.execution.errors import EvaluationError, instruction
from xneuron.execution.profile import Profile
from xneuron.execution.source import Listings
from xneuron.interpreters.actions import action_of, traced
from xneuron.interpreters.computations import Computation, Loop
from xneuron.interpreters.emission import Emitter, Sym
from xneuron.interpreters.emission_control import emit_loop
from xneuron.interpreters.kernels.registry import Kernel, Meaning, meaning_of
from xneuron.interpreters.linking import Linker
from xneuron.interpreters.meanings import raising
from xneuron.interpreters.planning import Action
from xneuron.interpreters.trace import Tracer
from xneuron.interpreters.vectorizing import vectorized

WARM_UP = 8
"""Runs of a plan before its computation is compiled: about where the time saved has paid for the compiler."""


@dataclass(frozen=True)
class Options:
    """How to run. `warm_up`: 0 compiles everything that may repeat at once, None nothing."""

    max_iterations: int | None = None
    profile: bool = False
    trace: Tracer | None = None
    warm_up: int | None = WARM_UP


class Engine:
    """Everything known about running one module: each computation's plan and code, each op's meaning."""

    def __init__(self, module: ModuleOp, options: Options) -> None:
        self.linker = Linker(module)
        self.options = options
        self.limit = options.max_iterations
        self.participant = 0
        """Who runs now; kernels with state keep one per participant."""
        self.listings: Listings[Operation] = Listings()
        self.runs: list[int] = []
        """Runs of each computation, by `index`; counted in a profile."""
        self._indices: dict[Block, int] = {}
        self._meanings: dict[Operation, Meaning] = {}
        self._computations: dict[Block, Computation] = {}
        self._loops: dict[Operation, Loop] = {}

    # What kernels may ask (registry.Context)

    def callable(self, region: Region) -> Kernel:
        """The computation as a compiled Python function."""
        return self._compiled(self._alone(region), profiled=False)

    def vectorized(self, region: Region) -> Kernel | None:
        """The computation on scalars as a function on arrays, None if not elementwise."""
        return vectorized(self, self._alone(region))

    def _alone(self, region: Region) -> Block:
        """The block of a computation that a kernel runs. Raises EvaluationError for one that needs the world."""
        if self.linker.communicates(region.block):
            raise EvaluationError("expected a computation without collectives", region.block.parent_op())
        return region.block

    # What planning and emission ask

    def meaning(self, op: Operation) -> Meaning:
        """What the op's kernel factory made, once. Raises EvaluationError for an op without a meaning."""
        if op not in self._meanings:
            self._meanings[op] = meaning_of(op, self)
        return self._meanings[op]

    def computation(self, block: Block) -> Computation:
        """The one object that runs the block."""
        if block not in self._computations:
            self._computations[block] = Computation(self, block)
        return self._computations[block]

    def loop(self, op: WhileOp) -> Loop:
        """The one object that runs the loop."""
        if op not in self._loops:
            self._loops[op] = Loop(self, op)
        return self._loops[op]

    def action(self, op: Operation) -> Action:
        """What a plan's step for the op does."""
        try:
            action = action_of(op, self)
        except EvaluationError as error:
            action = Action(raising(error.message, error.op or op))
        return action if self.options.trace is None else traced(action, op, self.options.trace)

    def failed(self, op: Operation | None, exception: Exception) -> Exception:
        """The error for an exception that came up while running `op`, or code compiled for it."""
        if isinstance(exception, EvaluationError) and exception.op is not None:
            return exception
        where = self.listings.origin(exception.__traceback__) or op
        if isinstance(exception, EvaluationError):
            return EvaluationError(exception.message, where) if where is not None else exception
        name = instruction(where) if where is not None else "a computation"
        return EvaluationError(f"{name} failed: {type(exception).__name__}: {exception}", where)

    def exceeded(self, op: Operation) -> None:
        """Raises the error for a loop that runs too often."""
        raise EvaluationError(f"loop {instruction(op)} did not end after {self.limit} iterations", op)

    # Code

    def hot(self, runs: int) -> bool:
        """True if a computation whose plan ran that often is worth compiling."""
        return self.options.trace is None and self.options.warm_up is not None and runs >= self.options.warm_up

    def _compiled(self, block: Block, profiled: bool) -> Callable[..., Any]:
        emitter = Emitter(self, profiled)
        parameters: list[str] = [emitter.source.fresh("p") for _ in block.args]
        emitter.count(block)
        roots = emitter.block(block, parameters)
        return self._finished(emitter, roots, parameters, self.linker.communicates(block))

    def compiled_block(self, block: Block) -> Callable[..., Any]:
        """A function of the parameters (of the iterations first, if it communicates)."""
        return self._compiled(block, self.options.profile)

    def compiled_loop(self, op: WhileOp) -> Callable[..., Any]:
        """A function of the number of iterations already done and the state (of the iterations around first)."""
        emitter = Emitter(self, self.options.profile)
        emitter.source.origin = op
        parameters = [emitter.source.fresh("p") for _ in op.operands]
        inits = [emitter.unpacked(name, value.type) for name, value in zip(parameters, op.operands, strict=True)]
        state = emit_loop(emitter, op, inits, "start", [])
        return self._finished(emitter, state, ["start", *parameters], self.linker.communicating(op))

    def _finished(
        self, emitter: Emitter, roots: Sequence[Sym], parameters: list[str], communicates: bool
    ) -> Callable[..., Any]:
        values = [emitter.whole(sym) for sym in roots]
        emitter.source.line(f"return {values[0] if len(values) == 1 else emitter.whole(tuple(values))}")
        if communicates:
            emitter.source.line("yield")  # never reached; makes it a generator function in any case
            parameters = ["at", *parameters]
        return emitter.source.function("generated", parameters, self.listings)

    # Profile

    def index(self, block: Block) -> int:
        """Where `runs` counts the block."""
        if block not in self._indices:
            self._indices[block] = len(self.runs)
            self.runs.append(0)
        return self._indices[block]

    def profile(self) -> Profile:
        """What ran so far."""
        instructions: Counter[str] = Counter()
        iterations: Counter[str] = Counter()
        calls: Counter[str] = Counter()
        for block, index in self._indices.items():
            if not (runs := self.runs[index]):
                continue
            owner = block.parent_op()
            for op in block.ops:
                if op is not block.last_op and op.results:
                    instructions["call" if isinstance(op, CallOp) else opcode_of(op.name)] += runs
            if isinstance(owner, FuncOp):
                calls[owner.sym_name.data] += runs
            if isinstance(owner, WhileOp) and block is owner.body.block:
                iterations[instruction(owner)] += runs
        return Profile(dict(instructions), dict(iterations), dict(calls))
