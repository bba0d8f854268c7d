"""Backward slices: what a value is made of, seen through everything that only passes values on.

Copies, tuples and their elements, calls, fusions, boundary markers, barriers, slots that a loop leaves unchanged: none
of them computes anything. A slice is the graph of what remains: elements of the loop's state, constants, and operations
on them. Each point of the program is visited once for all questions that one `Slicer` answers.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import NamedTuple, TypeAlias, cast

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.traits import MemoryEffectKind, Pure, get_effects

from xneuron.analysis.boundary_markers import is_marker
from xneuron.analysis.call_graph import CallGraph
from xneuron.dialects.hlo.attributes import int_of
from xneuron.dialects.hlo.base import ComputationEffects, body_of, opcode_of
from xneuron.dialects.hlo.collectives import PartitionIdOp, ReplicaIdOp
from xneuron.dialects.hlo.control_flow import (
    AddDependencyOp,
    DomainOp,
    FusionOp,
    GetTupleElementOp,
    OptBarrierOp,
    TupleOp,
    WhileOp,
)
from xneuron.dialects.hlo.data_movement import ConstantOp, CopyDoneOp, CopyOp, CopyStartOp
from xneuron.dialects.hlo.literal import LiteralAttr, TupleLiteralAttr
from xneuron.dialects.hlo.types import DYNAMIC, elements_of, shape_of

LARGEST = 1 << 16
"""Elements of the largest array that a slice computes with."""

FARTHEST = 1 << 17
"""Steps after which following a value, or growing a slice, is given up."""

DEEPEST = 256
"""Calls in calls that are entered."""

IDENTITIES = (CopyOp, OptBarrierOp, DomainOp, AddDependencyOp)
"""Ops whose result is their operand 0."""

Path: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Frame:
    """One activation of a computation: what its parameters stand for."""

    arguments: tuple[Point, ...]
    depth: int


class Point(NamedTuple):
    """Element `path` of a value (the whole of it for an empty path), inside an activation."""

    value: SSAValue
    path: Path
    frame: Frame


STATE = Frame((), 0)
"""Inside a computation of a loop: parameters are the loop's state at the beginning of an iteration."""

OUTSIDE = Frame((), 0)
"""Where a loop stands: parameters are whatever the program around it makes them."""


@dataclass(frozen=True, eq=False, slots=True)
class Slot:
    """An element of a loop's state, as the condition or the body reads it from its parameter `argument`."""

    path: Path
    type: Attribute
    argument: BlockArgument


@dataclass(frozen=True, eq=False, slots=True)
class Constant:
    """A known array: as the program's literal, or as a numpy value where it was computed."""

    type: Attribute
    literal: LiteralAttr | None
    value: object = None


@dataclass(frozen=True, eq=False, slots=True)
class Apply:
    """An operation on the arguments."""

    op: Operation
    args: tuple[Node, ...]
    type: Attribute


@dataclass(frozen=True, eq=False, slots=True)
class Opaque:
    """Something that cannot be known before the program runs; `why` reads on from "depends on".

    `value`, `path`: where following it ended.
    """

    why: str
    type: Attribute
    value: SSAValue
    path: Path


Node: TypeAlias = Slot | Constant | Apply | Opaque


class Slicer:
    """Answers questions about values of one module, as it is now: make another one when the module has changed.

    `runs_once`: loops of which the asker knows that they run exactly once, so that values go through them.
    """

    def __init__(self, calls: CallGraph, runs_once: Callable[[WhileOp], bool] = lambda loop: False) -> None:
        self.calls = calls
        self.folded: dict[Node, Node] = {}
        self._runs_once = runs_once
        self._obstacles: dict[Node, Opaque | None] = {}
        self._nodes: dict[Point, Node] = {}
        self._frames: dict[tuple[Operation, Frame], Frame] = {}
        self._unchanged: dict[tuple[WhileOp, Path], bool] = {}

    def condition(self, loop: WhileOp) -> Node:
        """The condition's value, as a function of the state."""
        return self.node(Point(_roots(body_of(loop.cond))[0], (), STATE))

    def update(self, loop: WhileOp, slot: Path) -> Node:
        """A slot's value after one iteration, as a function of the state before it."""
        return self.node(_element(_roots(body_of(loop.body)), slot, STATE))

    def init(self, loop: WhileOp, slot: Path) -> Node:
        """A slot's value before the first iteration."""
        return self.node(_element(loop.inits, slot, OUTSIDE))

    def entry(self, loop: WhileOp, slot: Path) -> Node:
        """A slot's value before the first iteration, as a function of the state of the loop around, if there is one."""
        return self.node(_element(loop.inits, slot, STATE))

    def unchanged(self, loop: WhileOp, slot: Path) -> bool:
        """True if the body passes the slot on as it is."""
        key = (loop, slot)
        if key not in self._unchanged:
            self._unchanged[key] = False  # while the question is open, for bodies that contain themselves
            end = self._origin(_element(_roots(body_of(loop.body)), slot, STATE))
            self._unchanged[key] = isinstance(end, Slot) and end.path == slot
        return self._unchanged[key]

    def obstacle(self, node: Node) -> Opaque | None:
        """The first thing that a slice is made of and that cannot be known, if there is any."""
        for part in postorder(node, known=self._obstacles):
            found = part if isinstance(part, Opaque) else None
            if isinstance(part, Apply):
                found = next((inner for arg in part.args if (inner := self._obstacles[arg])), None)
            self._obstacles[part] = found
        return self._obstacles[node]

    def node(self, point: Point) -> Node:
        """The slice of a point. Iterative: slices of real programs are deeper than Python's stack."""
        stack, first = [point], len(self._nodes)
        while stack:
            if (top := stack[-1]) in self._nodes:
                stack.pop()
                continue
            stack.extend(self._settle(top))
            if len(self._nodes) - first > FARTHEST:
                return _opaque("more than can be followed", point)
        return self._nodes[point]

    def _settle(self, point: Point) -> list[Point]:
        """Records the point's node, or returns the points whose nodes it needs first."""
        origin = self._origin(point)
        if not isinstance(origin, Point):
            self._nodes[point] = origin
            return []
        if origin != point:
            if (node := self._nodes.get(origin)) is None:
                return [origin]
            self._nodes[point] = node
            return []
        op = cast(OpResult, point.value).op
        if isinstance(op, ConstantOp):
            self._nodes[point] = _constant(op, point.path)
        elif why := _obstacle(op, point.path):
            self._nodes[point] = _opaque(why, point)
        else:
            return self._apply(point, op)
        return []

    def _apply(self, point: Point, op: Operation) -> list[Point]:
        operands = [Point(operand, (), point.frame) for operand in op.operands]
        if missing := [operand for operand in operands if operand not in self._nodes]:
            return missing
        self._nodes[point] = Apply(op, tuple(self._nodes[operand] for operand in operands), point.value.type)
        return []

    def _origin(self, point: Point) -> Point | Slot | Opaque:
        """The point where a value is computed, behind everything that only passes it on."""
        for _ in range(FARTHEST):
            match self._behind(point):
                case None:
                    return point
                case Point() as nearer:
                    point = nearer
                case end:
                    return end
        return _opaque("more than can be followed", point)

    def _behind(self, point: Point) -> Point | Slot | Opaque | None:
        value, path, frame = point
        if isinstance(value, BlockArgument):
            return self._argument(value, path, frame)
        op = cast(OpResult, value).op
        match op:
            case TupleOp() if path:
                return Point(op.operands[path[0]], path[1:], frame)
            case GetTupleElementOp():
                return Point(op.operand, (int_of(op.index), *path), frame)
            case CopyDoneOp():
                return Point(op.operand, (0, *path), frame)
            case CopyStartOp() if path[:1] in ((0,), (1,)):
                return Point(op.operand, path[1:], frame)
            case FusionOp():
                return self._enter(op, body_of(op.calls), path, frame)
            case CallOp() if (callee := self.calls.callee(op)) is not None:
                return self._enter(op, callee.body.block, path, frame)
            case WhileOp() if self.unchanged(op, slot := _slot(op, cast(OpResult, value).index, path)):
                return _element(op.inits, slot, frame)
            case WhileOp() if len(op.inits) == 1 and self._runs_once(op):
                return self._enter(op, op.body.block, path, frame)
            case _ if isinstance(op, IDENTITIES) or (is_marker(op) and len(op.operands) == 1):
                return Point(op.operands[0], path, frame)
            case _ if is_marker(op) and path:
                return Point(op.operands[path[0]], path[1:], frame)
            case _:
                return None

    def _enter(self, op: Operation, block: Block, path: Path, frame: Frame) -> Point | Opaque:
        if frame.depth > DEEPEST:
            return _opaque("calls nested too deep", Point(op.results[0], path, frame))
        if (inner := self._frames.get((op, frame))) is None:
            inner = Frame(tuple(Point(operand, (), frame) for operand in op.operands), frame.depth + 1)
            self._frames[op, frame] = inner
        return Point(_roots(block)[0], path, inner)

    def _argument(self, value: BlockArgument, path: Path, frame: Frame) -> Point | Slot | Opaque:
        if frame.arguments:
            argument = frame.arguments[value.index]
            return argument._replace(path=argument.path + path)
        owner = value.block.parent_op()
        if isinstance(owner, WhileOp):
            slot = _slot(owner, value.index, path)
            if frame is STATE:
                return Slot(slot, _type_at(value.type, path), value)
            once = value.block is owner.body.block and self._runs_once(owner)
            if once or self.unchanged(owner, slot):
                return _element(owner.inits, slot, OUTSIDE)
        if isinstance(owner, FusionOp):
            return Point(owner.operands[value.index], path, frame)
        if isinstance(owner, FuncOp) and (call := self.calls.only_call(owner)) is not None:
            return Point(call.operands[value.index], path, frame)
        return _opaque("a parameter of the computation around the loop", Point(value, path, frame))


def postorder(*roots: Node, known: Container[Node] = ()) -> Iterator[Node]:
    """Each node that the roots are made of once, arguments before what they are arguments of; stops at `known` ones."""
    done: set[Node] = set()
    stack: list[Node] = list(reversed(roots))
    while stack:
        top = stack[-1]
        new = top not in done and top not in known
        waiting = [a for a in top.args if a not in done and a not in known] if isinstance(top, Apply) and new else ()
        if waiting:
            stack.extend(waiting)
            continue
        stack.pop()
        if new:
            done.add(top)
            yield top


def _roots(block: Block) -> tuple[SSAValue, ...]:
    last = block.last_op
    assert last is not None, "a computation ends by returning"
    return tuple(last.operands)


def _slot(loop: WhileOp, index: int, path: Path) -> Path:
    """Where a loop has one operand, that is the state; where it has several, they are the state's elements."""
    return path if len(loop.inits) == 1 else (index, *path)


def _element(values: tuple[SSAValue, ...] | object, slot: Path, frame: Frame) -> Point:
    values = cast("tuple[SSAValue, ...]", values)
    if len(values) == 1:
        return Point(values[0], slot, frame)
    return Point(values[slot[0]], slot[1:], frame)


def _opaque(why: str, point: Point) -> Opaque:
    return Opaque(why, _type_at(point.value.type, point.path), point.value, point.path)


def _type_at(type: Attribute, path: Path) -> Attribute:
    for index in path:
        type = elements_of(type)[index]
    return type


def _constant(op: ConstantOp, path: Path) -> Node:
    value = op.value
    for index in path:
        value = cast(TupleLiteralAttr, value).elements.data[index]
    if isinstance(value, LiteralAttr):
        return Constant(value.type, value)
    return Opaque("a constant without its value", _type_at(op.results[0].type, path), op.results[0], path)


def _obstacle(op: Operation, path: Path) -> str:
    """Why the value of an op cannot be computed from those of its operands; empty if it can."""
    if isinstance(op, PartitionIdOp | ReplicaIdOp):
        return f"{_spelled(op)}, which differs between devices"
    if path or not computable(type(op)) or _effects(op):
        return _spelled(op)
    return next((f"{_spelled(op)} of {what}" for value in _values(op) if (what := _unfit(value.type))), "")


def _spelled(op: Operation) -> str:
    """`%name (opcode)`, or the opcode where the instruction has no name."""
    name, opcode = op.results[0].name_hint, opcode_of(op.name)
    return f"%{name} ({opcode})" if name else opcode


def _values(op: Operation) -> tuple[SSAValue, ...]:
    return (*op.operands, *op.results)


@cache
def _unfit(type: Attribute) -> str:
    """What keeps slices from computing with values of a type; empty if nothing does."""
    if not isinstance(type, TensorType):
        return "something that is not an array"
    shape = shape_of(cast(Attribute, type))
    return "a dynamic array" if DYNAMIC in shape else "a large array" if prod(shape) > LARGEST else ""


@cache
def computable(op: type[Operation]) -> bool:
    """True for ops whose result depends on nothing but their operands."""
    return op.name.startswith("hlo.") and any(isinstance(trait, Pure | ComputationEffects) for trait in op.traits)


def _effects(op: Operation) -> bool:
    if not op.regions:
        return False
    effects = get_effects(op)
    return effects is None or any(effect.kind is not MemoryEffectKind.ALLOC for effect in effects)
