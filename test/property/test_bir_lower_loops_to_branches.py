"""Structured and branched loops run the same trips, with the same induction values, to the last bit.

The machine is the tests' own and knows only registers; trip counts are compared with the formula
`max(0, ceil((c + coeff * reg - lb) / stride))`, not with the pass.
"""

from dataclasses import dataclass, field

from bir_programs import PATTERN, Machine
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from xdsl.ir import Block, Operation, SSAValue

from xneuron.analysis.cfg import CFG
from xneuron.dialects.bir import (
    BreakOp,
    CompareAndBranchOp,
    ContinueOp,
    DoWhileOp,
    DynamicForLoopOp,
    FuncOp,
    LoopOp,
    MemoryLocationOp,
    MemsetOp,
    RegisterAluOp,
    RegisterMoveOp,
    RegisterOp,
    ReturnOp,
)
from xneuron.dialects.bir.enums import AluOpType, BranchCompareOp, DType, MemorySpace
from xneuron.dialects.bir.expressions import Affine, affine, leaf_of
from xneuron.dialects.bir.operands import MemoryAccess, access
from xneuron.lowering.bir_lower_loops_to_branches import lower_loops_to_branches

LIMIT = 200
INT32 = st.one_of(
    st.integers(-20, 20),
    st.sampled_from([-(2**31), -(2**31) + 1, 2**31 - 2, 2**31 - 1, 2**30, -(2**30)]),
    st.integers(-(2**31), 2**31 - 1),
)
STRIDES = st.one_of(st.integers(1, 8), st.sampled_from([2**30, 2**31 - 1]), st.integers(1, 2**31 - 1))


class TooLong(Exception):
    """The program runs more steps than the test has patience for."""


@dataclass
class Traced(Machine):
    """Every memset leaves its offset in the trace; a program of too many steps is given up."""

    trace: list[int] = field(default_factory=list)
    steps: int = 0

    def step(self, op: Operation) -> Block | str | None:
        self.steps += 1
        if self.steps > 40 * LIMIT:
            raise TooLong
        if isinstance(op, MemsetOp):
            (target,) = op.outputs
            assert isinstance(target, MemoryAccess)
            self.trace.append(self.evaluate(target.offset))
        return super().step(op)


def run(func: FuncOp, **registers: int) -> Traced:
    machine = Traced()
    for op in func.registers:
        machine.registers[op.result] = registers.get(op.label, -1) & PATTERN
    assert machine.region(func.body) == "return"
    return machine


def both_ways(func: FuncOp, **registers: int) -> list[int]:
    """The trace of the structured program, after checking that the branched one leaves the same."""
    func.verify()
    structured = run(func, **registers).trace
    branched = func.clone()
    lower_loops_to_branches(branched)
    branched.verify()
    CFG.of_region(branched.body).validate_topology()
    assert not any(op.regions for block in branched.body.blocks for op in block.ops)
    trace = run(branched, **registers).trace
    # A counter register holds 32 bits, so beyond them the values agree modulo 2**32.
    assert [value & 0xFFFF_FFFF for value in trace] == [value & 0xFFFF_FFFF for value in structured]
    return structured


@dataclass
class Program:
    """A function under construction."""

    func: FuncOp = field(default_factory=lambda: FuncOp("main"))

    def __post_init__(self) -> None:
        # The trace needs an instruction with an offset; its memory is never touched.
        self.memory = MemoryLocationOp("x", MemorySpace.SB, DType.float32, [128, 4])
        self.n = RegisterOp("n")
        self.func.entry.add_ops([self.memory, self.n])

    def mark(self, offset: Affine) -> MemsetOp:
        return MemsetOp([access(self.memory.result, offset, [(4, 1), (1, 1)])])

    def finish(self) -> FuncOp:
        self.func.entry.add_op(ReturnOp())
        return self.func


@settings(max_examples=400, deadline=None)
@given(lb=INT32, coeff=INT32, c=INT32, stride=STRIDES, reg=INT32)
@example(lb=0, coeff=1, c=0, stride=1, reg=10)
@example(lb=2**31 - 6, coeff=1, c=0, stride=4, reg=2**31 - 1)
@example(lb=-(2**31), coeff=1, c=0, stride=2**31 - 1, reg=2**31 - 1)
@example(lb=0, coeff=4, c=5, stride=1, reg=-(2**30))
@example(lb=-(2**31), coeff=3, c=0, stride=1, reg=-(2**30))
@example(lb=2**31 - 3, coeff=2, c=2, stride=1, reg=2**30)
@example(lb=-5, coeff=0, c=3, stride=2, reg=7)
@example(lb=0, coeff=-(2**31), c=2**31 - 1, stride=2**31 - 1, reg=-1)
def test_trip_counts(lb: int, coeff: int, c: int, stride: int, reg: int) -> None:
    distance = c + coeff * reg - lb
    trips = max(0, -(-distance // stride))
    assume(trips <= LIMIT)
    assume(distance < 2**32)
    program = Program()
    loop = DynamicForLoopOp("i", lb, affine(program.n.result, coeff, c), stride)
    loop.body.block.add_op(program.mark(affine(loop.induction_variable)))
    # Writing the bound register inside the body changes nothing: the bound is read once.
    loop.body.block.add_op(RegisterMoveOp([program.n.result], [0]))
    program.func.entry.add_op(loop)
    assert both_ways(program.finish(), n=reg) == [lb + k * stride for k in range(trips)]


@settings(max_examples=200, deadline=None)
@given(lb=INT32, ub=INT32, stride=STRIDES)
@example(lb=2**31 - 6, ub=2**31 - 1, stride=4)
@example(lb=0, ub=0, stride=1)
def test_static_trip_counts(lb: int, ub: int, stride: int) -> None:
    assume(len(range(lb, ub, stride)) <= LIMIT)
    program = Program()
    loop = LoopOp("i", lb, ub, stride)
    loop.body.block.add_op(program.mark(affine(loop.induction_variable)))
    program.func.entry.add_op(loop)
    assert both_ways(program.finish(), n=0) == list(range(lb, ub, stride))


LOOPS = st.recursive(
    st.just(("mark",)),
    lambda inner: st.tuples(
        st.sampled_from(["static", "dynamic", "once", "do_while", "break"]),
        st.lists(inner, max_size=3),
        st.integers(-2, 3),
        st.integers(1, 3),
    ),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(shape=st.lists(LOOPS, min_size=1, max_size=3), reg=st.integers(-2, 4))
def test_nests(shape: list[tuple], reg: int) -> None:
    program = Program()
    build(program, program.func.entry, shape, [], [0])
    try:
        both_ways(program.finish(), n=reg)
    except TooLong:
        assume(False)


def build(program: Program, block: Block, shape: list[tuple], axes: list[SSAValue], made: list[int]) -> None:
    """Fills a block with loops; every mark shows all axes around it."""
    for kind, *rest in shape:
        if kind == "mark":
            terms = tuple((leaf_of(axis), 100**level) for level, axis in enumerate(axes))
            block.add_op(program.mark(Affine(terms)))
            continue
        inner, first, stride = rest
        made[0] += 1
        BUILDERS[kind](program, block, inner, axes, made, first, stride)


def build_axis_loop(program, block, inner, axes, made, first, stride, dynamic: bool) -> None:
    bounds = (first, affine(program.n.result, 1, first), stride) if dynamic else (first, first + 3, stride)
    loop = (DynamicForLoopOp if dynamic else LoopOp)(f"a{made[0]}", *bounds)
    block.add_op(loop)
    build(program, loop.body.block, inner, [*axes, loop.induction_variable], made)


def build_once(program, block, inner, axes, made, first, stride) -> None:
    loop = LoopOp(f"a{made[0]}", 0, 0, 0)
    block.add_op(loop)
    build(program, loop.body.block, inner, axes, made)


def build_do_while(program, block, inner, axes, made, first, stride) -> None:
    counter = RegisterOp(f"r{made[0]}")
    program.func.entry.insert_ops_before([counter], program.func.entry.first_op)
    loop = DoWhileOp(counter.result)
    block.add_ops([RegisterMoveOp([counter.result], [stride]), loop])
    build(program, loop.body.block, inner, axes, made)
    loop.body.block.add_op(RegisterAluOp([counter.result], [counter.result, 1], op=AluOpType.subtract))


def build_break(program, block, inner, axes, made, first, stride) -> None:
    """A loop of several blocks: a break in one, a continue in two."""
    counter = RegisterOp(f"r{made[0]}")
    program.func.entry.insert_ops_before([counter], program.func.entry.first_op)
    loop = LoopOp(f"a{made[0]}", 0, 9)
    block.add_ops([RegisterMoveOp([counter.result], [0]), loop])
    head, leave, even, odd = loop.body.block, Block(), Block(), Block()
    loop.body.add_block([leave, even, odd])
    build(program, head, inner, [*axes, loop.induction_variable], made)
    head.add_op(RegisterAluOp([counter.result], [counter.result, 1], op=AluOpType.add))
    head.add_op(CompareAndBranchOp(BranchCompareOp.IS_GTIMM, counter.result, stride, leave, even))
    leave.add_op(BreakOp())
    even.add_op(CompareAndBranchOp(BranchCompareOp.IS_EQIMM, counter.result, 1, odd, odd))
    odd.add_op(ContinueOp())


BUILDERS = {
    "static": lambda *args: build_axis_loop(*args, dynamic=False),
    "dynamic": lambda *args: build_axis_loop(*args, dynamic=True),
    "once": build_once,
    "do_while": build_do_while,
    "break": build_break,
}
