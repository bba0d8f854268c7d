"""What kernels may ask of the engine, and what generated code looks like."""

import numpy as np
import pytest

from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.dialects.hlo.reductions import ReduceOp
from xneuron.execution.errors import EvaluationError
from xneuron.formats.hlo_text import parse_hlo
from xneuron.interpreters.evaluator import Program

REDUCERS = """
HloModule reducers
helper { x = f32[] parameter(0)
  ROOT y = f32[] negate(x) }
pick {{ p0 = f32[] parameter(0)
  p1 = s32[] parameter(1)
  p2 = f32[] parameter(2)
  p3 = s32[] parameter(3)
  n = f32[] call(p2), to_apply=helper
  gt = pred[] compare(p0, n), direction=GT
  v = f32[] select(gt, p0, n)
  i = s32[] select(gt, p1, p3)
  ROOT t = (f32[], s32[]) tuple(v, i) }}
ENTRY main {{
  x = f32[4] parameter(0)
  k = s32[4] parameter(1)
  a = f32[] constant(0)
  b = s32[] constant(0)
  ROOT r = (f32[], s32[]) reduce(x, k, a, b), dimensions={{0}}, to_apply=pick
}}
""".replace("{{", "{").replace("}}", "}")


def _reducer():
    module = parse_hlo(REDUCERS)
    (op,) = [op for op in module.walk() if isinstance(op, ReduceOp)]
    return Program(module).engine, op.to_apply


def test_region_as_function_of_scalars():
    engine, region = _reducer()
    pick = engine.callable(region)
    value, index = pick(np.float32(1), np.int32(10), np.float32(-5), np.int32(20))
    assert (value, index) == (5, 20)
    assert type(value) is np.float32
    assert type(index) is np.int32


def test_region_as_function_of_arrays():
    engine, region = _reducer()
    pick = engine.vectorized(region)
    assert pick is not None
    values, indices = pick(
        np.array([1, 9], np.float32), np.int32(10), np.array([-5, -5], np.float32), np.array([20, 21], np.int32)
    )
    assert values.tolist() == [5, 9]
    assert indices.tolist() == [20, 10]


def test_not_every_region_is_elementwise():
    module = parse_hlo("""
HloModule loops
step { x = s32[] parameter(0)
  ROOT y = s32[] add(x, x) }
small { x = s32[] parameter(0)
  c = s32[] constant(100)
  ROOT lt = pred[] compare(x, c), direction=LT }
combine { a = s32[] parameter(0)
  b = s32[] parameter(1)
  s = s32[] add(a, b)
  ROOT w = s32[] while(s), condition=small, body=step }
ENTRY main {
  x = s32[3] parameter(0)
  z = s32[] constant(0)
  ROOT r = s32[] reduce(x, z), dimensions={0}, to_apply=combine
}""")
    (op,) = [op for op in module.walk() if isinstance(op, ReduceOp)]
    program = Program(module)
    assert program.engine.vectorized(op.to_apply) is None
    assert program.engine.callable(op.to_apply)(np.int32(1), np.int32(2)) == 192
    # 0 + 5 -> 160, + 1 = 161, + 40 = 201
    assert program.run(np.array([5, 1, 40], np.int32)) == [201]


def test_regions_of_kernels_may_not_communicate():
    module = parse_hlo("""
HloModule talk
combine { a = s32[] parameter(0)
  b = s32[] parameter(1)
  s = s32[] add(a, b)
  ROOT c = s32[] collective-permute(s), source_target_pairs={{0,0}} }
ENTRY main {
  x = s32[3] parameter(0)
  z = s32[] constant(0)
  ROOT r = s32[] reduce(x, z), dimensions={0}, to_apply=combine
}""")
    with pytest.raises(EvaluationError, match="expected a computation without collectives"):
        Program(module).run(np.array([5, 1, 40], np.int32))


UNCHANGED = """
HloModule unchanged
inner_body {
  p = (s32[], f32[2,2], f32[2,2]) parameter(0)
  j = s32[] get-tuple-element(p), index=0
  x = f32[2,2] get-tuple-element(p), index=1
  w = f32[2,2] get-tuple-element(p), index=2
  t = f32[2,2] transpose(w), dimensions={1,0}
  half = f32[] constant(0.5)
  h = f32[2,2] broadcast(half), dimensions={}
  s = f32[2,2] multiply(t, h)
  y = f32[2,2] add(x, s)
  one = s32[] constant(1)
  next = s32[] add(j, one)
  ROOT r = (s32[], f32[2,2], f32[2,2]) tuple(next, y, w)
}
inner_cond {
  p = (s32[], f32[2,2], f32[2,2]) parameter(0)
  j = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT lt = pred[] compare(j, n), direction=LT
}
body {
  p = (s32[], f32[2,2], f32[2,2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[2,2] get-tuple-element(p), index=1
  w = f32[2,2] get-tuple-element(p), index=2
  zero = s32[] constant(0)
  init = (s32[], f32[2,2], f32[2,2]) tuple(zero, x, w)
  inner = (s32[], f32[2,2], f32[2,2]) while(init), condition=inner_cond, body=inner_body
  y = f32[2,2] get-tuple-element(inner), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT r = (s32[], f32[2,2], f32[2,2]) tuple(next, y, w)
}
cond {
  p = (s32[], f32[2,2], f32[2,2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(4)
  ROOT lt = pred[] compare(i, n), direction=LT
}
ENTRY main {
  x = f32[2,2] parameter(0)
  w = f32[2,2] parameter(1)
  zero = s32[] constant(0)
  init = (s32[], f32[2,2], f32[2,2]) tuple(zero, x, w)
  ROOT r = (s32[], f32[2,2], f32[2,2]) while(init), condition=cond, body=body
}
"""


def test_what_does_not_change_is_computed_once():
    """Transpose, broadcast and multiply leave both loops; the loops keep one addition and their counters."""
    module = parse_hlo(UNCHANGED)
    program = Program(module, warm_up=0)
    w = np.array([[1, 2], [3, 4]], np.float32)
    _, y, _ = program.run(np.zeros((2, 2), np.float32), w)
    np.testing.assert_array_equal(y, 12 * (w.T * np.float32(0.5)))
    (text,) = [listing.text for listing in program.engine.listings if "while True" in listing.text]
    before, loops = text.split("while True", 1)
    assert before.count("h") >= 3
    assert loops.count("(") == loops.count("out=") + 1, text  # one call an iteration, and the tuple that is returned


def test_one_name_for_one_loop():
    module = parse_hlo(UNCHANGED)
    engine = Program(module).engine
    loops = [op for op in module.walk() if isinstance(op, WhileOp)]
    assert engine.loop(loops[0]) is engine.loop(loops[0])
    assert engine.loop(loops[0]) is not engine.loop(loops[1])
