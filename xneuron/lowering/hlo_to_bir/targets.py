"""Which results of a block may be written straight to where they must end up.

A loop's next state must end up in the buffers of its present state, and so on. An instruction may write there itself if
nobody reads the old contents afterwards: then an update in place stays one, and nothing is copied. What cannot is
written elsewhere, and copied when the block is done (`copies.assign`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue

from xneuron.dialects.hlo.control_flow import ConditionalOp, FusionOp, TupleOp, WhileOp

from .aliases import Origins, is_plumbing
from .rules import IN_PLACE
from .values import Buffer, Path, Tree, at, leaf_paths, leaves

Place: TypeAlias = tuple[SSAValue, Path]
AFTER_ALL = 1 << 60
"""The position of the block's return."""


@dataclass
class Reads:
    """Who reads what a buffer held when the block began."""

    last: int = -1
    at_last: list[tuple[int, Path]] = field(default_factory=list[tuple[int, Path]])
    """Operands, and leaves of them, that the last reader reads it by."""

    def add(self, position: int, operand: int, path: Path) -> None:
        """One more reader, at least as late as those before."""
        if position > self.last:
            self.last, self.at_last = position, []
        self.at_last.append((operand, path))


class Planner:
    """Decides for one block, of which `ops` are lowered and read their `operands`, the last one being its return.

    Parameters come with their buffers, and returned values with those that they must end up in.
    """

    def __init__(
        self,
        ops: Sequence[Operation],
        operands: Callable[[Operation], Iterable[SSAValue]],
        parameters: Sequence[Tree],
        targets: Sequence[Tree],
        origins: Origins,
        is_home: Callable[[SSAValue, Path, Buffer], bool],
    ) -> None:
        self.ops, self.operands, self.parameters, self.origins, self.is_home = (
            ops,
            operands,
            parameters,
            origins,
            is_home,
        )
        self.returned = list(self._returned(ops[-1], targets))
        self.wanted = {target for _, target in self.returned}

    def plan(self) -> dict[Place, Buffer]:
        """The buffer to write a result to, for those that may."""
        if not self.returned:
            return {}
        reads, positions = self._reads(), self._positions
        found: dict[Place, Buffer] = {}
        for (value, path), target in self.returned:
            if not isinstance(value, OpResult) or (value, path) in found or not self.is_home(value, path, target):
                continue
            op = value.op
            if _may_write(op, (value.index, path), positions[op], reads[target]):
                found[value, path] = target
        return found

    def _returned(self, last: Operation, targets: Sequence[Tree]) -> Iterator[tuple[Place, Buffer]]:
        for value, tree in zip(last.operands, targets, strict=True):
            for path, target in leaves(tree):
                if isinstance(target, Buffer):
                    yield self.origins.of(value, path), target

    def _reads(self) -> dict[Buffer, Reads]:
        """Reads of the old contents of each target, in program order."""
        reads = {target: Reads() for target in self.wanted}
        self._positions: dict[Operation, int] = {}
        for position, op in enumerate(self.ops[:-1]):
            self._positions[op] = position
            if is_plumbing(op):
                continue  # who reads the result of plumbing is the reader
            for number, operand in enumerate(self.operands(op)):
                for path, buffer in self._old(operand):
                    reads[buffer].add(position, number, path)
        for place, target in self.returned:
            old = self._parameter(place)
            if old is not None and old in reads and old is not target:
                reads[old].add(AFTER_ALL, 0, ())
        return reads

    def _old(self, value: SSAValue) -> Iterator[tuple[Path, Buffer]]:
        for path in leaf_paths(value.type):
            old = self._parameter(self.origins.of(value, path))
            if old is not None and old in self.wanted:
                yield path, old

    def _parameter(self, place: Place) -> Buffer | None:
        """The buffer of a parameter's leaf, None for anything else."""
        value, path = place
        leaf = at(self.parameters[value.index], path) if isinstance(value, BlockArgument) else None
        return leaf if isinstance(leaf, Buffer) else None


def _may_write(op: Operation, leaf: tuple[int, Path], position: int, reads: Reads) -> bool:
    if reads.last < position:
        return True
    if reads.last > position:
        return False
    match op:
        case WhileOp():
            # The loop writes its state from the start; the same leaf of it is no problem.
            return all(read == leaf for read in reads.at_last)
        case ConditionalOp() | FusionOp():
            # They decide for their own computations, which know these buffers as parameters.
            return True
        case _:
            allowed = IN_PLACE.get(type(op), frozenset[int]())
            return allowed is None or all(operand in allowed for operand, _ in reads.at_last)


def results_last(ops: Sequence[Operation]) -> list[Operation]:
    """The instructions of a block in an order in which results need fewer copies.

    An elementwise instruction that only makes a returned value, such as the next value of a counter, comes after all
    that may still read what it is going to overwrite.
    """
    packing = [op for op in ops if isinstance(op, TupleOp) and _only_for(op, {ops[-1]})]
    ends = {*packing, ops[-1]}
    late = [op for op in ops if IN_PLACE.get(type(op), ()) is None and _only_for(op, ends)]
    moved = {*late, *ends}
    return [*(op for op in ops if op not in moved), *late, *packing, ops[-1]]


def _only_for(op: Operation, users: set[Operation]) -> bool:
    return all(use.operation in users for use in op.results[0].uses)
