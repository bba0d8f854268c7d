"""Where instructions go: the block that is being filled, loops around it, and the registers of the function."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Block, Operation, SSAValue

from xneuron.dialects.bir.branches import CompareAndBranchOp, ContinueOp, UnconditionalBranchOp
from xneuron.dialects.bir.enums import BranchCompareOp
from xneuron.dialects.bir.expressions import Expr
from xneuron.dialects.bir.functions import FuncOp
from xneuron.dialects.bir.loops import AxisLoop, DoWhileOp, DynamicForLoopOp, LoopOp, StructuredLoop
from xneuron.dialects.bir.operands import MemoryAccess
from xneuron.dialects.bir.registers import TensorLoadOp
from xneuron.dialects.bir.storage import MemoryLocationOp, RegisterOp, hint


class Builder:
    """Fills one function from its first instruction to its last."""

    def __init__(self, name: str) -> None:
        self.function = FuncOp(name)
        self.block = self.function.entry
        self._storage: list[MemoryLocationOp | RegisterOp] = []
        self._taken: dict[str, int] = {}
        self.location: LocationAttr | None = None
        """Where in the program the instructions come from that are emitted now."""

    def emit(self, *ops: Operation) -> None:
        """Appends instructions to the block that is being filled."""
        for op in ops:
            if self.location is not None:
                op.location = self.location
            self.block.add_op(op)

    def finish(self) -> FuncOp:
        """The function, with its handles at the top."""
        if self._storage:
            first = self.function.entry.first_op
            assert first is not None
            self.function.entry.insert_ops_before(self._storage, first)
        return self.function

    def name(self, wanted: str) -> str:
        """A name that no register, location or loop has yet."""
        wanted = hint(wanted or "t")
        number = self._taken.get(wanted, -1) + 1
        self._taken[wanted] = number
        return self.name(f"{wanted}_{number}") if number else wanted

    def declare(self, storage: MemoryLocationOp | RegisterOp) -> SSAValue:
        """Adds a handle to the top of the function."""
        self._storage.append(storage)
        return storage.results[0]

    def register(self, wanted: str) -> SSAValue:
        """A register of its own."""
        return self.declare(RegisterOp(self.name(wanted)))

    def load(self, access: MemoryAccess, wanted: str) -> SSAValue:
        """One element of memory in a register."""
        register = self.register(wanted)
        self.emit(TensorLoadOp([register], [access]))
        return register

    # Control flow

    @contextmanager
    def loop(self, wanted: str, count: int) -> Generator[SSAValue]:
        """What is emitted inside runs `count` times; the induction variable counts from 0."""
        with self.inside(LoopOp(self.name(wanted), 0, count, 1)) as op:
            assert isinstance(op, AxisLoop)
            yield op.induction_variable

    @contextmanager
    def dynamic_loop(self, wanted: str, lb: int, ub: Expr, stride: int) -> Generator[SSAValue]:
        """The same in `range(lb, ub, stride)`, where `ub` is of the form `coeff * register + const`."""
        with self.inside(DynamicForLoopOp(self.name(wanted), lb, ub, stride)) as op:
            assert isinstance(op, AxisLoop)
            yield op.induction_variable

    @contextmanager
    def do_while(self, condition: SSAValue) -> Generator[None]:
        """What is emitted inside runs, and again while the register is not 0."""
        with self.inside(DoWhileOp(condition)):
            yield

    @contextmanager
    def inside(self, op: StructuredLoop) -> Generator[StructuredLoop]:
        """What is emitted inside is the body of `op`, which is emitted here."""
        self.emit(op)
        before, self.block = self.block, op.body.blocks[0]
        if isinstance(op, AxisLoop):
            op.induction_variable.name_hint = hint(op.axis_name.data)
        yield op
        if len(op.body.blocks) > 1:
            self.emit(ContinueOp())
        self.block = before

    def new_block(self, wanted: str) -> Block:
        """A block to branch to; `start` gives it its place."""
        block = Block()
        block.name_hint = hint(wanted)
        return block

    def start(self, block: Block) -> None:
        """Goes on filling `block`, behind the block filled last."""
        region = self.block.parent
        assert region is not None
        region.add_block(block)
        self.block = block

    def branch(self, compare: BranchCompareOp, register: SSAValue, number: int, then: Block, otherwise: Block) -> None:
        """Ends the block: on to `then` if the register compares like that with the number."""
        self.emit(CompareAndBranchOp(compare, register, number, then, otherwise))

    def go_to(self, block: Block) -> None:
        """Ends the block: on to `block`."""
        self.emit(UnconditionalBranchOp(block))
