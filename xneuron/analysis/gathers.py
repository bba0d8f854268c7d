"""All-gathers of one array, whether in one instruction or as start and done."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue

from xneuron.analysis.control_dependencies import is_ordered
from xneuron.dialects.hlo.attributes import int_list
from xneuron.dialects.hlo.collectives import AllGatherDoneOp, AllGatherOp, AllGatherStartOp
from xneuron.dialects.hlo.types import is_tensor


@dataclass(frozen=True)
class Gather:
    """`op` gathers `operand`; `last` (the done, or `op` itself) gives `result`."""

    op: AllGatherOp | AllGatherStartOp
    last: Operation

    @property
    def operand(self) -> SSAValue:
        return self.op.inputs[0]

    @property
    def result(self) -> SSAValue:
        return self.last.results[0]

    @property
    def dimension(self) -> int:
        """The dimension along which parts are put together."""
        return int_list(self.op.dimensions)[0]

    @property
    def is_ordered(self) -> bool:
        """True if a control dependency has any of it at either end."""
        return is_ordered(self.op) or is_ordered(self.last)


def gather_ops(block: Block) -> list[AllGatherOp | AllGatherStartOp]:
    """The instructions of a computation that gather, or start to. A list: edits do not disturb it."""
    return [op for op in block.ops if isinstance(op, AllGatherOp | AllGatherStartOp)]


def gather_of(op: AllGatherOp | AllGatherStartOp) -> Gather | None:
    """The gather that an op is or starts; None for several operands, or a start with other users than a done."""
    if len(op.inputs) != 1 or not is_tensor(op.inputs[0].type):
        return None
    if isinstance(op, AllGatherOp):
        return Gather(op, op)
    users = [use.operation for use in op.results[0].uses]
    done = [user for user in users if isinstance(user, AllGatherDoneOp)]
    return Gather(op, done[0]) if len(done) == len(users) == 1 else None
