"""What passes that move collectives ask about loops: found once, forgotten when the module changes."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

from xdsl.dialects.builtin import ModuleOp

from xneuron.analysis.call_graph import CallGraph
from xneuron.analysis.participants import Participants, gathered_parts
from xneuron.analysis.replication import Replication
from xneuron.analysis.slices import Slicer
from xneuron.analysis.trip_count import TripCount, Unknown, trip_count
from xneuron.dialects.hlo.base import root_of
from xneuron.dialects.hlo.channels import GroupedOp
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.dialects.hlo.replica_groups import Groups


class LoopFacts:
    """Trip counts, slots that stay, values that are equal within groups, of one module.

    `replicated`: numbers of the entry's parameters that are equal everywhere, beyond what annotations say.
    """

    def __init__(self, module: ModuleOp, replicated: Collection[int] = ()) -> None:
        self.module = module
        self._replicated = replicated
        self._calls = CallGraph(module)
        self.forget()

    def forget(self) -> None:
        """To be called when the module has changed; functions, their calls, and who takes part are taken to stay."""
        self.slicer = Slicer(self._calls)
        self._counts: dict[WhileOp, TripCount | Unknown] = {}
        self._replications: dict[frozenset[frozenset[int]], Replication] = {}

    def count(self, loop: WhileOp) -> TripCount | Unknown:
        """How often the loop runs."""
        if loop not in self._counts:
            self._counts[loop] = trip_count(loop, slicer=self.slicer)
        return self._counts[loop]

    def is_unchanged(self, loop: WhileOp, slot: int) -> bool:
        """True if the body hands the slot on as it is."""
        return self.slicer.unchanged(loop, (slot,))

    def group_size(self, op: GroupedOp) -> int:
        """Participants in each group, as shapes and groups agree on; 0 where they do not, or where sizes differ."""
        sizes = {len(group) for group in self._groups(op)}
        return sizes.pop() if sizes == {gathered_parts(op)} else 0

    def replication(self, op: GroupedOp) -> Replication:
        """Which values are equal within the groups of a collective."""
        groups = self._groups(op)
        key = frozenset(map(frozenset, groups))
        if key not in self._replications:
            parameters, participants = self._replicated, self.participants
            self._replications[key] = Replication(self.module, groups, participants, self.slicer, parameters)
        return self._replications[key]

    def leaving(self, loop: WhileOp, op: GroupedOp) -> str | None:
        """Why participants of a group of `op` may run the loop a different number of times, None if they do not."""
        return self.replication(op).difference(root_of(loop.cond))

    @cached_property
    def participants(self) -> Participants:
        """Who runs the module."""
        return Participants.of(self.module)

    def _groups(self, op: GroupedOp) -> Groups:
        return self.participants.groups(op)
