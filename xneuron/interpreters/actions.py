"""What one step of a plan does: control flow, requests to the world, kernels."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.func import CallOp
from xdsl.ir import Operation

from xneuron.dialects.hlo.control_flow import AsyncStartOp, ConditionalOp, FusionOp, WhileOp
from xneuron.dialects.hlo.types import elements_of
from xneuron.execution.plan import At, Resumable
from xneuron.interpreters.linking import is_request
from xneuron.interpreters.meanings import applied
from xneuron.interpreters.planning import Action
from xneuron.interpreters.replicas import Request
from xneuron.interpreters.trace import Tracer, record
from xneuron.interpreters.values import zeros

if TYPE_CHECKING:
    from xneuron.interpreters.engine import Engine


def action_of(op: Operation, engine: Engine) -> Action:
    """The action of an instruction that computes. Raises EvaluationError for one without a meaning."""
    if (control := _CONTROL.get(type(op))) is not None:
        return Action(control(op, engine), True)
    if is_request(type(op)):
        return Action(_requesting(op), True)
    if not op.results:
        return Action(_nothing)
    return Action(applied(engine.meaning(op), op))


def _nothing(*_: Any) -> None:
    """A control dependency: it has been followed by putting one op behind the other."""


def _branching(op: ConditionalOp, engine: Engine) -> Callable[..., Resumable]:
    branches = [engine.computation(region.block) for region in op.branches]
    taking = [bool(region.block.args) for region in op.branches]

    def run(at: At, index: Any, *operands: Any) -> Resumable:
        chosen = chosen_branch(op, index)
        arguments = [operands[chosen]] if taking[chosen] else []
        return (yield from branches[chosen].run(at, *arguments))

    return run


def chosen_branch(op: ConditionalOp, index: Any) -> int:
    """The branch that runs: true is the first, an index out of range the last (xla-semantics.md d.6)."""
    chosen = int(not index) if isinstance(index, bool | np.bool_) else int(index)
    return chosen if 0 <= chosen < len(op.branches) else len(op.branches) - 1


def _starting(op: AsyncStartOp, engine: Engine) -> Callable[..., Resumable]:
    computation = engine.computation(op.calls.block)
    rest = tuple(zeros(type) for type in elements_of(op.result.type)[2:])

    def run(at: At, *operands: Any) -> Resumable:
        result = yield from computation.run(at, *operands)
        return (operands, result, *rest)

    return run


def _calling(op: Operation, engine: Engine) -> Callable[..., Resumable]:
    (block,) = engine.linker.inner(op)
    return engine.computation(block).run


def _looping(op: WhileOp, engine: Engine) -> Callable[..., Resumable]:
    return engine.loop(op).run


_CONTROL: dict[type[Operation], Callable[[Any, Engine], Callable[..., Resumable]]] = {
    WhileOp: _looping,
    CallOp: _calling,
    FusionOp: _calling,
    ConditionalOp: _branching,
    AsyncStartOp: _starting,
}


def _requesting(op: Operation) -> Callable[..., Resumable]:
    def run(at: At, *operands: Any) -> Generator[Request, Any, Any]:
        return (yield Request(op, operands, at))

    return run


def traced(action: Action, op: Operation, trace: Tracer) -> Action:
    """The action, followed by a record of its result."""

    def run(at: At, *operands: Any) -> Resumable:
        if action.resumable:
            resumable: Resumable = action.function(at, *operands)
            value = yield from resumable
        else:
            value = action.function(*operands)
        trace(record(at, op, value))
        return value

    return Action(run, True)
