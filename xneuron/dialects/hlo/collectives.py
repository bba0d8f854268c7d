"""Chapter: collectives, and what talks to the world outside a replica.

None of these has known effects: xDSL's `cse` and `dce` neither merge nor drop them. Group mode follows XLA's
collective_ops_utils.h from `channel_id` and `use_global_device_ids`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.attributes import (
    Ints,
    int_list,
)
from xneuron.dialects.hlo.base import PureUnlessWaiting, ValueOp
from xneuron.dialects.hlo.channels import (
    TRANSFER_CONTEXT,
    GroupedOp,
    PermuteOp,
    ReducingOp,
    TransferOp,
)
from xneuron.dialects.hlo.group_rules import expect_multiples, scaled
from xneuron.dialects.hlo.shape_rules import (
    INTEGRAL,
    array,
    array_of,
    expect,
    expect_count,
    expect_started,
    one_dimension,
    packed,
    same_array,
    tuple_element,
    types_of,
    unpacked,
)
from xneuron.dialects.hlo.types import (
    TOKEN,
    U32,
    Tensor,
    elements_of,
    shape_of,
    spelled,
    tensor,
    tuple_of,
)


class AllGatherLike(GroupedOp, ABC):
    """What all-gather and its start share. The extent needs the size of the groups, so the text says the result."""

    dimensions = prop_def(Ints)

    def shape_rule(self) -> Attribute | None:
        inputs = [array(type) for type in self.expect_grouped(uniform=True)]
        for input in inputs:
            one_dimension(self.dimensions, len(shape_of(input)))
        return self.gathered_type(inputs) if self.participants else None

    def gathered_type(self, inputs: Sequence[Tensor]) -> Attribute:
        """What a gather in groups of known size gives."""
        return packed(scaled(input, int_list(self.dimensions)[0], self.participants, 1) for input in inputs)

    def expect_gathered(self, actual: Attribute) -> None:
        """Fails unless each element of the result is a multiple of its operand."""
        parts = (actual,) if len(self.inputs) == 1 else unpacked(actual, len(self.inputs), "result")
        expect_multiples(parts, types_of(self.inputs), int_list(self.dimensions)[0], self.group_size)


@irdl_op_definition
class AllGatherOp(AllGatherLike):
    """Operands of all participants after each other along `dimensions[0]`; several operands give a tuple."""

    name = "hlo.all_gather"

    def result_rule(self, expected: Attribute | None, actual: Attribute) -> None:
        super().result_rule(expected, actual)
        self.expect_gathered(actual)


@irdl_op_definition
class AllGatherStartOp(AllGatherLike):
    """Starts an all-gather; the result is (operands, results)."""

    name = "hlo.all_gather_start"

    def gathered_type(self, inputs: Sequence[Tensor]) -> Attribute:
        return tuple_of((packed(inputs), super().gathered_type(inputs)))

    def result_rule(self, expected: Attribute | None, actual: Attribute) -> None:
        operands, results = unpacked(actual, 2, "result")
        expect(packed(types_of(self.inputs)), operands, "operands in the result")
        super().result_rule(expected, actual)
        self.expect_gathered(results)


@irdl_op_definition
class AllGatherDoneOp(ValueOp):
    """The result of a started all-gather."""

    name = "hlo.all_gather_done"
    CONTEXTUAL: ClassVar = True
    operand = operand_def()

    def shape_rule(self) -> Attribute:
        expect_started(self.operand, "hlo.all_gather_start")
        return tuple_element(self.operand.type, 1)


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
    CONTEXTUAL: ClassVar = True
    operand = operand_def()

    def shape_rule(self) -> Attribute:
        expect_started(self.operand, "hlo.all_reduce_start")
        return self.operand.type


@irdl_op_definition
class ReduceScatterOp(ReducingOp):
    """All-reduce of which each participant keeps its part along `dimensions[0]`."""

    name = "hlo.reduce_scatter"
    dimensions = prop_def(Ints)

    def shape_rule(self) -> Attribute | None:
        inputs = self.expect_reducing(uniform=True)
        for input in inputs:
            one_dimension(self.dimensions, len(shape_of(input)))
        if not self.participants:
            return None
        return packed(scaled(input, int_list(self.dimensions)[0], 1, self.participants) for input in inputs)

    def result_rule(self, expected: Attribute | None, actual: Attribute) -> None:
        super().result_rule(expected, actual)
        parts = (actual,) if len(self.inputs) == 1 else unpacked(actual, len(self.inputs), "result")
        expect_multiples(types_of(self.inputs), parts, int_list(self.dimensions)[0], self.group_size)


@irdl_op_definition
class AllToAllOp(GroupedOp):
    """Participant i gets part i of everyone: as a tuple of operands, or split along `dimensions`."""

    name = "hlo.all_to_all"
    dimensions = opt_prop_def(Ints)

    def shape_rule(self) -> Attribute:
        inputs = [array(type) for type in self.expect_grouped(uniform=True)]
        if self.dimensions is None:
            if self.group_size:
                expect_count(self.group_size, inputs, "operands")
            same_array(inputs)
            return tuple_of(tuple(inputs))
        expect_count(1, inputs, "operands where dimensions is set")
        split = one_dimension(self.dimensions, len(shape_of(inputs[0])))
        if self.group_size:
            scaled(inputs[0], split, 1, self.group_size)
        return inputs[0]


@irdl_op_definition
class RaggedAllToAllOp(GroupedOp):
    """All-to-all with run-time sizes: input, output, input offsets, send sizes, output offsets, recv sizes."""

    name = "hlo.ragged_all_to_all"

    def shape_rule(self) -> Attribute:
        expect_count(6, self.inputs, "operands")
        input, output, *sizes = self.expect_grouped(uniform=True)
        for size in sizes:
            expect(sizes[0], array_of(INTEGRAL, size, "offsets and sizes"), "offsets and sizes")
        if len(shape_of(sizes[0])) not in (1, 2):
            raise VerifyException(f"expected offsets and sizes of rank 1 or 2, found {spelled(sizes[0])}")
        if array(input).element_type != array(output).element_type:
            raise VerifyException(f"expected output of the elements of {spelled(input)}, found {spelled(output)}")
        return output


@irdl_op_definition
class CollectiveBroadcastOp(GroupedOp):
    """Everyone gets the operand of the first id of its group; zeros outside all groups.

    With `has_dynamic_root` the last operand says who sends.
    """

    name = "hlo.collective_broadcast"
    has_dynamic_root = opt_prop_def(UnitAttr)

    def shape_rule(self) -> Attribute:
        inputs = [array(type) for type in self.expect_grouped(complete=False)]
        if self.has_dynamic_root is None:
            return packed(inputs)
        if len(inputs) < 2:
            raise VerifyException("expected an operand and a root, found 1 operand")
        return packed(inputs[:-1])


@irdl_op_definition
class CollectivePermuteOp(PermuteOp):
    """Sends the operand from source to target; who receives nothing gets zeros."""

    name = "hlo.collective_permute"

    def shape_rule(self) -> Attribute:
        return self.expect_permuted()[1]


@irdl_op_definition
class CollectivePermuteStartOp(PermuteOp):
    """Starts a collective-permute; the result is (operand, result, context…)."""

    name = "hlo.collective_permute_start"

    def shape_rule(self) -> None:
        self.expect_permuted()

    def result_rule(self, expected: Attribute | None, actual: Attribute) -> None:
        expect(tuple_of(self.expect_permuted()), tuple_of(elements_of(actual)[:2]), "result starting with")


@irdl_op_definition
class CollectivePermuteDoneOp(ValueOp):
    """The result of a started collective-permute."""

    name = "hlo.collective_permute_done"
    CONTEXTUAL: ClassVar = True
    operand = operand_def()

    def shape_rule(self) -> Attribute:
        expect_started(self.operand, "hlo.collective_permute_start")
        return tuple_element(self.operand.type, 1)


@irdl_op_definition
class PartitionIdOp(ValueOp):
    """This participant's partition (u32)."""

    name = "hlo.partition_id"
    traits = traits_def(PureUnlessWaiting())

    def shape_rule(self) -> Attribute:
        return tensor(U32)


@irdl_op_definition
class ReplicaIdOp(ValueOp):
    """This participant's replica (u32)."""

    name = "hlo.replica_id"
    traits = traits_def(PureUnlessWaiting())

    def shape_rule(self) -> Attribute:
        return tensor(U32)


@irdl_op_definition
class SendOp(TransferOp):
    """Starts sending (data, token); the result is (data, context u32, token)."""

    name = "hlo.send"

    def shape_rule(self) -> Attribute:
        data, token = self.expect_operands(2)
        expect(TOKEN, token, "second operand")
        return tuple_of((data, tensor(U32), TOKEN))


@irdl_op_definition
class SendDoneOp(TransferOp):
    """Ends sending; a token."""

    name = "hlo.send_done"

    def shape_rule(self) -> Attribute:
        self.context()
        return TOKEN


@irdl_op_definition
class RecvOp(TransferOp):
    """Starts receiving (token); the result is (data, context u32, token)."""

    name = "hlo.recv"

    def shape_rule(self) -> None:
        expect(TOKEN, self.expect_operands(1)[0], "operand")

    def result_rule(self, expected: Attribute | None, actual: Attribute) -> None:
        expect(TRANSFER_CONTEXT, tuple_of(unpacked(actual, 3, "result")[1:]), "result ending with")


@irdl_op_definition
class RecvDoneOp(TransferOp):
    """Ends receiving; (data, token)."""

    name = "hlo.recv_done"

    def shape_rule(self) -> Attribute:
        return tuple_of((self.context()[0], TOKEN))


@irdl_op_definition
class InfeedOp(ValueOp):
    """Reads from the host: (data, token)."""

    name = "hlo.infeed"
    token = operand_def()
    infeed_config = opt_prop_def(StringAttr)

    def shape_rule(self) -> None:
        expect(TOKEN, self.token.type, "operand")

    def result_rule(self, expected: Attribute | None, actual: Attribute) -> None:
        expect(TOKEN, unpacked(actual, 2, "result")[1], "result ending with")


@irdl_op_definition
class OutfeedOp(ValueOp):
    """Writes (data, token) to the host; a token."""

    name = "hlo.outfeed"
    inputs = var_operand_def()
    outfeed_config = opt_prop_def(StringAttr)
    outfeed_shape = opt_prop_def()

    def shape_rule(self) -> Attribute:
        expect_count(2, self.inputs, "operands")
        expect(TOKEN, self.inputs[1].type, "second operand")
        if self.outfeed_shape is not None:
            expect(self.outfeed_shape, self.inputs[0].type, "operand of outfeed_shape")
        return TOKEN


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
