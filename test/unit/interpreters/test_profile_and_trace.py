"""What ran, counted per computation; what each instruction gave."""

import io
import json

import numpy as np
import pytest

from xneuron.formats.hlo_text import parse_hlo
from xneuron.interpreters.evaluator import Program
from xneuron.interpreters.trace import json_lines

TEXT = """
HloModule counted
double { x = s32[] parameter(0)
  ROOT y = s32[] add(x, x) }
even { x = s32[] parameter(0)
  y = s32[] call(x), to_apply=double
  ROOT z = s32[] call(y), to_apply=double }
odd { x = s32[] parameter(0)
  ROOT y = s32[] negate(x) }
inner_body { i = s32[] parameter(0)
  one = s32[] constant(1)
  ROOT next = s32[] add(i, one) }
inner_cond { i = s32[] parameter(0)
  two = s32[] constant(2)
  ROOT lt = pred[] compare(i, two), direction=LT }
body {
  p = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = s32[] get-tuple-element(p), index=1
  one = s32[] constant(1)
  parity = s32[] and(i, one)
  y = s32[] conditional(parity, x, x), branch_computations={even, odd}
  zero = s32[] constant(0)
  two = s32[] while(zero), condition=inner_cond, body=inner_body
  next = s32[] add(i, one)
  ROOT t = (s32[], s32[]) tuple(next, y)
}
cond {
  p = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(5)
  ROOT lt = pred[] compare(i, n), direction=LT
}
ENTRY main {
  zero = s32[] constant(0)
  x = s32[] parameter(0)
  init = (s32[], s32[]) tuple(zero, x)
  w = (s32[], s32[]) while(init), condition=cond, body=body
  ROOT y = s32[] get-tuple-element(w), index=1
}
"""


@pytest.mark.parametrize("warm_up", [None, 0, 1, 2, 3])
def test_profile(warm_up):
    program = Program(parse_hlo(TEXT), warm_up=warm_up, profile=True)
    # three even iterations multiply by four, two odd ones negate
    assert program.run(np.int32(3)) == [3 * 4**3]
    profile = program.profile
    assert profile.iterations == {"%w": 5, "%two": 10}
    assert profile.calls == {"main": 1, "double": 6}
    assert profile.instructions == {
        "constant": 1 + 6 + 2 * 5 + 10 + 15,  # entry, cond, body, inner body, inner cond
        "tuple": 1 + 5,
        "while": 1 + 5,
        "get-tuple-element": 1 + 6 + 2 * 5,
        "compare": 6 + 15,
        "and": 5,
        "conditional": 5,
        "add": 5 + 10 + 6,
        "call": 6,
        "negate": 2,
    }
    assert profile.executed == sum(profile.instructions.values())
    assert json.loads(json.dumps(profile.as_dict()))["executed"] == profile.executed


def test_profile_adds_up_over_runs():
    program = Program(parse_hlo(TEXT), profile=True)
    for _ in range(3):
        program.run(np.int32(3))
    assert program.profile.iterations == {"%w": 15, "%two": 30}


def test_trace():
    file = io.StringIO()
    program = Program(parse_hlo(TEXT), trace=json_lines(file))
    assert program.run(np.int32(3)) == [192]
    records = [json.loads(line) for line in file.getvalue().splitlines()]
    # what only passes values on computes nothing and leaves no record
    assert not {record["opcode"] for record in records} & {"tuple", "get-tuple-element", "constant"}
    negations = [record for record in records if record["opcode"] == "negate"]
    assert [(record["at"], record["values"][0]["min"]) for record in negations] == [([1], -12), ([3], 48)]
    assert negations[0]["computation"] == "odd"
    assert negations[0]["name"] == "%y"
    inner = [record["at"] for record in records if record["computation"] == "inner_body"]
    assert inner == [[i, j] for i in range(5) for j in range(2)]
    (last,) = [record for record in records if record["name"] == "%w"]
    assert last["at"] == []
    assert [value["max"] for value in last["values"]] == [5, 192]
    assert {value["dtype"] for value in last["values"]} == {"int32"}


def test_trace_of_special_values():
    records = []
    text = """
HloModule special
ENTRY main {
  x = f32[3] parameter(0)
  c = c64[3] complex(x, x)
  e = f32[0] slice(x), slice={[0:0]}
  b = bf16[3] convert(x)
  ROOT t = (c64[3], f32[0], bf16[3]) tuple(c, e, b)
}"""
    Program(parse_hlo(text), trace=records.append).run(np.array([1, -np.inf, np.nan], np.float32))
    summaries = [record["values"][0] for record in records]
    assert [(s["dtype"], s["shape"], s["min"], s["max"]) for s in summaries] == [
        ("complex64", [3], None, None),
        ("float32", [0], None, None),
        ("bfloat16", [3], "nan", "nan"),
    ]
