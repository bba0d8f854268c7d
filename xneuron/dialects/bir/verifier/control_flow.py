"""Loops, regions and functions.

The eight checks of a dynamic loop come first and in the reference's order: kind before number of terms,
lower bound, stride, upper bound. They are what the simulator relies on; the rules after them are ours.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, Region, SSAValue

from ..axes import enclosing_axes
from ..expressions import Affine, Expr, RuntimeValue
from ..storage import MemoryLocationOp
from .diagnostics import BirError
from .values import check_32_bits, check_leaf

if TYPE_CHECKING:
    from ..axes import Axis
    from ..functions import FuncOp
    from ..loops import AxisLoop, DoWhileOp, DynamicForLoopOp, LoopOp


def verify_dynamic_for_loop(op: DynamicForLoopOp) -> None:
    """Raises BirError if the bounds are not `const`, `const + coeff * register`, `const`."""
    check_body(op)
    axis = op.axis
    lb = _constant(axis.lb, "lower bound", "182", "183")
    stride = _constant(axis.stride, "stride", "187", "188")
    register, coeff, c = _runtime_bound(axis.ub)
    check_leaf(op, RuntimeValue(register))
    _check_numbers(axis.name, {"lower bound": lb, "stride": stride, "coefficient": coeff, "constant": c})
    _check_stride(axis.name, stride)
    if axis.max_tripcount is not None and axis.max_tripcount < 0:
        raise BirError("max-tripcount", f"expected max_tripcount of at least 0 but got {axis.max_tripcount}")
    _check_axis_name(op, axis)


def _constant(bound: Expr, what: str, kind_code: str, terms_code: str) -> int:
    if not isinstance(bound, Affine):
        raise BirError(kind_code, f"expected the {what} to be an affine expression but got {bound.kind.name}")
    if bound.terms:
        raise BirError(terms_code, f"expected a constant {what} but got {_terms(len(bound.terms))}")
    return bound.c


def _runtime_bound(ub: Expr) -> tuple[SSAValue, int, int]:
    if not isinstance(ub, Affine):
        raise BirError("184", f"expected the upper bound to be an affine expression but got {ub.kind.name}")
    if len(ub.terms) != 1:
        raise BirError("185", f"expected exactly one term in the upper bound but got {_terms(len(ub.terms))}")
    ((idx, coeff),) = ub.terms
    if not isinstance(idx, RuntimeValue):
        raise BirError("186", f"expected a register in the upper bound but got {idx.kind.name}")
    if not isinstance(idx.value, SSAValue):
        raise BirError("195", "expected the register of the upper bound to exist but got none")
    return idx.value, coeff, ub.c


def _terms(count: int) -> str:
    return f"{count} term" if count == 1 else f"{count} terms"


def _check_numbers(axis: str, numbers: dict[str, int]) -> None:
    for what, value in numbers.items():
        check_32_bits(f"the {what} of axis {axis!r}", value)


def _check_stride(axis: str, stride: int) -> None:
    if stride <= 0:
        raise BirError("stride", f"expected a positive stride for axis {axis!r} but got {stride}")


def _check_axis_name(op: Operation, axis: Axis) -> None:
    names = [outer.name for outer in enclosing_axes(op)[1:]]
    if axis.name in names:
        raise BirError("axis-name", f"axis {axis.name!r} hides an axis of the same name around it")


def verify_loop(op: LoopOp) -> None:
    """Raises BirError on a stride that is not positive, a bound beyond 32 bits, or a malformed body."""
    check_body(op)
    axis = op.axis
    _check_numbers(axis.name, {"lower bound": axis.lb, "upper bound": axis.ub, "stride": axis.stride})
    if not op.runs_once:
        _check_stride(axis.name, axis.stride)
    _check_axis_name(op, axis)


def verify_do_while(op: DoWhileOp) -> None:
    """Raises BirError unless the condition is a register."""
    check_blocks(op.body)
    cond = op.condition
    if not isinstance(cond, RuntimeValue):
        raise BirError("119", f"expected a register as the condition but got {cond.kind.name}")
    check_leaf(op, cond)


def check_body(op: AxisLoop) -> None:
    """The first block takes the induction variable, the others nothing."""
    first = op.body.blocks.first
    if first is None or len(first.args) != 1 or not isinstance(first.args[0].type, IndexType):
        raise BirError("block-argument", f"expected {op.name} to have one body argument of type index")
    check_blocks(op.body, first_has_argument=True)


def check_blocks(region: Region, first_has_argument: bool = False) -> None:
    """No other arguments, and no way back to the first block."""
    first = region.blocks.first
    for block in region.blocks:
        if block.args and not (block is first and first_has_argument):
            raise BirError("block-argument", f"expected a block without arguments but got {len(block.args)}")
        if block.last_op and first in block.last_op.successors:
            raise BirError("branch-to-entry", "a branch goes to the first block of its region")


def verify_placement(op: Operation) -> None:
    """Raises BirError for a break or continue that is not in the block list of a loop."""
    from ..loops import StructuredLoop

    if not isinstance(op.parent_op(), StructuredLoop):
        raise BirError("placement", f"expected {op.name} inside a loop")


def verify_function(op: FuncOp) -> None:
    """Raises BirError on storage with equal names, or locations of one set that disagree."""
    check_blocks(op.body)
    storage = [*op.registers, *op.memory_locations]
    for name, count in Counter(item.label for item in storage).items():
        if count > 1:
            raise BirError("name", f"{count} registers or memory locations are called {name!r}")
    sets: dict[str, MemoryLocationOp] = {}
    for location in op.memory_locations:
        _check_same_set(sets.setdefault(location.set_name, location), location)


def _check_same_set(first: MemoryLocationOp, other: MemoryLocationOp) -> None:
    for key in MemoryLocationOp.SET_KEYS:
        if (expected := first.key(key)) != (found := other.key(key)):
            names = f"{first.label!r} and {other.label!r} of set {first.set_name!r}"
            raise BirError("set", f"{names} differ in {key}: {expected} and {found}")
