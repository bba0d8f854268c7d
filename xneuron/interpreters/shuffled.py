"""Random order: every participant runs instructions that are ready in an order of its own.

Ready means that operands and control predecessors are there: an instruction that waits for others does not keep the
rest of its computation from running, as on hardware with asynchronous collectives. A loop runs its iterations one
after another, since each needs the state of the one before. What must happen in order must say so, with a token or a
control dependency. Slow, for finding what program order hides: two collectives on one channel, say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import Any

from xdsl.dialects.func import CallOp
from xdsl.ir import Block, Operation

from xneuron.dialects.hlo.control_flow import (
    AsyncStartOp,
    ConditionalOp,
    FusionOp,
    WhileOp,
)
from xneuron.dialects.hlo.types import elements_of
from xneuron.execution.plan import At
from xneuron.interpreters.actions import chosen_branch
from xneuron.interpreters.forwarding import forwarded
from xneuron.interpreters.graphs import Graph, Graphs, Node, Place
from xneuron.interpreters.lockstep import Enter, Failed
from xneuron.interpreters.rendezvous import World
from xneuron.interpreters.replicas import Request
from xneuron.interpreters.trace import record
from xneuron.interpreters.values import zeros

BURST = 16
"""At most this many instructions of one participant before it is another one's turn."""

Done = Callable[[Any], None]
"""What to do with a value once it is there."""


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
