"""What a program computes in one run: instructions, floating-point or integer operations, bytes read and written.

An estimate of work, not of time. As in XLA's cost analysis, an elementwise instruction does one operation per element,
a dot two per product, a computation inside a reduce, sort or scatter what it does per element; instructions read their
operands and write their results once, slices and gathers only what they take. Instructions that only name values
(tuples, constants, bitcasts) are free; a fusion keeps what is inside it to itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil, log2, prod
from typing import Any

from xdsl.dialects.func import ReturnOp as FunctionReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xneuron.analysis.cost import Amount, Join, RunCost, bytes_of
from xneuron.dialects.hlo.attributes import int_list
from xneuron.dialects.hlo.collectives import PartitionIdOp, ReplicaIdOp
from xneuron.dialects.hlo.contractions import ConvolutionOp, DotLikeOp
from xneuron.dialects.hlo.control_flow import (
    AddDependencyOp,
    AfterAllOp,
    AsyncDoneOp,
    AsyncStartOp,
    AsyncUpdateOp,
    ConditionalOp,
    ControlDependencyOp,
    DomainOp,
    FusionOp,
    GetTupleElementOp,
    OptBarrierOp,
    ReturnOp,
    TupleOp,
    WhileOp,
)
from xneuron.dialects.hlo.data_movement import (
    BitcastOp,
    ConstantOp,
    CopyDoneOp,
    CopyOp,
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    SliceOp,
)
from xneuron.dialects.hlo.elementwise import BinaryOp, BitcastConvertOp, ClampOp, CompareOp, MapOp, SelectOp, UnaryOp
from xneuron.dialects.hlo.indexing import GatherOp, ScatterOp
from xneuron.dialects.hlo.reductions import ReduceOp, ReduceWindowOp, ScanOp, SelectAndScatterOp, SortOp
from xneuron.dialects.hlo.types import DYNAMIC, elements_of, is_tensor, shape_of

FREE = (
    *(TupleOp, GetTupleElementOp, ConstantOp, BitcastOp, ReturnOp, FunctionReturnOp, ControlDependencyOp),
    *(AfterAllOp, AddDependencyOp, DomainOp, OptBarrierOp, CopyDoneOp, AsyncStartOp, AsyncUpdateOp, AsyncDoneOp),
    *(ConditionalOp, WhileOp, PartitionIdOp, ReplicaIdOp),
)
"""Ops that do nothing themselves."""

ELEMENTWISE = (UnaryOp, BinaryOp, CompareOp, SelectOp, ClampOp)
MOVING = (BitcastConvertOp, CopyOp)
"""Ops with one operand that compute nothing."""

TAKING = (SliceOp, DynamicSliceOp, GatherOp)
"""Ops that read as much as they write."""

WHOLE = "work"


@dataclass(frozen=True)
class Work:
    """Instructions executed, operations on numbers, bytes of operands and results."""

    instructions: Amount = field(default_factory=Amount)
    flops: Amount = field(default_factory=Amount)
    bytes: Amount = field(default_factory=Amount)

    def joined(self, other: Work, join: Join) -> Work:
        """All three joined in the same way."""
        return Work(
            join(self.instructions, other.instructions), join(self.flops, other.flops), join(self.bytes, other.bytes)
        )

    def times(self, count: int | str) -> Work:
        """Repeated: see `Amount.times`."""
        return Work(self.instructions.times(count), self.flops.times(count), self.bytes.times(count))


class WorkCost(RunCost[Work]):
    """The work of computations, as the only part."""

    def iteration(self, loop: WhileOp) -> Work:
        """Of one iteration."""
        return self.of_iteration(loop).get(WHOLE, Work())

    def loop(self, loop: WhileOp) -> Work:
        """Of all iterations."""
        return self.of_loop(loop).get(WHOLE, Work())

    def of_instruction(self, op: Operation) -> dict[str, Work]:
        if isinstance(op, FREE):
            return {}
        return {WHOLE: Work(Amount.of(1), self._flops(op), Amount.of(_bytes(op)))}

    def entered(self, op: Operation) -> list[Block]:
        return super().entered(op) if isinstance(op, FREE) else []

    def _flops(self, op: Operation) -> Amount:
        if isinstance(op, FusionOp):
            return self._inside(op.calls)
        if isinstance(op, SelectAndScatterOp):
            picked, placed = elements(op.source), self._inside(op.scatter)
            return self._inside(op.select).times(picked * _window(op)) + placed.times(picked)
        for kind, count in REPEATED.items():
            if isinstance(op, kind):
                return self._inside(op.regions[0]).times(count(op))
        return Amount.of(_flops(op))

    def _inside(self, region: Region) -> Amount:
        return self.of(region.block).get(WHOLE, Work()).flops


def _flops(op: Operation) -> int:
    if isinstance(op, ELEMENTWISE) and not isinstance(op, MOVING):
        return elements(op.results[0])
    if isinstance(op, DotLikeOp):
        lhs = shape_of(op.operands[0].type)
        return 2 * elements(op.results[0]) * prod(lhs[dimension] for dimension in op.dims.lhs_contracting)
    if isinstance(op, ConvolutionOp):
        features = shape_of(op.rhs.type)[op.dim_labels.dimensions.kernel_output_feature]
        return 2 * elements(op.results[0]) * elements(op.rhs) // max(features, 1)
    return 0


def _reduced(op: ReduceOp) -> int:
    """Elements of one input that are folded into another."""
    return max(elements(op.args[0]) - _first(op), 0)


def _first(op: Operation) -> int:
    """Elements of the result, or of the first of several."""
    type = op.results[0].type
    return _count(type if is_tensor(type) else elements_of(type)[0])


def _sorted(op: SortOp) -> int:
    """Comparisons of a sort: n log n along each line."""
    (dimension,), shape = int_list(op.dimensions), shape_of(op.inputs[0].type)
    return elements(op.inputs[0]) * max(ceil(log2(max(shape[dimension], 1))), 1)


def _window(op: ReduceWindowOp | SelectAndScatterOp) -> int:
    return prod(dimension.size for dimension in op.window.dimensions) if op.window is not None else 1


REPEATED: dict[type[Operation], Callable[[Any], int]] = {
    ReduceOp: _reduced,
    ReduceWindowOp: lambda op: _first(op) * max(_window(op) - 1, 0),
    MapOp: lambda op: elements(op.results[0]),
    ScatterOp: lambda op: elements(op.args[-1]),
    SortOp: _sorted,
    ScanOp: lambda op: shape_of(op.args[0].type)[int_list(op.dimensions)[0]],
}
"""How often an instruction applies the computation that it has."""


def _bytes(op: Operation) -> int:
    result = sum(bytes_of(value.type) for value in op.results)
    if isinstance(op, TAKING):
        return 2 * result
    if isinstance(op, DynamicUpdateSliceOp):
        return 2 * bytes_of(op.operands[1].type)
    return result + sum(bytes_of(value.type) for value in op.operands)


def elements(value: SSAValue) -> int:
    """Elements of an array; 0 of a dynamic one and of everything else."""
    return _count(value.type)


def _count(type: Attribute) -> int:
    return prod(shape) if is_tensor(type) and DYNAMIC not in (shape := shape_of(type)) else 0
