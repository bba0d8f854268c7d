"""Collectives: what a group computes, and how a program with only one participant runs them."""

import numpy as np
import pytest

from xneuron.dialects.hlo.channels import GroupedOp, PermuteOp
from xneuron.execution.errors import EvaluationError
from xneuron.formats.hlo_text import parse_hlo
from xneuron.interpreters.evaluator import Program
from xneuron.interpreters.replicas import Exchanges

ALONE = """
HloModule alone
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
gather { x = f32[2] parameter(0)
  ROOT g = f32[2] all-gather(x), channel_id=3, replica_groups={}, dimensions={0} }
body {
  p = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[2] get-tuple-element(p), index=1
  g = f32[2] call(x), to_apply=gather
  r = f32[2] all-reduce(g), channel_id=4, replica_groups={{0}}, to_apply=sum
  start = (f32[2], f32[2]) all-gather-start(r), replica_groups={}, dimensions={0}
  done = f32[2] all-gather-done(start)
  as = f32[2] all-reduce-start(done), to_apply=sum
  ad = f32[2] all-reduce-done(as)
  ps = (f32[2], f32[2], u32[], u32[]) collective-permute-start(ad), source_target_pairs={{0,0}}
  pd = f32[2] collective-permute-done(ps)
  id = u32[] replica-id()
  idf = f32[] convert(id)
  ids = f32[2] broadcast(idf), dimensions={}
  y = f32[2] add(pd, ids)
  z = f32[2] add(y, y)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT t = (s32[], f32[2]) tuple(next, z)
}
cond {
  p = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(10)
  ROOT lt = pred[] compare(i, n), direction=LT
}
ENTRY main {
  zero = s32[] constant(0)
  x = f32[2] parameter(0)
  init = (s32[], f32[2]) tuple(zero, x)
  ROOT w = (s32[], f32[2]) while(init), condition=cond, body=body
}
"""


def test_alone_in_a_loop(program):
    x = np.array([1, -3], np.float32)
    i, y = program(ALONE).run(x)
    assert i == 10
    assert y.tolist() == [1024, -3072]
    assert x.tolist() == [1, -3]


def test_nobody_sends(program):
    (result,) = program("""
HloModule permute
ENTRY main {
  x = f32[2] parameter(0)
  ROOT p = f32[2] collective-permute(x), source_target_pairs={}
}""").run(np.ones(2, np.float32))
    assert result.tolist() == [0, 0]


def test_others_are_missing(program):
    text = ALONE.replace("{{0}}", "{{0,1}}")
    with pytest.raises(EvaluationError, match=r"all-reduce %r names replicas \[1\], but the run has 1"):
        program(text).run(np.ones(2, np.float32))


SENDING = """
HloModule transfer
ENTRY main {
  x = f32[2] parameter(0)
  tok = token[] after-all()
  r = (f32[2], u32[], token[]) recv(tok), channel_id=7
  s = (f32[2], u32[], token[]) send(x, tok), channel_id=CHANNEL
  sd = token[] send-done(s), channel_id=CHANNEL
  rd = (f32[2], token[]) recv-done(r), channel_id=7
  ROOT y = f32[2] get-tuple-element(rd), index=0
}"""


def test_sending_to_itself(program):
    (result,) = program(SENDING.replace("CHANNEL", "7")).run(np.array([3, 4], np.float32))
    assert result.tolist() == [3, 4]


def test_nothing_to_receive(program):
    text = r"deadlock: 1 of 1 .*\n  replica 0 waits at send-done %sd on channel 8, for a receive by replica 0"
    with pytest.raises(EvaluationError, match=text):
        program(SENDING.replace("CHANNEL", "8")).run(np.array([3, 4], np.float32))


def _exchange(result: str, instruction: str, *members: tuple[np.ndarray, ...]) -> list:
    """The exchange of one instruction over the given members."""
    operands = [f"x{n}" for n in range(len(members[0]))]
    shapes = [f"f32[{','.join(map(str, array.shape))}]" for array in members[0]]
    parameters = "\n  ".join(f"{x} = {s} parameter({n})" for n, (x, s) in enumerate(zip(operands, shapes, strict=True)))
    module = parse_hlo(f"""
HloModule exchange, replica_count={len(members)}
product {{ a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] multiply(a, b) }}
ENTRY main {{
  {parameters}
  ROOT c = {result} {instruction.replace("ARGS", ", ".join(operands))}
}}""")
    (op,) = [op for op in module.walk() if isinstance(op, GroupedOp | PermuteOp)]
    return Exchanges(Program(module).engine).exchange(op, members)


A, B, C, D = (np.arange(4, dtype=np.float32).reshape(2, 2) + n * 10 for n in range(4))


def test_all_gather_of_a_group():
    first, second = _exchange("f32[2,4]", "all-gather(ARGS), dimensions={1}, replica_groups={{1,0}}", (A,), (B,))
    np.testing.assert_array_equal(first, [[0, 1, 10, 11], [2, 3, 12, 13]])
    np.testing.assert_array_equal(second, first)


def test_all_reduce_of_several():
    results = _exchange(
        "(f32[2,2], f32[2,2])", "all-reduce(ARGS), to_apply=product, replica_groups={{0,1}}", (A, B), (C, D)
    )
    for first, second in results:
        np.testing.assert_array_equal(first, A * C)
        np.testing.assert_array_equal(second, B * D)


def test_reduce_scatter_of_a_group():
    text = "reduce-scatter(ARGS), to_apply=product, dimensions={0}, replica_groups={{0,1}}"
    first, second = _exchange("f32[1,2]", text, (A,), (B,))
    np.testing.assert_array_equal(first, (A * B)[:1])
    np.testing.assert_array_equal(second, (A * B)[1:])


def test_all_to_all_both_ways():
    first, second = _exchange("f32[2,2]", "all-to-all(ARGS), dimensions={0}, replica_groups={{0,1}}", (A,), (B,))
    np.testing.assert_array_equal(first, [A[0], B[0]])
    np.testing.assert_array_equal(second, [A[1], B[1]])
    tuples = _exchange("(f32[2,2], f32[2,2])", "all-to-all(ARGS), replica_groups={{0,1}}", (A, B), (C, D))
    np.testing.assert_array_equal(tuples[0], [A, C])
    np.testing.assert_array_equal(tuples[1], [B, D])


def test_broadcast_of_the_first():
    results = _exchange("f32[2,2]", "collective-broadcast(ARGS), replica_groups={{1,0}}", (B,), (A,))
    for result in results:
        np.testing.assert_array_equal(result, B)


def test_permute_of_all():
    text = "collective-permute(ARGS), source_target_pairs={{0,1},{1,2}}"
    results = _exchange("f32[2,2]", text, (A,), (B,), (C,))
    np.testing.assert_array_equal(results, [A * 0, A, B])
