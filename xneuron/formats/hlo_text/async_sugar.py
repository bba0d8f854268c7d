"""`abs-start`, `abs-update`, `abs-done`: short for async ops around a computation of one instruction (d.7)."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from xdsl.ir import Operation, SSAValue

from xneuron.dialects.hlo.attributes import text_of
from xneuron.dialects.hlo.control_flow import AsyncDoneOp, AsyncStartOp, AsyncUpdateOp
from xneuron.formats.hlo_text.opcodes import THREAD, Row, rows, spelled_opcode

_SUFFIXES = ("-start", "-update", "-done")
_OTHER_FORMS = frozenset(
    "all-gather all-reduce collective-permute copy send recv parameter constant async async-start async-done".split()
)
"""Opcodes whose asynchronous form is an opcode of its own, or that have none."""


def split_opcode(opcode: str) -> tuple[Row, str] | None:
    """The row of X and the suffix, for `X-start` and its like."""
    for suffix in _SUFFIXES:
        base = opcode.removesuffix(suffix)
        if base != opcode and base in rows() and base not in _OTHER_FORMS:
            return started(base), suffix
    return None


@cache
def started(opcode: str) -> Row:
    """The row of `X-start`: that of X, and the thread."""
    row = rows()[opcode]
    return replace(
        row,
        specs=(THREAD, *row.specs),
        named={THREAD.text: THREAD, **row.named},
        allowed=row.allowed | {THREAD.text},
    )


def start_of(value: SSAValue) -> AsyncStartOp | None:
    """The op that started what an async update or done goes on with, if it is in sight."""
    owner = value.owner
    while isinstance(owner, AsyncUpdateOp):
        owner = owner.operand.owner
    return owner if isinstance(owner, AsyncStartOp) else None


def wrapped(op: Operation) -> Operation | None:
    """The one instruction inside a start, None if there is more to it than the short form says."""
    if not isinstance(op, AsyncStartOp):
        return None
    block = op.calls.block
    inner = block.first_op
    if inner is None or inner.next_op is not block.last_op or len(inner.results) != 1 or inner.attributes:
        return None
    in_order = tuple(inner.operands) == block.args
    opcode = spelled_opcode(inner)
    fits = in_order and [arg.type for arg in block.args] == [operand.type for operand in op.inputs]
    return inner if fits and opcode in rows() and opcode not in _OTHER_FORMS else None


def thread_of(op: AsyncStartOp) -> str:
    """The execution thread that a start names."""
    return text_of(op.async_execution_thread)


def base_opcode(op: Operation) -> str:
    """`abs` for an update or done of a start that is written as `abs-start`; else `async`."""
    if isinstance(op, AsyncUpdateOp | AsyncDoneOp) and (start := start_of(op.operand)):
        inner = wrapped(start)
    else:
        inner = wrapped(op)
    return "async" if inner is None else spelled_opcode(inner)
