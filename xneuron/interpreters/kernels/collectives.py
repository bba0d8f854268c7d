"""Exchanges of `dialects/hlo/collectives.py`: what a group computes together, given the operands of each member.

Members come in the order of their group; for a permute they are all that its ids may name, by id. Semantics: the
operation semantics of XLA's documentation; those of a ragged all-to-all: `jax.lax.ragged_all_to_all`; those of a
dynamic root: XLA's collective_broadcast_thunk.cc.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import Operation

from xneuron.dialects.hlo import collectives as hlo
from xneuron.dialects.hlo.attributes import int_list, pair_list
from xneuron.dialects.hlo.base import opcode_of
from xneuron.dialects.hlo.channels import PermuteOp, ReducingOp
from xneuron.execution.errors import EvaluationError, instruction
from xneuron.interpreters.kernels.reducers import Fold, fold_of
from xneuron.interpreters.kernels.registry import Context, collective
from xneuron.interpreters.values import as_value

Members: TypeAlias = Sequence[Sequence[Any]]
Exchange: TypeAlias = Callable[[Members], Sequence[Any]]


def _packed(values: Sequence[Any]) -> Any:
    """One value as it is, several as a tuple."""
    return values[0] if len(values) == 1 else tuple(values)


def _cut(op: Operation, array: Any, parts: int, axis: int) -> list[Any]:
    if array.shape[axis] % parts:
        raise EvaluationError(
            f"{opcode_of(op.name)} {instruction(op)}: expected extent {axis} to be a multiple of the group's {parts}, "
            f"found {array.shape[axis]}",
            op,
        )
    return np.split(array, parts, axis)


@collective(hlo.AllGatherOp, fresh=True)
@collective(hlo.AllGatherStartOp)
def all_gather(op: hlo.AllGatherLike, context: Context) -> Exchange:
    """Each operand of all members, after each other along one dimension."""
    (axis,) = int_list(op.dimensions)

    def exchange(members: Members) -> Sequence[Any]:
        gathered = _packed([np.concatenate(parts, axis) for parts in zip(*members, strict=True)])
        return [gathered] * len(members)

    return exchange


def _folded(fold: Fold, parts: Sequence[Any]) -> Any:
    folded = reduce(lambda a, b: fold(a, b)[0], parts)
    return as_value(_copied(folded) if len(parts) == 1 or fold.ufunc is None else folded)


def _copied(value: Any) -> Any:
    """The same in other memory; a scalar has none that anybody could write to."""
    return value.copy() if value.ndim else value


@collective(hlo.AllReduceOp, hlo.AllReduceStartOp, fresh=True)
def all_reduce(op: ReducingOp, context: Context) -> Exchange:
    """Each operand of all members, folded in the order of the group."""
    fold = fold_of(op.to_apply, context)

    def exchange(members: Members) -> Sequence[Any]:
        reduced = _packed([_folded(fold, parts) for parts in zip(*members, strict=True)])
        return [reduced] * len(members)

    return exchange


@collective(hlo.ReduceScatterOp, fresh=True)
def reduce_scatter(op: hlo.ReduceScatterOp, context: Context) -> Exchange:
    """The all-reduce, cut along one dimension: member i gets part i."""
    fold = fold_of(op.to_apply, context)
    (axis,) = int_list(op.dimensions)

    def exchange(members: Members) -> Sequence[Any]:
        reduced = [_folded(fold, parts) for parts in zip(*members, strict=True)]
        cut = [_cut(op, array, len(members), axis) for array in reduced]
        return [_packed(parts) for parts in zip(*cut, strict=True)]

    return exchange


@collective(hlo.AllToAllOp, fresh=True)
def all_to_all(op: hlo.AllToAllOp, context: Context) -> Exchange:
    """Member i gets part i of everyone: cut along a dimension and put together again, or operand i of everyone."""
    if op.dimensions is None:
        return lambda members: [tuple(map(_copied, column)) for column in zip(*_square(op, members), strict=True)]
    (axis,) = int_list(op.dimensions)

    def exchange(members: Members) -> Sequence[Any]:
        cut = [_cut(op, array, len(members), axis) for (array,) in members]
        return [np.concatenate(parts, axis) for parts in zip(*cut, strict=True)]

    return exchange


def _square(op: hlo.AllToAllOp, members: Members) -> Members:
    if len(members[0]) != len(members):
        message = f"expected {len(members)} operands, one for each of the group, found {len(members[0])}"
        raise EvaluationError(f"all-to-all {instruction(op)}: {message}", op)
    return members


@collective(hlo.RaggedAllToAllOp)
def ragged_all_to_all(op: hlo.RaggedAllToAllOp, context: Context) -> Exchange:
    """Each member's output with the rows that others sent to it written over.

    The offsets and sizes of a member are n per receiver; an output offset is one in the receiver's output.
    """

    def exchange(members: Members) -> Sequence[Any]:
        outputs = [np.array(output) for _, output, *_ in members]
        tables = [[_per_peer(op, table, len(members)) for table in rest] for _, _, *rest in members]
        for source, (starts, sizes, places, _) in enumerate(tables):
            input = members[source][0]
            for target in range(len(members)):
                expected = tables[target][3][source]
                _expect_sizes(op, sizes[target], expected)
                for start, size, place in zip(starts[target], sizes[target], places[target], strict=True):
                    _expect_inside(op, start, size, input)
                    _expect_inside(op, place, size, outputs[target])
                    outputs[target][place : place + size] = input[start : start + size]
        return outputs

    return exchange


def _per_peer(op: Operation, table: Any, peers: int) -> list[list[int]]:
    if table.size % peers:
        raise EvaluationError(
            f"ragged-all-to-all {instruction(op)}: expected a multiple of {peers} offsets, found {table.size}", op
        )
    return table.reshape(peers, -1).tolist()


def _expect_sizes(op: Operation, sent: list[int], expected: list[int]) -> None:
    if sent != expected:
        message = f"expected recv sizes {sent}, as sent, found {expected}"
        raise EvaluationError(f"ragged-all-to-all {instruction(op)}: {message}", op)


def _expect_inside(op: Operation, start: int, size: int, array: Any) -> None:
    if start < 0 or size < 0 or start + size > len(array):
        message = f"expected rows in [0, {len(array)}), found [{start}, {start + size})"
        raise EvaluationError(f"ragged-all-to-all {instruction(op)}: {message}", op)


@collective(hlo.CollectiveBroadcastOp)
def collective_broadcast(op: hlo.CollectiveBroadcastOp, context: Context) -> Exchange:
    """Everyone gets what the first member has, or with dynamic roots what member `roots[i]` has of operand i."""
    if op.has_dynamic_root is None:
        return lambda members: [_packed(members[0])] * len(members)

    def exchange(members: Members) -> Sequence[Any]:
        tables = [np.reshape(roots, -1).astype(int).tolist() for *_, roots in members]
        if any(table != tables[0] for table in tables):
            message = f"expected the same roots everywhere, found {tables}"
            raise EvaluationError(f"collective-broadcast {instruction(op)}: {message}", op)
        if len(tables[0]) != len(op.inputs) - 1 or not all(0 <= root < len(members) for root in tables[0]):
            message = f"expected a root in [0, {len(members)}) for each operand, found {tables[0]}"
            raise EvaluationError(f"collective-broadcast {instruction(op)}: {message}", op)
        return [_packed([members[root][at] for at, root in enumerate(tables[0])])] * len(members)

    return exchange


@collective(hlo.CollectivePermuteOp, hlo.CollectivePermuteStartOp)
def collective_permute(op: PermuteOp, context: Context) -> Exchange:
    """Targets get what their source has, everybody else zeros."""
    if op.slice_sizes is not None:
        raise EvaluationError(f"{op.opcode} with slice_sizes has no meaning here", op)
    pairs = pair_list(op.source_target_pairs)
    for what, ids in (("source", [pair[0] for pair in pairs]), ("target", [pair[1] for pair in pairs])):
        if doubled := sorted({id for id in ids if ids.count(id) > 1}):
            raise EvaluationError(f"{op.opcode} {instruction(op)}: {what} {doubled[0]} is in more than one pair", op)
    source_of = {target: source for source, target in pairs}

    def exchange(members: Members) -> Sequence[Any]:
        if missing := sorted({id for pair in pairs for id in pair if id >= len(members)}):
            message = f"names participants {missing}, but {len(members)} can take part"
            raise EvaluationError(f"{op.opcode} {instruction(op)} {message}", op)
        nothing = _packed([as_value(np.zeros_like(value)) for value in members[0]])
        return [
            _packed(members[source_of[target]]) if target in source_of else nothing for target in range(len(members))
        ]

    return exchange
