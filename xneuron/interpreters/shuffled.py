"""Random order: every participant runs instructions that are ready in an order of its own.

Ready means that operands and control predecessors are there: an instruction that waits for others does not keep the
rest of its computation from running, as on hardware with asynchronous collectives. A loop runs its iterations one
after another, since each needs the state of the one before. What must happen in order must say so, with a token or a
control dependency. Slow, for finding what program order hides: two collectives on one channel, say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import getitem
from random import Random
from typing import Any, NamedTuple

from xdsl.dialects.func import CallOp
from xdsl.ir import Block, Operation, SSAValue

from xneuron.dialects.hlo.control_flow import (
    AsyncStartOp,
    ConditionalOp,
    ControlDependencyOp,
    FusionOp,
    WhileOp,
)
from xneuron.dialects.hlo.types import elements_of
from xneuron.execution.errors import EvaluationError
from xneuron.execution.plan import At
from xneuron.interpreters.actions import chosen_branch
from xneuron.interpreters.engine import Engine
from xneuron.interpreters.forwarding import forwarded, resolve
from xneuron.interpreters.linking import is_request
from xneuron.interpreters.lockstep import Enter, Failed
from xneuron.interpreters.meanings import applied, raising
from xneuron.interpreters.rendezvous import World
from xneuron.interpreters.replicas import Request
from xneuron.interpreters.trace import record
from xneuron.interpreters.values import zeros

BURST = 16
"""At most this many instructions of one participant before it is another one's turn."""

Done = Callable[[Any], None]
"""What to do with a value once it is there."""


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
        if type(op) in _CONTROL or is_request(type(op)):
            return None
        try:
            if (forward := forwarded(op)) is not None:
                return lambda *operands: resolve(forward, operands, getitem, _itself)
            return applied(self.engine.meaning(op), op)
        except EvaluationError as error:
            return raising(error.message, error.op or op)


def _itself(value: Any) -> Any:
    return value


class _Frame:
    """One run of a computation."""

    __slots__ = ("at", "calls", "done", "graph", "left", "missing", "uses", "values")

    def __init__(self, graph: Graph, values: Sequence[Any], at: At, calls: tuple[Operation, ...], done: Done) -> None:
        self.graph = graph
        self.values: list[Any] = [*values, *[None] * len(graph.nodes)]
        self.uses = graph.uses.copy()
        self.missing = [node.waits for node in graph.nodes]
        self.left = len(graph.nodes)
        self.at = at
        self.calls = calls
        self.done = done

    def take(self, places: Sequence[Place]) -> list[Any]:
        """Values of operands; a value that nobody else will read is forgotten."""
        found = [self.values[slot] if part is None else self.values[slot][part] for slot, part in places]
        for slot, _ in places:
            self.uses[slot] -= 1
            if not self.uses[slot]:
                self.values[slot] = None
        return found


_END = -1


class Runner:
    """One participant: the computations under way, and the instructions in them that are ready."""

    def __init__(self, graphs: Graphs, participant: int, seed: int) -> None:
        self.participant = participant
        self.ready: list[tuple[_Frame, int]] = []
        self.result: Any = None
        self.finished = False
        self.engine = graphs.engine
        self._graphs = graphs
        self._random = Random(f"{seed}:{participant}")

    def run(self, block: Block, arguments: Sequence[Any]) -> None:
        """Starts the program."""
        self.start(block, arguments, (), (), self._end)

    def _end(self, result: Any) -> None:
        self.result, self.finished = result, True

    def start(self, block: Block, arguments: Sequence[Any], at: At, calls: tuple[Operation, ...], done: Done) -> None:
        """Starts a computation; `done` gets its one value, or a tuple of several."""
        graph = self._graphs.of(block)
        if self.engine.options.profile:
            self.engine.runs[self.engine.index(block)] += 1
        frame = _Frame(graph, arguments, at, calls, done)
        self.ready += [(frame, number) for number, node in enumerate(graph.nodes) if not node.waits]
        if not graph.nodes:
            self.ready.append((frame, _END))

    def step(self) -> tuple[Request, Done] | None:
        """Runs one instruction that is ready, any one; a request is for the world to answer."""
        ready = self.ready
        chosen = self._random.randrange(len(ready))
        ready[chosen], ready[-1] = ready[-1], ready[chosen]
        frame, number = ready.pop()
        if number == _END:
            roots = frame.take(frame.graph.roots)
            frame.done(roots[0] if len(roots) == 1 else tuple(roots))
            return None
        op = frame.graph.nodes[number].op
        try:
            return self._execute(frame, number, frame.graph.nodes[number])
        except Exception as exception:
            raise self.engine.failed(op, exception) from exception

    def _execute(self, frame: _Frame, number: int, node: Node) -> tuple[Request, Done] | None:
        operands = frame.take(node.inputs)
        done = partial(self._complete, frame, number)
        if node.function is not None:
            done(node.function(*operands))
        elif (control := _CONTROL.get(type(node.op))) is not None:
            control(self, node.op, frame, operands, done)
        else:
            return Request(node.op, tuple(operands), frame.at, frame.calls), done
        return None

    def _complete(self, frame: _Frame, number: int, value: Any) -> None:
        """The instruction has its value: others may be ready now."""
        graph = frame.graph
        node = graph.nodes[number]
        if frame.uses[graph.base + number]:
            frame.values[graph.base + number] = value
        if (trace := self.engine.options.trace) is not None and forwarded(node.op) is None:
            self.engine.participant = self.participant
            trace(record(frame.at, node.op, value))
        for user in node.users:
            frame.missing[user] -= 1
            if not frame.missing[user]:
                self.ready.append((frame, user))
        frame.left -= 1
        if not frame.left:
            self.ready.append((frame, _END))


# Control flow


def _branch(runner: Runner, op: ConditionalOp, frame: _Frame, operands: list[Any], done: Done) -> None:
    index, *arguments = operands
    chosen = chosen_branch(op, index)
    block = op.branches[chosen].block
    runner.start(block, [arguments[chosen]] if block.args else [], frame.at, frame.calls, done)


def _call(runner: Runner, op: CallOp, frame: _Frame, operands: list[Any], done: Done) -> None:
    runner.start(runner.engine.linker.callee(op), operands, frame.at, (*frame.calls, op), done)


def _fusion(runner: Runner, op: FusionOp, frame: _Frame, operands: list[Any], done: Done) -> None:
    runner.start(op.calls.block, operands, frame.at, frame.calls, done)


def _async_start(runner: Runner, op: AsyncStartOp, frame: _Frame, operands: list[Any], done: Done) -> None:
    rest = tuple(map(zeros, elements_of(op.result.type)[2:]))
    started = tuple(operands)
    runner.start(op.calls.block, operands, frame.at, frame.calls, lambda result: done((started, result, *rest)))


def _while(runner: Runner, op: WhileOp, frame: _Frame, operands: list[Any], done: Done) -> None:
    _Loop(runner, op, frame, done).test(operands)


class _Loop:
    """A loop under way."""

    def __init__(self, runner: Runner, op: WhileOp, frame: _Frame, done: Done) -> None:
        self._runner = runner
        self._op = op
        self._frame = frame
        self._done = done
        self._iterations = 0

    def test(self, state: Sequence[Any]) -> None:
        """Starts the condition."""
        self._start(self._op.cond.block, state, lambda going: self._decide(going, state))

    def _start(self, block: Block, state: Sequence[Any], done: Done) -> None:
        self._runner.start(block, state, (*self._frame.at, self._iterations), self._frame.calls, done)

    def _decide(self, going: Any, state: Sequence[Any]) -> None:
        if not going:
            self._done(state[0] if len(state) == 1 else tuple(state))
            return
        engine = self._runner.engine
        if engine.limit is not None and self._iterations >= engine.limit:
            engine.exceeded(self._op)
        self._start(self._op.body.block, state, self._next)

    def _next(self, result: Any) -> None:
        self._iterations += 1
        self.test([result] if len(self._op.inits) == 1 else list(result))


_CONTROL: dict[type[Operation], Callable[[Runner, Any, _Frame, list[Any], Done], None]] = {
    WhileOp: _while,
    CallOp: _call,
    FusionOp: _fusion,
    ConditionalOp: _branch,
    AsyncStartOp: _async_start,
}


def run_in_random_order(
    graphs: Graphs,
    world: World,
    block: Block,
    arguments: Sequence[Sequence[Any]],
    seed: int,
    enter: Enter,
    failed: Failed,
) -> list[Any]:
    """Runs a computation by all participants, each in its own order; the value of each. Same seed, same orders.

    `enter` and `failed`: as in `run_in_program_order`. Raises EvaluationError for a deadlock too.
    """
    graphs.engine.linker.communicates(block)  # raises for recursion
    runners = [Runner(graphs, participant, seed) for participant in range(len(arguments))]
    for runner, values in zip(runners, arguments, strict=True):
        runner.run(block, values)
    random = Random(seed)
    while active := [runner for runner in runners if runner.ready]:
        runner = random.choice(active)
        for _ in range(random.randint(1, BURST)):
            if not runner.ready:
                break
            _step(runner, world, enter, failed)
        if runner.finished:
            world.finished(runner.participant)
    if not all(runner.finished for runner in runners):
        raise world.stuck()
    return [runner.result for runner in runners]


def _step(runner: Runner, world: World, enter: Enter, failed: Failed) -> None:
    enter(runner.participant)
    try:
        posted = runner.step()
    except Exception as exception:
        raise failed(runner.participant, exception) from exception
    if posted is not None:
        request, done = posted
        world.post(runner.participant, request, done)
