"""Pass `boundary-marker-removal`: markers have been read; what they mark goes on without them."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import PassFailedException

from xneuron.analysis.boundary_markers import behind_markers, is_marker, marked_type
from xneuron.analysis.computations import computations
from xneuron.dialects.hlo.control_flow import GetTupleElementOp, TupleOp
from xneuron.dialects.hlo.types import spelled
from xneuron.remarks import name_of, remark
from xneuron.transforms.canonicalize_boundary_marker import NO_IDENTITY
from xneuron.transforms.replacement import erase
from xneuron.transforms.tuple_simplifier import forward_element

ITUP001 = "NCC_ITUP001"


@dataclass(frozen=True)
class BoundaryMarkerRemoval(ModulePass):
    """Replaces every marker by what it marks, in all computations.

        %m = M(%t)                                  uses of %m become uses of %t
        %t = hlo.tuple(%a, %b)
        %m = M(%t)                                  uses of %e become uses of %b
        %e = hlo.get_tuple_element(%m) {index = 1}

    Tuples that nothing uses afterwards go too. Refuses markers whose result is not what their operands make.

    `strict`: an error NCC_ITUP001 if a marker of a tuple has a user that is neither an element, a marker, nor the end
    of the computation. Rules: neuron-hlo-passes.md §5, #31; deviations there under "wrong if literal".
    """

    name = "boundary-marker-removal"
    strict: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        remove_markers(op, self.strict)


def remove_markers(module: ModuleOp, strict: bool = False) -> bool:
    """Removes all markers; true if there were any. `strict` raises PassFailedException before it changes anything."""
    markers = [op for block in computations(module) for op in block.ops if is_marker(op) and op.operands]
    if strict:
        _expect_elements(markers)
    removed = [marker for marker in markers if _remove(marker)]
    return bool(removed)


def _expect_elements(markers: list[Operation]) -> None:
    problems = [
        f"{ITUP001}: {name_of(marker)} used by non-GTE instruction {name_of(user)}: "
        "Use GetTupleElement to access tuple components in boundary markers"
        for marker in markers
        if _tuple_of(behind_markers(marker.operands[0])) is not None
        for user in {use.operation: None for use in marker.results[0].uses}
        if not (isinstance(user, GetTupleElementOp) or is_marker(user) or user.has_trait(IsTerminator))
    ]
    if problems:
        raise PassFailedException("\n".join(problems))


def _tuple_of(value: SSAValue) -> TupleOp | None:
    return value.op if isinstance(value, OpResult) and isinstance(value.op, TupleOp) else None


def _remove(marker: Operation) -> bool:
    if (expected := marked_type(marker)) != marker.results[0].type:
        message = f"expected a result {spelled(expected)}, found {spelled(marker.results[0].type)}"
        remark("missed", BoundaryMarkerRemoval.name, NO_IDENTITY, marker, message)
        return False
    marked, result = _marked(marker), marker.results[0]
    elements = [use.operation for use in result.uses if isinstance(use.operation, GetTupleElementOp)]
    result.replace_all_uses_with(marked)
    erase(marker)
    for element in elements:
        forward_element(element)
    if (packed := _tuple_of(marked)) is not None and packed.parent is not None and marked.first_use is None:
        erase(packed)
    return True


def _marked(marker: Operation) -> SSAValue:
    """The value that the marker is the identity of: its operand, or a tuple of its operands made for the purpose."""
    if len(marker.operands) == 1:
        return marker.operands[0]
    packed = TupleOp.create(operands=list(marker.operands), result_types=[marker.results[0].type])
    Rewriter.insert_op(packed, InsertPoint.before(marker))
    return packed.results[0]
