"""Structured loops become basic blocks with compare-and-branch instructions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import PassFailedException

from xneuron.analysis.register_liveness import RegisterPressureError, check_registers
from xneuron.dialects.bir.axes import Axis, DynamicForLoopAxis, LoopAxis
from xneuron.dialects.bir.branches import (
    BreakOp,
    CompareAndBranchOp,
    ContinueOp,
    ExitOp,
    UnconditionalBranchOp,
)
from xneuron.dialects.bir.enums import AluOpType, BranchCompareOp, DType, Engine
from xneuron.dialects.bir.expressions import AffineIV, Expr, Leaf, RuntimeValue, map_leaves, signed32
from xneuron.dialects.bir.functions import FuncOp
from xneuron.dialects.bir.loops import AxisLoop, DoWhileOp, DynamicForLoopOp, LoopOp, StructuredLoop
from xneuron.dialects.bir.operands import ExprAttr, Immediate, MemoryAccess, OperandAttr, RegisterAccess
from xneuron.dialects.bir.registers import RegisterAluOp, RegisterMoveOp
from xneuron.dialects.bir.storage import MemoryLocationOp, RegisterOp, hint
from xneuron.remarks import declare, remark

from .bir_loop_bounds import INT32_MAX, RuntimeBound, register_of, runtime_bound

PASS = "bir-lower-loops-to-branches"
LOWERED = declare("loop-lowered-to-branches", "a structured loop became compare-and-branch blocks")
AXIS_REGS = "bir.axis_regs"
"""The function attribute that says which registers hold the counter and the limit of each axis."""


@dataclass
class AxisRegisters:
    """The registers that stand for axes now; `limits` is the reference's `axisRegs`."""

    counters: dict[Axis, RegisterOp] = field(default_factory=dict[Axis, RegisterOp])
    limits: dict[DynamicForLoopAxis, RegisterOp] = field(default_factory=dict[DynamicForLoopAxis, RegisterOp])

    def as_attribute(self) -> ArrayAttr[DictionaryAttr]:
        """One dictionary per axis with a counter: `{axis = "i", counter = "i", limit = "i.limit"}`."""
        rows: list[DictionaryAttr] = []
        for axis, counter in self.counters.items():
            row = {"axis": StringAttr(axis.name), "counter": counter.storage_name}
            if isinstance(axis, DynamicForLoopAxis):
                row["limit"] = self.limits[axis].storage_name
            rows.append(DictionaryAttr(row))
        return ArrayAttr(rows)


@dataclass(frozen=True)
class BirLowerLoopsToBranchesPass(ModulePass):
    """Rewrites every structured loop into a guard, its body and one latch with the back edge.

    ```text
    dynamic_for_loop i in range(lb, n, 1) { body }     -->

        move limit, n; move i, lb; if i < limit goto body else exit
      body:
        body[register i for axis i]; add i, i, 1; if i < limit goto body else exit
      exit:
    ```

    The bound is read once, into a limit register of the loop: `mult` for its coefficient, `add` for its
    constant. Those wrap at 32 bits where the loop's bound does not, so when there is something to wrap
    (a coefficient, a constant, or a stride that could step over the end of the integers) the guard compares
    the bound register itself with a constant, the limit is rounded to the value the counter ends at, and
    the latch tests `i != limit`. The trip count is exact for every bound less than 2**32 above `lb`; where a
    register value could put it farther away, another guard in front sends that value to a `bir.exit`.

    A static loop compares with its bound as an immediate, and disappears when it has no trips. A do-while
    loop needs no guard. `bir.break` goes to the exit.

    Options: `check-registers=true` fails when more than 62 registers of an engine are live at once.
    """

    name = PASS

    check_registers: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.walk():
            if isinstance(func, FuncOp):
                self._apply_to(func)

    def _apply_to(self, func: FuncOp) -> None:
        registers = lower_loops_to_branches(func)
        if registers.counters:
            func.attributes[AXIS_REGS] = registers.as_attribute()
        if not self.check_registers:
            return
        try:
            check_registers(func)
        except RegisterPressureError as error:
            raise PassFailedException(str(error)) from error


def lower_loops_to_branches(func: FuncOp) -> AxisRegisters:
    """Rewrites the loops of `func` in place; returns the registers that axes live in now."""
    lowering = _Lowering(func)
    for block in list(func.body.blocks):
        lowering.block(block)
    return lowering.registers


class _Lowering:
    """Outer loops before inner ones, the last of a block first: every operation is moved once."""

    def __init__(self, func: FuncOp):
        self.func = func
        self.registers = AxisRegisters()
        storage = [op for op in func.entry.ops if isinstance(op, RegisterOp | MemoryLocationOp)]
        self.last_storage: Operation | None = storage[-1] if storage else None
        self.taken = {op.label for op in storage}
        self.counters: dict[StructuredLoop, RegisterOp] = {}
        self.limits: dict[StructuredLoop, RegisterOp] = {}
        for op in func.walk():
            if isinstance(op, LoopOp | DynamicForLoopOp):
                self._allocate(op)

    def block(self, block: Block) -> None:
        """Lowers all loops of a block that belongs to the function's own region."""
        work = [block]
        while work:
            loops = [op for op in work.pop().ops if isinstance(op, StructuredLoop)]
            for loop in reversed(loops):
                work.extend(self.loop(loop))

    def loop(self, op: StructuredLoop) -> list[Block]:
        """Lowers one loop; returns the blocks that were its body."""
        remark("passed", PASS, LOWERED, op, "lowered to branches", **_facts(op))
        before = op.parent_block()
        assert before is not None
        exit_block = before.split_before(op)
        op.detach()
        name = op.axis_name.data if isinstance(op, AxisLoop) else "do"
        exit_block.name_hint = hint(f"{name}.exit")
        if isinstance(op, LoopOp) and not op.runs_once and not op.axis.get_tripcount():
            before.add_op(UnconditionalBranchOp(exit_block))
            op.erase()
            return []
        # The axis is read before the body moves out, since it names the body's first argument.
        axis = op.axis if isinstance(op, LoopOp | DynamicForLoopOp) else None
        body = list(op.body.blocks)
        self._connect(op, axis, before, _splice(op, name, exit_block))
        op.erase()
        return body

    def _connect(self, op: StructuredLoop, axis: Axis | None, before: Block, flow: _Flow) -> None:
        if isinstance(op, LoopOp) and isinstance(axis, LoopAxis):
            self._static(op, axis, before, flow)
        elif isinstance(axis, DynamicForLoopAxis):
            self._dynamic(op, axis, before, flow)
        elif isinstance(op, DoWhileOp):
            before.add_op(UnconditionalBranchOp(flow.first))
            flow.end_trip(BranchCompareOp.IS_NEIMM, RegisterAccess(register_of(op.condition)), 0)

    def _static(self, op: LoopOp, axis: LoopAxis, before: Block, flow: _Flow) -> None:
        if op.runs_once:
            # Nothing is bound and nothing repeats: the body is just in the way.
            before.add_op(UnconditionalBranchOp(flow.first))
            flow.first.erase_arg(flow.first.args[0])
            flow.end_once()
            return
        counter = self._counter(op, axis, flow.first)
        before.add_ops([_move(op, counter, axis.lb), UnconditionalBranchOp(flow.first)])
        last = axis.lb + axis.get_tripcount() * axis.stride
        flow.step(_alu(op, counter, AluOpType.add, axis.stride))
        if last <= INT32_MAX:
            flow.end_trip(BranchCompareOp.IS_LTIMM, counter.result, axis.ub)
        else:
            flow.end_trip(BranchCompareOp.IS_NEIMM, counter.result, signed32(last))

    def _dynamic(self, op: StructuredLoop, axis: DynamicForLoopAxis, before: Block, flow: _Flow) -> None:
        bound = runtime_bound(axis)
        counter, limit = self._counter(op, axis, flow.first), self.limits[op]
        before.add_op(_move(op, limit, bound.register))
        before.add_ops([_alu(op, limit, *step) for step in bound.limit_steps()])
        before.add_op(_move(op, counter, bound.lb))
        if bound.cannot_wrap:
            guard = BranchCompareOp.IS_LTREG, counter.result, limit.result
        else:
            compare, constant = bound.guard()
            guard = compare, bound.register, constant
            before = self._guard_distance(axis, bound, before, flow)
        before.add_op(CompareAndBranchOp(*guard, flow.first, flow.exit))
        flow.step(_alu(op, counter, AluOpType.add, bound.stride))
        latch = BranchCompareOp.IS_LTREG if bound.cannot_wrap else BranchCompareOp.IS_NEREG
        flow.end_trip(latch, counter.result, limit.result)

    def _guard_distance(self, axis: DynamicForLoopAxis, bound: RuntimeBound, before: Block, flow: _Flow) -> Block:
        """Aborts where the counter would meet the limit too early; returns the block where the loop goes on."""
        if (overflow := bound.overflow()) is None:
            return before
        guard, abort = Block(), Block([ExitOp()])
        guard.name_hint, abort.name_hint = hint(f"{axis.name}.guard"), hint(f"{axis.name}.overflow")
        region = self.func.body
        region.insert_block_before(guard, flow.first)
        region.add_block(abort)
        compare, constant = overflow
        before.add_op(CompareAndBranchOp(compare, bound.register, constant, abort, guard))
        return guard

    def _counter(self, op: StructuredLoop, axis: Axis, first: Block) -> RegisterOp:
        """Puts the counter in place of the induction variable."""
        counter = self.counters[op]
        _replace_induction_variable(axis.value, counter.result)
        first.erase_arg(first.args[0])
        return counter

    def _allocate(self, op: LoopOp | DynamicForLoopOp) -> None:
        """Registers in program order, although loops are lowered in another one."""
        axis = op.axis
        if isinstance(axis, DynamicForLoopAxis):
            self.limits[op] = self.registers.limits[axis] = self._register(f"{axis.name}.limit")
        elif (axis.lb, axis.ub, axis.stride) == (0, 0, 0) or not axis.get_tripcount():
            return
        self.counters[op] = self.registers.counters[axis] = self._register(axis.name)

    def _register(self, wanted: str) -> RegisterOp:
        name, suffix = wanted, 0
        while name in self.taken:
            suffix += 1
            name = f"{wanted}_{suffix}"
        self.taken.add(name)
        register = RegisterOp(name)
        if self.last_storage:
            self.func.entry.insert_ops_after([register], self.last_storage)
        elif first := self.func.entry.first_op:
            self.func.entry.insert_ops_before([register], first)
        else:
            self.func.entry.add_op(register)
        self.last_storage = register
        return register


@dataclass(frozen=True)
class _Flow:
    """Where a spliced body starts, where its trips end (None if none does), and what comes after."""

    first: Block
    latch: Block | None
    exit: Block

    def step(self, op: Operation) -> None:
        if self.latch:
            self.latch.add_op(op)

    def end_trip(self, compare: BranchCompareOp, left: RegisterAccess | SSAValue, right: SSAValue | int) -> None:
        """The back edge."""
        self.step(CompareAndBranchOp(compare, left, right, self.first, self.exit))

    def end_once(self) -> None:
        self.step(UnconditionalBranchOp(self.exit))


def _splice(op: StructuredLoop, name: str, exit_block: Block) -> _Flow:
    """Moves the body in front of the exit; breaks go to the exit, all ends of a trip to one latch."""
    blocks = list(op.body.blocks)
    if blocks[0].name_hint is None:
        blocks[0].name_hint = hint(f"{name}.body")
    op.body.move_blocks_before(exit_block)
    ends: list[Block] = []
    for block in blocks:
        last = block.last_op
        if isinstance(last, BreakOp):
            last.detach()
            last.erase()
            block.add_op(UnconditionalBranchOp(exit_block))
        elif last is None or isinstance(last, ContinueOp) or not last.has_trait(IsTerminator):
            ends.append(block)
    return _Flow(blocks[0], _latch(ends, name, exit_block), exit_block)


def _latch(ends: list[Block], name: str, exit_block: Block) -> Block | None:
    for block in ends:
        if isinstance(last := block.last_op, ContinueOp):
            last.detach()
            last.erase()
    if len(ends) <= 1:
        return ends[0] if ends else None
    latch = Block()
    latch.name_hint = hint(f"{name}.latch")
    assert exit_block.parent is not None
    exit_block.parent.insert_block_before(latch, exit_block)
    for block in ends:
        block.add_op(UnconditionalBranchOp(latch))
    return latch


def _replace_induction_variable(value: SSAValue, register: SSAValue) -> None:
    """Every expression that reads the axis reads the register instead."""
    for use in list(value.uses):
        position, op = use.index, use.operation

        def change(leaf: Leaf, position: int = position) -> Leaf:
            return RuntimeValue(position) if leaf == AffineIV(position) else leaf

        for name, attr in op.properties.items():
            op.properties[name] = _map_attribute(attr, change)
        op.operands[position] = register


def _map_attribute(attr: Attribute, change: Callable[[Leaf], Expr]) -> Attribute:
    match attr:
        case ExprAttr():
            return ExprAttr(map_leaves(attr.data, change))
        case ArrayAttr():
            return ArrayAttr([_map_attribute(item, change) for item in attr])
        case OperandAttr(data=MemoryAccess() as access):
            return OperandAttr(replace(access, offset=map_leaves(access.offset, change)))
        case _:
            return attr


def _move(op: StructuredLoop, target: RegisterOp, source: SSAValue | int) -> RegisterMoveOp:
    return RegisterMoveOp([target.result], [source], engine=_engine(op))


def _alu(
    op: StructuredLoop, target: RegisterOp, alu: AluOpType, constant: int, dtype: DType = DType.int32
) -> RegisterAluOp:
    register = RegisterAccess(target.result, dtype)
    return RegisterAluOp([register], [register, Immediate(signed32(constant), dtype)], op=alu, engine=_engine(op))


def _engine(op: StructuredLoop) -> Engine:
    """Register code runs on every engine, so that every engine has its own copy of the counter (KLR)."""
    return Engine.ALL if op.engine.data == Engine.Unassigned else op.engine.data


def _facts(op: StructuredLoop) -> dict[str, str | int]:
    if isinstance(op, DynamicForLoopOp):
        return {"axis": op.axis_name.data, "bound": "runtime"}
    if isinstance(op, LoopOp) and not op.runs_once:
        return {"axis": op.axis_name.data, "trips": op.axis.get_tripcount()}
    return {}
