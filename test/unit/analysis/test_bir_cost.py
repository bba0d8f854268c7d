"""Latencies by the reference's formulas, costs of loops by their bodies."""

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.parser import Parser

from xneuron.analysis.bir_cost import FENCE_NS, Cost, CostError, cost_of_function
from xneuron.analysis.bir_latency import HARDWARE
from xneuron.dialects.bir import BIR, FuncOp
from xneuron.dialects.bir.expressions import affine
from xneuron.dialects.bir.instruction import Instruction, instructions_of
from xneuron.dialects.bir.loops import DynamicForLoopOp

STORAGE = """
%n = bir.register "n"
%m = bir.register "m"
%d = bir.memory_location "d" : DRAM float32 [128, 512]
%x = bir.memory_location "x" : SB float32 [128, 512]
%y = bir.memory_location "y" : SB float32 [128, 512]
%p = bir.memory_location "p" : PSUM float32 [128, 512]
"""
TRN1, TRN2, TRN3 = HARDWARE["trn1"], HARDWARE["trn2"], HARDWARE["trn3"]


def function(body: str) -> FuncOp:
    ctx = Context()
    ctx.load_dialect(Builtin)
    ctx.load_dialect(BIR)
    module = Parser(ctx, f"bir.func @main {{ {STORAGE} {body} bir.return }}").parse_module()
    module.verify()
    func = module.body.block.first_op
    assert isinstance(func, FuncOp)
    return func


def first(body: str) -> Instruction:
    return next(instructions_of(function(body)))


MEMSET = "bir.memset %x on DVE"


@pytest.mark.parametrize(
    ("body", "trn1", "trn2", "trn3"),
    [
        # Memset(N) = (100 N + 5000) / clock, with the clock of its engine
        (MEMSET, 56200 // 112, 56200 // 96, 56200 // 120),
        ("bir.memset %x on Pool", 56200 // 140, 56200 // 120, 56200 // 120),
        # Matmult(K) = (K / 2 + 200) * 100 / clock
        ("bir.matmult %p = %x, %y[0][[512, 128], [1, 128]] on PE", 45600 // 140, 45600 // 120, 45600 // 120),
        # DMA: 1300 + ceil(P / 16) * bytes * NEP / divisor
        ("bir.load %x = %d on DMA", 1300 + 8 * 4 * 512 // 17, 1300 + 8 * 4 * 512 // 23, 1300 + 8 * 4 * 512 // 23),
    ],
)
def test_latencies(body: str, trn1: int, trn2: int, trn3: int) -> None:
    op = first(body)
    assert [hardware.get_latency(op) for hardware in (TRN1, TRN2, TRN3)] == [trn1, trn2, trn3]


def test_latency_is_the_sum_of_its_parts() -> None:
    op = first(MEMSET)
    parts = (TRN1.get_latency_read_init(op), TRN1.get_latency_exec(op), TRN1.get_latency_write_drain(op))
    assert sum(parts) == TRN1.get_latency(op)
    assert parts[1] == 51200 // 112


@pytest.mark.parametrize(
    "method", ["get_latency", "get_latency_exec", "get_latency_read_init", "get_latency_write_drain"]
)
@pytest.mark.parametrize(
    ("body", "name"),
    [
        ('bir.dynamic_for_loop for %i "i" in range(0, %n, 1) { }', "InstDynamicForLoop"),
        ('bir.loop for %i "i" in range(0, 4, 1) { }', "InstLoop"),
        ("bir.do_while { } while %n", "InstDoWhile"),
    ],
)
def test_loops_have_no_latency(method: str, body: str, name: str) -> None:
    with pytest.raises(NotImplementedError, match=rf"\( const {name} & \) not implemented"):
        getattr(TRN2, method)(first(body))


def cost(body: str) -> Cost:
    return cost_of_function(function(body), TRN2)


ONE = 56200 // 96


def test_engines_work_side_by_side_unless_they_share_memory() -> None:
    assert str(cost("bir.memset %x on DVE bir.memset %y on Pool")) == str(ONE)
    assert str(cost("bir.memset %x on DVE bir.memset %x on Pool")) == str(ONE + 56200 // 120)
    assert str(cost("bir.memset %x on DVE bir.memset %y on DVE")) == str(2 * ONE)


def test_a_static_loop_costs_its_body_times_its_trips() -> None:
    assert str(cost('bir.loop for %i "i" in range(0, 7, 2) { ' + MEMSET + " }")) == str(4 * ONE)
    assert str(cost('bir.loop for %i "i" in range(0, 0, 0) { ' + MEMSET + " }")) == str(ONE)
    assert str(cost('bir.loop for %i "i" in range(7, 0, 2) { ' + MEMSET + " }")) == "0"


def test_a_dynamic_loop_is_affine_in_its_register() -> None:
    body = (
        MEMSET + ' bir.dynamic_for_loop for %i "i" in range(2, 4 * %n + 5, 1) <max_tripcount = 10> { ' + MEMSET + " }"
    )
    func = function(body)
    found = cost_of_function(func, TRN2)
    trip = ONE + FENCE_NS
    n = func.registers[0].result
    assert str(found) == f"{trip} * trips(i) + {ONE}"
    assert found.in_register() == affine(n, 4 * trip, 3 * trip + ONE)
    assert found.bound() == 10 * trip + ONE
    assert found.evaluate({n: 1}) == 7 * trip + ONE
    assert found.evaluate({n: -5 & 0xFFFFFFFF}) == ONE


def test_nests_multiply() -> None:
    inner = 'bir.dynamic_for_loop for %j "j" in range(0, %m, 3) { ' + MEMSET + " }"
    func = function('bir.dynamic_for_loop for %i "i" in range(0, %n, 1) { ' + inner + " }")
    found = cost_of_function(func, TRN2)
    trip = ONE + FENCE_NS
    assert str(found) == f"{trip} * trips(i) * trips(j) + {FENCE_NS} * trips(i)"
    n, m = (register.result for register in func.registers)
    assert found.evaluate({n: 5, m: 7}) == 5 * (3 * trip + FENCE_NS)
    assert found.in_register() is None
    assert found.bound() is None


def test_what_cannot_be_costed_says_so() -> None:
    do_while = cost("bir.do_while { " + MEMSET + " } while %n")
    assert str(do_while) == f"{ONE + FENCE_NS} * trips(do_while)"
    assert do_while.bound() is None
    with pytest.raises(CostError, match="the trip count of do_while is known only when it runs"):
        do_while.evaluate({})
    with pytest.raises(CostError, match="cost the program before its loops are lowered"):
        cost("bir.unconditional_branch ^a ^a: bir.compare_and_branch IS_LTIMM(%n, 3) ^a, ^b ^b:")


def test_a_loop_that_is_not_affine_has_no_affine_cost() -> None:
    found = cost('bir.dynamic_for_loop for %i "i" in range(0, %n, 3) { }')
    assert found.in_register() is None
    assert next(iter(found.terms))[0].name == DynamicForLoopOp.name
