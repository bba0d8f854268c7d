"""The simulator against a formula (trip counts) and against a machine that runs one op at a time (control flow)."""

import random

import pytest
from bir_programs import Machine, function
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.ir import Block, SSAValue

from xneuron.dialects.bir import (
    BreakOp,
    CompareAndBranchOp,
    ContinueOp,
    DoWhileOp,
    DynamicForLoopOp,
    FuncOp,
    LoopOp,
    RegisterAluOp,
    RegisterMoveOp,
    RegisterOp,
    ReturnOp,
    UnconditionalBranchOp,
)
from xneuron.dialects.bir.enums import AluOpType, BranchCompareOp
from xneuron.dialects.bir.expressions import affine
from xneuron.execution.errors import EvaluationError
from xneuron.lowering.bir_lower_loops_to_branches import lower_loops_to_branches
from xneuron.simulator.program import Program

MIN, MAX = -(2**31), 2**31 - 1
LIMIT = 60
"""Trips that a test has patience for."""


# Trip counts

Bounds = tuple[int, int, int, int]
"""lb, coefficient, constant, stride."""
EDGES = [MIN, MIN + 1, MIN + 2, -1, 0, 1, MAX - 1, MAX, 2**30, -(2**30)]
VALUES = 10
"""Register values per loop."""


def trips(bounds: Bounds, reg: int) -> int:
    lb, coeff, c, stride = bounds
    return max(0, -(-(c + coeff * reg - lb) // stride))


def draw(rng: random.Random) -> tuple[Bounds, list[int]]:
    """Bounds, and register values for which a loop has few trips: anything, the edges of 32 bits, small numbers."""
    number = rng.choice([lambda: rng.randint(MIN, MAX), lambda: rng.choice(EDGES), lambda: rng.randint(-9, 9)])
    while True:
        lb, coeff, c = number(), rng.choice([1, 1, number(), rng.randint(-9, 9)]), number()
        stride = rng.choice([1, rng.randint(1, 9), rng.randint(1, MAX), rng.choice([MAX, 2**30])])
        bounds = (lb, coeff, c, stride)
        wanted = [lb + rng.randint(-2, LIMIT) * stride - rng.randint(0, stride) - c for _ in range(40)]
        values = [target // coeff + rng.randint(0, 1) for target in wanted if coeff] + [number() for _ in range(20)]
        rng.shuffle(values)
        good = [reg for reg in values if MIN <= reg <= MAX and is_countable(bounds, reg)]
        if len(good) >= VALUES:
            return bounds, good[:VALUES]


def is_countable(bounds: Bounds, reg: int) -> bool:
    lb, coeff, c, _ = bounds
    return trips(bounds, reg) <= LIMIT and c + coeff * reg - lb < 2**32


def counting(cases: list[Bounds]) -> FuncOp:
    """A loop per case, which counts its trips in a register, and spoils its bound register."""
    func = FuncOp("main")
    bounds = [RegisterOp(f"n{number}") for number in range(len(cases))]
    counts = [RegisterOp(f"c{number}") for number in range(len(cases))]
    func.entry.add_ops([*bounds, *counts])
    for number, ((lb, coeff, c, stride), n, count) in enumerate(zip(cases, bounds, counts, strict=True)):
        loop = DynamicForLoopOp(f"i{number}", lb, affine(n.result, coeff, c), stride)
        add = RegisterAluOp([count.result], [count.result, 1], op=AluOpType.add)
        spoil = RegisterAluOp([n.result], [n.result, 12345], op=AluOpType.bitwise_xor)
        loop.body.block.add_ops([add, spoil])
        func.entry.add_ops([RegisterMoveOp([count.result], [0]), loop])
    func.entry.add_op(ReturnOp())
    func.verify()
    return func


def check_trips(loops: int, seed: int) -> None:
    rng = random.Random(seed)
    drawn = [draw(rng) for _ in range(loops)]
    func = counting([bounds for bounds, _ in drawn])
    for form in ("structured", "branched"):
        if form == "branched":
            lower_loops_to_branches(func)
        program = Program(func, max_iterations=LIMIT)
        for at in range(VALUES):
            found = program.run(registers={f"n{number}": regs[at] for number, (_, regs) in enumerate(drawn)}).registers
            for number, (bounds, regs) in enumerate(drawn):
                assert found[f"c{number}"] == trips(bounds, regs[at]), (form, bounds, regs[at])


def test_5000_trip_counts_are_the_formulas() -> None:
    check_trips(500, seed=1)


@pytest.mark.fuzz
def test_trip_counts_are_the_formulas_at_length() -> None:
    for seed in range(20):
        check_trips(1_000, seed)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_a_bound_2_to_the_32_away_is_never_silent(seed: int) -> None:
    """The structured form is exact; the branched form aborts, and only there."""
    rng = random.Random(seed)
    coeff, reg, stride = rng.choice([-1, 1]) * rng.randint(2, 9), rng.choice([-1, 1]) * rng.randint(2**29, MAX), 2**30
    c, lb = rng.randint(MIN, MAX), rng.randint(MIN, MAX)
    bounds = (lb, coeff, c, stride)
    func = counting([bounds])
    assert Program(func).run(registers={"n0": reg}).registers["c0"] == trips(bounds, reg)
    lower_loops_to_branches(func)
    if c + coeff * reg - lb < 2**32:
        assert Program(func).run(registers={"n0": reg}).registers["c0"] == trips(bounds, reg)
        return
    with pytest.raises(EvaluationError, match="InstExit Instruction encountered"):
        Program(func).run(registers={"n0": reg})


# Control flow of every shape

REGISTERS = ("a", "b", "c", "fuel")


class Builder:
    """Random regions: each block burns fuel, and leaves when there is none, so that everything ends."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.func = FuncOp("main")
        self.registers = {name: RegisterOp(name) for name in REGISTERS}
        self.func.entry.add_ops(list(self.registers.values()))
        self.loops = 0

    def register(self) -> SSAValue:
        return self.registers[self.rng.choice("abc")].result

    def build(self) -> FuncOp:
        self.region(self.func.entry, None, 0)
        self.func.verify()
        return self.func

    def region(self, first: Block, kind: str | None, depth: int) -> None:
        """Fills a region of which `first` is the entry; `kind` of the loop around."""
        blocks = [Block() for _ in range(self.rng.randint(1, 5 if depth == 0 else 3))]
        if kind is not None and self.rng.random() < 0.4:
            blocks = []
        region = first.parent
        assert region is not None
        self.work(first, depth)
        ends = [self.end(kind) for _ in range(2)]
        pieces = [piece for block in blocks for piece in (block, Block())]
        for block in (*pieces, *ends):
            region.add_block(block)
        if not blocks and kind is not None:
            for block in ends:
                region.detach_block(block)
            return
        targets = [*blocks, *ends]
        self.branch(first, targets)
        for block, body in zip(pieces[::2], pieces[1::2], strict=True):
            fuel = self.registers["fuel"].result
            block.add_op(RegisterAluOp([fuel], [fuel, 1], op=AluOpType.subtract))
            block.add_op(CompareAndBranchOp(BranchCompareOp.IS_LTIMM, fuel, 0, ends[0], body))
            self.work(body, depth)
            self.branch(body, targets)

    def end(self, kind: str | None) -> Block:
        choices = [ReturnOp] if kind is None else [ContinueOp, ContinueOp, BreakOp, BreakOp, ReturnOp]
        return Block([self.rng.choice(choices)()])

    def branch(self, block: Block, targets: list[Block]) -> None:
        taken, other = self.rng.choice(targets), self.rng.choice(targets)
        if self.rng.random() < 0.3:
            block.add_op(UnconditionalBranchOp(taken))
            return
        compare = self.rng.choice([op for op in BranchCompareOp if op.with_immediate])
        block.add_op(CompareAndBranchOp(compare, self.register(), self.rng.randint(-3, 3), taken, other))

    def work(self, block: Block, depth: int) -> None:
        for _ in range(self.rng.randint(0, 2)):
            op = self.rng.choice([AluOpType.add, AluOpType.subtract, AluOpType.mult, AluOpType.bitwise_xor])
            right = self.register() if self.rng.random() < 0.5 else self.rng.randint(-5, 5)
            block.add_op(RegisterAluOp([self.register()], [self.register(), right], op=op))
        if depth < 3 and self.rng.random() < 0.4:
            block.add_op(loop := self.loop())
            kind = "do_while" if isinstance(loop, DoWhileOp) else "for"
            self.region(loop.body.blocks[0], kind, depth + 1)

    def loop(self) -> LoopOp | DynamicForLoopOp | DoWhileOp:
        self.loops += 1
        name, stride = f"i{self.loops}", self.rng.randint(1, 3)
        match self.rng.randint(0, 3):
            case 0:
                return LoopOp(name, 0, self.rng.randint(0, 4), stride)
            case 1:
                return LoopOp(name, 0, 0, 0)
            case 2:
                # At most four trips, whatever the register holds.
                return DynamicForLoopOp(name, 0, affine(self.registers["fuel"].result, 1, -6), stride + 3)
            case _:
                return DoWhileOp(self.registers["fuel"].result)


def check_control_flow(seed: int) -> None:
    rng = random.Random(seed)
    func = Builder(rng).build()
    given = {"a": rng.randint(-3, 3), "b": rng.randint(-3, 3), "c": 0, "fuel": rng.randint(0, 20)}
    want = Stepping().run(func, **given)
    if want is None:
        return
    structured = Program(func, max_iterations=5_000).run(registers=given).registers
    assert structured == want
    lower_loops_to_branches(func)
    func.verify()
    branched = Program(func, max_iterations=5_000, strict=rng.random() < 0.3).run(registers=given).registers
    assert {name: branched[name] for name in want} == want


class Stepping(Machine):
    """A machine with patience for so many steps; None if the program takes more."""

    steps = 0

    def tick(self):
        self.steps += 1
        if self.steps > 20_000:
            raise TimeoutError

    def step(self, op):
        self.tick()
        return super().step(op)

    def region(self, region):
        self.tick()
        return super().region(region)

    def run(self, func, **given):
        try:
            return super().run(func, **given)
        except TimeoutError:
            return None


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32))
def test_control_flow(seed: int) -> None:
    check_control_flow(seed)


@pytest.mark.fuzz
def test_control_flow_at_length() -> None:
    for seed in range(20_000):
        check_control_flow(seed)


def test_the_machine_of_the_tests_sees_a_difference() -> None:
    """The check itself can fail."""
    text = '%a = bir.register "a" bir.register_alu %a = add(%a, {}) bir.return'
    found = [Machine().run(function(text.format(value)))["a"] for value in (1, 2)]
    assert found == [0, 1]
