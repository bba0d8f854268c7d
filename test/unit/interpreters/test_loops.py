"""Loops: any state, any nesting, the same from every engine."""

import numpy as np
import pytest

from xneuron.execution.errors import EvaluationError

COUNT = """
HloModule count
body {
  p = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  a = s32[] get-tuple-element(p), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  sum = s32[] add(a, i)
  ROOT t = (s32[], s32[]) tuple(next, sum)
}
cond {
  p = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(TRIPS)
  ROOT lt = pred[] compare(i, n), direction=LT
}
ENTRY main {
  zero = s32[] constant(0)
  init = (s32[], s32[]) tuple(zero, zero)
  ROOT w = (s32[], s32[]) while(init), condition=cond, body=body
}
"""


@pytest.mark.parametrize("trips", [0, 1, 2, 3, 9, 100])
def test_counted_loop(program, trips):
    i, total = program(COUNT.replace("TRIPS", str(trips))).run()
    assert (i, total) == (trips, sum(range(trips)))
    assert type(i) is np.int32
    assert type(total) is np.int32


def test_runs_again(program):
    p = program(COUNT.replace("TRIPS", "5"))
    assert [p.run() for _ in range(4)] == [[5, 10]] * 4


def test_state_that_is_no_tuple(program):
    (result,) = program("""
HloModule bare
body {
  x = s8[] parameter(0)
  c = s8[] constant(50)
  ROOT y = s8[] add(x, c)
}
cond {
  x = s8[] parameter(0)
  c = s8[] constant(-100)
  ROOT ne = pred[] compare(x, c), direction=NE
}
ENTRY main {
  x = s8[] parameter(0)
  ROOT w = s8[] while(x), condition=cond, body=body
}""").run(np.int8(6))
    # 6, 56, 106, 156 - 256 = -100
    assert result == -100
    assert type(result) is np.int8


def test_nested_tuples_and_swaps(program):
    result = program("""
HloModule nested
body {
  p = (s32[], (s32[], (s32[], f32[2]))) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  q = (s32[], (s32[], f32[2])) get-tuple-element(p), index=1
  a = s32[] get-tuple-element(q), index=0
  r = (s32[], f32[2]) get-tuple-element(q), index=1
  b = s32[] get-tuple-element(r), index=0
  x = f32[2] get-tuple-element(r), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[2] add(x, x)
  s = (s32[], f32[2]) tuple(a, y)
  u = (s32[], (s32[], f32[2])) tuple(b, s)
  ROOT t = (s32[], (s32[], (s32[], f32[2]))) tuple(next, u)
}
cond {
  p = (s32[], (s32[], (s32[], f32[2]))) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(5)
  ROOT lt = pred[] compare(i, n), direction=LT
}
ENTRY main {
  p = (s32[], (s32[], (s32[], f32[2]))) parameter(0)
  ROOT w = (s32[], (s32[], (s32[], f32[2]))) while(p), condition=cond, body=body
}""").run((np.int32(0), (np.int32(7), (np.int32(8), np.array([1, 3], np.float32)))))
    i, (a, (b, x)) = result
    assert (i, a, b) == (5, 8, 7)
    assert x.tolist() == [32, 96]


NEST = """
HloModule nest
inner_body {
  p = (s32[], s32[], f32[3]) parameter(0)
  j = s32[] get-tuple-element(p), index=0
  i = s32[] get-tuple-element(p), index=1
  x = f32[3] get-tuple-element(p), index=2
  one = s32[] constant(1)
  next = s32[] add(j, one)
  f = f32[] convert(i)
  fs = f32[3] broadcast(f), dimensions={}
  y = f32[3] add(x, fs)
  ROOT t = (s32[], s32[], f32[3]) tuple(next, i, y)
}
inner_cond {
  p = (s32[], s32[], f32[3]) parameter(0)
  j = s32[] get-tuple-element(p), index=0
  i = s32[] get-tuple-element(p), index=1
  ROOT lt = pred[] compare(j, i), direction=LT
}
outer_body {
  p = (s32[], f32[3], f32[3]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[3] get-tuple-element(p), index=1
  old = f32[3] get-tuple-element(p), index=2
  zero = s32[] constant(0)
  init = (s32[], s32[], f32[3]) tuple(zero, i, x)
  inner = (s32[], s32[], f32[3]) while(init), condition=inner_cond, body=inner_body
  y = f32[3] get-tuple-element(inner), index=2
  d = f32[3] subtract(y, x)
  z = f32[3] add(old, d)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT t = (s32[], f32[3], f32[3]) tuple(next, y, z)
}
outer_cond {
  p = (s32[], f32[3], f32[3]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(12)
  ROOT lt = pred[] compare(i, n), direction=LT
}
ENTRY main {
  x = f32[3] parameter(0)
  zero = s32[] constant(0)
  init = (s32[], f32[3], f32[3]) tuple(zero, x, x)
  ROOT w = (s32[], f32[3], f32[3]) while(init), condition=outer_cond, body=outer_body
}
"""


def test_nested_loops_whose_inner_trips_change(program):
    x = np.array([0, 1, 2], np.float32)
    i, y, z = program(NEST).run(x)
    assert i == 12
    expected = (x + sum(i * i for i in range(12))).tolist()
    assert y.tolist() == expected
    assert z.tolist() == expected
    assert x.tolist() == [0, 1, 2]


TWICE = """
HloModule twice
inner_body {
  p = (s32[], f32[3], f32[3]) parameter(0)
  j = s32[] get-tuple-element(p), index=0
  x = f32[3] get-tuple-element(p), index=1
  fixed = f32[3] get-tuple-element(p), index=2
  one = s32[] constant(1)
  next = s32[] add(j, one)
  scaled = f32[3] multiply(fixed, fixed)
  y = f32[3] add(x, scaled)
  z = f32[3] add(y, fixed)
  ROOT t = (s32[], f32[3], f32[3]) tuple(next, z, fixed)
}
inner_cond {
  p = (s32[], f32[3], f32[3]) parameter(0)
  j = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT lt = pred[] compare(j, n), direction=LT
}
outer_body {
  p = (s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[3] get-tuple-element(p), index=1
  half = f32[] constant(0.5)
  h = f32[3] broadcast(half), dimensions={}
  y = f32[3] multiply(x, h)
  zero = s32[] constant(0)
  init = (s32[], f32[3], f32[3]) tuple(zero, y, y)
  inner = (s32[], f32[3], f32[3]) while(init), condition=inner_cond, body=inner_body
  a = f32[3] get-tuple-element(inner), index=1
  b = f32[3] get-tuple-element(inner), index=2
  r = f32[3] subtract(a, b)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT t = (s32[], f32[3]) tuple(next, r)
}
outer_cond {
  p = (s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(4)
  ROOT lt = pred[] compare(i, n), direction=LT
}
ENTRY main {
  x = f32[3] parameter(0)
  zero = s32[] constant(0)
  init = (s32[], f32[3]) tuple(zero, x)
  ROOT w = (s32[], f32[3]) while(init), condition=outer_cond, body=outer_body
}
"""


def test_one_value_in_a_slot_that_changes_and_one_that_does_not(program):
    _, found = program(TWICE).run(np.array([1, -1, 0.5], np.float32))
    expected = np.array([1, -1, 0.5], np.float32)
    for _ in range(4):
        y = expected * np.float32(0.5)
        z = y
        for _ in range(3):
            z = (z + y * y) + y
        expected = z - y
    np.testing.assert_array_equal(found, expected)


LENT = """
HloModule lent
body {
  p = (s32[], s32[4], s32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  a = s32[4] get-tuple-element(p), index=1
  fixed = s32[4] get-tuple-element(p), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT t = (s32[], s32[4], s32[4]) tuple(next, fixed, fixed)
}
cond {
  p = (s32[], s32[4], s32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT lt = pred[] compare(i, n), direction=LT
}
ENTRY main {
  x = s32[4] parameter(0)
  zero = s32[] constant(0)
  made = s32[4] add(x, x)
  init = (s32[], s32[4], s32[4]) tuple(zero, x, made)
  w = (s32[], s32[4], s32[4]) while(init), condition=cond, body=body
  copied = s32[4] get-tuple-element(w), index=1
  later = s32[4] multiply(x, x)
  ROOT r = (s32[4], s32[4]) tuple(copied, later)
}
"""


def test_a_slot_that_takes_over_what_does_not_change(program):
    """`made` is dead after the loop, but the slot that took it over is not: `later` may not go into its buffer."""
    copied, later = program(LENT).run(np.array([1, 2, 3, 4], np.int32))
    assert copied.tolist() == [2, 4, 6, 8]
    assert later.tolist() == [1, 4, 9, 16]


def test_bounded_loop(program):
    text = COUNT.replace("TRIPS", "50")
    assert program(text, max_iterations=50).run() == [50, sum(range(50))]
    with pytest.raises(EvaluationError, match=r"test\.hlo:\d+:\d+: loop %w did not end after 49 iterations"):
        program(text, max_iterations=49).run()


def test_several_operands():
    """Loops with more than one operand come from MLIR only."""
    from xdsl.context import Context
    from xdsl.dialects.builtin import Builtin
    from xdsl.dialects.func import Func
    from xdsl.parser import Parser

    from xneuron.dialects.hlo import HLO
    from xneuron.interpreters.evaluator import Program

    context = Context()
    for dialect in (Builtin, Func, HLO):
        context.load_dialect(dialect)
    text = """
func.func @main(%a: tensor<i32>, %b: tensor<2xi32>) -> tensor<2xi32> {
  %r:2 = "hlo.while"(%a, %b) ({
  ^bb0(%i: tensor<i32>, %x: tensor<2xi32>):
    %n = "hlo.constant"() {value = #hlo.literal<"10" : tensor<i32>>} : () -> tensor<i32>
    %lt = "hlo.compare"(%i, %n) {direction = "LT"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "hlo.return"(%lt) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %x: tensor<2xi32>):
    %one = "hlo.constant"() {value = #hlo.literal<"1" : tensor<i32>>} : () -> tensor<i32>
    %j = "hlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %y = "hlo.add"(%x, %x) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    "hlo.return"(%j, %y) : (tensor<i32>, tensor<2xi32>) -> ()
  }) : (tensor<i32>, tensor<2xi32>) -> (tensor<i32>, tensor<2xi32>)
  func.return %r#1 : tensor<2xi32>
}
"""
    for warm_up in (None, 0, 3):
        module = Parser(context, text).parse_module()
        (result,) = Program(module, warm_up=warm_up).run(np.int32(0), np.array([1, 3], np.int32))
        assert result.tolist() == [1024, 3072]


@pytest.mark.parametrize("depth", [3, 25])
def test_deep_nests(program, depth):
    """Deeper than Python's limit of nested blocks."""
    computations = []
    for level in range(depth):
        inner = (
            "x = s32[] add(a, one)"
            if level == 0
            else f"""init = (s32[], s32[]) tuple(zero, a)
  w = (s32[], s32[]) while(init), condition=cond, body=body{level - 1}
  x = s32[] get-tuple-element(w), index=1"""
        )
        computations.append(f"""
body{level} {{
  p = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  a = s32[] get-tuple-element(p), index=1
  zero = s32[] constant(0)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  {inner}
  ROOT t = (s32[], s32[]) tuple(next, x)
}}""")
    trips = 2 if depth < 10 else 1
    text = f"""HloModule deep
cond {{
  p = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant({trips})
  ROOT lt = pred[] compare(i, n), direction=LT
}}
{"".join(computations)}
ENTRY main {{
  zero = s32[] constant(0)
  init = (s32[], s32[]) tuple(zero, zero)
  ROOT w = (s32[], s32[]) while(init), condition=cond, body=body{depth - 1}
}}"""
    assert program(text).run() == [trips, trips**depth]
