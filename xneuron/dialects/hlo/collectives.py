"""Chapter: collectives, and what talks to the world outside a replica.

None of these has known effects: xDSL's `cse` and `dce` neither merge nor drop them. Group mode follows XLA's
collective_ops_utils.h from `channel_id` and `use_global_device_ids`.
"""

from __future__ import annotations

from abc import ABC

from xdsl.dialects.builtin import ArrayAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import IsolatedFromAbove, Pure

from xneuron.dialects.hlo.attributes import ComputationAttr, Int, Ints, ReplicaGroupsAttr
from xneuron.dialects.hlo.base import ValueOp


class ChannelOp(ValueOp, ABC):
    """An op that meets others on a channel."""

    channel_id = opt_prop_def(Int)


class GroupedOp(ChannelOp, ABC):
    """A collective over replica groups."""

    inputs = var_operand_def()
    replica_groups = opt_prop_def(ReplicaGroupsAttr)
    constrain_layout = opt_prop_def(UnitAttr)
    use_global_device_ids = opt_prop_def(UnitAttr)


class AllGatherLike(GroupedOp, ABC):
    dimensions = prop_def(Ints)


@irdl_op_definition
class AllGatherOp(AllGatherLike):
    """Operands of all participants after each other along `dimensions[0]`; several operands give a tuple."""

    name = "hlo.all_gather"


@irdl_op_definition
class AllGatherStartOp(AllGatherLike):
    """Starts an all-gather; the result is (operands, results)."""

    name = "hlo.all_gather_start"


@irdl_op_definition
class AllGatherDoneOp(ValueOp):
    """The result of a started all-gather."""

    name = "hlo.all_gather_done"
    operand = operand_def()


class ReducingOp(GroupedOp, ABC):
    computations = opt_prop_def(ArrayAttr[ComputationAttr])
    to_apply = region_def("single_block")
    traits = traits_def(IsolatedFromAbove())


@irdl_op_definition
class AllReduceOp(ReducingOp):
    """Elementwise reduction over all participants; several operands give a tuple."""

    name = "hlo.all_reduce"


@irdl_op_definition
class AllReduceStartOp(ReducingOp):
    """Starts an all-reduce; the result has the shape of the all-reduce's."""

    name = "hlo.all_reduce_start"


@irdl_op_definition
class AllReduceDoneOp(ValueOp):
    """The result of a started all-reduce."""

    name = "hlo.all_reduce_done"
    operand = operand_def()


@irdl_op_definition
class ReduceScatterOp(ReducingOp):
    """All-reduce of which each participant keeps its part along `dimensions[0]`."""

    name = "hlo.reduce_scatter"
    dimensions = prop_def(Ints)


@irdl_op_definition
class AllToAllOp(GroupedOp):
    """Participant i gets part i of everyone: as a tuple of operands, or split along `dimensions`."""

    name = "hlo.all_to_all"
    dimensions = opt_prop_def(Ints)


@irdl_op_definition
class RaggedAllToAllOp(GroupedOp):
    """All-to-all with run-time sizes: input, output, input offsets, send sizes, output offsets, recv sizes."""

    name = "hlo.ragged_all_to_all"


@irdl_op_definition
class CollectiveBroadcastOp(GroupedOp):
    """Everyone gets the operand of the first id of its group; zeros outside all groups."""

    name = "hlo.collective_broadcast"
    has_dynamic_root = opt_prop_def(UnitAttr)


class PermuteOp(ChannelOp, ABC):
    inputs = var_operand_def()
    source_target_pairs = prop_def(ArrayAttr[Attribute])
    slice_sizes = opt_prop_def(ArrayAttr[Attribute])


@irdl_op_definition
class CollectivePermuteOp(PermuteOp):
    """Sends the operand from source to target; who receives nothing gets zeros."""

    name = "hlo.collective_permute"


@irdl_op_definition
class CollectivePermuteStartOp(PermuteOp):
    """Starts a collective-permute; the result is (operand, result, context…)."""

    name = "hlo.collective_permute_start"


@irdl_op_definition
class CollectivePermuteDoneOp(ValueOp):
    """The result of a started collective-permute."""

    name = "hlo.collective_permute_done"
    operand = operand_def()


@irdl_op_definition
class PartitionIdOp(ValueOp):
    """This participant's partition (u32)."""

    name = "hlo.partition_id"
    traits = traits_def(Pure())


@irdl_op_definition
class ReplicaIdOp(ValueOp):
    """This participant's replica (u32)."""

    name = "hlo.replica_id"
    traits = traits_def(Pure())


class TransferOp(ChannelOp, ABC):
    """Half of a point-to-point transfer; send and recv of one channel belong together."""

    inputs = var_operand_def()
    is_host_transfer = opt_prop_def(UnitAttr)


@irdl_op_definition
class SendOp(TransferOp):
    """Starts sending (data, token); the result is (data, context u32, token)."""

    name = "hlo.send"


@irdl_op_definition
class SendDoneOp(TransferOp):
    """Ends sending; a token."""

    name = "hlo.send_done"


@irdl_op_definition
class RecvOp(TransferOp):
    """Starts receiving (token); the result is (data, context u32, token)."""

    name = "hlo.recv"


@irdl_op_definition
class RecvDoneOp(TransferOp):
    """Ends receiving; (data, token)."""

    name = "hlo.recv_done"


@irdl_op_definition
class InfeedOp(ValueOp):
    """Reads from the host: (data, token)."""

    name = "hlo.infeed"
    token = operand_def()
    infeed_config = opt_prop_def(StringAttr)


@irdl_op_definition
class OutfeedOp(ValueOp):
    """Writes (data, token) to the host; a token."""

    name = "hlo.outfeed"
    inputs = var_operand_def()
    outfeed_config = opt_prop_def(StringAttr)
    outfeed_shape = opt_prop_def()


OPS = [
    AllGatherOp,
    AllGatherStartOp,
    AllGatherDoneOp,
    AllReduceOp,
    AllReduceStartOp,
    AllReduceDoneOp,
    ReduceScatterOp,
    AllToAllOp,
    RaggedAllToAllOp,
    CollectiveBroadcastOp,
    CollectivePermuteOp,
    CollectivePermuteStartOp,
    CollectivePermuteDoneOp,
    PartitionIdOp,
    ReplicaIdOp,
    SendOp,
    SendDoneOp,
    RecvOp,
    RecvDoneOp,
    InfeedOp,
    OutfeedOp,
]
