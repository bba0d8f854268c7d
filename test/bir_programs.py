"""BIR programs from text, and a machine of the tests' own that runs registers and control flow, one op at a time."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.parser import Parser

from xneuron.dialects.bir import (
    BIR,
    BreakOp,
    CompareAndBranchOp,
    ContinueOp,
    DoWhileOp,
    DynamicForLoopOp,
    FuncOp,
    LoopOp,
    RegisterAluOp,
    RegisterMoveOp,
    ReturnOp,
    UnconditionalBranchOp,
)
from xneuron.dialects.bir.enums import AluOpType, DType
from xneuron.dialects.bir.expressions import Environment, evaluate, signed32
from xneuron.dialects.bir.operands import Immediate, Operand, RegisterAccess


def function(text: str) -> FuncOp:
    """The one function of a module, verified; `bir.func @main { … }` may be left out around `text`."""
    ctx = Context()
    ctx.load_dialect(Builtin)
    ctx.load_dialect(BIR)
    module = Parser(ctx, text if "bir.func" in text else f"bir.func @main {{ {text} }}").parse_module()
    module.verify()
    func = module.body.block.first_op
    assert isinstance(func, FuncOp)
    return func


COMPARE = {
    "LT": operator.lt, "LE": operator.le, "EQ": operator.eq,
    "NE": operator.ne, "GE": operator.ge, "GT": operator.gt,
}  # fmt: skip
ALU: dict[AluOpType, Callable[[int, int], int]] = {
    AluOpType.add: operator.add,
    AluOpType.subtract: operator.sub,
    AluOpType.mult: operator.mul,
    AluOpType.divide: operator.floordiv,
    AluOpType.bitwise_xor: operator.xor,
}


PATTERN = 0xFFFF_FFFF


@dataclass
class Machine:
    """Registers hold 32-bit patterns, all ones before the first write; `run` gives the final ones, signed, by name."""

    registers: dict[SSAValue, int] = field(default_factory=dict)
    induction: dict[SSAValue, int] = field(default_factory=dict)

    def run(self, func: FuncOp, **given: int) -> dict[str, int]:
        for op in func.registers:
            self.registers[op.result] = given.get(op.label, -1) & PATTERN
        self.region(func.body)
        return {op.label: signed32(self.registers[op.result]) for op in func.registers}

    def value(self, operand: Operand) -> int:
        if isinstance(operand, Immediate):
            return int(operand.value)
        assert isinstance(operand, RegisterAccess)
        pattern = self.registers[operand.register]
        return pattern if operand.dtype == DType.uint32 else signed32(pattern)

    def evaluate(self, expr) -> int:
        return evaluate(expr, Environment(self.induction, self.registers))

    def region(self, region: Region) -> str:
        """Runs blocks until one leaves the region: "next" (end of the trip), "break" or "return"."""
        block: Block | str = region.blocks[0]
        while isinstance(block, Block):
            leave = next((found for op in block.ops if (found := self.step(op)) is not None), "next")
            block = leave
        return block

    def step(self, op: Operation) -> Block | str | None:
        match op:
            case RegisterMoveOp():
                self.registers[op.outputs[0].register] = self.value(op.inputs[0]) & PATTERN
            case RegisterAluOp():
                left, right = map(self.value, op.inputs)
                self.registers[op.outputs[0].register] = ALU[op.op.data](left, right) & PATTERN
            case CompareAndBranchOp():
                left, right = map(self.value, op.inputs)
                return op.on_true if COMPARE[op.comp_op.data.relation](left, right) else op.on_false
            case UnconditionalBranchOp():
                return op.target
            case ReturnOp():
                return "return"
            case BreakOp():
                return "break"
            case ContinueOp():
                return "next"
            case DynamicForLoopOp() | LoopOp():
                return self.for_loop(op)
            case DoWhileOp():
                while (leave := self.region(op.body)) == "next" and self.evaluate(op.condition):
                    pass
                return "return" if leave == "return" else None
            case _:
                assert not op.regions
        return None

    def for_loop(self, op: DynamicForLoopOp | LoopOp) -> str | None:
        current, end, stride = map(self.evaluate, op.bounds())
        if isinstance(op, LoopOp) and op.runs_once:
            current, end, stride = 0, 1, 1
        while current < end:
            self.induction[op.induction_variable] = current
            if (leave := self.region(op.body)) != "next":
                return "return" if leave == "return" else None
            current += stride
        return None
