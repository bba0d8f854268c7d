"""Pass `neuron_add_boundary_marker`: says where each iteration of a loop ends."""

from __future__ import annotations

import os
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from xneuron.analysis.boundary_markers import LOOP_END, LOOP_START, boundary_config, boundary_count, is_loop_marker
from xneuron.analysis.computations import loops
from xneuron.dialects.hlo.base import root_of
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.dialects.hlo.custom import CustomCallOp
from xneuron.fastir import rename
from xneuron.remarks import declare, remark

MARKED = declare("loop-marked", "A pair of boundary markers stands at the end of the loop's body.")
NOT_MARKED = declare("loop-not-marked", "The loop's body got no boundary markers.")
DISABLE = "NEURON_DISABLE_BOUNDARY_MARKER"


@dataclass(frozen=True)
class NeuronAddBoundaryMarker(ModulePass):
    """Puts a start and an end marker, with the loop's number, at the root of every loop's body.

        %r = hlo.tuple(…)         %r = hlo.tuple(…)
        hlo.return(%r)            %s = hlo.custom_call(%r) {target "NeuronBoundaryMarker-Start", "boundaryCount=0"}
                                  %e = hlo.custom_call(%s) {target "NeuronBoundaryMarker-End", "boundaryCount=0"}
                                  hlo.return(%e)

    Other uses of the root take the start marker's result. Numbers go on from the largest in the module, innermost loops
    first. Refuses: loops that are not in normal form, bodies that end in a marker already.
    See docs/boundary-markers.md; rules: neuron-hlo-passes.md §5.
    """

    name = "neuron_add_boundary_marker"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        markers = LoopMarkers(op)
        for loop in loops(op):
            markers.mark(loop)


def markers_enabled() -> bool:
    """False where the environment says NEURON_DISABLE_BOUNDARY_MARKER=1: what a driver asks before it marks loops."""
    return os.environ.get(DISABLE) != "1"


class LoopMarkers:
    """Marks loops of one module, each with a number of its own: one look at the module, however many loops."""

    def __init__(self, module: ModuleOp) -> None:
        used = (boundary_count(op) for op in module.walk() if is_loop_marker(op))
        self._next = max((count for count in used if count is not None), default=-1) + 1

    def mark(self, loop: WhileOp) -> bool:
        """Marks the end of the body; false, with a remark, for a loop that cannot be marked or is already."""
        if (reason := _refusal(loop)) is not None:
            remark("missed", NeuronAddBoundaryMarker.name, NOT_MARKED, loop, reason)
            return False
        _mark(loop.body.block, root_of(loop.body), boundary_config(self._next))
        remark("passed", NeuronAddBoundaryMarker.name, MARKED, loop, "marked the body", boundary_count=self._next)
        self._next += 1
        return True


def _refusal(loop: WhileOp) -> str | None:
    if len(loop.inits) != 1:
        return "the loop must have a single operand"
    root = root_of(loop.body)
    if isinstance(root, OpResult) and is_loop_marker(root.op):
        return "the body ends in a boundary marker already"
    return None


def _mark(body: Block, root: SSAValue, config: StringAttr) -> None:
    name = root.name_hint
    start = _marker(LOOP_START, root, config)
    Rewriter.insert_op(start, InsertPoint.after(root.op) if isinstance(root, OpResult) else InsertPoint.at_start(body))
    root.replace_uses_with_if(start.results[0], lambda use: use.operation is not start)
    end = _marker(LOOP_END, start.results[0], config)
    if (terminator := body.last_op) is None:
        raise ValueError("expected a computation that ends by returning its root")
    Rewriter.insert_op(end, InsertPoint.before(terminator))
    terminator.operands = [end.results[0]]
    if name:
        for value, role in ((root, ""), (start.results[0], ".start"), (end.results[0], ".end")):
            rename(value, name + role)


def _marker(target: str, value: SSAValue, config: StringAttr) -> Operation:
    return CustomCallOp.create(
        operands=[value],
        result_types=[value.type],
        properties={
            "custom_call_target": StringAttr(target),
            "api_version": StringAttr("API_VERSION_STATUS_RETURNING"),
        },
        attributes={"backend_config": config},
    )
