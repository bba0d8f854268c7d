"""Which leaves of which values anybody needs. What nobody needs is not lowered.

A counter that only says how often its loop runs, or where a slice starts, is the induction variable of the loop that it
becomes: then nobody needs its memory, nor what is computed to move it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from xneuron.analysis.boundary_markers import is_identity
from xneuron.analysis.effects import Effects
from xneuron.analysis.loop_form import DoWhile, Dynamic, LoopForm
from xneuron.dialects.hlo.attributes import int_of
from xneuron.dialects.hlo.base import HloOp
from xneuron.dialects.hlo.control_flow import ConditionalOp, FusionOp, GetTupleElementOp, TupleOp, WhileOp
from xneuron.dialects.hlo.data_movement import DynamicSliceOp, DynamicUpdateSliceOp

from .aliases import only_renames
from .indices import Indices
from .values import Path, leaf_paths


class Demand:
    """What the results of an entry need, and what loops need to know when they end."""

    def __init__(self, entry: FuncOp, indices: Indices) -> None:
        self._indices = indices
        self._needed: set[tuple[SSAValue, Path]] = set()
        self._values: set[SSAValue] = set()
        self._work: list[tuple[SSAValue, Path]] = []
        self._staying: set[Operation] = set()
        """Instructions that are lowered whoever needs their result, and those that have one in them."""
        effects = Effects(cast(ModuleOp, entry.parent_op()))
        for op in entry.walk():
            if isinstance(op, WhileOp):
                self._add_end(op)
            if self._stays(op, effects):
                self._add_around(op)
        self.include(entry.body.block)

    def include(self, block: Block) -> None:
        """What a computation returns is needed."""
        self._add_root(block)
        while self._work:
            self._add_sources(*self._work.pop())

    def leaf(self, value: SSAValue, path: Path) -> bool:
        """True if a leaf is needed."""
        return (value, path) in self._needed

    def op(self, op: Operation) -> bool:
        """True if an instruction has to be lowered: for its result, for what else it does, or as it may never end."""
        return op in self._staying or any(result in self._values for result in op.results)

    def operands(self, op: Operation) -> Sequence[SSAValue]:
        """The operands that an instruction needs, with repetitions."""
        if not isinstance(op, DynamicSliceOp | DynamicUpdateSliceOp):
            return op.operands
        first = len(op.operands) - len(op.start_indices)
        held = [i for d, i in enumerate(op.start_indices) if self._indices.start(op, d) is None]
        return [*op.operands[:first], *held]

    def _add(self, value: SSAValue, path: Path) -> None:
        if (value, path) not in self._needed:
            self._needed.add((value, path))
            self._values.add(value)
            self._work.append((value, path))

    def _add_all(self, value: SSAValue) -> None:
        for path in leaf_paths(value.type):
            self._add(value, path)

    def _add_root(self, block: Block) -> None:
        assert block.last_op is not None
        for value in block.last_op.operands:
            self._add_all(value)

    def _add_end(self, op: WhileOp) -> None:
        """What says when a loop ends: its condition, or the scalars that its bound is computed from."""
        match self._indices.form(op):
            case DoWhile():
                self._add_root(op.cond.block)
            case Dynamic(start=start, bound=bound):
                for path in (start, bound):
                    if not isinstance(path, int):
                        self._add(op.inits[0], path)
            case _:
                pass

    def _stays(self, op: Operation, effects: Effects) -> bool:
        """True for a loop of which nobody knows that it ends, and for what has an effect of its own."""
        if isinstance(op, WhileOp):
            return _may_never_end(self._indices.form(op))
        is_around = isinstance(op, FuncOp | ConditionalOp | FusionOp)
        return not is_around and not is_identity(op) and effects.must_stay(op)

    def _add_around(self, op: Operation | None) -> None:
        """An instruction that stays, and what has it in it; of conditionals, which branch is taken."""
        while isinstance(op, HloOp) and op not in self._staying:
            self._staying.add(op)
            if isinstance(op, ConditionalOp):
                self._add(op.args[0], ())
            op = op.parent_op()

    def _add_sources(self, value: SSAValue, path: Path) -> None:
        if isinstance(value, BlockArgument):
            self._add_outside(value, path)
            return
        op = value.owner
        match op:
            case TupleOp():
                self._add(op.elements[path[0]], path[1:])
            case GetTupleElementOp():
                self._add(op.operand, (int_of(op.index), *path))
            case WhileOp():
                self._add_state(op, path)
            case ConditionalOp():
                self._add(op.args[0], ())
                for branch in op.branches:
                    self._add_returned(branch.block, path)
            case FusionOp():
                self._add_returned(op.calls.block, path)
            case Operation() if only_renames(op):
                self._add(op.operands[0], path)
            case Operation():
                for operand in self.operands(op):
                    self._add_all(operand)
            case _:
                pass

    def _add_outside(self, argument: BlockArgument, path: Path) -> None:
        """What a parameter is, where its computation is owned by an instruction that passes values in."""
        block = argument.block
        match op := block.parent_op():
            case WhileOp():
                self._add_state(op, path)
            case ConditionalOp():
                number = next(n for n, branch in enumerate(op.branches) if branch is block.parent)
                self._add(op.args[number + 1], path)
            case FusionOp():
                self._add(op.inputs[argument.index], path)
            case _:
                pass

    def _add_state(self, op: WhileOp, path: Path) -> None:
        """A leaf of a loop's state: what it is at first, and what each iteration makes of it."""
        self._add(op.inits[0], path)
        self._add(op.body.block.args[0], path)
        self._add(op.res[0], path)
        self._add_returned(op.body.block, path)

    def _add_returned(self, block: Block, path: Path) -> None:
        assert block.last_op is not None
        self._add(block.last_op.operands[0], path)


def _may_never_end(form: LoopForm) -> bool:
    return isinstance(form, DoWhile) or (isinstance(form, Dynamic) and form.guarded)
