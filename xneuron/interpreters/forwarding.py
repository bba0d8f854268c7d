"""Ops that compute nothing: their result is made of their operands. Engines resolve them before running.

Values are immutable and asynchronous work is done at its start, so copies, barriers, markers, and the done halves
of pairs pass values through. (Forms: xla-semantics.md d.6; markers: neuron-hlo-passes.md §5.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from xdsl.ir import Operation

from xneuron.dialects.hlo.attributes import int_of
from xneuron.dialects.hlo.collectives import AllGatherDoneOp, AllReduceDoneOp, CollectivePermuteDoneOp
from xneuron.dialects.hlo.control_flow import (
    AddDependencyOp,
    AfterAllOp,
    AsyncDoneOp,
    AsyncUpdateOp,
    DomainOp,
    GetTupleElementOp,
    OptBarrierOp,
    TupleOp,
)
from xneuron.dialects.hlo.custom import CustomCallOp
from xneuron.dialects.hlo.data_movement import ConstantOp, CopyDoneOp, CopyOp, CopyStartOp
from xneuron.dialects.hlo.marker_targets import MARKERS
from xneuron.interpreters.values import literal_value


class Operand(NamedTuple):
    """Operand number `at`, or element `part` of it."""

    at: int
    part: int | None = None


class Constant(NamedTuple):
    """A value known beforehand."""

    value: Any


Forward: TypeAlias = "Operand | Constant | list[Forward]"
"""What a result is made of; a list is a tuple."""

_ITSELF = Operand(0)


def forwarded(op: Operation) -> Forward | None:
    """What the op's result is made of, None for an op that computes. Raises EvaluationError for an elided constant."""
    forward = _FORWARDS.get(type(op))
    return None if forward is None else forward(op)


def _itself(op: Operation) -> Forward:
    return _ITSELF


def _part(part: int) -> Callable[[Operation], Forward]:
    return lambda op: Operand(0, part)


def _operands(op: Operation) -> Forward:
    return [Operand(index) for index in range(len(op.operands))]


def _marker(op: CustomCallOp) -> Forward | None:
    if op.custom_call_target.data not in MARKERS:
        return None
    return _ITSELF if len(op.operands) == 1 else _operands(op)


_FORWARDS: dict[type[Operation], Callable[[Any], Forward | None]] = {
    GetTupleElementOp: lambda op: Operand(0, int_of(op.index)),
    TupleOp: _operands,
    ConstantOp: lambda op: Constant(literal_value(op.value)),
    CopyOp: _itself,
    OptBarrierOp: _itself,
    DomainOp: _itself,
    AddDependencyOp: _itself,
    AsyncUpdateOp: _itself,
    AllReduceDoneOp: _itself,
    CopyDoneOp: _part(0),
    AsyncDoneOp: _part(1),
    AllGatherDoneOp: _part(1),
    CollectivePermuteDoneOp: _part(1),
    CopyStartOp: lambda op: [_ITSELF, _ITSELF, Constant(np.uint32(0))],
    AfterAllOp: lambda op: Constant(None),
    CustomCallOp: _marker,
}


def resolve(
    forward: Forward,
    operands: Sequence[Any],
    element: Callable[[Any, int], Any],
    constant: Callable[[Any], Any],
) -> Any:
    """The result in terms of whatever stands for the operands; tuples become Python tuples.

    `element(operand, part)` stands for an element of a tuple, `constant(value)` for a value.
    """
    if isinstance(forward, Operand):
        operand = operands[forward.at]
        return operand if forward.part is None else element(operand, forward.part)
    if isinstance(forward, Constant):
        return constant(forward.value)
    return tuple(resolve(inner, operands, element, constant) for inner in forward)
