"""Writing regions: blocks in the order of their levels, jumps between them, structured loops.

Break, return and the end of a trip are targets of jumps like blocks are: `BREAK` is outside the loop's body, the
end of a trip is the header of a `for` loop, and the last node of a do-while loop, which asks its condition there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING

from xdsl.ir import Block, Operation, Region

from xneuron.dialects.bir.branches import BreakOp, CompareAndBranchOp, ContinueOp, ExitOp, ReturnOp
from xneuron.dialects.bir.expressions import Affine, Expr, constant_value
from xneuron.dialects.bir.instruction import DataInstruction
from xneuron.dialects.bir.loops import DoWhileOp, DynamicForLoopOp, LoopOp, StructuredLoop
from xneuron.execution.errors import EvaluationError
from xneuron.simulator.emission_registers import branch_condition
from xneuron.simulator.levels import Level, Node, build, entries_of
from xneuron.simulator.numbers import MAX32, MIN32
from xneuron.simulator.sites import Frame, block_name, loop_name

if TYPE_CHECKING:
    from xneuron.simulator.emission import Emitter


class Way(Enum):
    """Where a jump may go but to a block."""

    NEXT_TRIP = auto()
    BREAK = auto()


def emit_region(emitter: Emitter, region: Region, loop: StructuredLoop | None = None) -> None:
    """Writes the blocks of a function or of one trip of a loop."""
    blocks: list[Node] = list(region.blocks)
    header = last = None
    if isinstance(loop, DoWhileOp):
        last = Way.NEXT_TRIP
        blocks.append(last)
    elif loop is not None:
        header = Way.NEXT_TRIP
    successors = partial(_successors, in_loop=loop is not None)
    _Writer(emitter, successors, loop).level(build(blocks, blocks[:1], header, successors, last))


def _successors(node: Node, in_loop: bool) -> Sequence[Node]:
    last = node.last_op if isinstance(node, Block) else None
    if not isinstance(node, Block) or isinstance(last, ReturnOp | ExitOp):
        return ()
    if last is not None and last.successors:
        return tuple(last.successors)
    if not in_loop:
        return ()
    return (Way.BREAK,) if isinstance(last, BreakOp) else (Way.NEXT_TRIP,)


class _Writer:
    """Writes the levels of one region."""

    def __init__(self, emitter: Emitter, successors: Callable[[Node], Sequence[Node]], loop: StructuredLoop | None):
        self.emitter = emitter
        self.source = emitter.source
        self._successors = successors
        self._loop = loop

    def level(self, level: Level) -> None:
        """The nodes in order, each behind its guard."""
        for number, node in enumerate(level.nodes):
            if not level.is_guarded(number):
                self._node(level, number, node)
                continue
            names = [str(self.emitter.machine.number(entry)) for entry in entries_of(node)]
            meant = f"b == {names[0]}" if len(names) == 1 else f"b in ({', '.join(names)})"
            with self.source.indented(f"if {meant}:"):
                length = len(self.source)
                self._node(level, number, node)
                if len(self.source) == length:
                    self.source.line("pass")

    def _node(self, level: Level, number: int, node: Node | Level) -> None:
        if isinstance(node, Level):
            self._inner_loop(level, number, node)
        elif isinstance(node, Block):
            self._block(level, number, node)
        elif isinstance(self._loop, DoWhileOp):
            _emit_test(self.emitter, self._loop)

    def _inner_loop(self, level: Level, number: int, inner: Level) -> None:
        """A loop of the graph; afterwards, on to where it was left for."""
        emitter = self.emitter
        assert isinstance(inner.header, Block)
        name, op = block_name(inner.header), inner.header.first_op
        frame = Frame(name, self.source.fresh("n"))
        assert op is not None
        with emitter.loop(frame, emitter.trip_numbers, _overrun(emitter, op, name)):
            emitter.count_trip(name)
            self.level(inner)
        for target in inner.exits:
            lines = self._jump(level, number, target, said=len(inner.exits) > 1)
            if len(inner.exits) > 1:
                self._when(f"b == {emitter.machine.number(target)}", lines, [])
            else:
                self._lines(lines)

    # Blocks and jumps

    def _block(self, level: Level, number: int, block: Block) -> None:
        emitter = self.emitter
        emitter.frames_of[block] = tuple(emitter.frames)
        emitter.start_segment()
        for op in block.ops:
            if op is block.last_op and _ends(op):
                break
            if isinstance(op, StructuredLoop):
                self.source.origin = op
                EMIT_LOOP[type(op)](emitter, op)
                emitter.start_segment()
            elif isinstance(op, DataInstruction):
                emitter.count(op)
                emitter.instruction(op)
        self._terminator(level, number, block)

    def _terminator(self, level: Level, number: int, block: Block) -> None:
        last = block.last_op
        self.source.origin = last
        if last is not None and _ends(last):
            self.emitter.count(last)
        if isinstance(last, CompareAndBranchOp):
            self._conditional(level, number, last)
        elif isinstance(last, ExitOp):
            self.source.line(f"{self.source.constant(self.emitter.machine.exits(last))}()")
        elif targets := self._successors(block):
            self._lines(self._jump(level, number, targets[0]))
        else:
            self.source.line(self.emitter.leave)

    def _conditional(self, level: Level, number: int, op: CompareAndBranchOp) -> None:
        emitter = self.emitter
        if emitter.options.strict:
            emitter.check_reads(op)
        if emitter.options.trace is not None:
            emitter.record(op)
        taken, other = (self._jump(level, number, target) for target in (op.on_true, op.on_false))
        self._when(branch_condition(emitter, op), taken, other)

    def _when(self, condition: str, taken: list[str], other: list[str]) -> None:
        if taken == other:
            self._lines(taken)
            return
        first, second = (taken, other) if taken else (other, [])
        with self.source.indented(f"if {condition}:" if taken else f"if not {condition}:"):
            self._lines(first)
        if second:
            with self.source.indented("else:"):
                self._lines(second)

    def _jump(self, level: Level, number: int, target: Node, said: bool = False) -> list[str]:
        """Lines that go from the end of a node to `target`, which `b` names already if `said`."""
        name = [f"b = {self.emitter.machine.number(target)}"]
        if target == level.header:
            lines = name if not said and target in level.position and level.says_where(-1, target) else []
            return lines if number == len(level.nodes) - 1 else [*lines, "continue"]
        if target in level.position:
            return name if not said and level.says_where(number, target) else []
        return [*(name if not said and len(level.exits) > 1 else []), "break"]

    def _lines(self, lines: list[str]) -> None:
        for line in lines:
            self.source.line(line)


def _ends(op: Operation) -> bool:
    """Whether it is a terminator."""
    return bool(op.successors) or isinstance(op, ReturnOp | ExitOp | BreakOp | ContinueOp)


# Structured loops


def emit_static(emitter: Emitter, op: LoopOp) -> None:
    """A loop over a Python range; one of bounds 0, 0, 0 is its body, once, with nothing bound."""
    if op.runs_once:
        with emitter.loop(Frame(loop_name(op), emitter.source.fresh("n")), "(0,)"):
            emitter.count_trip(loop_name(op))
            emit_region(emitter, op.body, op)
        return
    axis = op.axis
    trips, limit = axis.get_tripcount(), emitter.options.max_iterations
    over = limit is not None and trips > limit
    end = axis.lb + (limit or 0) * axis.stride if over else axis.ub
    overrun = _overrun(emitter, op, axis.name) if over else []
    _emit_axis(emitter, op, f"range({axis.lb}, {end}, {axis.stride})", (axis.lb, axis.stride), overrun, clears=False)


def emit_dynamic(emitter: Emitter, op: DynamicForLoopOp) -> None:
    """As static, up to a bound that is read once, here."""
    axis, limit = op.axis, emitter.options.max_iterations
    if emitter.options.strict:
        emitter.check_registers(op, op.reads())
    lb, stride = constant_value(axis.lb), constant_value(axis.stride)
    if lb is None or stride is None:
        raise EvaluationError("expected a constant lower bound and a constant stride", op)
    bound = emitter.source.fresh("u")
    emitter.source.line(f"{bound} = {emitter.expression(axis.ub)}")
    if emitter.options.strict and axis.max_tripcount is not None:
        complain = emitter.source.constant(emitter.machine.too_many(op, axis.max_tripcount))
        emitter.source.line(f"if {bound} > {lb + axis.max_tripcount * stride}: {complain}()")
    end, overrun = bound, list[str]()
    if limit is not None:
        end = f"min({bound}, {lb + limit * stride})"
        (raise_it,) = _overrun(emitter, op, axis.name)
        overrun = [f"if {bound} > {lb + limit * stride}: {raise_it}"]
    values = f"{'counter' if _may_wrap(axis.ub) else 'range'}({lb}, {end}, {stride})"
    _emit_axis(emitter, op, values, (lb, stride), overrun, clears=True)


def _may_wrap(bound: Expr) -> bool:
    """Whether a bound may be so large that induction values do not fit in 32 bits."""
    if not isinstance(bound, Affine):
        return True
    return bound.c + sum(max(coeff * MIN32, coeff * MAX32) for _, coeff in bound.terms) > MAX32 + 1


def _emit_axis(
    emitter: Emitter,
    op: LoopOp | DynamicForLoopOp,
    values: str,
    steps: tuple[int, int],
    overrun: list[str],
    clears: bool,
) -> None:
    frame = Frame(op.axis_name.data, emitter.source.fresh("i"), *steps, is_axis=True)
    emitter.bind(op.induction_variable, frame.variable)
    with emitter.loop(frame, emitter.recorded_trips(op, frame, values, clears), overrun):
        emitter.count_trip(loop_name(op))
        emit_region(emitter, op.body, op)


def emit_do_while(emitter: Emitter, op: DoWhileOp) -> None:
    """A loop that only its test, at the end of each trip, or a break leaves."""
    name = loop_name(op)
    with emitter.loop(Frame(name, emitter.source.fresh("n")), emitter.trip_numbers, _overrun(emitter, op, name)):
        emitter.count_trip(name)
        emit_region(emitter, op.body, op)


def _emit_test(emitter: Emitter, op: DoWhileOp) -> None:
    emitter.source.origin = op
    emitter.record_trip(op)
    if emitter.options.strict:
        emitter.check_registers(op, op.reads())
    emitter.source.line(f"if not {emitter.expression(op.condition)}: break")


def _overrun(emitter: Emitter, op: Operation, name: str) -> list[str]:
    """The line that raises the error of a loop that runs too often; none without a limit."""
    if emitter.options.max_iterations is None:
        return []
    return [f"{emitter.source.constant(emitter.machine.exceeded(op, name))}()"]


EMIT_LOOP: dict[type[Operation], Callable[[Emitter, object], None]] = {
    LoopOp: emit_static,  # pyright: ignore[reportAssignmentType]
    DynamicForLoopOp: emit_dynamic,  # pyright: ignore[reportAssignmentType]
    DoWhileOp: emit_do_while,  # pyright: ignore[reportAssignmentType]
}
