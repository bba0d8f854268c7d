"""Computations and loops that run several times: as plans first, as code once they are hot."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from xdsl.ir import Block, Operation

from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.execution.plan import At, Plan, Resumable
from xneuron.interpreters.planning import plan

if TYPE_CHECKING:
    from xneuron.interpreters.engine import Engine


class Computation:
    """A computation that may run several times: its plan, then its code."""

    def __init__(self, engine: Engine, block: Block) -> None:
        self._engine = engine
        self._block = block
        self._runs = 0

    @cached_property
    def plan(self) -> Plan[Operation]:
        """Its plan, made at the first run."""
        engine = self._engine
        if not engine.options.profile:
            return plan(self._block, engine)
        index = engine.index(self._block)

        def count() -> None:
            engine.runs[index] += 1

        return plan(self._block, engine, count)

    @cached_property
    def code(self) -> Callable[..., Any]:
        """Its code; a generator function that takes the iterations first if it communicates."""
        return self._engine.compiled_block(self._block)

    @cached_property
    def _communicates(self) -> bool:
        return self._engine.linker.communicates(self._block)

    def run(self, at: At, *arguments: Any) -> Resumable:
        """Runs it: one value, or a tuple of several."""
        if self._engine.hot(self._runs):
            if self._communicates:
                resumable: Resumable = self.code(at, *arguments)
                return (yield from resumable)
            return self.code(*arguments)
        self._runs += 1
        roots = yield from self.plan.run(at, arguments)
        return roots[0] if len(roots) == 1 else roots


class Loop:
    """A while loop: its first iterations by plans, the others by code."""

    def __init__(self, engine: Engine, op: WhileOp) -> None:
        self._engine = engine
        self._op = op
        self._runs = 0
        self._cond = engine.computation(op.cond.block)
        self._body = engine.computation(op.body.block)

    @cached_property
    def code(self) -> Callable[..., Any]:
        """The compiled loop, see `Engine.compiled_loop`."""
        return self._engine.compiled_loop(self._op)

    @cached_property
    def _communicates(self) -> bool:
        return self._engine.linker.communicating(self._op)

    def run(self, at: At, *state: Any) -> Resumable:
        """Runs the loop to its end: one value, or a tuple of several."""
        engine, done = self._engine, 0
        while not engine.hot(self._runs):
            inside = (*at, done)
            (going,) = yield from self._cond.plan.run(inside, state)
            if not going:
                return state[0] if len(state) == 1 else state
            if engine.limit is not None and done >= engine.limit:
                engine.exceeded(self._op)
            state = yield from self._body.plan.run(inside, state)
            done += 1
            self._runs += 1
        if self._communicates:
            resumable: Resumable = self.code(at, done, *state)
            return (yield from resumable)
        return self.code(done, *state)
