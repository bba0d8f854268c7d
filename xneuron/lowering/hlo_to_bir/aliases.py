"""Instructions that only give a value another name or shape, and where a value really comes from."""

from __future__ import annotations

from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from xneuron.analysis.boundary_markers import is_identity
from xneuron.dialects.hlo.attributes import int_of
from xneuron.dialects.hlo.control_flow import (
    AddDependencyOp,
    DomainOp,
    FusionOp,
    GetTupleElementOp,
    OptBarrierOp,
    TupleOp,
    WhileOp,
)
from xneuron.dialects.hlo.data_movement import BitcastOp, CopyOp, ReshapeOp
from xneuron.dialects.hlo.elementwise import BitcastConvertOp, ConvertOp
from xneuron.dialects.hlo.types import element_of

from .regions import keeps_order
from .values import Path

SAME_ELEMENTS = (CopyOp, ReshapeOp, OptBarrierOp, DomainOp, AddDependencyOp)
"""The result is the first operand, element by element in row-major order."""


def only_renames(op: Operation) -> bool:
    """True if the result is the first operand, whatever its shape."""
    if isinstance(op, BitcastOp):
        return keeps_order(op) and keeps_type(op)
    return isinstance(op, SAME_ELEMENTS) or keeps_order(op) or is_identity(op) or keeps_type(op)


def keeps_type(op: Operation) -> bool:
    """True for conversions from a type to itself."""
    if not isinstance(op, ConvertOp | BitcastConvertOp | BitcastOp):
        return False
    return element_of(op.operand.type) is element_of(op.result.type)


def is_plumbing(op: Operation) -> bool:
    """True if nothing has to be done for an instruction: it packs, unpacks, or renames."""
    return isinstance(op, TupleOp | GetTupleElementOp) or only_renames(op)


def name_in_body(loop: WhileOp, path: Path | None) -> str | None:
    """What the body calls an element of its state, None if it has no name for it."""
    for use in loop.body.block.args[0].uses:
        element = use.operation
        if isinstance(element, GetTupleElementOp) and (int_of(element.index),) == path:
            return element.results[0].name_hint
    return None


class Origins:
    """Where the leaves of values come from, in one computation; each is followed once."""

    def __init__(self) -> None:
        self._known: dict[tuple[SSAValue, Path], tuple[SSAValue, Path]] = {}

    def of(self, value: SSAValue, path: Path) -> tuple[SSAValue, Path]:
        """The parameter, or the result of an instruction that makes something, behind tuples, reshapes and
        state that a loop leaves alone."""
        followed: list[tuple[SSAValue, Path]] = []
        at = value, path
        while at not in self._known and (nearer := self._nearer(*at)) is not None:
            followed.append(at)
            at = nearer
        end = self._known.get(at, at)
        self._known.update(dict.fromkeys(followed, end))
        return end

    def _nearer(self, value: SSAValue, path: Path) -> tuple[SSAValue, Path] | None:
        if not isinstance(value, OpResult):
            return None
        match op := value.op:
            case TupleOp():
                return (op.elements[path[0]], path[1:]) if path else None
            case GetTupleElementOp():
                return op.operand, (int_of(op.index), *path)
            case WhileOp():
                return (op.inits[value.index], path) if self.is_invariant(op, value.index, path) else None
            case FusionOp():
                return self._through(op.calls.block, list(op.inputs), path)
            case _:
                return (op.operands[0], path) if only_renames(op) else None

    def _through(self, body: Block, operands: list[SSAValue], path: Path) -> tuple[SSAValue, Path] | None:
        """The operand that a computation hands on as a leaf of its root, None if it makes that leaf itself."""
        assert body.last_op is not None
        root, inner = self.of(body.last_op.operands[0], path)
        return (operands[root.index], inner) if isinstance(root, BlockArgument) else None

    def is_invariant(self, loop: WhileOp, number: int, path: Path) -> bool:
        """True if the body hands on the leaf of its state as it got it."""
        body = loop.body.block
        assert body.last_op is not None
        return self.of(body.last_op.operands[number], path) == (body.args[number], path)
