"""From a computation to its plan: one step per instruction that computes, tuples taken apart where they are made."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any, NamedTuple, Protocol, TypeAlias

from xdsl.ir import Block, Operation, SSAValue

from xneuron.execution.errors import EvaluationError
from xneuron.execution.plan import Plan, Step
from xneuron.interpreters.forwarding import forwarded, resolve
from xneuron.interpreters.meanings import raising

Sym: TypeAlias = "int | tuple[Sym, ...]"
"""Where a value is: a slot, or for a tuple that is not made yet, where its elements are."""


class Action(NamedTuple):
    """What a step does: a function of the operand values; a resumable one takes the iterations first and may yield."""

    function: Callable[..., Any]
    resumable: bool = False


class Actions(Protocol):
    """What the planner asks of the engine."""

    def action(self, op: Operation) -> Action:
        """What the op does; for one without a meaning, raise that error."""
        ...

    def failed(self, op: Operation | None, exception: Exception) -> Exception:
        """The error to raise for an exception in a step."""
        ...


def plan(block: Block, actions: Actions, first: Callable[[], None] | None = None) -> Plan[Operation]:
    """The plan of a computation; `first`, if given, is called when a run begins."""
    planner = _Planner(block, actions)
    if first is not None:
        planner.step(first, [], None)
    for op in block.ops:
        if op is not block.last_op:
            planner.add(op)
    return planner.finished()


class _Planner:
    def __init__(self, block: Block, actions: Actions) -> None:
        self._block = block
        self._actions = actions
        self._slots: list[Any] = [None] * len(block.args)
        self._env: dict[SSAValue, Sym] = dict(zip(block.args, range(len(block.args)), strict=True))
        self._packed: dict[tuple[Sym, ...], int] = {}
        self._steps: list[Step[Any]] = []

    def add(self, op: Operation) -> None:
        """Plans one instruction."""
        try:
            forward = forwarded(op)
        except EvaluationError as error:
            self._compute(op, Action(raising(error.message, op)))
            return
        if forward is None:
            self._compute(op, self._actions.action(op))
            return
        operands = [self._env[operand] for operand in op.operands]
        self._env[op.results[0]] = resolve(forward, operands, self._element, self._slot)

    def _compute(self, op: Operation, action: Action) -> None:
        inputs = [self._whole(self._env[operand]) for operand in op.operands]
        output = self.step(action.function, inputs, op, action.resumable)
        if len(op.results) == 1:
            self._env[op.results[0]] = output
            return
        for index, result in enumerate(op.results):
            self._env[result] = self._element(output, index)

    def step(
        self, function: Callable[..., Any], inputs: list[int], op: Operation | None, resumable: bool = False
    ) -> int:
        """Appends a step; the slot of its value."""
        output = self._slot(None)
        self._steps.append(Step(function, tuple(inputs), output, resumable, (), op))
        return output

    def _slot(self, value: Any) -> int:
        self._slots.append(value)
        return len(self._slots) - 1

    def _element(self, sym: Sym, index: int) -> Sym:
        if isinstance(sym, tuple):
            return sym[index]
        return self.step(itemgetter(index), [sym], None)

    def _whole(self, sym: Sym) -> int:
        """The slot of the value, tuples put together."""
        if isinstance(sym, int):
            return sym
        if sym not in self._packed:
            self._packed[sym] = self.step(_pack, [self._whole(inner) for inner in sym], None)
        return self._packed[sym]

    def finished(self) -> Plan[Any]:
        last = self._block.last_op
        if last is None:
            raise EvaluationError("expected a computation that ends by returning a value", self._block.parent_op())
        roots = [self._whole(self._env[value]) for value in last.operands]
        return Plan(self._slots, self._steps, roots, self._actions.failed)


def _pack(*values: Any) -> tuple[Any, ...]:
    return values
