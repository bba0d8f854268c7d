"""Kernels of `dialects/hlo/custom.py`: the custom calls whose target alone says what they mean.

Calls into a library (LAPACK, oneDNN, Triton, host callbacks) have none here: that is an error naming the target.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
from __future__ import annotations

from xneuron.dialects.hlo import custom as hlo
from xneuron.dialects.hlo.attributes import text_of
from xneuron.dialects.hlo.base import root_of
from xneuron.dialects.hlo.elementwise import CompareOp
from xneuron.dialects.hlo.types import compatible, element_of, elements_of, shape_of
from xneuron.execution.errors import EvaluationError
from xneuron.interpreters.kernels.arithmetic import TABLE, meaning_on
from xneuron.interpreters.kernels.registry import Context, Elementwise, Meaning, kernel, no_meaning
from xneuron.interpreters.kernels.sorting import top_k

ANNOTATIONS = frozenset(
    {
        "Sharding",
        "SPMDFullToShardShape",
        "SPMDShardToFullShape",
        "LayoutConstraint",
        "annotate_device_placement",
        "MoveToHost",
        "MoveToDevice",
    }
)
"""Targets that say where a value lives. On one device, where the shape stays, the result is the operand."""

FUNCTIONS = {op.name.removeprefix("hlo."): op for op in TABLE}
"""Operations that MHLO and CHLO export as calls: `mhlo.erf`, `chlo.acos`, …"""


@kernel(hlo.CustomCallOp)
def custom_call(op: hlo.CustomCallOp, context: Context) -> Meaning:
    """What the target means."""
    target = text_of(op.custom_call_target)
    if target in ANNOTATIONS and len(op.inputs) == 1 and compatible(op.inputs[0].type, op.result.type):
        return Elementwise(lambda x: x, inline="{0}")
    if target == "TopK":
        return _top_k(op)
    dialect, _, name = target.partition(".")
    if dialect in ("mhlo", "chlo") and (function := FUNCTIONS.get(name)):
        return meaning_on(function, element_of(op.inputs[0].type), op)
    raise EvaluationError(no_meaning(op), op)


def _top_k(op: hlo.CustomCallOp) -> Meaning:
    """As `topk`; the comparator, where there is one, says which end (topk_rewriter.cc)."""
    values = elements_of(op.result.type)[0]
    comparators = [root_of(region).owner for region in op.called_computations]
    largest = all(not isinstance(c, CompareOp) or text_of(c.direction) == "GT" for c in comparators)
    return top_k(element_of(op.inputs[0].type), shape_of(values)[-1], largest)
