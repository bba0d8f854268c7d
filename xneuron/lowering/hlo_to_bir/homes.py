"""Which values live in DRAM: those that somebody reaches into.

On chip an access walks whole partitions; only in DRAM may a pattern be any. So what is sliced, transposed, or
multiplied, and what a loop carries for that purpose, has its home there; all else is on chip, where engines are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue, Use

from xneuron.dialects.hlo.attributes import int_of
from xneuron.dialects.hlo.contractions import DotOp
from xneuron.dialects.hlo.control_flow import (
    ConditionalOp,
    ControlDependencyOp,
    FusionOp,
    GetTupleElementOp,
    ReturnOp,
    TupleOp,
    WhileOp,
)
from xneuron.dialects.hlo.data_movement import BitcastOp
from xneuron.dialects.hlo.indexing import ScatterOp
from xneuron.dialects.hlo.reductions import ReduceOp, ReduceWindowOp, SortOp
from xneuron.dialects.hlo.types import element_count, is_tensor

from .aliases import only_renames
from .dots import Dot
from .reducers import folds_neighbours
from .regions import keeps_order
from .values import Path, type_at

REACHED: dict[str, tuple[int, ...]] = {
    "hlo.slice": (0,),
    "hlo.dynamic_slice": (0,),
    "hlo.dynamic_update_slice": (0,),
    "hlo.transpose": (0,),
    "hlo.broadcast": (0,),
    "hlo.reverse": (0,),
    "hlo.pad": (0,),
    "hlo.gather": (0, 1),
    "hlo.dot": (0, 1),
    "hlo.convolution": (0, 1),
    "hlo.select_and_scatter": (0,),
    "hlo.topk": (0,),
}
"""Operands that an instruction reaches into."""
MADE_IN_DRAM = frozenset(
    {"hlo.dynamic_update_slice", "hlo.concatenate", "hlo.pad", "hlo.scatter", "hlo.gather", "hlo.sort"}
)
"""Instructions that put their result together piece by piece."""


Leaf: TypeAlias = tuple[SSAValue, Path]
_ALL = -1


class Homes:
    """Answers for the values of one module."""

    def __init__(self) -> None:
        self._known: dict[Leaf, bool] = {}
        self._elements: dict[SSAValue, dict[int, list[Use]]] = {}

    def in_dram(self, value: SSAValue, path: Path = ()) -> bool:
        """True if the leaf at `path` of a value should live in DRAM."""
        if (known := self._known.get((value, path))) is not None:
            return known
        if is_made_in_dram(value, path):
            self._known[value, path] = True
        else:
            self._follow((value, path))
        return self._known[value, path]

    def _follow(self, start: Leaf) -> None:
        """Finds out whether somebody reaches into a leaf, or into one that it is handed on as."""
        came_from: dict[Leaf, Leaf | None] = {**dict.fromkeys(_states(*start), start), start: None}
        work = list(came_from)
        while work:
            leaf = work.pop()
            for use in self._uses(*leaf):
                onward = [to for to in _onward(use.operation, use.index, leaf[1]) if to not in came_from]
                if _reaches(use.operation, use.index) or any(self._known.get(to) for to in onward):
                    self._known.update(dict.fromkeys(_way_back(leaf, came_from), True))
                    return
                came_from.update(dict.fromkeys(onward, leaf))
                work += [to for to in onward if to not in self._known]
        # What it is handed on to is reached into as little as it is.
        self._known.update(dict.fromkeys(came_from, False))

    def readers(self, value: SSAValue, path: Path) -> Iterator[tuple[Operation, int]]:
        """Instructions that compute with a leaf of a value, however it is handed on, and by which operand."""
        seen, work = {(value, path)}, [(value, path)]
        while work:
            value, path = work.pop()
            for use in self._uses(value, path):
                onward = _onward(use.operation, use.index, path)
                if not onward and not isinstance(use.operation, _CONTROL):
                    yield use.operation, use.index
                work += [place for place in onward if place not in seen]
                seen.update(onward)

    def _uses(self, value: SSAValue, path: Path) -> Iterable[Use]:
        """Uses of a value that have to do with a leaf: not those that take other elements out of a tuple."""
        if not path:
            return value.uses
        if value not in self._elements:
            self._elements[value] = by_element = defaultdict[int, list[Use]](list)
            for use in value.uses:
                op = use.operation
                by_element[int_of(op.index) if isinstance(op, GetTupleElementOp) else _ALL].append(use)
        by_element = self._elements[value]
        return [*by_element.get(path[0], ()), *by_element.get(_ALL, ())]


def _way_back(leaf: Leaf, came_from: dict[Leaf, Leaf | None]) -> Iterator[Leaf]:
    at: Leaf | None = leaf
    while at is not None:
        yield at
        at = came_from[at]


_CONTROL = (ReturnOp, ConditionalOp, GetTupleElementOp, ControlDependencyOp)
"""Instructions that do not compute with what they take, where they do not hand it on."""


def is_made_in_dram(value: SSAValue, path: Path) -> bool:
    """True for a leaf of the result of an instruction that puts it together piece by piece."""
    if not isinstance(value, OpResult) or not is_tensor(type := type_at(value.type, path)) or element_count(type) == 1:
        return False
    return value.op.name in MADE_IN_DRAM or (isinstance(value.op, DotOp) and not Dot.of(value.op).is_one_block)


def _reaches(op: Operation, operand: int) -> bool:
    match op:
        case ReduceOp():
            found = operand < len(op.args) // 2 and not folds_neighbours(op)
        case ScatterOp() | ReduceWindowOp() | SortOp():
            found = True
        case BitcastOp():
            found = not keeps_order(op)
        case _:
            found = operand in REACHED.get(op.name, ())
    return found and element_count(op.operands[operand].type) > 1


def _states(value: SSAValue, path: Path) -> list[tuple[SSAValue, Path]]:
    """The other values that are the state of the same loop, if the value is one."""
    if not isinstance(value, BlockArgument | OpResult):
        return []
    loop = value.block.parent_op() if isinstance(value, BlockArgument) else value.op
    return _state(loop, value.index, path) if isinstance(loop, WhileOp) else []


def _state(loop: WhileOp, number: int, path: Path) -> list[tuple[SSAValue, Path]]:
    return [(values[number], path) for values in (loop.cond.block.args, loop.body.block.args, loop.results)]


def _onward(op: Operation, operand: int, path: Path) -> list[tuple[SSAValue, Path]]:
    """Other values that the leaf of an operand becomes part of, unchanged."""
    match op:
        case TupleOp():
            return [(op.results[0], (operand, *path))]
        case GetTupleElementOp():
            return [(op.results[0], path[1:])] if path[0] == int_of(op.index) else []
        case WhileOp():
            return _state(op, operand, path)
        case ConditionalOp():
            return [(op.branches[operand - 1].block.args[0], path)] if operand else []
        case FusionOp():
            return [(op.calls.block.args[operand], path)]
        case ReturnOp():
            return _returned(op, operand, path)
        case _:
            return [(op.results[0], path)] if only_renames(op) else []


def _returned(op: ReturnOp, operand: int, path: Path) -> list[tuple[SSAValue, Path]]:
    parent = op.parent_op()
    if isinstance(parent, WhileOp):
        if op.parent_region() is parent.cond:
            return []
        return _state(parent, operand, path)
    return [(parent.results[0], path)] if isinstance(parent, ConditionalOp | FusionOp) else []
