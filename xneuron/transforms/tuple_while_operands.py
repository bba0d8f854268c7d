"""Pass `tuple-while-operands`: loops get HLO's normal form, one operand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from xneuron.analysis.computations import loops
from xneuron.dialects.hlo.attributes import ComputationAttr, integer
from xneuron.dialects.hlo.control_flow import GetTupleElementOp, TupleOp, WhileOp
from xneuron.dialects.hlo.types import tuple_of
from xneuron.remarks import declare, remark
from xneuron.transforms.replacement import erase

PACKED = declare("loop-state-packed", "The loop's operands became one tuple.")


@dataclass(frozen=True)
class TupleWhileOperands(ModulePass):
    """Packs the operands of loops that have not exactly one.

        %r:2 = hlo.while(%a, %b)                    %t = hlo.tuple(%a, %b)
          cond { ^(%x, %y): … }                     %w = hlo.while(%t)
          body { ^(%x, %y): … return %u, %v }         cond { ^(%p): %x = hlo.get_tuple_element(%p) {index = 0} … }
                                                      body { … %s = hlo.tuple(%u, %v) return %s }
                                                    %r0 = hlo.get_tuple_element(%w) {index = 0} …

    Leaves alone: loops with one operand, whatever its type. Attributes of single parameters are dropped.
    """

    name = "tuple-while-operands"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        tuple_while_operands(op)


def tuple_while_operands(module: ModuleOp) -> bool:
    """Brings all loops to normal form; true if one was not."""
    unpacked = [loop for loop in loops(module) if len(loop.inits) != 1]
    for loop in unpacked:
        _pack(loop)
    return bool(unpacked)


def _pack(loop: WhileOp) -> None:
    state = tuple_of(tuple(value.type for value in loop.inits))
    slots = len(loop.inits)
    for block in (loop.cond.block, loop.body.block):
        _pack_parameters(block, state)
    _pack_root(loop.body.block)
    packed = _insert(TupleOp.create(operands=loop.inits, result_types=[state]), InsertPoint.before(loop))
    regions = [loop.detach_region(region) for region in loop.regions]
    whole = WhileOp.create(
        operands=[packed],
        result_types=[state],
        properties=_without_parameters(loop.properties),
        attributes=loop.attributes,
        location=loop.location,
        regions=regions,
    )
    if slots and (hint := loop.results[0].name_hint):
        whole.results[0].name_hint = hint
    _unpack_results(loop, _insert(whole, InsertPoint.before(loop)))
    remark("passed", TupleWhileOperands.name, PACKED, whole, "packed the operands into one tuple", operands=slots)


def _insert(op: Operation, where: InsertPoint) -> SSAValue:
    Rewriter.insert_op(op, where)
    return op.results[0]


def _element(packed: SSAValue, index: int, type: Attribute) -> GetTupleElementOp:
    return GetTupleElementOp.create(operands=[packed], result_types=[type], properties={"index": integer(index)})


def _pack_parameters(block: Block, state: Attribute) -> None:
    parameters = block.args
    packed, front = block.insert_arg(state, 0), block.first_op
    for index, parameter in enumerate(parameters):
        if parameter.first_use is not None:
            element = _insert(_element(packed, index, parameter.type), InsertPoint(block, front))
            parameter.replace_all_uses_with(element)
        block.erase_arg(parameter)


def _pack_root(block: Block) -> None:
    if (end := block.last_op) is None:
        raise ValueError("expected a computation that ends by returning its values")
    types = tuple(value.type for value in end.operands)
    root = _insert(TupleOp.create(operands=end.operands, result_types=[tuple_of(types)]), InsertPoint.before(end))
    end.operands = [root]


def _unpack_results(loop: WhileOp, packed: SSAValue) -> None:
    for index, result in enumerate(loop.results):
        if result.first_use is not None:
            element = _insert(_element(packed, index, result.type), InsertPoint.before(loop))
            result.replace_all_uses_with(element)
    erase(loop)


def _without_parameters(properties: dict[str, Attribute]) -> dict[str, Attribute]:
    """Attributes of the parameters that are now one have no place any more."""
    if "computations" not in properties:
        return properties
    computations = cast("ArrayAttr[ComputationAttr]", properties["computations"])
    return {**properties, "computations": ArrayAttr([_plain(entry) for entry in computations.data])}


def _plain(entry: ComputationAttr) -> ComputationAttr:
    info = {key: value for key, value in entry.info.data.items() if key != "parameters"}
    return ComputationAttr(entry.computation_name, DictionaryAttr(info))
