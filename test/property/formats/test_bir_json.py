"""MLIR, IR and BIR-JSON say the same: any way round, the text that comes out is the text that went in."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp, StringAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.parser import Parser

from xneuron.dialects.bir import BIR
from xneuron.dialects.bir import branches as br
from xneuron.dialects.bir import compute as co
from xneuron.dialects.bir import enums as en
from xneuron.dialects.bir import expressions as ex
from xneuron.dialects.bir import movement as mo
from xneuron.dialects.bir import registers as rg
from xneuron.dialects.bir.functions import FuncOp
from xneuron.dialects.bir.loops import DoWhileOp, DynamicForLoopOp, LoopOp
from xneuron.dialects.bir.operands import Immediate, MemoryAccess, RegisterAccess, access
from xneuron.dialects.bir.storage import MemoryLocationOp, RegisterOp
from xneuron.formats.bir_json import parse_bir_json, print_bir_json

Draw = Callable[[Any], Any]
FLAGS = st.booleans()
NUMBERS = st.one_of(st.integers(-5, 5), st.floats(width=32))
WORDS = st.text(st.characters(codec="ascii"), max_size=6)
LABELS = st.one_of(st.none(), st.sampled_from(["a", "b", "I-1", "a_1"]), WORDS)
ENGINES = st.sampled_from([en.Engine.ALL, en.Engine.Unassigned])
KEPT = st.sampled_from(["", '{"debug": {"line": 3}}', '{"optin_passes": [], "order": [1.5, null]}'])
SMALL = st.integers(-4, 4)
VECTOR = [(4, 32), (1, 4)]
PHASES = [Phase.explicit, Phase.reuse, Phase.generate]
"""A program that fails is short enough to read; to shrink it takes minutes."""


class Maker:
    """Makes one function: `draw` decides, storage is fixed, axes are those around the place that is filled."""

    def __init__(self, draw: Draw, name: str) -> None:
        self.draw = draw
        self.func = FuncOp(name)
        self.axis_count = 0
        kind = draw(st.sampled_from(list(en.TensorKind)))
        self.x, self.y = (
            MemoryLocationOp(name, en.MemorySpace.SB, en.DType.float32, [128, 4], set="pair", kind=kind)
            for name in ("x", "y")
        )
        self.p = MemoryLocationOp("p", en.MemorySpace.PSUM, en.DType.float32, [128, 4], allocated=draw(FLAGS))
        self.d = MemoryLocationOp("d e", en.MemorySpace.DRAM, en.DType.float32, [32, 4], file=draw(LABELS))
        self.n = MemoryLocationOp("n", en.MemorySpace.DRAM, en.DType.int32, [1, 1], no_spill=draw(FLAGS))
        self.r, self.s = RegisterOp("r", engine=en.Engine.DVE), RegisterOp("s")
        self.wide = RegisterOp("w", num_physical_regs=2, physical_id=draw(st.one_of(st.none(), st.just(7))))
        self.func.entry.add_ops([self.r, self.x, self.y, self.p, self.d, self.n, self.s, self.wide])

    def make(self) -> FuncOp:
        self.fill([self.func.entry], [], 2)
        self.func.entry.add_op(br.UnconditionalBranchOp(last := Block()))
        self.func.body.add_block(last)
        self.fill([last], [], 1)
        last.add_op(self.draw(st.sampled_from([br.ReturnOp, br.ExitOp]))(label=self.draw(LABELS)))
        return self.func

    def fill(self, blocks: list[Block], axes: list[SSAValue], depth: int) -> None:
        """Puts instructions into blocks: at most three into each."""
        for block in blocks:
            for _ in range(self.draw(st.integers(0, 3))):
                make = self.draw(st.sampled_from([*MAKERS, *(LOOPS if depth else ())]))
                op = make(self, axes, depth) if make in LOOPS else make(self, axes)
                if kept := self.draw(KEPT):
                    op.attributes["bir.json"] = StringAttr(kept)
                block.add_op(op)

    def header(self) -> dict[str, Any]:
        return {"label": self.draw(LABELS), "engine": self.draw(ENGINES)}

    def flag(self) -> bool:
        return self.draw(FLAGS)

    def number(self) -> int | float:
        return self.draw(NUMBERS)

    def word(self, words: Any) -> Any:
        return self.draw(st.sampled_from(list(words)))

    def register(self) -> RegisterAccess:
        dtype = self.word((en.DType.int32, en.DType.uint32))
        return RegisterAccess(self.word((self.r, self.s)).result, dtype)

    def scalar(self) -> RegisterAccess | Immediate:
        return self.word((self.register(), Immediate(self.draw(st.integers(0, 9)), en.DType.int32)))

    def vector(self, axes: list[SSAValue], memory: MemoryLocationOp | None = None) -> MemoryAccess:
        """32 rows of 4 at any offset."""
        return access((memory or self.word((self.x, self.y))).result, self.offset(axes), VECTOR)

    def offset(self, axes: list[SSAValue]) -> ex.Expr:
        offset = self.expr(axes, 2)
        # One that is known may lie outside, which the verifier would see.
        return ex.constant(0) if self.flag() or ex.constant_value(offset) is not None else offset

    def leaf(self, axes: list[SSAValue]) -> ex.Expr:
        shard = ex.ShardID(self.draw(st.integers(1, 4)))
        return self.word(
            [*map(ex.AffineIV, axes), ex.RuntimeValue(self.r.result), ex.RuntimeValue(self.s.result), shard]
        )

    def expr(self, axes: list[SSAValue], depth: int) -> ex.Expr:
        c = self.draw(SMALL)
        match self.draw(st.integers(0, 9 if depth else 3)):
            case 0:
                return self.leaf(axes)
            case 1 | 2 | 3:
                count = self.draw(st.integers(1, 2))
                return ex.Affine(tuple((self.leaf(axes), self.draw(SMALL)) for _ in range(count)), c)
            case 4:
                return ex.Sum(tuple(self.expr(axes, depth - 1) for _ in range(self.draw(st.integers(1, 3)))))
            case 5:
                return ex.Mult(self.expr(axes, depth - 1), c)
            case 6:
                return ex.FloorDiv(self.expr(axes, depth - 1), c)
            case 7:
                return ex.Modulo(self.expr(axes, depth - 1), c)
            case 8:
                return ex.CCDiv(self.expr(axes, depth - 1), 2, abs(c))
            case _:
                return self.word([ex.CCGetRank(abs(c), 1), ex.IndirectArg(abs(c))])


def tensor_scalar(m: Maker, axes: list[SSAValue]) -> Operation:
    keys = {"const0": m.number(), "reverse0": m.flag(), "op1": m.word(en.AluOpType), "const1": m.number()}
    op0 = m.word(en.AluOpType)
    return co.TensorScalarOp([m.vector(axes)], [m.vector(axes)], op0=op0, reverse1=m.flag(), **keys, **m.header())


def tensor_tensor(m: Maker, axes: list[SSAValue]) -> Operation:
    ins = [m.vector(axes), m.vector(axes)]
    keys = {"op": m.word(en.AluOpType), "acc": m.word(en.AccumulateFlag)}
    return co.TensorTensorOp([m.vector(axes)], ins, **keys, **m.header())


def activation(m: Maker, axes: list[SSAValue]) -> Operation:
    bias = [Immediate(m.number(), en.DType.float32)] if m.flag() else []
    keys = {"func": m.word(en.ActivationFunctionType), "scale": m.number(), "can_read_uninit": m.flag()}
    return co.ActivationOp([m.vector(axes)], [m.vector(axes), *bias], **keys, **m.header())


def memset(m: Maker, axes: list[SSAValue]) -> Operation:
    return co.MemsetOp([m.vector(axes)], mode=m.word(en.MemsetMode), constant=m.number(), **m.header())


def reduce(m: Maker, axes: list[SSAValue]) -> Operation:
    keys = {"op": m.word(en.AluOpType), "axis": en.ReduceAxes.XY, "negate": m.flag()}
    out = access(m.y.result, m.offset(axes), [(4, 32), (1, 1)])
    return co.TensorReduceOp([out], [m.vector(axes)], **keys, **m.header())


def iota(m: Maker, axes: list[SSAValue]) -> Operation:
    keys = {"pattern": m.word([(1, 4), (2, 2, 1, 2)]), "base": m.draw(SMALL), "channel_multiplier": m.draw(SMALL)}
    return co.IotaOp([m.vector(axes)], **keys, **m.header())


def matmult(m: Maker, axes: list[SSAValue]) -> Operation:
    weights = access(m.y.result, 0, [(4, 32), (0, 32)])
    keys = {"start_tensor_calc": m.flag(), "stop_tensor_calc": m.flag(), "is_transpose": m.flag()}
    return co.MatmultOp([m.vector([], m.p)], [m.vector(axes), weights], **keys, **m.header())


def copy(m: Maker, axes: list[SSAValue]) -> Operation:
    cls = m.word([co.ReciprocalOp, mo.TensorCopyOp])
    return cls([m.vector(axes)], [m.vector(axes)], **m.header())


def select(m: Maker, axes: list[SSAValue]) -> Operation:
    return co.SelectOp([m.vector(axes)], [m.vector(axes) for _ in range(3)], **m.header())


def load(m: Maker, axes: list[SSAValue]) -> Operation:
    keys = {"queue": m.draw(LABELS), "dge_type": m.word(en.DGEType), "can_read_uninit": m.flag()}
    return mo.LoadOp([m.vector(axes)], [m.d.result], **keys, **m.header())


def dma_copy(m: Maker, axes: list[SSAValue]) -> Operation:
    keys = {"queue": m.draw(LABELS), "mode": m.word(en.DMACopyMode)}
    return mo.DMACopyOp([m.d.result], [m.vector(axes)], **keys, **m.header())


def register_alu(m: Maker, axes: list[SSAValue]) -> Operation:
    op = m.word(sorted(en.REGISTER_ALU_OPS))
    return rg.RegisterAluOp([m.register()], [m.register(), m.scalar()], op=op, **m.header())


def register_move(m: Maker, axes: list[SSAValue]) -> Operation:
    if m.flag():
        return rg.RegisterMoveOp([m.register()], [m.scalar()], **m.header())
    wide = RegisterAccess(m.wide.result, en.DType.int64)
    return rg.RegisterMoveOp([wide], [Immediate(2**40, en.DType.int64)], **m.header())


def tensor_load(m: Maker, axes: list[SSAValue]) -> Operation:
    element = access(m.n.result, m.offset(axes), [(1, 1)])
    if m.flag():
        return rg.TensorLoadOp([m.register()], [element], **m.header())
    return rg.TensorSaveOp([element], [m.register()], **m.header())


def barrier(m: Maker, axes: list[SSAValue]) -> Operation:
    return m.word([mo.NoOpOp, mo.AllEngineBarrierOp])(**m.header())


MAKERS = (
    tensor_scalar, tensor_tensor, activation, memset, reduce, iota, matmult, copy, select,
    load, dma_copy, register_alu, register_move, tensor_load, barrier,
)  # fmt: skip


def axis_loop(m: Maker, axes: list[SSAValue], depth: int) -> Operation:
    m.axis_count += 1
    name, lb, stride = f"axis{m.axis_count}", m.draw(SMALL), m.draw(st.integers(1, 3))
    if m.flag():
        loop = LoopOp(name, lb, m.draw(SMALL), stride, is_parallel=m.flag(), **m.header())
    else:
        trips = m.draw(st.one_of(st.none(), st.integers(0, 9)))
        ub = ex.affine(m.r.result, m.draw(SMALL), m.draw(SMALL))
        loop = DynamicForLoopOp(name, lb, ub, stride, max_tripcount=trips, **m.header())
    loop.induction_variable.name_hint = name
    body(m, loop, [*axes, loop.induction_variable], depth)
    return loop


def do_while(m: Maker, axes: list[SSAValue], depth: int) -> Operation:
    loop = DoWhileOp(m.r.result, **m.header())
    body(m, loop, axes, depth)
    return loop


LOOPS = (axis_loop, do_while)


def body(m: Maker, loop: Any, axes: list[SSAValue], depth: int) -> None:
    """One block, or four: a branch, then ways to go on, one of them a loop back."""
    head = loop.body.block
    if m.flag():
        return m.fill([head], axes, depth - 1)
    again, other, last = blocks = [Block(), Block(), Block()]
    for block, name in zip([head, *blocks], ["head", "again", None, "last"], strict=True):
        if m.flag():
            block.name_hint = name
    loop.body.add_block(blocks)
    m.fill([head, *blocks], axes, depth - 1)
    comparison = m.word([word for word in en.BranchCompareOp if word.with_immediate])
    head.add_op(br.CompareAndBranchOp(comparison, m.register(), 3, again, other, **m.header()))
    again.add_op(br.UnconditionalBranchOp(m.word([again, other, last]), **m.header()))
    other.add_op(m.word([br.BreakOp, br.ReturnOp, br.ContinueOp])())
    last.add_op(m.word([br.ContinueOp, br.BreakOp])())
    return None


@st.composite
def programs(draw: Draw) -> str:
    """MLIR text of well-formed modules of one or two functions with every instruction, operand and expression."""
    names = draw(st.sampled_from([["main"], ["main", "other"]]))
    return str(ModuleOp([Maker(draw, name).make() for name in names]))


def parse_mlir(text: str) -> ModuleOp:
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(BIR)
    return Parser(context, text).parse_module()


def unnamed(module: ModuleOp) -> str:
    """The text without names of instructions, which are made up in JSON where a program has none."""
    copied = parse_mlir(str(module))
    for op in copied.walk():
        op.properties.pop("instruction_name", None)
    return str(copied)


def ends_trips_early(module: ModuleOp) -> bool:
    """Whether a trip ends elsewhere than in the last block, which takes another block to say in JSON."""
    continues = (op for op in module.walk() if isinstance(op, br.ContinueOp))
    return any(op.parent_block() is not op.parent_region().blocks.last for op in continues)


def check(program: str) -> None:
    module = parse_mlir(program)
    module.verify()
    text = print_bir_json(module)
    again = parse_bir_json(text)
    again.verify()
    assert print_bir_json(again) == text
    assert str(parse_mlir(str(again))) == str(again)
    if not ends_trips_early(module):
        assert unnamed(again) == unnamed(module)


@settings(max_examples=60, deadline=None, phases=PHASES, suppress_health_check=[HealthCheck.too_slow])
@given(programs())
def test_round_trips(program: str) -> None:
    check(program)


@pytest.mark.fuzz
@pytest.mark.parametrize("part", range(5))
@settings(max_examples=100, deadline=None, phases=PHASES, suppress_health_check=[HealthCheck.too_slow])
@given(program=programs())
def test_round_trips_fuzz(part: int, program: str) -> None:
    check(program)
