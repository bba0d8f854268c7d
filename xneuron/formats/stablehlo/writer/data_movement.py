"""Chapter: data movement. Constants, shapes, slices, gather and scatter, copies."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo import data_movement as hlo
from xneuron.dialects.hlo.attributes import Int, Ints, flag, int_list, int_of
from xneuron.dialects.hlo.indexing import GatherOp, ScatterOp
from xneuron.dialects.hlo.literal import ElidedAttr, LiteralAttr, TupleLiteralAttr
from xneuron.dialects.hlo.types import element_of, is_tensor, shape_of, spelled, tensor
from xneuron.formats.stablehlo.writer.bitcasts import as_steps
from xneuron.formats.stablehlo.writer.common import SHARDING
from xneuron.formats.stablehlo.writer.emitter import Inexpressible, Leaf, Tree
from xneuron.formats.stablehlo.writer.module import Rule, Writer, single
from xneuron.formats.stablehlo.writer.text import boolean, dense, dimensions, i64, i64s


def _constant(writer: Writer, op: hlo.ConstantOp) -> Tree:
    return _literal(writer, op, op.value)


def _literal(writer: Writer, op: hlo.ConstantOp, value: Attribute) -> Tree:
    match value:
        case LiteralAttr():
            return single(writer.emit("stablehlo.constant", (), [value.type], {"value": dense(value)}))
        case TupleLiteralAttr():
            return tuple([_literal(writer, op, element) for element in value.elements.data])
        case ElidedAttr():
            raise Inexpressible(op, "the program left its value out ({...})")
        case _:
            raise VerifyException(f"expected a literal, found {value}")


def _iota(writer: Writer, op: hlo.IotaOp) -> Tree:
    dimension = {"iota_dimension": i64(int_of(op.iota_dimension))}
    return single(writer.emit("stablehlo.iota", (), op.result_types, dimension))


def _copy(writer: Writer, op: hlo.CopyOp) -> Tree:
    """The operand: only its layout may differ. A copy that reshards is what JAX has for that; others are XLA's own."""
    if not writer.attributes:
        return writer.trees[op.operand]
    operand = [writer.leaf(op.operand)]
    if SHARDING in writer.attributes:
        target = {"call_target_name": '"Sharding"', "backend_config": '""'}
        return single(writer.emit("stablehlo.custom_call", operand, op.result_types, target))
    return single(writer.emit("mhlo.copy", operand, op.result_types))


def _copy_start(writer: Writer, op: hlo.CopyStartOp) -> Tree:
    copied = writer.trees[op.operand]
    return copied, copied, ()


def _copy_done(writer: Writer, op: hlo.CopyDoneOp) -> Tree:
    return writer.trees[op.operand][0]  # pyright: ignore[reportReturnType]


def _bitcast(writer: Writer, op: hlo.BitcastOp) -> Tree:
    """Transposes and reshapes that do to elements what the layouts of a bitcast do."""
    # A leaf does not know the layout that a copy gave it: the operand does.
    operand, source, result = writer.leaf(op.operand), op.operand.type, op.results[0].type
    if not (is_tensor(source) and is_tensor(result)):
        raise VerifyException(f"expected arrays, found {spelled(source)} and {spelled(result)}")
    steps = as_steps(source, result)
    if not steps and not writer.attributes:
        return operand
    *steps, last = steps or [("stablehlo.reshape", result, {})]
    for name, type, properties in steps:
        operand = single(writer.help(name, [operand], [type], properties))
    name, type, properties = last
    return single(writer.emit(name, [operand], [type], properties))


def _broadcast(writer: Writer, op: hlo.BroadcastOp) -> Tree:
    properties = {"broadcast_dimensions": i64s(int_list(op.dimensions))}
    return single(writer.emit("stablehlo.broadcast_in_dim", [writer.leaf(op.operand)], op.result_types, properties))


def _reshape(writer: Writer, op: hlo.ReshapeOp) -> Tree:
    return single(writer.emit("stablehlo.reshape", [writer.leaf(op.operand)], op.result_types))


def _transpose(writer: Writer, op: hlo.TransposeOp) -> Tree:
    properties = {"permutation": i64s(int_list(op.dimensions))}
    return single(writer.emit("stablehlo.transpose", [writer.leaf(op.operand)], op.result_types, properties))


def _reverse(writer: Writer, op: hlo.ReverseOp) -> Tree:
    properties = {"dimensions": i64s(int_list(op.dimensions))}
    return single(writer.emit("stablehlo.reverse", [writer.leaf(op.operand)], op.result_types, properties))


def _slice(writer: Writer, op: hlo.SliceOp) -> Tree:
    bounds = slice_bounds(int_list(op.starts), int_list(op.limits), int_list(op.strides))
    return single(writer.emit("stablehlo.slice", [writer.leaf(op.operand)], op.result_types, bounds))


def slice_bounds(starts: Sequence[int], limits: Sequence[int], strides: Sequence[int]) -> dict[str, str]:
    """Properties of a slice."""
    return {"start_indices": i64s(starts), "limit_indices": i64s(limits), "strides": i64s(strides)}


def _starts(writer: Writer, values: Sequence[SSAValue]) -> list[Leaf]:
    """Start indices as scalars, also where they are one vector."""
    leaves = writer.leaves(values)
    if len(leaves) != 1 or not (shape := shape_of(leaves[0].type)):
        return leaves
    element = element_of(leaves[0].type).type
    found: list[Leaf] = []
    for at in range(shape[0]):
        bounds = slice_bounds([at], [at + 1], [1])
        one = writer.help("stablehlo.slice", leaves, [tensor(element, (1,))], bounds)
        found += writer.help("stablehlo.reshape", one, [tensor(element)])
    return found


def _dynamic_slice(writer: Writer, op: hlo.DynamicSliceOp) -> Tree:
    operands = [writer.leaf(op.operand), *_starts(writer, op.start_indices)]
    sizes = {"slice_sizes": i64s(int_list(op.slice_sizes))}
    return single(writer.emit("stablehlo.dynamic_slice", operands, op.result_types, sizes))


def _dynamic_update_slice(writer: Writer, op: hlo.DynamicUpdateSliceOp) -> Tree:
    operands = [writer.leaf(op.operand), writer.leaf(op.update), *_starts(writer, op.start_indices)]
    return single(writer.emit("stablehlo.dynamic_update_slice", operands, op.result_types))


def _pad(writer: Writer, op: hlo.PadOp) -> Tree:
    properties = {
        "edge_padding_low": i64s(int_list(op.edge_padding_low)),
        "edge_padding_high": i64s(int_list(op.edge_padding_high)),
        "interior_padding": i64s(int_list(op.interior_padding)),
    }
    return single(writer.emit("stablehlo.pad", writer.leaves(op.operands), op.result_types, properties))


def _concatenate(writer: Writer, op: hlo.ConcatenateOp) -> Tree:
    dimension = {"dimension": i64(int_list(op.dimensions)[0])}
    return single(writer.emit("stablehlo.concatenate", writer.leaves(op.inputs), op.result_types, dimension))


def _get_dimension_size(writer: Writer, op: hlo.GetDimensionSizeOp) -> Tree:
    dimension = {"dimension": i64(int_list(op.dimensions)[0])}
    return single(writer.emit("stablehlo.get_dimension_size", writer.leaves(op.operands), op.result_types, dimension))


def _set_dimension_size(writer: Writer, op: hlo.SetDimensionSizeOp) -> Tree:
    dimension = {"dimension": i64(int_list(op.dimensions)[0])}
    return single(writer.emit("stablehlo.set_dimension_size", writer.leaves(op.operands), op.result_types, dimension))


def _addressing(kind: str, vector: Int, **lists: Ints | None) -> str:
    """`#stablehlo.gather<offset_dims = [0], …, index_vector_dim = 1>`; what is empty is left out."""
    shown = [f"{key} = {dimensions(value)}" for key, value in lists.items() if int_list(value)]
    return f"#stablehlo.{kind}<{', '.join([*shown, f'index_vector_dim = {int_of(vector)}'])}>"


def _gather(writer: Writer, op: GatherOp) -> Tree:
    numbers = _addressing(
        "gather",
        op.index_vector_dim,
        offset_dims=op.offset_dims,
        collapsed_slice_dims=op.collapsed_slice_dims,
        operand_batching_dims=op.operand_batching_dims,
        start_indices_batching_dims=op.start_indices_batching_dims,
        start_index_map=op.start_index_map,
    )
    properties = {
        "dimension_numbers": numbers,
        "slice_sizes": i64s(int_list(op.slice_sizes)),
        "indices_are_sorted": boolean(flag(op.indices_are_sorted)),
    }
    return single(writer.emit("stablehlo.gather", writer.leaves(op.operands), op.result_types, properties))


def _scatter(writer: Writer, op: ScatterOp) -> Tree:
    numbers = _addressing(
        "scatter",
        op.index_vector_dim,
        update_window_dims=op.update_window_dims,
        inserted_window_dims=op.inserted_window_dims,
        input_batching_dims=op.input_batching_dims,
        scatter_indices_batching_dims=op.scatter_indices_batching_dims,
        scatter_dims_to_operand_dims=op.scatter_dims_to_operand_dims,
    )
    properties = {
        "scatter_dimension_numbers": numbers,
        "indices_are_sorted": boolean(flag(op.indices_are_sorted)),
        "unique_indices": boolean(flag(op.unique_indices)),
    }
    operands = writer.leaves(op.args)
    results = [leaf.type for leaf in operands[: len(operands) // 2]]
    made = writer.emit("stablehlo.scatter", operands, results, properties, [writer.computation(op.to_apply)])
    return writer.packed(op, made)


RULES: dict[type[Operation], Rule] = {
    hlo.ConstantOp: _constant,
    hlo.IotaOp: _iota,
    hlo.CopyOp: _copy,
    hlo.CopyStartOp: _copy_start,
    hlo.CopyDoneOp: _copy_done,
    hlo.BitcastOp: _bitcast,
    hlo.BroadcastOp: _broadcast,
    hlo.ReshapeOp: _reshape,
    hlo.TransposeOp: _transpose,
    hlo.ReverseOp: _reverse,
    hlo.SliceOp: _slice,
    hlo.DynamicSliceOp: _dynamic_slice,
    hlo.DynamicUpdateSliceOp: _dynamic_update_slice,
    hlo.PadOp: _pad,
    hlo.ConcatenateOp: _concatenate,
    hlo.GetDimensionSizeOp: _get_dimension_size,
    hlo.SetDimensionSizeOp: _set_dimension_size,
    GatherOp: _gather,
    ScatterOp: _scatter,
}
