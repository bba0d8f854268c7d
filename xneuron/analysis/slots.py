"""Which element of a loop's state a value is, behind what only passes values on.

Narrower than `slices`: that sees through barriers too, which is right for what a value is, not for moving it.
"""

from __future__ import annotations

from xdsl.ir import Block, OpResult, SSAValue

from xneuron.analysis.boundary_markers import behind_markers, is_identity
from xneuron.dialects.hlo.attributes import int_of
from xneuron.dialects.hlo.control_flow import GetTupleElementOp, TupleOp
from xneuron.dialects.hlo.data_movement import CopyDoneOp, CopyOp, CopyStartOp


def behind_copies(value: SSAValue) -> SSAValue:
    """The value that copies, markers and tuples pass through; `value` itself where there are none."""
    while (nearer := _behind(value)) is not None:
        value = nearer
    return value


def _behind(value: SSAValue) -> SSAValue | None:
    if not isinstance(value, OpResult):
        return None
    op = value.op
    if isinstance(op, CopyOp) or is_identity(op):
        return op.operands[0]
    if isinstance(op, CopyDoneOp) and isinstance(start := op.operand.owner, CopyStartOp):
        return start.operand
    if isinstance(op, GetTupleElementOp):
        packed = behind_markers(op.operand)
        if isinstance(packed, OpResult) and isinstance(packed.op, TupleOp):
            return packed.op.elements[int_of(op.index)]
    return None


def element_of_tuple(value: SSAValue) -> GetTupleElementOp | None:
    """The instruction that takes a value out of a tuple, behind copies and markers."""
    value = behind_copies(value)
    return value.op if isinstance(value, OpResult) and isinstance(value.op, GetTupleElementOp) else None


def is_parameter(value: SSAValue, block: Block) -> bool:
    """True if a value is the only parameter of a computation, behind markers."""
    return len(block.args) == 1 and behind_markers(value) is block.args[0]


def slot_of(value: SSAValue, block: Block) -> int | None:
    """The index of the element of the parameter that a value is, None if it is none."""
    element = element_of_tuple(value)
    return int_of(element.index) if element is not None and is_parameter(element.operand, block) else None
