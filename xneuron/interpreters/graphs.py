"""Computations as what waits for what: the data flow graph that a random schedule walks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import getitem
from typing import Any, NamedTuple

from xdsl.dialects.func import CallOp
from xdsl.ir import Block, Operation, SSAValue

from xneuron.dialects.hlo.control_flow import ControlDependencyOp
from xneuron.execution.errors import EvaluationError
from xneuron.interpreters.engine import Engine
from xneuron.interpreters.forwarding import forwarded, resolve
from xneuron.interpreters.linking import CONTROL, is_request
from xneuron.interpreters.meanings import applied, raising

_TAKES_TIME: frozenset[type[Operation]] = CONTROL | {CallOp}


class Place(NamedTuple):
    """Where an operand is: a slot of the frame, and which of several results."""

    slot: int
    part: int | None


class Node(NamedTuple):
    """An instruction: its operands, what waits for it, and how many instructions it waits for."""

    op: Operation
    function: Callable[..., Any] | None
    inputs: tuple[Place, ...]
    users: tuple[int, ...]
    waits: int


class Graph:
    """A computation as what waits for what. Slots of a frame: the parameters, then a value per node."""

    def __init__(self, block: Block, function: Callable[[Operation], Callable[..., Any] | None]) -> None:
        last = block.last_op
        if last is None:
            raise EvaluationError("expected a computation that ends by returning a value", block.parent_op())
        ops = [op for op in block.ops if op is not last and not isinstance(op, ControlDependencyOp)]
        self.block = block
        self.base = len(block.args)
        self._numbers: dict[Operation | Block, int] = {op: number for number, op in enumerate(ops)}
        before = self._predecessors(block, ops)
        users: list[list[int]] = [[] for _ in ops]
        for number, predecessors in enumerate(before):
            for predecessor in predecessors:
                users[predecessor].append(number)
        self.nodes = [
            Node(op, function(op), tuple(map(self._place, op.operands)), tuple(users[n]), len(before[n]))
            for n, op in enumerate(ops)
        ]
        self.roots = tuple(map(self._place, last.operands))
        self.uses = [0] * (self.base + len(ops))
        """Reads of each slot."""
        for place in (*(place for node in self.nodes for place in node.inputs), *self.roots):
            self.uses[place.slot] += 1

    def _predecessors(self, block: Block, ops: Sequence[Operation]) -> list[set[int]]:
        before = [{self._numbers[value.owner] for value in op.operands if self._is_node(value)} for op in ops]
        for op in block.ops:
            if isinstance(op, ControlDependencyOp) and self._is_node(op.predecessor) and self._is_node(op.successor):
                before[self._numbers[op.successor.owner]].add(self._numbers[op.predecessor.owner])
        return before

    def _is_node(self, value: SSAValue) -> bool:
        return value.owner in self._numbers

    def _place(self, value: SSAValue) -> Place:
        owner = value.owner
        if isinstance(owner, Block):
            return Place(owner.args.index(value), None)  # pyright: ignore[reportArgumentType]
        several = len(owner.results) > 1
        return Place(self.base + self._numbers[owner], owner.results.index(value) if several else None)  # pyright: ignore[reportArgumentType]


class Graphs:
    """The graphs of one program, each made once."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._graphs: dict[Block, Graph] = {}

    def of(self, block: Block) -> Graph:
        """The graph of a computation."""
        if block not in self._graphs:
            self._graphs[block] = Graph(block, self._function)
        return self._graphs[block]

    def _function(self, op: Operation) -> Callable[..., Any] | None:
        """What an instruction computes; None for control flow and requests, which take their time."""
        if type(op) in _TAKES_TIME or is_request(type(op)):
            return None
        try:
            if (forward := forwarded(op)) is not None:
                return lambda *operands: resolve(forward, operands, getitem, _itself)
            return applied(self.engine.meaning(op), op)
        except EvaluationError as error:
            return raising(error.message, error.op or op)


def _itself(value: Any) -> Any:
    return value
