"""Computations on scalars as computations on arrays, element by element: what reduces, scatters and maps."""

from __future__ import annotations

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xneuron.dialects.hlo.base import body_of
from xneuron.dialects.hlo.control_flow import GetTupleElementOp, ReturnOp, TupleOp
from xneuron.dialects.hlo.data_movement import BitcastOp, ConstantOp
from xneuron.dialects.hlo.elementwise import OPS, MapOp
from xneuron.dialects.hlo.literal import LiteralAttr
from xneuron.dialects.hlo.types import Tensor, element_count, is_tensor, shape_of, tensor, tuple_of
from xneuron.remarks import name_of

from .aliases import only_renames
from .computations import Lowering
from .rules import lowers, problem
from .values import Tree, leaf_paths, type_at

_ELEMENTWISE = (*OPS, BitcastOp)


def not_elementwise(computation: Region) -> str | None:
    """What in a computation on scalars cannot be done to arrays as well, None if all can."""
    for op in body_of(computation).ops:
        if not (_is_liftable(op) and all(map(_is_scalar, op.results))):
            return f"its computation has '{name_of(op)}', which is not elementwise"
        if reason := problem(op):
            return f"its computation has '{name_of(op)}': {reason}"
    return None


def _is_liftable(op: Operation) -> bool:
    if isinstance(op, ConstantOp):
        return isinstance(op.value, LiteralAttr)
    is_elementwise = isinstance(op, _ELEMENTWISE) and not op.regions
    return is_elementwise or only_renames(op) or isinstance(op, TupleOp | GetTupleElementOp | ReturnOp)


def _is_scalar(value: SSAValue) -> bool:
    types = [type_at(value.type, path) for path in leaf_paths(value.type)]
    return all(is_tensor(type) and not shape_of(type) for type in types)


def lifted(low: Lowering, computation: Region, count: int) -> Block:
    """The computation with `count` elements in the place of each scalar."""
    body = body_of(computation)
    block = Block(arg_types=[_widened(argument.type, count) for argument in body.args])
    values: dict[SSAValue, SSAValue] = dict(zip(body.args, block.args, strict=True))
    for op in body.ops:
        operands = [values[operand] for operand in op.operands]
        if only_renames(op):
            values[op.results[0]] = operands[0]
            continue
        block.add_op(copy := _copy(op, operands, count))
        values.update(zip(op.results, copy.results, strict=True))
    low.demand.include(block)
    return block


def _copy(op: Operation, operands: list[SSAValue], count: int) -> Operation:
    properties = dict(op.properties)
    if isinstance(op, ConstantOp):
        assert isinstance(op.value, LiteralAttr)
        properties["value"] = LiteralAttr.from_bytes(_array(op.value.type, count), op.value.stored)
    types = [_widened(result.type, count) for result in op.results]
    copy = type(op).create(operands=operands, result_types=types, properties=properties, attributes=op.attributes)
    for old, new in zip(op.results, copy.results, strict=True):
        new.name_hint = old.name_hint
    return copy


def _widened(type: Attribute, count: int) -> Attribute:
    if isinstance(type, TupleType):
        return tuple_of(tuple(_widened(inner, count) for inner in type.types.data))
    assert is_tensor(type)
    return _array(type, count)


def _array(type: Tensor, count: int) -> Tensor:
    return tensor(type.element_type, (count,))


@lowers(MapOp, check=lambda op: not_elementwise(op.to_apply))
def map_elements(low: Lowering, op: MapOp) -> Tree:
    """The computation on whole arrays."""
    block = lifted(low, op.to_apply, element_count(op.results[0].type))
    (tree,) = low.block(block, [low.value(value) for value in op.inputs], [low.targets(op.results[0])])
    return tree
