"""Rules for what only packs, unpacks and renames, for constants, and for computations that run in place."""

from __future__ import annotations

from xneuron.analysis.boundary_markers import is_identity, target_of
from xneuron.dialects.bir.enums import DType
from xneuron.dialects.hlo.attributes import int_list, int_of
from xneuron.dialects.hlo.control_flow import (
    AddDependencyOp,
    AfterAllOp,
    DomainOp,
    FusionOp,
    GetTupleElementOp,
    OptBarrierOp,
    TupleOp,
)
from xneuron.dialects.hlo.custom import CustomCallOp
from xneuron.dialects.hlo.data_movement import ConstantOp, CopyOp, GetDimensionSizeOp, ReshapeOp
from xneuron.dialects.hlo.literal import LiteralAttr, TupleLiteralAttr
from xneuron.dialects.hlo.types import element_count, shape_of

from .computations import Lowering
from .empty import is_nothing
from .layout import dtype_of
from .rules import lowers
from .values import Splat, Tree


@lowers(TupleOp)
def pack(low: Lowering, op: TupleOp) -> Tree:
    """The elements; no copies."""
    return tuple(low.value(value) for value in op.elements)


@lowers(GetTupleElementOp)
def unpack(low: Lowering, op: GetTupleElementOp) -> Tree:
    """The element; no copy."""
    elements = low.value(op.operand)
    assert isinstance(elements, tuple)
    return elements[int_of(op.index)]


@lowers(CopyOp, ReshapeOp, OptBarrierOp, DomainOp, AddDependencyOp)
def rename(low: Lowering, op: CopyOp) -> Tree:
    """The operand: its elements are in row-major order, whatever its shape or layout."""
    return low.value(op.operands[0])


@lowers(GetDimensionSizeOp)
def extent(low: Lowering, op: GetDimensionSizeOp) -> Tree:
    """A number: shapes are static."""
    (dimension,) = int_list(op.dimensions)
    return Splat(shape_of(op.operand.type)[dimension], DType.int32, 1)


@lowers(AfterAllOp)
def token(low: Lowering, op: AfterAllOp) -> Tree:
    """Nothing: instructions run in program order."""
    return None


@lowers(CustomCallOp, check=lambda op: None if is_identity(op) else f"nobody knows what '{target_of(op)}' does")
def marker(low: Lowering, op: CustomCallOp) -> Tree:
    """A boundary marker is its operand."""
    return low.value(op.operands[0])


def _unreadable(op: ConstantOp) -> str | None:
    values = op.value.elements.data if isinstance(op.value, TupleLiteralAttr) else (op.value,)
    return None if all(isinstance(value, LiteralAttr) for value in values) else "its value is not in the text"


@lowers(ConstantOp, check=_unreadable)
def constant(low: Lowering, op: ConstantOp) -> Tree:
    """A number that instructions can have in them, or a location that holds the literal."""
    if isinstance(op.value, TupleLiteralAttr):
        return tuple(_literal(low, value) for value in op.value.elements.data if isinstance(value, LiteralAttr))
    assert isinstance(op.value, LiteralAttr)
    return _literal(low, op.value)


def _literal(low: Lowering, literal: LiteralAttr) -> Tree:
    dtype = dtype_of(literal.type)
    assert dtype is not None
    if is_nothing(literal.type):
        return None
    if not literal.is_splat:
        return low.constant(literal)
    value = literal.scalar
    assert isinstance(value, int | float)
    return Splat(int(value) if dtype.is_integer else float(value), dtype, element_count(literal.type))


@lowers(FusionOp)
def fusion(low: Lowering, op: FusionOp) -> Tree:
    """The fused instructions, one by one."""
    return low.inline(op.calls.block, op)
