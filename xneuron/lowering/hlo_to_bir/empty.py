"""Arrays without elements, as slices and shifts have them: no memory, and nothing to do.

Such a value is None, like a token, and what makes nothing else needs no rule. Rules here are for instructions that make
elements although an operand has none.
"""

from __future__ import annotations

from xdsl.ir import Attribute, Operation

from xneuron.analysis.slices import computable
from xneuron.dialects.hlo.contractions import ConvolutionOp
from xneuron.dialects.hlo.control_flow import ConditionalOp, FusionOp, TupleOp, WhileOp
from xneuron.dialects.hlo.indexing import GatherOp
from xneuron.dialects.hlo.reductions import ReduceWindowOp, SelectAndScatterOp
from xneuron.dialects.hlo.types import TokenType, element_count, is_tensor

from .values import leaf_paths, type_at

_NEED_ELEMENTS = (ConvolutionOp, GatherOp, ReduceWindowOp, SelectAndScatterOp)
_CONTROL = (ConditionalOp, FusionOp, TupleOp, WhileOp)


def is_nothing(type: Attribute) -> bool:
    """True for a token, and for an array without elements."""
    return isinstance(type, TokenType) or (is_tensor(type) and element_count(type) == 0)


def makes_nothing(op: Operation) -> bool:
    """True if an instruction has to do nothing at all: it has no effects, and no result of it has elements."""
    if isinstance(op, _CONTROL) or not computable(type(op)):
        return False
    leaves = [type_at(result.type, path) for result in op.results for path in leaf_paths(result.type)]
    return bool(leaves) and all(map(is_nothing, leaves))


def problem_without_elements(op: Operation) -> str | None:
    """Why an operand without elements is too few, None if it is not."""
    is_short = isinstance(op, _NEED_ELEMENTS) and any(is_nothing(operand.type) for operand in op.operands)
    return "an operand has no elements, but the result has" if is_short else None
