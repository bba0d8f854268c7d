"""What goes wrong is one clear error with its place, and only when it is reached."""

import numpy as np
import pytest

from xneuron.execution.errors import EvaluationError
from xneuron.formats.hlo_text import parse_hlo
from xneuron.interpreters.evaluator import Program

CHOICE = """
HloModule choice
good {{ ROOT x = f32[2] parameter(0) }}
bad {{ x = f32[2] parameter(0)
  ROOT y = {instruction} }}
ENTRY main {{
  p = pred[] parameter(0)
  x = f32[2] parameter(1)
  ROOT c = f32[2] conditional(p, x, x), true_computation=good, false_computation=bad
}}
"""
ONES = np.ones(2, np.float32)


@pytest.mark.parametrize(
    ("instruction", "message"),
    [
        (
            'f32[2] custom-call(x), custom_call_target="abc"',
            r"no meaning for instruction %y \(opcode custom-call, target abc\)",
        ),
        ("f32[2] constant({...})", r"expected the value of a constant, found one that the text left out"),
    ],
)
def test_only_when_reached(program, instruction, message):
    p = program(CHOICE.format(instruction=instruction))
    (result,) = p.run(True, ONES)
    assert result.tolist() == [1, 1]
    with pytest.raises(EvaluationError, match=rf"^test\.hlo:5:\d+: {message}"):
        p.run(False, ONES)


IN_LOOP = """
HloModule late
body {
  p = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[2] get-tuple-element(p), index=1
  y = f32[2] custom-call(x), custom_call_target="abc"
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT t = (s32[], f32[2]) tuple(next, y)
}
cond {
  p = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT lt = pred[] compare(i, n), direction=LT
}
ENTRY main {
  i = s32[] parameter(0)
  x = f32[2] parameter(1)
  init = (s32[], f32[2]) tuple(i, x)
  ROOT w = (s32[], f32[2]) while(init), condition=cond, body=body
}
"""


def test_in_a_loop(program):
    p = program(IN_LOOP)
    assert p.run(np.int32(3), ONES)[0] == 3
    with pytest.raises(EvaluationError, match=r"^test\.hlo:7:\d+: no meaning for instruction %y"):
        p.run(np.int32(2), ONES)


def test_a_tuple_that_nobody_makes(program):
    text = IN_LOOP.replace(
        'y = f32[2] custom-call(x), custom_call_target="abc"',
        """c = (f32[2], s32[]) custom-call(x), custom_call_target="abc"
  z = f32[2] get-tuple-element(c), index=0
  y = f32[2] add(z, x)""",
    )
    p = program(text)
    assert p.run(np.int32(3), ONES)[0] == 3
    with pytest.raises(EvaluationError, match=r"^test\.hlo:7:\d+: no meaning for instruction %c"):
        p.run(np.int32(2), ONES)


REJECTING = """
HloModule rejecting
body {
  p = (s32[], f32[2], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[2] get-tuple-element(p), index=1
  n = s32[] get-tuple-element(p), index=2
  r = f32[<=2] dynamic-reshape(x, n)
  y = f32[2] add(x, x)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT t = (s32[], f32[2], s32[]) tuple(next, y, n)
}
cond {
  p = (s32[], f32[2], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  c = s32[] constant(3)
  ROOT lt = pred[] compare(i, c), direction=LT
}
ENTRY main {
  i = s32[] parameter(0)
  x = f32[2] parameter(1)
  n = s32[] parameter(2)
  init = (s32[], f32[2], s32[]) tuple(i, x, n)
  ROOT w = (s32[], f32[2], s32[]) while(init), condition=cond, body=body
}
"""


def test_what_may_fail_stays_in_its_loop(program):
    p = program(REJECTING)
    assert p.run(np.int32(3), ONES, np.int32(7))[0] == 3
    with pytest.raises(EvaluationError, match=r"^test\.hlo:8:\d+: expected extents of 2 elements, found \[7\]"):
        p.run(np.int32(2), ONES, np.int32(7))


def test_failing_kernel_names_its_instruction(program, monkeypatch):
    from xneuron.interpreters.kernels import registry

    def broken(x):
        raise ValueError("broken")

    p = program(IN_LOOP)
    original = p.engine.meaning
    monkeypatch.setattr(p.engine, "meaning", lambda op: broken if op.name == "hlo.custom_call" else original(op))
    with pytest.raises(EvaluationError, match=r"^test\.hlo:7:\d+: %y failed: ValueError: broken"):
        p.run(np.int32(0), ONES)
    assert registry.no_meaning  # the registry itself is untouched


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ((), "expected 2 inputs, found 0"),
        ((np.int32(1), np.ones(3, np.float32)), r"input 1: expected f32\[2\], found float32\[3\]"),
        ((np.int32(1), np.ones(2)), r"input 1: expected f32\[2\], found float64\[2\]"),
        ((np.ones(1, np.int32), ONES), r"input 0: expected s32\[\], found int32\[1\]"),
        (("abc", ONES), r"input 0: expected s32\[\], found"),
    ],
)
def test_inputs_that_do_not_fit(inputs, message):
    with pytest.raises(EvaluationError, match=message):
        Program(parse_hlo(IN_LOOP)).run(*inputs)


def test_tuple_inputs():
    text = "HloModule t\nENTRY main { ROOT p = (f32[2], s32[]) parameter(0) }"
    program = Program(parse_hlo(text))
    x, n = program.run((ONES, 3))
    assert x.tolist() == [1, 1]
    assert type(n) is np.int32
    with pytest.raises(EvaluationError, match=r"input 0: expected \(f32\[2\], s32\[\]\), found a tuple of 1"):
        program.run((ONES,))


def test_which_function():
    with pytest.raises(EvaluationError, match="expected a function, found no @nothing; there are @main"):
        Program(parse_hlo(IN_LOOP), "nothing")


FUNCTIONS = """
func.func {visibility} @a(%x: tensor<f32>) -> tensor<f32> {{
  %y = func.call @b(%x) : (tensor<f32>) -> tensor<f32>
  func.return %y : tensor<f32>
}}
func.func @b(%x: tensor<f32>) -> tensor<f32> {{
  %y = func.call @{callee}(%x) : (tensor<f32>) -> tensor<f32>
  func.return %y : tensor<f32>
}}
func.func private @c(%x: tensor<f32>) -> tensor<f32> {{
  func.return %x : tensor<f32>
}}
"""


def _module(text: str):
    from xdsl.context import Context
    from xdsl.dialects.builtin import Builtin
    from xdsl.dialects.func import Func
    from xdsl.parser import Parser

    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(Func)
    return Parser(context, text).parse_module()


def test_recursion():
    module = _module(FUNCTIONS.format(visibility="private", callee="a"))
    with pytest.raises(EvaluationError, match=r"expected no recursion, found @[ab] calling itself"):
        Program(module).run(np.float32(1))


def test_missing_callee():
    module = _module(FUNCTIONS.format(visibility="private", callee="nobody"))
    with pytest.raises(EvaluationError, match="expected a function, found no @nobody"):
        Program(module).run(np.float32(1))


def test_two_public_functions():
    module = _module(FUNCTIONS.format(visibility="", callee="c"))
    with pytest.raises(EvaluationError, match="expected one public function, found @a, @b; say which one to run"):
        Program(module)
    assert Program(module, "a").run(np.float32(2.5)) == [2.5]
