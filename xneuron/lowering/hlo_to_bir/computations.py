"""Computations, instruction by instruction: what values are bound to, how long their memory is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from xneuron.analysis.affine_index import Axis, Term
from xneuron.analysis.loop_forms import LoopForms
from xneuron.dialects.bir.enums import TensorKind
from xneuron.dialects.bir.expressions import Affine, leaf_of
from xneuron.dialects.bir.operands import access
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.dialects.hlo.literal import LiteralAttr
from xneuron.dialects.hlo.types import element_count

from .aliases import Origins
from .builder import Builder
from .copies import assign, copy
from .demand import Demand
from .empty import is_nothing, makes_nothing
from .homes import Homes
from .indices import Indices, Slicing
from .layout import dtype_of, on_chip
from .rules import RULES, NotLowerable
from .storage import OutOfMemory, Storage
from .targets import Place, Planner, results_last
from .values import Buffer, Leaf, Path, Splat, Tree, at, buffers, leaves, map_leaves, tree_of, type_at


@dataclass
class Frame:
    """One computation while it is lowered."""

    placed: dict[Place, Buffer]
    """Where results are to be written, for those that go straight to their target."""
    last_use: dict[SSAValue, Operation]
    values: dict[SSAValue, Tree] = field(default_factory=dict[SSAValue, Tree])
    op: Operation | None = None


class Lowering:
    """What rules work with."""

    def __init__(self, entry: FuncOp, forms: LoopForms) -> None:
        self.indices = Indices(forms)
        self.demand = Demand(entry, self.indices)
        self.axes: dict[WhileOp, SSAValue] = {}
        """Induction variables of the loops around."""
        self.entries: dict[tuple[WhileOp, Path], SSAValue] = {}
        """Registers that hold what a slot of a loop was when the loop was entered."""
        self.builder = Builder(entry.sym_name.data)
        self.storage = Storage(self.builder)
        self.homes = Homes()
        self.origins = Origins()
        self._frames: list[Frame] = []
        self._constants: dict[LiteralAttr, Buffer] = {}
        self._for_now: list[Buffer] = []

    @property
    def frame(self) -> Frame:
        """The innermost computation."""
        return self._frames[-1]

    # Values, for rules

    def value(self, value: SSAValue) -> Tree:
        """What a value is bound to; None if nobody needs it."""
        return self.frame.values.get(value)

    def leaf(self, value: SSAValue) -> Buffer | Splat:
        """An array."""
        found = self.frame.values[value]
        assert isinstance(found, Buffer | Splat)
        return found

    def buffer(self, value: SSAValue) -> Buffer:
        """An array in memory, written there now if it was not yet."""
        return self.written(self.leaf(value), value.name_hint or "splat", self.homes.in_dram(value))

    def written(self, leaf: Buffer | Splat, wanted: str = "splat", in_dram: bool = False) -> Buffer:
        """An array in memory until the instruction is done; a splat is written there now."""
        if isinstance(leaf, Buffer):
            return leaf
        found = self.storage.value(wanted, leaf.dtype, leaf.count, in_dram)
        copy(self, found, leaf)
        return self.keep_for_now(found)

    def in_dram(self, leaf: Buffer | Splat) -> Buffer:
        """An array in DRAM until the instruction is done, copied there if it was not."""
        if isinstance(leaf, Buffer) and leaf.in_dram:
            return leaf
        found = self.storage.value("moved", leaf.dtype, leaf.count, in_dram=True)
        copy(self, found, leaf)
        return self.keep_for_now(found)

    def scratch(self, dtype_from: Buffer | Splat, count: int, in_dram: bool, wanted: str = "scratch") -> Buffer:
        """Memory until the instruction is done."""
        return self.keep_for_now(self.storage.value(wanted, dtype_from.dtype, count, in_dram))

    def result(
        self, value: SSAValue, path: Path = (), in_dram: bool | None = None, wanted: str | None = None
    ) -> Buffer:
        """Where to write an array result: its target if it may go there at once, else a buffer of its own."""
        if (target := self.frame.placed.get((value, path))) is not None:
            return target
        type = type_at(value.type, path)
        dtype = dtype_of(type)
        assert dtype is not None
        home = self.homes.in_dram(value, path) if in_dram is None else in_dram
        return self.storage.value(wanted or value.name_hint or "t", dtype, element_count(type), home)

    def is_dying(self, value: SSAValue, leaf: Leaf) -> bool:
        """True if the memory of a value's leaf may be overwritten: nobody needs it after this instruction."""
        is_last = self.frame.last_use.get(value) is self.frame.op
        return isinstance(leaf, Buffer) and leaf.owned and is_last and leaf.holders == 1

    def load(self, scalar: Buffer, wanted: str) -> SSAValue:
        """The one element of an array in a register of its own."""
        return self.builder.load(access(scalar.handle), wanted)

    def start(self, op: Slicing, dimension: int) -> Affine | None:
        """Where a window starts in a dimension, if that is for sure inside and needs no register of its own."""
        if (found := self.indices.start(op, dimension)) is None:
            return None
        return Affine(tuple((leaf_of(self._holder(term)), coeff) for term, coeff in found.terms), found.const)

    def _holder(self, term: Term) -> SSAValue:
        """The induction variable or the register that a term of an expression is."""
        return self.axes[term.loop] if isinstance(term, Axis) else self.entries[term.loop, term.path]

    # Results of several leaves

    def needs(self, value: SSAValue, path: Path) -> bool:
        """True if there has to be memory for a leaf."""
        return self.demand.leaf(value, path) and not is_nothing(type_at(value.type, path))

    def target(self, value: SSAValue, path: Path) -> Buffer | None:
        """Where a leaf of a result must end up and may be written at once; None if there is no such place."""
        return self.frame.placed.get((value, path))

    def targets(self, value: SSAValue) -> Tree:
        """The same for all leaves."""
        return tree_of(value.type, lambda path, _: self.target(value, path))

    def fresh(self, value: SSAValue) -> Tree:
        """A buffer for each leaf of a result that is needed, held."""
        tree = tree_of(value.type, lambda path, type: self.result(value, path) if self.needs(value, path) else None)
        self.hold(tree)
        return tree

    def inline(self, block: Block, op: Operation) -> Tree:
        """The computation as if it stood in the place of the instruction."""
        (tree,) = self.block(block, [self.value(value) for value in op.operands], [self.targets(op.results[0])])
        return tree

    def keep_for_now(self, buffer: Buffer) -> Buffer:
        """Holds a buffer until the instruction being lowered is done."""
        self.storage.hold(iter((buffer,)))
        self._for_now.append(buffer)
        return buffer

    def constant(self, literal: LiteralAttr) -> Buffer:
        """A location that holds the literal from the start; equal literals share it."""
        if literal not in self._constants:
            dtype, raw = dtype_of(literal.type), literal.bytes
            assert dtype is not None
            shape = literal.type.get_shape()
            self._constants[literal] = self.storage.external("constant", TensorKind.Const, dtype, shape, data=raw.hex())
        return self._constants[literal]

    # Computations

    def block(self, block: Block, parameters: Sequence[Tree], targets: Sequence[Tree] = ()) -> list[Tree]:
        """Lowers a computation; what it returns, at the targets (None where any place will do).

        Parameters and targets may share buffers. The caller holds those of both; nobody holds those returned.
        """
        assert block.last_op is not None
        returned = block.last_op.operands
        targets = targets or [None] * len(returned)
        ops = results_last([op for op in block.ops if op is block.last_op or self.demand.op(op)])
        placed = Planner(ops, self.demand.operands, parameters, targets, self.origins, self.is_home).plan()
        self._frames.append(Frame(placed, {operand: op for op in ops for operand in self.demand.operands(op)}))
        for argument, tree in zip(block.args, parameters, strict=True):
            self._bind(argument, tree)
        for op in ops[:-1]:
            self._lower(op)
        results = self._finish([self.value(value) for value in returned], targets)
        for value in dict.fromkeys(returned):
            self._drop(value)
        self._frames.pop()
        self.release(results)
        return results

    def hold(self, tree: Tree) -> None:
        """Keeps the buffers of a tree from being used again."""
        self.storage.hold(buffers(tree))

    def drop(self, tree: Tree) -> None:
        """The opposite of `hold`."""
        self.storage.drop(buffers(tree))

    def release(self, trees: Sequence[Tree]) -> None:
        """Nobody holds these any more, but they are not free either: whoever gets them next holds them."""
        for tree in trees:
            for buffer in buffers(tree):
                buffer.holders -= 1

    def _lower(self, op: Operation) -> None:
        self.frame.op = op
        outer, self._for_now = self._for_now, []
        self.builder.location = op.location
        try:
            tree = None if makes_nothing(op) else RULES[type(op)](self, op)
        except OutOfMemory as error:
            raise NotLowerable(op, str(error)) from error
        self._bind(op.results[0], tree)
        for operand in dict.fromkeys(self.demand.operands(op)):
            if self.frame.last_use[operand] is op:
                self._drop(operand)
        self.storage.drop(iter(self._for_now))
        self._for_now = outer

    def _bind(self, value: SSAValue, tree: Tree) -> None:
        self.frame.values[value] = tree
        self.storage.hold(buffers(tree))
        if value not in self.frame.last_use:
            self._drop(value)

    def _drop(self, value: SSAValue) -> None:
        self.storage.drop(buffers(self.frame.values.pop(value, None)))

    def _finish(self, trees: Sequence[Tree], targets: Sequence[Tree]) -> list[Tree]:
        """Copies what is not yet at its target. The results are held."""
        pairs: list[tuple[Buffer, Buffer | Splat]] = []
        results: list[Tree] = []
        for tree, target in zip(trees, targets, strict=True):
            results.append(result := map_leaves(tree, lambda path, leaf, target=target: _wanted(target, path, leaf)))
            self.hold(result)
            pairs += moves(result, tree)
        outer, self._for_now = self._for_now, []
        assign(self, pairs)
        self.storage.drop(iter(self._for_now))
        self._for_now = outer
        return results

    def is_home(self, value: SSAValue, path: Path, target: Buffer) -> bool:
        """True if the target is where the value would live anyway."""
        lives_in_dram = self.homes.in_dram(value, path) or on_chip(target.count) is None
        return target.in_dram == lives_in_dram


def _wanted(targets: Tree, path: Path, leaf: Leaf) -> Leaf:
    target = None if targets is None else at(targets, path)
    return target if isinstance(target, Buffer) else leaf


def moves(targets: Tree, sources: Tree) -> list[tuple[Buffer, Buffer | Splat]]:
    """What has to be copied so that the targets hold the sources, for `copies.assign`."""
    pairs = ((target, at(sources, path)) for path, target in leaves(targets))
    return [
        (target, source)
        for target, source in pairs
        if isinstance(target, Buffer) and isinstance(source, Buffer | Splat) and target is not source
    ]
