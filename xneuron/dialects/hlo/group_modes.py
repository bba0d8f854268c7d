"""Who meets whom: XLA's four ways to read the ids of a collective (GetCollectiveOpGroupMode and
GetParticipatingDevicesGroups in collective_ops_utils.cc).

| `channel_id` | `use_global_device_ids` | ids are | one group is |
|---|---|---|---|
| no | no | replicas | those replicas, in one partition |
| yes | no, and the op cannot have it | partitions | those partitions, of one replica |
| yes | no | replicas | those replicas, all partitions of each |
| yes | yes | replica * partitions + partition | those participants |

All-gather, all-reduce and reduce-scatter can have `use_global_device_ids`, other collectives cannot.
"""

from __future__ import annotations

from enum import Enum

from xneuron.dialects.hlo.channels import GroupedOp, PermuteOp, ReducingOp
from xneuron.dialects.hlo.collectives import AllGatherLike
from xneuron.dialects.hlo.replica_groups import Groups


class GroupMode(Enum):
    """How the ids of a collective are read; the value is XLA's name."""

    CROSS_REPLICA = "cross_replica"
    CROSS_PARTITION = "cross_partition"
    CROSS_REPLICA_AND_PARTITION = "cross_replica_and_partition"
    FLATTENED_ID = "flattened_id"


def group_mode(op: GroupedOp | PermuteOp) -> GroupMode:
    """The mode that the op's attributes say."""
    return mode_of(op, op.channel_id is not None)


def mode_of(op: GroupedOp | PermuteOp, channel: bool) -> GroupMode:
    """The mode the op has, or would have, with or without a channel id."""
    if not channel:
        return GroupMode.CROSS_REPLICA
    if not isinstance(op, AllGatherLike | ReducingOp):
        return GroupMode.CROSS_PARTITION
    return GroupMode.CROSS_REPLICA_AND_PARTITION if op.use_global_device_ids is None else GroupMode.FLATTENED_ID


def participant_groups(mode: GroupMode, ids: Groups, replicas: int, partitions: int) -> Groups:
    """The groups of participants, numbered replica * partitions + partition; no ids mean everyone.

    Raises ValueError for an id that is out of range.
    """
    limit = {GroupMode.CROSS_PARTITION: partitions, GroupMode.FLATTENED_ID: replicas * partitions}.get(mode, replicas)
    groups = ids or (tuple(range(limit)),)
    if missing := sorted({id for group in groups for id in group if id >= limit}):
        raise ValueError(f"names {_NAMES[mode]} {missing}, but the run has {limit}")
    if mode is GroupMode.FLATTENED_ID:
        return groups
    if mode is GroupMode.CROSS_PARTITION:
        return tuple(tuple(r * partitions + id for id in group) for group in groups for r in range(replicas))
    if mode is GroupMode.CROSS_REPLICA:
        return tuple(tuple(id * partitions + p for id in group) for group in groups for p in range(partitions))
    return tuple(tuple(id * partitions + p for id in group for p in range(partitions)) for group in groups)


_NAMES = {
    GroupMode.CROSS_REPLICA: "replicas",
    GroupMode.CROSS_PARTITION: "partitions",
    GroupMode.CROSS_REPLICA_AND_PARTITION: "replicas",
    GroupMode.FLATTENED_ID: "participants",
}
