"""Pass `canonicalize-boundary-marker`: markers of the entry get one tuple operand."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, TupleType
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from xneuron.analysis.boundary_markers import is_marker, marked_type
from xneuron.dialects.hlo.attributes import integer
from xneuron.dialects.hlo.control_flow import GetTupleElementOp, TupleOp
from xneuron.dialects.hlo.custom import CustomCallOp
from xneuron.dialects.hlo.functions import public_functions
from xneuron.dialects.hlo.types import spelled, tuple_of
from xneuron.remarks import declare, remark
from xneuron.transforms.replacement import erase

NO_IDENTITY = declare("marker-no-identity", "The boundary marker's result is not what its operands make.")


@dataclass(frozen=True)
class CanonicalizeBoundaryMarker(ModulePass):
    """Rebuilds markers whose operand is not a tuple, in the entry computation.

        %m = M(%a)                                  %t = hlo.tuple(%a)   %n = M(%t)
                                                    %m = hlo.get_tuple_element(%n) {index = 0}

        %m = M(%a, %b)                              %t = hlo.tuple(%a, %b)   %m = M(%t)

    Target, backend_config and metadata stay; the api_version becomes the original one, as in the reference. Refuses
    markers whose result is not what their operands make. Rules: neuron-hlo-passes.md §5, #30.
    """

    name = "canonicalize-boundary-marker"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        canonicalize_markers(op)


def canonicalize_markers(module: ModuleOp) -> bool:
    """Rebuilds the markers of the public functions' own blocks; true if there were any to rebuild."""
    blocks = [block for entry in public_functions(module) for block in entry.body.blocks]
    found = [op for block in blocks for op in block.ops if _is_loose(op)]
    rebuilt = [marker for marker in found if _is_sound(marker)]
    for marker in rebuilt:
        _rebuild(marker)
    return bool(rebuilt)


def _is_loose(op: Operation) -> bool:
    if not is_marker(op) or not op.operands:
        return False
    return len(op.operands) > 1 or not isinstance(op.operands[0].type, TupleType)


def _is_sound(marker: Operation) -> bool:
    expected, found = marked_type(marker), marker.results[0].type
    if found == expected:
        return True
    message = f"expected a result {spelled(expected)}, found {spelled(found)}"
    remark("missed", CanonicalizeBoundaryMarker.name, NO_IDENTITY, marker, message)
    return False


def _rebuild(marker: Operation) -> None:
    type = tuple_of(tuple(value.type for value in marker.operands))
    packed = _insert(TupleOp.create(operands=list(marker.operands), result_types=[type]), marker)
    properties = {**marker.properties, "api_version": StringAttr("API_VERSION_ORIGINAL")}
    whole = CustomCallOp.create(
        operands=[packed],
        result_types=[type],
        properties=properties,
        attributes=marker.attributes,
        location=marker.location,
    )
    result = _insert(whole, marker)
    result.name_hint = marker.results[0].name_hint
    if len(marker.operands) == 1:
        properties = {"index": integer(0)}
        element = GetTupleElementOp.create(
            operands=[result], result_types=[marker.results[0].type], properties=properties
        )
        result = _insert(element, marker)
    marker.results[0].replace_all_uses_with(result)
    erase(marker)


def _insert(op: Operation, before: Operation) -> SSAValue:
    Rewriter.insert_op(op, InsertPoint.before(before))
    return op.results[0]
