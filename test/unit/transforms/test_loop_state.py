"""Loops of every form get one more element, and lose it again, without anybody noticing."""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import InsertPoint, Rewriter

from xneuron.analysis.verification import verify_module
from xneuron.dialects.hlo.attributes import int_of
from xneuron.dialects.hlo.control_flow import GetTupleElementOp, WhileOp
from xneuron.dialects.hlo.data_movement import ConstantOp
from xneuron.dialects.hlo.literal import LiteralAttr
from xneuron.dialects.hlo.types import BY_NAME, elements_of, tensor
from xneuron.formats.hlo_text.parser import parse_hlo
from xneuron.interpreters.evaluator import Program
from xneuron.transforms.loop_state import append_slot, drop_unused_slots

STATE = "(s32[], f32[2])"
TUPLED = "n = s32[] add(i, one)\n  y = f32[2] add(x, x)\n  ROOT t = (s32[], f32[2]) tuple(n, y)"
MARKER = (
    '(s32[], f32[2]) custom-call({}), custom_call_target="NeuronBoundaryMarker-{}", backend_config="boundaryCount=0"'
)
MARKED = TUPLED.replace("ROOT ", "") + f"\n  s = {MARKER.format('t', 'Start')}\n  ROOT e = {MARKER.format('s', 'End')}"


def program(end: str = TUPLED, condition: str = "i", init: str = "tuple(start, x)", result: str = "w") -> str:
    return f"""HloModule m
count {{ p = {STATE} parameter(0)
  ROOT i = s32[] get-tuple-element(p), index=0 }}
next {{ p = {STATE} parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[2] get-tuple-element(p), index=1
  one = s32[] constant(1)
  {TUPLED} }}
never {{ p = {STATE} parameter(0)
  ROOT c = pred[] constant(false) }}
body {{ p = {STATE} parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[2] get-tuple-element(p), index=1
  one = s32[] constant(1)
  {end} }}
cond {{ p = {STATE} parameter(0)
  i = s32[] get-tuple-element(p), index=0
  four = s32[] constant(4)
  j = s32[] call(p), to_apply=count
  ROOT c = pred[] compare({condition}, four), direction=LT }}
ENTRY main {{ x = f32[2] parameter(0)
  start = s32[] constant(0)
  t = {STATE} {init}
  w = {STATE} while(t), condition=cond, body=body
  y = f32[2] get-tuple-element(w), index=1
  ROOT all = ({STATE}, f32[2]) tuple({result}, y) }}"""


FORMS = {
    "plain": program(),
    "the condition calls with its state": program(condition="j"),
    "the body is a call": program("ROOT r = (s32[], f32[2]) call(p), to_apply=next"),
    "the body is a call of a new tuple": program(
        TUPLED.replace("ROOT t", "t") + "\n  ROOT r = (s32[], f32[2]) copy(t)"
    ),
    "the body ends in markers": program(MARKED),
    "a marker's elements are used": program(
        MARKED.replace("ROOT e", "e") + "\n  a = s32[] get-tuple-element(s), index=0\n"
        "  b = f32[2] get-tuple-element(e), index=1\n  ROOT r = (s32[], f32[2]) tuple(a, b)"
    ),
    "a marker's tuple is used": program(MARKED + "\n", condition="i").replace(
        "ROOT e =", "v = (s32[], f32[2]) while(s), condition=never, body=next\n  ROOT e ="
    ),
    "it starts from a call": program(init="call(q), to_apply=next").replace(
        "  t = (s32[]", f"  q = {STATE} tuple(start, x)\n  t = (s32[]", 1
    ),
}


KEEPING = {"a marker's tuple is used"}
"""Forms of which no element is dropped."""


def loop_of(module: ModuleOp) -> WhileOp:
    return next(op for op in module.walk() if isinstance(op, WhileOp) and op.results[0].name_hint == "w")


@pytest.mark.parametrize("form", FORMS)
def test_appended_and_dropped(form: str) -> None:
    module = parse_hlo(FORMS[form])
    expected = Program(module).run(np.array([1, 3], np.float32))
    loop = loop_of(module)
    before = loop.inits[0].type
    value = LiteralAttr.of(tensor(BY_NAME["s8"].type, (3,)), 7)
    constant = ConstantOp.create(result_types=[value.type], properties={"value": value})
    Rewriter.insert_op(constant, InsertPoint.before(loop))
    element = append_slot(loop, constant.result)
    verify_module(module)
    assert elements_of(loop.results[0].type) == (*elements_of(before), value.type)
    assert str(Program(module).run(np.array([1, 3], np.float32))) == str(expected)
    assert isinstance(element.owner, GetTupleElementOp)
    dropped = drop_unused_slots(loop, [int_of(element.owner.index)])
    verify_module(module)
    assert (dropped, loop.results[0].type == before) == ((0, False) if form in KEEPING else (1, True))
    assert str(Program(module).run(np.array([1, 3], np.float32))) == str(expected)


def test_what_is_numbered_or_read_is_not_dropped() -> None:
    numbered = 'backend_config={"known_induction_variable":{"tuple_index":"0"}}'
    loop = loop_of(parse_hlo(program().replace("body=body", f"body=body, {numbered}")))
    assert drop_unused_slots(loop, [0, 1]) == 0
    assert drop_unused_slots(loop_of(parse_hlo(program())), [0, 1]) == 0
