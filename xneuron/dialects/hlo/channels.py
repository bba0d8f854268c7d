"""What instructions that meet others share: channels, replica groups, reducers, pairs, transfers."""

from __future__ import annotations

from abc import ABC

from xdsl.dialects.builtin import ArrayAttr, UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import opt_prop_def, prop_def, region_def, traits_def, var_operand_def
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.attributes import ComputationAttr, Int, Ints, ReplicaGroupsAttr, int_of, pair_list
from xneuron.dialects.hlo.base import ValueOp, root_of
from xneuron.dialects.hlo.group_rules import expect_groups, expect_pairs
from xneuron.dialects.hlo.shape_rules import array, expect, expect_count, expect_reducer, packed, types_of, unpacked
from xneuron.dialects.hlo.types import TOKEN, U32, Tensor, element_of, spelled, tensor, tuple_of

TRANSFER_CONTEXT = tuple_of((tensor(U32), TOKEN))
"""What the state of a transfer ends with."""


class ChannelOp(ValueOp, ABC):
    """An op that meets others on a channel."""

    channel_id = opt_prop_def(Int)

    def expect_channel(self) -> None:
        """Fails for a channel id that no instruction can have."""
        if self.channel_id is not None and int_of(self.channel_id) < 0:
            raise VerifyException(f"expected channel_id of at least 0, found {int_of(self.channel_id)}")


class GroupedOp(ChannelOp, ABC):
    """A collective over replica groups."""

    inputs = var_operand_def()
    replica_groups = opt_prop_def(ReplicaGroupsAttr)
    constrain_layout = opt_prop_def(UnitAttr)
    use_global_device_ids = opt_prop_def(UnitAttr)

    @property
    def group_size(self) -> int:
        """Ids in each group; 0 where groups are not given, or of different sizes."""
        groups = self.replica_groups.groups if self.replica_groups is not None else ()
        sizes = {len(group) for group in groups}
        return sizes.pop() if len(sizes) == 1 else 0

    @property
    def participants(self) -> int:
        """Participants that meet in one group; 0 where the module's partitions, or all replicas, count too."""
        every_partition = self.channel_id is not None and self.use_global_device_ids is None
        return 0 if every_partition else self.group_size

    def expect_grouped(self, uniform: bool = False, complete: bool = True) -> tuple[Attribute, ...]:
        """Types of the operands, at least one, once channel and groups are well-formed."""
        self.expect_channel()
        if not self.inputs:
            raise VerifyException("expected at least 1 operand, found 0")
        if self.use_global_device_ids is not None and self.channel_id is None:
            raise VerifyException("expected channel_id where use_global_device_ids is set")
        if self.replica_groups is not None:
            expect_groups(self.replica_groups.groups, uniform, complete)
        elif self.use_global_device_ids is not None:
            raise VerifyException("expected replica_groups where use_global_device_ids is set")
        return types_of(self.inputs)


class ReducingOp(GroupedOp, ABC):
    """A collective that reduces elementwise."""

    computations = opt_prop_def(ArrayAttr[ComputationAttr])
    to_apply = region_def("single_block")
    traits = traits_def(IsolatedFromAbove())

    def expect_reducing(self, uniform: bool = False) -> list[Tensor]:
        """Types of the operands, once groups and reducer are well-formed.

        Operands of several element types share one reducer (XLA's combiner makes such), so only its kind must fit.
        """
        inputs = [array(type) for type in self.expect_grouped(uniform)]
        root = array(root_of(self.to_apply).type, "result of to_apply")
        expect_reducer(self.to_apply, [root.element_type])
        for input in inputs:
            if element_of(input).kind != element_of(root).kind:
                raise VerifyException(f"expected to_apply on elements like {spelled(input)}, found {spelled(root)}")
        return inputs

    def shape_rule(self) -> Attribute | None:
        return packed(self.expect_reducing())


class PermuteOp(ChannelOp, ABC):
    """What collective-permute and its start share. With `slice_sizes` it works in place: see `expect_permuted`."""

    inputs = var_operand_def()
    source_target_pairs = prop_def(ArrayAttr[Ints])
    slice_sizes = opt_prop_def(ArrayAttr[Ints])

    def expect_permuted(self) -> tuple[Attribute, Attribute]:
        """Types of what is sent and what is received.

        In place (four operands: input, output, their offsets) an id may occur once per slice.
        """
        self.expect_channel()
        inputs = types_of(self.inputs)
        if self.slice_sizes is None:
            if not inputs:
                raise VerifyException("expected at least 1 operand, found 0")
            expect_pairs(pair_list(self.source_target_pairs), 1)
            sent = packed(inputs)
            return sent, sent
        expect_count(4, inputs, "operands where slice_sizes is set")
        expect_pairs(pair_list(self.source_target_pairs), max(len(pair_list(self.slice_sizes)), 1))
        return inputs[0], inputs[1]


class TransferOp(ChannelOp, ABC):
    """Half of a point-to-point transfer; send and recv of one channel belong together."""

    inputs = var_operand_def()
    is_host_transfer = opt_prop_def(UnitAttr)

    def expect_operands(self, count: int) -> tuple[Attribute, ...]:
        """Types of the operands."""
        self.expect_channel()
        expect_count(count, self.inputs, "operands")
        return types_of(self.inputs)

    def context(self) -> tuple[Attribute, ...]:
        """Elements of the operand of a done op: (data, context u32, token)."""
        parts = unpacked(self.expect_operands(1)[0], 3, "operand")
        expect(TRANSFER_CONTEXT, tuple_of(parts[1:]), "operand ending with")
        return parts
