"""Expressions: evaluation, folding, text."""

from io import StringIO

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.parser import Parser
from xdsl.printer import Printer

from xneuron.dialects.bir import BIR, ExprAttr, RegisterOp
from xneuron.dialects.bir.axes import DynamicForLoopAxis, LoopAxis, calculate_tripcount, enclosing_axes, find_axis
from xneuron.dialects.bir.expressions import (
    Affine,
    AffineIV,
    CCDiv,
    CCGetRank,
    Environment,
    EvaluationError,
    Expr,
    ExprKind,
    FloorDiv,
    IndirectArg,
    Modulo,
    Mult,
    NamedIndex,
    RuntimeValue,
    ShardID,
    Sum,
    affine,
    constant,
    constant_value,
    evaluate,
    fold,
    has_runtime_value,
    num_terms,
)
from xneuron.dialects.bir.functions import FuncOp
from xneuron.dialects.bir.loops import DynamicForLoopOp, LoopOp
from xneuron.dialects.bir.syntax import expr_pieces, render

LOOP = LoopOp("i", 0, 8)
I = LOOP.induction_variable  # noqa: E741
N = RegisterOp("n").result
M = RegisterOp("m").result
ENV = Environment({I: 5}, {N: 0xFFFF_FFFF, M: 7})


@pytest.mark.parametrize(
    ("expr", "value"),
    [
        (affine(I, 4, 3), 23),
        (affine(N, 2, 1), -1),  # an all-ones register is -1
        (Sum((affine(I), affine(M), constant(-20))), -8),
        (Mult(affine(M, 1, 1), -3), -24),
        (FloorDiv(constant(-7), 2), -4),
        (FloorDiv(affine(M), -2), -4),
        (Modulo(constant(-7), 4), 1),
        (Modulo(AffineIV(I), 3), 2),
        (Affine(((ShardID(8), 3),), 1), 7),
    ],
)
def test_evaluate(expr: Expr, value: int) -> None:
    env = Environment(ENV.induction, ENV.registers, shard_id=2)
    assert evaluate(expr, env) == value
    assert evaluate(fold(expr), env) == value


@pytest.mark.parametrize(
    ("expr", "message"),
    [
        (FloorDiv(affine(I), 0), "Division by zero"),
        (Modulo(affine(I), 0), "Division by zero"),
        (CCGetRank(0, 1), "kind CCGetRankKind has no value here"),
        (affine(RegisterOp("other").result), "an unknown register was read"),
        (affine(LoopOp("j", 0, 8).induction_variable), "an induction variable outside its loop was read"),
        (Affine(((RuntimeValue(None), 1),)), "expected a resolved value but got None"),
    ],
)
def test_evaluate_refuses(expr: Expr, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        evaluate(expr, ENV)


@pytest.mark.parametrize(
    ("expr", "folded"),
    [
        (Affine(((AffineIV(I), 4), (AffineIV(I), -4)), 2), constant(2)),
        (Affine(((AffineIV(I), 1), (AffineIV(I), 3), (RuntimeValue(N), 0)), 1), affine(I, 4, 1)),
        (Sum((affine(I, 1, 1), affine(I, 2, 2))), affine(I, 3, 3)),
        (Sum((AffineIV(I), constant(2))), affine(I, 1, 2)),
        (Sum((FloorDiv(affine(I), 2), constant(1), constant(-1))), FloorDiv(affine(I), 2)),
        (Mult(affine(I, 2, 1), 3), affine(I, 6, 3)),
        (Mult(FloorDiv(affine(I), 2), 0), constant(0)),
        (Mult(FloorDiv(affine(I), 2), 1), FloorDiv(affine(I), 2)),
        (FloorDiv(affine(I, 8, -3), 4), affine(I, 2, -1)),
        (FloorDiv(affine(I), 1), affine(I)),
        (FloorDiv(constant(5), 0), FloorDiv(constant(5), 0)),
        (Modulo(affine(I, 8, -3), 4), constant(1)),
        (Modulo(affine(I, 3), 4), Modulo(affine(I, 3), 4)),
    ],
)  # fmt: skip
def test_fold(expr: Expr, folded: Expr) -> None:
    assert fold(expr) == folded


def test_affine_terms_are_indices() -> None:
    with pytest.raises(ValueError, match=r"expected an index \(kinds 6 to 13\) in an affine term but got MultKind"):
        Affine(((Mult(constant(1), 2), 1),))


def test_questions() -> None:
    assert num_terms(constant(3)) == 0
    assert num_terms(affine(N)) == 1
    assert num_terms(Mult(affine(N), 2)) == 1
    assert has_runtime_value(Sum((affine(I), affine(N))))
    assert not has_runtime_value(affine(I))
    assert constant_value(Modulo(constant(9), 4)) == 1
    assert constant_value(affine(I)) is None


TEXTS = [
    (constant(0), "0"),
    (constant(-3), "-3"),
    (affine(I), "I"),
    (affine(I, -1), "-1 * I"),
    (Affine(((AffineIV(I), 4), (RuntimeValue(N), -1), (ShardID(8), -2)), -1), "4 * I - N - 2 * shard(8) - 1"),
    (Affine(((AffineIV(I), 0),), 0), "0 * I"),
    (AffineIV(I), "index(I)"),
    (RuntimeValue(None), "index(reg(null))"),
    (AffineIV(N), "index(iv(N))"),
    (RuntimeValue(I), "index(reg(I))"),
    (Sum((affine(I), Mult(affine(N, 1, 2), -3))), "sum(I, mult(N + 2, -3))"),
    (FloorDiv(Modulo(AffineIV(I), 4), 2), "floordiv(mod(index(I), 4), 2)"),
    (CCDiv(CCGetRank(0, 3), 4, 1), "ccdiv(rank(0, 3), 4, 1)"),
    (IndirectArg(2), "arg(2)"),
    (NamedIndex(ExprKind.SymbolicIdx, "k"), 'index(symbolic_idx("k"))'),
]


@pytest.mark.parametrize(("expr", "text"), TEXTS)
def test_text(expr: Expr, text: str) -> None:
    assert render(expr_pieces(expr), lambda value: {I: "I", N: "N", M: "M"}[value]) == text


STORED = [
    "#bir<expr 4 * iv(0) - reg(1) + 3>",
    "#bir<expr -1 * iv(0) - 3>",
    "#bir<expr index(reg(null))>",
    "#bir<expr sum(mult(iv(0), -3), floordiv(index(iv(0)), 4), mod(reg(1) + 1, 2))>",
    "#bir<expr ccdiv(rank(0, 1), 4, 0)>",
    '#bir<expr 2 * ap_index("a") + tiled_ap_index("b")>',
    "#bir<expr arg(3)>",
]


@pytest.mark.parametrize("text", STORED)
def test_stored_text_round_trips(text: str) -> None:
    ctx = Context()
    ctx.load_dialect(Builtin)
    ctx.load_dialect(BIR)
    attr = Parser(ctx, text).parse_attribute()
    assert isinstance(attr, ExprAttr)
    out = StringIO()
    Printer(out).print_attribute(attr)
    assert out.getvalue() == text


def test_calculate_tripcount() -> None:
    counted = [calculate_tripcount(*b) for b in [(0, 10, 1), (0, 10, 3), (10, 0, -3), (5, 5, 1), (5, 3, 1), (3, 5, -1)]]
    assert counted == [10, 4, 4, 0, 0, 0]
    for lb, ub, stride in [(-7, 12, 5), (2, 20, 7), (20, 2, -7), (-(2**31), 2**31 - 1, 2**30)]:
        assert calculate_tripcount(lb, ub, stride) == len(range(lb, ub, stride))
    with pytest.raises(ValueError, match="Division by zero"):
        calculate_tripcount(0, 1, 0)


def test_axes() -> None:
    static, dynamic = LoopAxis("i", I, 0, 7, 2), DynamicForLoopAxis("j", I, constant(0), affine(N), constant(1), 16)
    assert (static.get_tripcount(), static.has_runtime_value(), static.get_max_tripcount()) == (4, False, 4)
    assert (dynamic.get_tripcount(), dynamic.has_runtime_value(), dynamic.get_max_tripcount()) == (0, True, 16)
    with pytest.raises(ValueError, match="Division by zero"):
        LoopAxis("i", I, 0, 7, 0).get_tripcount()


def test_find_axis_from_the_inside_out() -> None:
    outer, middle, inner = LoopOp("i", 0, 8), DynamicForLoopOp("j", 0, N), LoopOp("k", 0, 2)
    outer.body.block.add_op(middle)
    middle.body.block.add_op(inner)
    FuncOp("f").entry.add_op(outer)
    assert [axis.name for axis in enclosing_axes(inner)] == ["k", "j", "i"]
    assert find_axis("k", inner) == inner.axis
    assert find_axis("i", inner) == outer.axis
    assert find_axis("k", middle) is None
