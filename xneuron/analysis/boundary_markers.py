"""Boundary markers: custom calls that say where a layer begins and ends. The one module that knows their schema.

A marker has one operand, a result of the operand's type, and the meaning of an identity: every question about
a value may be asked of the value behind the marker (`behind_markers`). Schema: neuron-hlo-passes.md §5.
"""

from __future__ import annotations

import re

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from xneuron.dialects.hlo.attributes import text_of
from xneuron.dialects.hlo.custom import CustomCallOp
from xneuron.dialects.hlo.marker_targets import ENDS, LOOP_END, LOOP_MARKERS, LOOP_START, MARKERS, STARTS
from xneuron.dialects.hlo.types import tuple_of

__all__ = ["ENDS", "LOOP_END", "LOOP_MARKERS", "LOOP_START", "MARKERS", "STARTS"]

_COUNT = re.compile(r"boundaryCount=([0-9]+)")


def target_of(op: Operation) -> str:
    """The target of a custom call, empty for any other op."""
    return op.custom_call_target.data if isinstance(op, CustomCallOp) else ""


def is_marker(op: Operation) -> bool:
    """True for a custom call with any of the six targets."""
    return target_of(op) in MARKERS


def is_start(op: Operation) -> bool:
    """True for a marker that opens a span."""
    return target_of(op) in STARTS


def is_end(op: Operation) -> bool:
    """True for a marker that closes a span."""
    return target_of(op) in ENDS


def is_loop_marker(op: Operation) -> bool:
    """True for a marker that the unroller emits."""
    return target_of(op) in LOOP_MARKERS


def is_identity(op: Operation) -> bool:
    """True for a marker whose result is its operand. Not so a marker of several values: that one packs them."""
    return is_marker(op) and len(op.operands) == 1 and marked_type(op) == op.results[0].type


def marked_type(marker: Operation) -> Attribute:
    """The type a marker must have to be an identity: that of its operand, or of several operands as a tuple."""
    types = tuple([value.type for value in marker.operands])
    return types[0] if len(types) == 1 else tuple_of(types)


def behind_markers(value: SSAValue) -> SSAValue:
    """The value that the markers on top of `value` pass through; `value` itself where there are none."""
    while isinstance(value, OpResult) and is_identity(value.op):
        value = value.op.operands[0]
    return value


def boundary_count(marker: Operation) -> int | None:
    """N of `backend_config="boundaryCount=N"`, what pairs a start with its end; None where there is none."""
    found = _COUNT.fullmatch(text_of(marker.attributes.get("backend_config")))
    return int(found[1]) if found else None


def boundary_config(count: int) -> StringAttr:
    """The backend_config of the pair number `count`."""
    return StringAttr(f"boundaryCount={count}")
