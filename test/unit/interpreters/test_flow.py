"""Branches, calls, fusions, and what only passes values on."""

import numpy as np
import pytest

BRANCHES = """
HloModule branches
double { x = s32[4] parameter(0)
  ROOT y = s32[4] add(x, x) }
same { ROOT x = s32[4] parameter(0) }
square { x = s32[4] parameter(0)
  ROOT y = s32[4] multiply(x, x) }
ENTRY main {
  k = s32[] parameter(0)
  x = s32[4] parameter(1)
  c = s32[4] conditional(k, x, x, x), branch_computations={double, same, square}
  ROOT r = s32[4] add(c, x)
}
"""


@pytest.mark.parametrize(("index", "factor"), [(0, [3, 3]), (1, [2, 2]), (2, [4, 6]), (3, [4, 6]), (-1, [4, 6])])
def test_branches_by_index(program, index, factor):
    x = np.array([3, 5, 0, 0], np.int32)
    (result,) = program(BRANCHES).run(np.int32(index), x)
    assert result.tolist()[:2] == [3 * factor[0], 5 * factor[1]]


IN_LOOP = """
HloModule branches_in_loop
twice { x = (s32[], s32[3]) parameter(0)
  i = s32[] get-tuple-element(x), index=0
  a = s32[3] get-tuple-element(x), index=1
  y = s32[3] add(a, a)
  ROOT t = (s32[], s32[3]) tuple(i, y) }
keep { ROOT x = (s32[], s32[3]) parameter(0) }
body {
  p = (s32[], s32[3]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = s32[3] get-tuple-element(p), index=1
  three = s32[] constant(3)
  lt = pred[] compare(i, three), direction=LT
  c = (s32[], s32[3]) conditional(lt, p, p), true_computation=twice, false_computation=keep
  y = s32[3] get-tuple-element(c), index=1
  z = s32[3] add(y, y)
  s = s32[3] subtract(z, x)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT t = (s32[], s32[3]) tuple(next, s)
}
cond {
  p = (s32[], s32[3]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(6)
  ROOT lt = pred[] compare(i, n), direction=LT
}
ENTRY main {
  zero = s32[] constant(0)
  x = s32[3] parameter(0)
  init = (s32[], s32[3]) tuple(zero, x)
  ROOT w = (s32[], s32[3]) while(init), condition=cond, body=body
}
"""


def test_branches_in_a_loop(program):
    x = np.array([1, -2, 5], np.int32)
    i, y = program(IN_LOOP).run(x)
    # x -> 2 * (2 x) - x = 3 x three times, then x -> 2 x - x = x
    assert i == 6
    assert y.tolist() == [27, -54, 135]
    assert x.tolist() == [1, -2, 5]


def _calls(lines: int, sites: int) -> str:
    """A loop that calls a function of `lines` instructions (x plus `lines`) at several sites."""
    adds = "\n".join(f"  x{n + 1} = f32[2] add(x{n}, ones)" for n in range(lines))
    calls = "\n".join(f"  y{n + 1} = f32[2] call(y{n}), to_apply=f" for n in range(sites))
    return f"""
HloModule calls
f {{
  x0 = f32[2] parameter(0)
  one = f32[] constant(1)
  ones = f32[2] broadcast(one), dimensions={{}}
{adds}
  ROOT r = f32[2] copy(x{lines})
}}
body {{
  p = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  y0 = f32[2] get-tuple-element(p), index=1
{calls}
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT t = (s32[], f32[2]) tuple(next, y{sites})
}}
cond {{
  p = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(20)
  ROOT lt = pred[] compare(i, n), direction=LT
}}
ENTRY main {{
  zero = s32[] constant(0)
  x = f32[2] parameter(0)
  init = (s32[], f32[2]) tuple(zero, x)
  ROOT w = (s32[], f32[2]) while(init), condition=cond, body=body
}}"""


@pytest.mark.parametrize(("lines", "sites"), [(3, 2), (100, 1), (100, 3)])
def test_calls_inline_and_not(program, lines, sites):
    x = np.array([0.5, -2], np.float32)
    i, y = program(_calls(lines, sites)).run(x)
    assert i == 20
    assert y.tolist() == [0.5 + 20 * lines * sites, -2 + 20 * lines * sites]
    assert x.tolist() == [0.5, -2]


def test_passing_on(program):
    outputs = program("""
HloModule passing
wrapped { a = f32[2] parameter(0)
  b = f32[2] parameter(1)
  ROOT s = f32[2] subtract(a, b) }
fused { a = f32[2] parameter(0)
  ROOT n = f32[2] negate(a) }
ENTRY main {
  x = f32[2] parameter(0)
  y = f32[2] parameter(1)
  tok = token[] after-all()
  both = token[] after-all(tok, tok)
  d = f32[2] add-dependency(x, both)
  pair = (f32[2], f32[2]) tuple(d, y)
  barrier = (f32[2], f32[2]) opt-barrier(pair)
  e = f32[2] get-tuple-element(barrier), index=1
  cs = (f32[2], f32[2], u32[]) copy-start(e)
  cd = f32[2] copy-done(cs)
  start = ((f32[2], f32[2]), f32[2], u32[]) async-start(cd, x), calls=wrapped
  update = ((f32[2], f32[2]), f32[2], u32[]) async-update(start)
  done = f32[2] async-done(update)
  marker = f32[2] custom-call(done), custom_call_target="NeuronBoundaryMarker-Start", backend_config="boundaryCount=0"
  end = (f32[2], f32[2]) custom-call(marker, x), custom_call_target="AwsNeuronModuleMarkerEnd-Forward"
  f = f32[2] get-tuple-element(end), index=0
  g = f32[2] fusion(f), kind=kLoop, calls=fused
  ROOT out = (f32[2], (f32[2], f32[2])) tuple(g, end)
}""").run(np.array([1, 2], np.float32), np.array([5, 9], np.float32))
    negated, (difference, x) = outputs
    assert negated.tolist() == [-4, -7]
    assert difference.tolist() == [4, 7]
    assert x.tolist() == [1, 2]
