"""Ops that compute nothing: their result is made of their operands. Engines resolve them before running.

Values are immutable and asynchronous work is done at its start, so copies, barriers, markers, and the done halves
of pairs pass values through. (Forms: xla-semantics.md d.6; markers: neuron-hlo-passes.md §5.)
"""

from __future__ import annotations

import re
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

_MARKER = re.compile(r"NeuronBoundaryMarker-(Start|End)|AwsNeuronModuleMarker(Start|End)-(Forward|Backward)")
_ITSELF = Operand(0)
_IDENTITIES = (CopyOp, OptBarrierOp, DomainOp, AddDependencyOp, AsyncUpdateOp, AllReduceDoneOp)
_PARTS: dict[type[Operation], int] = {CopyDoneOp: 0, AsyncDoneOp: 1, AllGatherDoneOp: 1, CollectivePermuteDoneOp: 1}


def forwarded(op: Operation) -> Forward | None:
    """What the op's result is made of, None for an op that computes. Raises EvaluationError for an elided constant."""
    if isinstance(op, GetTupleElementOp):
        return Operand(0, int_of(op.index))
    if isinstance(op, TupleOp):
        return _operands(op)
    if isinstance(op, ConstantOp):
        return Constant(literal_value(op.value))
    if isinstance(op, _IDENTITIES):
        return _ITSELF
    return _forwarded_pair(op)


def _forwarded_pair(op: Operation) -> Forward | None:
    if (part := _PARTS.get(type(op))) is not None:
        return Operand(0, part)
    if isinstance(op, CopyStartOp):
        return [_ITSELF, _ITSELF, Constant(np.uint32(0))]
    if isinstance(op, AfterAllOp):
        return Constant(None)
    if isinstance(op, CustomCallOp) and _MARKER.fullmatch(op.custom_call_target.data):
        return _ITSELF if len(op.operands) == 1 else _operands(op)
    return None


def _operands(op: Operation) -> Forward:
    return [Operand(index) for index in range(len(op.operands))]


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
