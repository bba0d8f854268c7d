"""Which values are equal on all participants of a replica group.

Every participant runs the same program, so a value differs only where it depends on something that does: who one is,
random numbers, what came from outside, a collective of other groups. The analysis starts at these and follows uses; all
that it does not reach is equal. Inside a loop "equal" means: in the same iteration. A slot of a loop differs if its
initial value or its update does (a fixpoint), and after the loop also if participants may leave it at different times.
Rules: XLA's hlo_replication_analysis.cc, with groups for its two modes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.dialects.func import ReturnOp as FunctionEnd
from xdsl.ir import Attribute, Operation, SSAValue

from xneuron.analysis.agreement import Agreement, Classes
from xneuron.analysis.boundary_markers import is_marker
from xneuron.analysis.call_graph import CallGraph, function_of
from xneuron.analysis.participants import Participants
from xneuron.analysis.slices import IDENTITIES, Path, Slicer, computable
from xneuron.dialects.hlo.attributes import int_of, sharding_entries, text_of
from xneuron.dialects.hlo.base import opcode_of
from xneuron.dialects.hlo.channels import GroupedOp, PermuteOp
from xneuron.dialects.hlo.collectives import (
    AllGatherDoneOp,
    AllGatherStartOp,
    AllReduceDoneOp,
    CollectivePermuteDoneOp,
    PartitionIdOp,
    ReplicaIdOp,
)
from xneuron.dialects.hlo.control_flow import (
    AsyncDoneOp,
    AsyncStartOp,
    AsyncUpdateOp,
    ConditionalOp,
    ControlDependencyOp,
    FusionOp,
    GetTupleElementOp,
    ReturnOp,
    TupleOp,
    WhileOp,
)
from xneuron.dialects.hlo.data_movement import CopyDoneOp, CopyStartOp
from xneuron.dialects.hlo.functions import is_private
from xneuron.dialects.hlo.replica_groups import Groups
from xneuron.dialects.hlo.types import TOKEN, elements_of

Places: TypeAlias = Iterator[tuple[SSAValue, Path]]

_SAME_AS_OPERAND = (*IDENTITIES, AsyncUpdateOp, AllReduceDoneOp)
_PASSING = (
    *_SAME_AS_OPERAND,
    *(AsyncStartOp, AsyncDoneOp, AllGatherDoneOp, CollectivePermuteDoneOp, CopyDoneOp, CopyStartOp),
    *(TupleOp, GetTupleElementOp, WhileOp, ConditionalOp, FusionOp, ReturnOp, FunctionEnd, ControlDependencyOp),
)
"""Ops without a result of their own making."""

_ELEMENT_OF_DONE = {AllGatherDoneOp: 1, CollectivePermuteDoneOp: 1, AsyncDoneOp: 1, CopyDoneOp: 0}
"""Which element of what was started a done op gives."""


class Replication:
    """Answers for the groups of one collective (or any others) about the values of one module, as it is now.

    `parameters`: numbers of the entry's parameters that are equal everywhere, beyond what annotations say.
    """

    def __init__(
        self,
        module: ModuleOp,
        groups: Groups,
        participants: Participants,
        slicer: Slicer | None = None,
        parameters: Collection[int] = (),
    ) -> None:
        self._calls = slicer.calls if slicer else CallGraph(module)
        self._slicer = slicer or Slicer(self._calls)
        self._classes = Classes(groups, participants)
        self._parameters = parameters
        self._differing: dict[SSAValue, dict[Path, str]] = {}
        self._pending: list[tuple[SSAValue, Path, str]] = []
        if all(len(group) == 1 for group in groups):
            return
        for op in module.walk():
            self._begin(op)
        self._follow()

    def is_replicated(self, value: SSAValue, path: Path = ()) -> bool:
        """True if element `path` of the value (all of it for no path) is surely equal within each group."""
        return self.difference(value, path) is None

    def difference(self, value: SSAValue, path: Path = ()) -> str | None:
        """What makes a value differ within a group (`%id (partition-id)`), None if nothing does."""
        found = self._differing.get(value, {})
        return next((why for known, why in found.items() if _overlap(known, path)), None)

    def _begin(self, op: Operation) -> None:
        """Notes what differs for reasons of its own."""
        if isinstance(op, FuncOp) and op.body.blocks and not self._is_called(op):
            self._begin_parameters(op)
        elif isinstance(op, GroupedOp | PermuteOp | ReplicaIdOp | PartitionIdOp):
            if self._classes.agreement(op) is Agreement.NEVER:
                self._note(op.results[0], (1,) if isinstance(op, AllGatherStartOp) else (), _spelled(op))
        elif not (computable(type(op)) or isinstance(op, _PASSING) or is_marker(op) or self._is_known_call(op)):
            for result in op.results:
                self._note(result, (), _spelled(op))

    def _is_called(self, function: FuncOp) -> bool:
        return is_private(function) and bool(self._calls.callers.get(function.sym_name.data))

    def _is_known_call(self, op: Operation) -> bool:
        return isinstance(op, CallOp) and self._calls.callee(op) is not None

    def _begin_parameters(self, function: FuncOp) -> None:
        for number, parameter in enumerate(function.body.block.args):
            if number in self._parameters:
                continue
            said = _attributes(function, number)
            for path, across_partitions, across_replicas in _leaves(parameter.type, said):
                if not self._covers(across_partitions, across_replicas):
                    self._note(parameter, path, f"parameter {number} of {function.sym_name.data}")

    def _covers(self, across_partitions: bool, across_replicas: bool) -> bool:
        if across_partitions and across_replicas:
            return True
        classes = self._classes
        return (across_partitions and classes.share_replica) or (across_replicas and classes.share_partition)

    def _note(self, value: SSAValue, path: Path, why: str) -> None:
        known = self._differing.setdefault(value, {})
        if value.type == TOKEN or any(path[: len(prefix)] == prefix for prefix in known):
            return
        known[path] = why
        self._pending.append((value, path, why))

    def _follow(self) -> None:
        while self._pending:
            value, path, why = self._pending.pop()
            for use in value.uses:
                for result, element in self._reached(use.operation, use.index, path):
                    self._note(result, element, why)

    def _reached(self, op: Operation, index: int, path: Path) -> Places:
        """The values that differ because element `path` of operand `index` does."""
        match op:
            case TupleOp():
                yield op.result, (index, *path)
            case GetTupleElementOp():
                yield from _taken(op, int_of(op.index), path)
            case WhileOp():
                yield from _slot(op, index, path)
            case ConditionalOp() if index:
                yield op.branches[index - 1].block.args[0], path
            case FusionOp():
                yield op.calls.block.args[index], path
            case ReturnOp():
                yield from self._returned(op, index, path)
            case CallOp() if (callee := self._calls.callee(op)) is not None:
                yield callee.body.block.args[index], path
            case FunctionEnd():
                for call in self._calls.callers.get(function_of(op), ()):
                    yield call.results[index], path
            case GroupedOp() | PermuteOp():
                yield from self._exchanged(op, index, path)
            case AsyncStartOp():
                yield op.calls.block.args[index], path
                yield op.result, (0, index, *path)
            case CopyStartOp():
                yield from ((op.result, (element, *path)) for element in (0, 1))
            case _ if (element := _ELEMENT_OF_DONE.get(cast("type[AllGatherDoneOp]", type(op)))) is not None:
                yield from _taken(op, element, path)
            case _ if is_marker(op):
                yield op.results[0], path if len(op.operands) == 1 else (index, *path)
            case _ if isinstance(op, _SAME_AS_OPERAND):
                yield op.results[0], path
            case _:
                yield from ((result, ()) for result in op.results)

    def _exchanged(self, op: GroupedOp | PermuteOp, index: int, path: Path) -> Places:
        started = isinstance(op, AllGatherStartOp)
        if started:
            yield op.results[0], ((0, *path) if len(op.inputs) == 1 else (0, index, *path))
        if self._classes.agreement(op) is not Agreement.ALWAYS:
            yield op.results[0], (1,) if started else ()

    def _returned(self, end: ReturnOp, index: int, path: Path) -> Places:
        owner, region = end.parent_op(), end.parent_region()
        if owner is None or region is None:
            return
        if isinstance(owner, WhileOp):
            yield from self._after_condition(owner) if region is owner.cond else _slot(owner, index, path)
        elif isinstance(owner, FusionOp | ConditionalOp):
            yield owner.result, path
        elif isinstance(owner, AsyncStartOp):
            yield owner.result, (1, *path)
        else:
            yield from ((result, ()) for result in owner.results)

    def _after_condition(self, loop: WhileOp) -> Places:
        """Participants may leave at different times: what the body changes is then not the same."""
        single = len(loop.results) == 1
        for number, result in enumerate(loop.results):
            for path in _paths(result.type):
                if not self._slicer.unchanged(loop, path if single else (number, *path)):
                    yield result, path


def _spelled(op: Operation) -> str:
    hint, opcode = op.results[0].name_hint, opcode_of(op.name)
    return f"%{hint} ({opcode})" if hint else opcode


def _overlap(one: Path, other: Path) -> bool:
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def _taken(op: Operation, index: int, path: Path) -> Places:
    """What element `index` gets from a tuple of which element `path` differs."""
    if not path or path[0] == index:
        yield op.results[0], path[1:]


def _slot(loop: WhileOp, index: int, path: Path) -> Places:
    for region in (loop.cond, loop.body):
        yield region.block.args[index], path
    yield loop.results[index], path


def _paths(type: Attribute) -> Iterator[Path]:
    """The arrays and tokens in a type."""
    if not isinstance(type, TupleType):
        yield ()
        return
    for index, inner in enumerate(elements_of(type)):
        yield from ((index, *path) for path in _paths(inner))


def _attributes(function: FuncOp, parameter: int) -> dict[str, Attribute]:
    return dict(function.arg_attrs.data[parameter].data) if function.arg_attrs is not None else {}


def _leaves(type: Attribute, said: dict[str, Attribute]) -> Iterator[tuple[Path, bool, bool]]:
    """Each array of a parameter: is it equal across partitions (sharding), across replicas (parameter_replication)?"""
    paths = list(_paths(type))
    shardings = sharding_entries(said.get("sharding"))
    flags = text_of(said.get("parameter_replication")).strip("{}").replace(" ", "").split(",")
    for number, path in enumerate(paths):
        yield path, _entry(shardings, number) == "{replicated}", _entry(flags, number) == "true"


def _entry(entries: Sequence[str], number: int) -> str:
    """A list of one entry speaks of all leaves."""
    return entries[0] if len(entries) == 1 else entries[number] if number < len(entries) else ""
