"""Any expression: folding keeps its value, and its text reads back as the same tree."""

from io import StringIO

from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.parser import Parser
from xdsl.printer import Printer

from xneuron.dialects.bir import BIR, ExprAttr, LoopOp, RegisterOp
from xneuron.dialects.bir.expressions import (
    Affine,
    AffineIV,
    Environment,
    Expr,
    FloorDiv,
    Modulo,
    Mult,
    RuntimeValue,
    ShardID,
    Sum,
    evaluate,
    fold,
)
from xneuron.dialects.bir.operands import Decoder, Encoder

I, N = LoopOp("i", 0, 8).induction_variable, RegisterOp("n").result  # noqa: E741
SMALL = st.integers(-9, 9)
INDICES = st.sampled_from([AffineIV(I), RuntimeValue(N), ShardID(8)])
AFFINE = st.builds(Affine, st.lists(st.tuples(INDICES, SMALL), max_size=4).map(tuple), SMALL)
EXPRESSIONS = st.recursive(
    st.one_of(INDICES, AFFINE),
    lambda inner: st.one_of(
        st.builds(Sum, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(Mult, inner, SMALL),
        st.builds(FloorDiv, inner, SMALL.filter(bool)),
        st.builds(Modulo, inner, SMALL.filter(bool)),
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(EXPRESSIONS, st.integers(-50, 50), st.integers(-50, 50), st.integers(0, 7))
def test_fold_keeps_the_value(expr: Expr, i: int, n: int, shard: int) -> None:
    env = Environment({I: i}, {N: n & 0xFFFF_FFFF}, shard)
    assert evaluate(fold(expr), env) == evaluate(expr, env)
    assert fold(fold(expr)) == fold(expr)


@settings(deadline=None)
@given(EXPRESSIONS)
def test_text_reads_back(expr: Expr) -> None:
    encoder = Encoder()
    stored = encoder.expr(expr)
    assert Decoder(encoder.values).expr(stored) == expr
    ctx = Context()
    ctx.load_dialect(Builtin)
    ctx.load_dialect(BIR)
    out = StringIO()
    Printer(out).print_attribute(stored)
    read = Parser(ctx, out.getvalue()).parse_attribute()
    assert isinstance(read, ExprAttr)
    assert read == stored
