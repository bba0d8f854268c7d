"""Who takes part: the participants of a module, and which of them meet in a collective.

A participant is one run of the program, numbered replica * partitions + partition.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from xneuron.dialects.hlo.attributes import int_of, pair_list
from xneuron.dialects.hlo.channels import GroupedOp, PermuteOp
from xneuron.dialects.hlo.collectives import AllGatherLike, ReduceScatterOp
from xneuron.dialects.hlo.group_modes import GroupMode, group_mode, participant_groups
from xneuron.dialects.hlo.replica_groups import Groups
from xneuron.dialects.hlo.types import elements_of, is_tensor, shape_of


@dataclass(frozen=True)
class Participants:
    """How many replicas run the program, and how many partitions each has."""

    replicas: int
    partitions: int

    @staticmethod
    def of(module: ModuleOp) -> Participants:
        """As the module's header says; at least as many as its collectives name."""
        partitions = max(int_of(module.attributes.get("hlo.num_partitions"), 1), 1)
        found = Participants(max(int_of(module.attributes.get("hlo.replica_count"), 1), 1), partitions)
        for op in module.walk():
            if isinstance(op, GroupedOp | PermuteOp):
                found = found.including(op)
        return found

    def including(self, op: GroupedOp | PermuteOp) -> Participants:
        """With the participants that a collective implies, by its ids or by how much it gathers."""
        mode, partitions = group_mode(op), self.partitions
        size = 1 + max((id for group in _ids(op) for id in group), default=-1)
        if not size and isinstance(op, GroupedOp):
            size = gathered_parts(op)
            if mode is GroupMode.CROSS_REPLICA_AND_PARTITION:
                size = -(-size // partitions)
        if mode is GroupMode.CROSS_PARTITION:
            return Participants(self.replicas, max(partitions, size))
        if mode is GroupMode.FLATTENED_ID:
            size = -(-size // partitions)
        return Participants(max(self.replicas, size), partitions)

    def groups(self, op: GroupedOp | PermuteOp) -> Groups:
        """The participants that meet in `op`; for a permute the pairs (source, target)."""
        mode, ids = group_mode(op), _ids(op)
        if isinstance(op, PermuteOp) and not ids:
            return ()
        return participant_groups(mode, ids, self.replicas, self.partitions)


def gathered_parts(op: GroupedOp) -> int:
    """How many parts the shapes say that a gather puts together, or a reduce-scatter hands out; 0 if they do not."""
    if not isinstance(op, AllGatherLike | ReduceScatterOp) or len(op.inputs) != 1:
        return 0
    part, whole = op.inputs[0].type, op.results[0].type
    if not is_tensor(whole):
        whole = elements_of(whole)[1]
    if isinstance(op, ReduceScatterOp):
        part, whole = whole, part
    dimension = op.dimensions.get_values()[0]
    small, large = shape_of(part)[dimension], shape_of(whole)[dimension]
    return large // small if small > 0 and large > 0 else 0


def _ids(op: GroupedOp | PermuteOp) -> Groups:
    if isinstance(op, PermuteOp):
        return pair_list(op.source_target_pairs)
    return op.replica_groups.groups if op.replica_groups is not None else ()
