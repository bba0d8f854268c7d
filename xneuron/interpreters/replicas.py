"""What participants ask of the world, and who the participants are.

A computation that holds a collective runs as a generator. It yields a `Request` and is sent the answer. The world
(`rendezvous.py`) collects the requests of all participants and answers those that are complete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from xneuron.dialects.hlo.attributes import int_of
from xneuron.dialects.hlo.base import opcode_of
from xneuron.dialects.hlo.collectives import AllGatherStartOp, CollectivePermuteStartOp
from xneuron.dialects.hlo.types import elements_of, spelled
from xneuron.execution.errors import EvaluationError, instruction
from xneuron.execution.plan import At
from xneuron.interpreters.kernels.registry import Context, exchange_of
from xneuron.interpreters.kernels.traffic import moved_bytes
from xneuron.interpreters.values import described, fits, zeros


class Request(NamedTuple):
    """One instruction that needs the world: its operand values, and the iterations of the loops around it.

    `calls`: the calls around it, where the engine knows them.
    """

    op: Operation
    operands: tuple[Any, ...]
    at: At
    calls: tuple[Operation, ...] = ()


@dataclass(frozen=True)
class Participants:
    """Who runs a program: replicas of partitions, numbered replica * partitions + partition."""

    replicas: int = 1
    partitions: int = 1

    def __post_init__(self) -> None:
        if self.replicas < 1 or self.partitions < 1:
            found = f"{self.replicas} and {self.partitions}"
            raise EvaluationError(f"expected at least 1 replica and 1 partition, found {found}")

    def __len__(self) -> int:
        return self.replicas * self.partitions

    def replica(self, participant: int) -> int:
        """The replica that a participant belongs to."""
        return participant // self.partitions

    def partition(self, participant: int) -> int:
        """The participant's partition in its replica."""
        return participant % self.partitions

    def name(self, participant: int) -> str:
        """How messages name a participant."""
        if self.replicas == 1 and self.partitions > 1:
            return f"partition {participant}"
        return self._both(participant) if self.partitions > 1 else f"replica {participant}"

    def _both(self, participant: int) -> str:
        return f"replica {self.replica(participant)} partition {self.partition(participant)}"

    @staticmethod
    def of(module: ModuleOp, replicas: int | None, partitions: int | None) -> Participants:
        """As many as asked for, by default what the module's header says."""
        header = module.attributes
        return Participants(
            int_of(header.get("hlo.replica_count"), 1) if replicas is None else replicas,
            int_of(header.get("hlo.num_partitions"), 1) if partitions is None else partitions,
        )


class Exchanges:
    """What collectives compute, for a whole group at once; one per program, shared by all participants and runs.

    `executed` and `moved` count meetings of groups and the bytes that pass between members, by opcode.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._functions: dict[Operation, Callable[[Sequence[Sequence[Any]]], Sequence[Any]]] = {}
        self._checked: set[tuple[Operation, int]] = set()
        self.executed: Counter[str] = Counter()
        self.moved: Counter[str] = Counter()

    def exchange(self, op: Operation, members: Sequence[Sequence[Any]]) -> list[Any]:
        """The result of `op` for each member of a group, given the operands of each, in the order of the group.

        Raises EvaluationError where the group does not give what the type of `op` says.
        """
        if op not in self._functions:
            self._functions[op] = exchange_of(op, self._context)
        results = self._functions[op](members)
        answers = [_started(op, operands, result) for operands, result in zip(members, results, strict=True)]
        if (op, len(members)) not in self._checked:
            _check(op, answers[0], len(members))
            self._checked.add((op, len(members)))
        self.count(opcode_of(op.name), moved_bytes(op, members))
        return answers

    def count(self, opcode: str, moved: int) -> None:
        """Counts one meeting."""
        kind = opcode.removesuffix("-start")
        self.executed[kind] += 1
        self.moved[kind] += moved


def _check(op: Operation, answer: Any, size: int) -> None:
    type = op.results[0].type
    if not fits(answer, type):
        found = described(answer)
        raise EvaluationError(
            f"{opcode_of(op.name)} {instruction(op)}: expected {spelled(type)}, found {found} from a group of {size}",
            op,
        )


def _started(op: Operation, operands: Sequence[Any], result: Any) -> Any:
    """The result of a start op, whose type also holds the operands (xla-semantics.md d.6)."""
    if not isinstance(op, AllGatherStartOp | CollectivePermuteStartOp):
        return result
    given = operands[0] if len(operands) == 1 else tuple(operands)
    rest = elements_of(op.results[0].type)[2:]
    return (given, result, *map(zeros, rest))
