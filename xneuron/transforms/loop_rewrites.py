"""The three forms of an unrolled loop: copies in its place, copies in a loop around them, and copies behind that."""

from __future__ import annotations

from typing import NamedTuple, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, OpResult, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xneuron.analysis.call_graph import CallGraph
from xneuron.analysis.trip_count import TripCount
from xneuron.dialects.hlo.control_flow import GetTupleElementOp, ReturnOp, TupleOp, WhileOp
from xneuron.fastir import append, build, splice
from xneuron.remarks import name_of
from xneuron.transforms.annotate_while_trip_count import correct_annotation
from xneuron.transforms.cloning import Cloner, annotations_kept, function_around, in_layout
from xneuron.transforms.loop_copies import Iterations, State
from xneuron.transforms.replacement import erase
from xneuron.transforms.rolled_loops import Counter, rolled
from xneuron.transforms.tuple_simplifier import forward_element


class Plan(NamedTuple):
    """`copies` of the body in a loop that runs `trips` times (no such loop for 0), then `left_over` more behind it."""

    trips: int
    copies: int
    left_over: int

    @property
    def all_copies(self) -> int:
        """How many copies of the body are made."""
        return self.copies + self.left_over


class LoopRewrites:
    """Rewrites loops of one module; the copies of all have channels of their own."""

    def __init__(self, module: ModuleOp, calls: CallGraph) -> None:
        self.cloner = Cloner(module, calls)

    def drop(self, loop: WhileOp) -> None:
        """Puts the initial value in the place of a loop that never runs."""
        _replace(loop, loop.inits[0])

    def unroll(self, loop: WhileOp, count: TripCount, plan: Plan) -> None:
        """Unrolls a loop that starts from a tuple instruction and counts in one slot of its state."""
        _Unrolling(loop, count, self.cloner).apply(plan)


class _Unrolling:
    """One loop while it is unrolled; new instructions collect in `block`, which then goes where the loop was."""

    def __init__(self, loop: WhileOp, count: TripCount, cloner: Cloner) -> None:
        slot = cast(int, count.slot)
        self.loop = loop
        self.count = count
        self.cloner = cloner
        self.around = function_around(loop)
        self.body = Iterations(loop, slot, cloner)
        self.counter = Counter(slot, self.body.counter_type, cast(int, count.init), cast(int, count.step))
        self.block = Block()

    def apply(self, plan: Plan) -> None:
        state = self._after_loop(plan) if plan.trips else self._before()
        first = plan.trips * plan.copies
        for iteration in range(first, first + plan.left_over):
            state = self._iterate(state, None, iteration)
        value = state.whole(self.loop.results[0].name_hint)
        if plan.left_over and isinstance(value, OpResult) and isinstance(value.op, TupleOp):
            value.op.attributes |= annotations_kept(self.loop)
        splice(self.block, self.loop)
        _replace(self.loop, value)

    def _before(self) -> State:
        init = cast(OpResult, self.loop.inits[0])
        return State(self.block, self.body.state_type, init, cast(TupleOp, init.op).operands)

    def _after_loop(self, plan: Plan) -> State:
        """Adds a loop around copies of the body; the state behind it."""
        body = Block(arg_types=[self.body.state_type])
        state = State(body, self.body.state_type, body.args[0])
        start = None if plan.trips == 1 else state.element(self.counter.slot, self._counter_name(0))
        for copy in range(plan.copies):
            state = self._iterate(state, start, copy)
        append(body, build(ReturnOp, [state.whole()], None, {}, {}))
        condition = self.counter.condition(self.body.state_type, plan.trips, plan.copies)
        loop = rolled(self.loop, condition, body, f"{name_of(self.loop)}.rolled" if plan.left_over else None)
        correct_annotation(loop, self._trips(plan))
        append(self.block, loop)
        return State(self.block, self.body.state_type, loop.results[0])

    def _iterate(self, state: State, start: SSAValue | None, number: int) -> State:
        """Adds the iteration that many steps after the one that counts `start`, after the first where that is None."""
        counter = self._counter_in(state.block, start, number) if self.body.takes_counter else None
        return self.body.add(state, counter, number, self.cloner.copy(self.around))

    def _counter_in(self, block: Block, start: SSAValue | None, number: int) -> SSAValue:
        name = self._counter_name(number)
        if start is None:
            return self.counter.constant(block, number, name)
        return self.counter.plus(block, start, number, name)

    def _counter_name(self, iteration: int) -> str:
        return f"{self.body.name}.{iteration}.{self.body.counter_name}"

    def _trips(self, plan: Plan) -> TripCount:
        step = plan.copies * self.counter.step
        return TripCount(plan.trips, "closed-form", self.counter.slot, self.counter.init, step)


def _replace(loop: WhileOp, value: SSAValue) -> None:
    """Puts a value in the place of a loop; elements of it are taken from where it got them."""
    (result,) = loop.results
    if value.type != result.type:
        Rewriter.insert_op(copied := in_layout(value, result.type), InsertPoint.before(loop))
        value = copied.results[0]
    elements = [op for use in result.uses if isinstance(op := use.operation, GetTupleElementOp)]
    result.replace_all_uses_with(value)
    for element in elements:
        forward_element(element)
    erase(loop)
