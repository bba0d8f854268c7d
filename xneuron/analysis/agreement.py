"""When a collective leaves the same on several participants.

The question is asked for classes of participants, usually the groups of some collective. Two participants of a class
surely get the same if they are in one group of a collective that tells all its members the same. They also get the
same if whom they meet, member by member, is in one class, and the operands agree within classes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum

from xneuron.analysis.participants import Participants
from xneuron.dialects.hlo.channels import GroupedOp, PermuteOp
from xneuron.dialects.hlo.collectives import (
    AllGatherLike,
    AllReduceOp,
    AllReduceStartOp,
    CollectiveBroadcastOp,
    PartitionIdOp,
    ReplicaIdOp,
)
from xneuron.dialects.hlo.replica_groups import Groups


class Agreement(IntEnum):
    """Whether participants of a class get the same result; the smaller of two holds where both are needed."""

    NEVER = 0
    IF_OPERANDS_DO = 1
    ALWAYS = 2


class Classes:
    """Participants in classes, within which values are asked to be equal."""

    def __init__(self, groups: Groups, participants: Participants) -> None:
        self.groups = groups
        self.participants = participants
        self._class = {member: number for number, group in enumerate(groups) for member in group}

    @property
    def share_replica(self) -> bool:
        """True if members of a class differ in their partition only."""
        return self._share(lambda member: member // self.participants.partitions)

    @property
    def share_partition(self) -> bool:
        """True if members of a class differ in their replica only."""
        return self._share(lambda member: member % self.participants.partitions)

    def agreement(self, op: GroupedOp | PermuteOp | ReplicaIdOp | PartitionIdOp) -> Agreement:
        """Whether members of a class get the same from `op`."""
        if isinstance(op, ReplicaIdOp):
            return Agreement.ALWAYS if self.share_replica else Agreement.NEVER
        if isinstance(op, PartitionIdOp):
            return Agreement.ALWAYS if self.share_partition else Agreement.NEVER
        if isinstance(op, PermuteOp):
            pairs = self.participants.groups(op)
            sources = {target: source for source, target in pairs}
            regular = op.slice_sizes is None and len(sources) == len(pairs)
            return self._weakest(lambda a, b: self._from(sources, a, b)) if regular else Agreement.NEVER
        groups = {member: group for group in self.participants.groups(op) for member in group}
        tells_all = isinstance(op, AllGatherLike | AllReduceOp | AllReduceStartOp) or (
            isinstance(op, CollectiveBroadcastOp) and op.has_dynamic_root is None
        )
        return self._weakest(lambda a, b: self._meeting(groups, tells_all, a, b))

    def _share(self, part: Callable[[int], int]) -> bool:
        return all(len({part(member) for member in group}) == 1 for group in self.groups)

    def _weakest(self, pair: Callable[[int, int], Agreement]) -> Agreement:
        """The least of all pairs. Equality is transitive, so comparing each with the first one is enough."""
        found = (pair(group[0], other) for group in self.groups for other in group[1:])
        return min(found, default=Agreement.ALWAYS)

    def _meeting(self, groups: Mapping[int, tuple[int, ...]], tells_all: bool, a: int, b: int) -> Agreement:
        if (one := groups.get(a)) is None or (other := groups.get(b)) is None:
            return Agreement.NEVER
        if tells_all and one is other:
            return Agreement.ALWAYS
        alike = len(one) == len(other) and all(map(self._same, one, other))
        return Agreement.IF_OPERANDS_DO if alike and (tells_all or one.index(a) == other.index(b)) else Agreement.NEVER

    def _from(self, sources: Mapping[int, int], a: int, b: int) -> Agreement:
        one, other = sources.get(a), sources.get(b)
        if one is None and other is None:
            return Agreement.ALWAYS  # zeros
        if one is None or other is None:
            return Agreement.NEVER
        return Agreement.IF_OPERANDS_DO if self._same(one, other) else Agreement.NEVER

    def _same(self, a: int, b: int) -> bool:
        return a == b or (a in self._class and self._class.get(a) == self._class.get(b))
