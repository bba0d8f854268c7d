"""Exchanges of `dialects/hlo/collectives.py`: what a group computes together, given the operands of each member.

Members come in the order of their group; for a permute they are all participants, by id. Semantics: the operation
semantics of XLA's documentation; a permute's pairs are ids.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, TypeAlias

import numpy as np

from xneuron.dialects.hlo import collectives as hlo
from xneuron.dialects.hlo.attributes import int_list, pair_list
from xneuron.dialects.hlo.channels import PermuteOp, ReducingOp
from xneuron.execution.errors import EvaluationError
from xneuron.interpreters.kernels.reducers import Fold, fold_of
from xneuron.interpreters.kernels.registry import Context, collective
from xneuron.interpreters.values import as_value

Members: TypeAlias = Sequence[Sequence[Any]]
Exchange: TypeAlias = Callable[[Members], Sequence[Any]]


def _packed(values: Sequence[Any]) -> Any:
    """One value as it is, several as a tuple."""
    return values[0] if len(values) == 1 else tuple(values)


@collective(hlo.AllGatherOp, hlo.AllGatherStartOp)
def all_gather(op: hlo.AllGatherLike, context: Context) -> Exchange:
    """Each operand of all members, after each other along one dimension."""
    (axis,) = int_list(op.dimensions)

    def exchange(members: Members) -> Sequence[Any]:
        gathered = _packed([np.concatenate(parts, axis) for parts in zip(*members, strict=True)])
        return [gathered] * len(members)

    return exchange


def _folded(fold: Fold, parts: Sequence[Any]) -> Any:
    return as_value(reduce(lambda a, b: fold(a, b)[0], parts))


@collective(hlo.AllReduceOp, hlo.AllReduceStartOp)
def all_reduce(op: ReducingOp, context: Context) -> Exchange:
    """Each operand of all members, folded in the order of the group."""
    fold = fold_of(op.to_apply, context)

    def exchange(members: Members) -> Sequence[Any]:
        reduced = _packed([_folded(fold, parts) for parts in zip(*members, strict=True)])
        return [reduced] * len(members)

    return exchange


@collective(hlo.ReduceScatterOp)
def reduce_scatter(op: hlo.ReduceScatterOp, context: Context) -> Exchange:
    """The all-reduce, cut along one dimension: member i gets part i."""
    fold = fold_of(op.to_apply, context)
    (axis,) = int_list(op.dimensions)

    def exchange(members: Members) -> Sequence[Any]:
        reduced = [_folded(fold, parts) for parts in zip(*members, strict=True)]
        cut = [np.split(array, len(members), axis) for array in reduced]
        return [_packed(parts) for parts in zip(*cut, strict=True)]

    return exchange


@collective(hlo.AllToAllOp)
def all_to_all(op: hlo.AllToAllOp, context: Context) -> Exchange:
    """Member i gets part i of everyone: cut along a dimension and put together again, or operand i of everyone."""
    if op.dimensions is None:
        return lambda members: [tuple(column) for column in zip(*members, strict=True)]
    (axis,) = int_list(op.dimensions)

    def exchange(members: Members) -> Sequence[Any]:
        cut = [np.split(array, len(members), axis) for (array,) in members]
        return [np.concatenate(parts, axis) for parts in zip(*cut, strict=True)]

    return exchange


@collective(hlo.CollectiveBroadcastOp)
def collective_broadcast(op: hlo.CollectiveBroadcastOp, context: Context) -> Exchange:
    """Everyone gets what the first member has."""
    if op.has_dynamic_root is not None:
        raise EvaluationError("collective-broadcast with a dynamic root has no meaning here", op)
    return lambda members: [_packed(members[0])] * len(members)


@collective(hlo.CollectivePermuteOp, hlo.CollectivePermuteStartOp)
def collective_permute(op: PermuteOp, context: Context) -> Exchange:
    """Targets get what their source has, everybody else zeros."""
    if op.slice_sizes is not None:
        raise EvaluationError(f"{op.opcode} with slice_sizes has no meaning here", op)
    source_of = {target: source for source, target in pair_list(op.source_target_pairs)}

    def exchange(members: Members) -> Sequence[Any]:
        nothing = _packed([as_value(np.zeros_like(value)) for value in members[0]])
        return [
            _packed(members[source_of[target]]) if target in source_of else nothing for target in range(len(members))
        ]

    return exchange
