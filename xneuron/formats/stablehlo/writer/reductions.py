"""Chapter: reductions, orderings and random numbers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from xneuron.dialects.hlo import random as rng
from xneuron.dialects.hlo import reductions as hlo
from xneuron.dialects.hlo.attributes import WindowAttr, WindowDimension, flag, int_list, int_of
from xneuron.dialects.hlo.literal import LiteralAttr
from xneuron.dialects.hlo.types import BY_NAME, shape_of, tensor
from xneuron.formats.stablehlo.writer.elementwise import constant
from xneuron.formats.stablehlo.writer.emitter import Inexpressible, Tree
from xneuron.formats.stablehlo.writer.module import Rule, Writer, single
from xneuron.formats.stablehlo.writer.text import boolean, i64, i64s, matrix

_ALGORITHMS = {"rng_default": "DEFAULT", "rng_three_fry": "THREE_FRY", "rng_philox": "PHILOX"}
_DISTRIBUTIONS = {"rng_uniform": "UNIFORM", "rng_normal": "NORMAL"}


def _reduce(writer: Writer, op: hlo.ReduceOp) -> Tree:
    properties = {"dimensions": i64s(int_list(op.dimensions))}
    body = [writer.computation(op.to_apply)]
    made = writer.emit("stablehlo.reduce", writer.leaves(op.args), writer.flat(op), properties, body)
    return writer.packed(op, made)


def _window(op: Operation, window: WindowAttr | None, rank: int) -> Sequence[WindowDimension]:
    dimensions = window.dimensions if window is not None else ()
    if any(d.reversal for d in dimensions):
        raise Inexpressible(op, "its window is reversed")
    return dimensions or [WindowDimension(1)] * rank


def _reduce_window(writer: Writer, op: hlo.ReduceWindowOp) -> Tree:
    window = _window(op, op.window, len(shape_of(op.args[0].type)))
    properties = {
        "window_dimensions": i64s(d.size for d in window),
        "window_strides": i64s(d.stride for d in window),
        "base_dilations": i64s(d.base_dilation for d in window),
        "window_dilations": i64s(d.window_dilation for d in window),
        "padding": matrix([(d.padding_low, d.padding_high) for d in window], 2),
    }
    body = [writer.computation(op.to_apply)]
    made = writer.emit("stablehlo.reduce_window", writer.leaves(op.args), writer.flat(op), properties, body)
    return writer.packed(op, made)


def _select_and_scatter(writer: Writer, op: hlo.SelectAndScatterOp) -> Tree:
    window = _window(op, op.window, len(shape_of(op.operand.type)))
    if any(d.base_dilation != 1 or d.window_dilation != 1 for d in window):
        raise Inexpressible(op, "its window is dilated")
    properties = {
        "window_dimensions": i64s(d.size for d in window),
        "window_strides": i64s(d.stride for d in window),
        "padding": matrix([(d.padding_low, d.padding_high) for d in window], 2),
    }
    bodies = [writer.computation(op.select), writer.computation(op.scatter)]
    operands = writer.leaves(op.operands)
    return single(writer.emit("stablehlo.select_and_scatter", operands, op.result_types, properties, bodies))


def _sort(writer: Writer, op: hlo.SortOp) -> Tree:
    properties = {"dimension": i64(int_list(op.dimensions)[0]), "is_stable": boolean(flag(op.is_stable))}
    body = [writer.computation(op.to_apply)]
    made = writer.emit("stablehlo.sort", writer.leaves(op.inputs), writer.flat(op), properties, body)
    return writer.packed(op, made)


def _topk(writer: Writer, op: hlo.TopKOp) -> Tree:
    """CHLO's finds the largest; for the smallest, XLA's own."""
    operands, k = writer.leaves(op.operands), {"k": i64(int_of(op.k))}
    if flag(op.largest):
        made = writer.emit("chlo.top_k", operands, writer.flat(op), k)
    else:
        made = writer.emit("mhlo.topk", operands, writer.flat(op), {**k, "largest": "false"})
    return writer.packed(op, made)


def _scan(writer: Writer, op: hlo.ScanOp) -> Tree:
    properties = {
        "dimension": i64(int_list(op.dimensions)[0]),
        "is_reverse": boolean(flag(op.is_reverse)),
        "is_associative": boolean(flag(op.is_associative)),
    }
    operands = writer.leaves(op.args)
    carried = int_of(op.num_carries)
    results = writer.flat(op)
    segments = {
        "operandSegmentSizes": f"array<i32: {len(operands) - carried}, {carried}>",
        "resultSegmentSizes": f"array<i32: {len(results) - carried}, {carried}>",
    }
    made = writer.emit("mhlo.scan", operands, results, properties | segments, [writer.computation(op.to_apply)])
    return writer.packed(op, made)


def _rng(writer: Writer, op: rng.RngOp) -> Tree:
    result = op.results[0].type
    extents = shape_of(result)
    shape = constant(writer, _vector(extents))
    properties = {"rng_distribution": f"#stablehlo<rng_distribution {_DISTRIBUTIONS[op.distribution.data]}>"}
    return single(writer.emit("stablehlo.rng", [*writer.leaves(op.inputs), shape], [result], properties))


def _vector(numbers: Sequence[int]) -> LiteralAttr:
    return LiteralAttr.of(tensor(BY_NAME["s64"].type, (len(numbers),)), *numbers)


def _rng_bit_generator(writer: Writer, op: rng.RngBitGeneratorOp) -> Tree:
    properties = {"rng_algorithm": f"#stablehlo<rng_algorithm {_ALGORITHMS[op.algorithm.data]}>"}
    made = writer.emit("stablehlo.rng_bit_generator", writer.leaves(op.operands), writer.flat(op), properties)
    return writer.packed(op, made)


def _rng_state(writer: Writer, op: rng.RngGetAndUpdateStateOp) -> Tree:
    delta = {"delta": i64(int_of(op.delta))}
    return single(writer.emit("mhlo.xla.rng_get_and_update_state", (), op.result_types, delta))


RULES: dict[type[Operation], Rule] = {
    hlo.ReduceOp: _reduce,
    hlo.ReduceWindowOp: _reduce_window,
    hlo.SelectAndScatterOp: _select_and_scatter,
    hlo.ScanOp: _scan,
    hlo.SortOp: _sort,
    hlo.TopKOp: _topk,
    rng.RngOp: _rng,
    rng.RngBitGeneratorOp: _rng_bit_generator,
    rng.RngGetAndUpdateStateOp: _rng_state,
}
