"""Bodies that are not a plain tuple of elements: what stays packed, and that all forms still compute the same."""

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xneuron.analysis.verification import verify_module
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.formats.hlo_text.parser import parse_hlo
from xneuron.formats.hlo_text.printer import print_hlo
from xneuron.interpreters.evaluator import Program
from xneuron.transforms.neuron_add_boundary_marker import DISABLE
from xneuron.transforms.while_loop_unroller import WhileLoopUnroller

FORMS = [WhileLoopUnroller(wrap_in_trivial_loop=False), WhileLoopUnroller(), WhileLoopUnroller(unroll_factor=2)]

CONDITION = """
  b = s32[] constant(9)
  ROOT c = pred[] compare(i, b), direction=LT"""


def text(body: str, state: str = "(s32[], s32[4])", counter: str = "s32[]", functions: str = "", more: str = "") -> str:
    """Five iterations from -1 by 2; `body` defines `t`, the next state, of `p`. `more`: condition up to its counter."""
    read = more or "i = s32[] get-tuple-element(p), index=0"
    return f"""HloModule special
{functions}
body {{
  p = {state} parameter(0)
{body}
}}
condition {{
  p = {state} parameter(0)
  {read}{CONDITION}
}}
ENTRY main {{
  x = s32[4] parameter(0)
  z = {counter} constant({"{-1}" if "[1]" in counter else "-1"})
  t = {state} tuple(z, x)
  ROOT loop = {state} while(t), condition=condition, body=body
}}
"""


USUAL = """
  i = s32[] get-tuple-element(p), index=0
  x = s32[4] get-tuple-element(p), index=1
  f = s32[4] broadcast(i), dimensions={}
  y = s32[4] multiply(x, f)
  w = s32[4] add(y, f)
  two = s32[] constant(2)
  n = s32[] add(i, two)
"""
KEPT = """
whole {
  q = (s32[], s32[4]) parameter(0)
  j = s32[] get-tuple-element(q), index=0
  v = s32[4] get-tuple-element(q), index=1
  g = s32[4] broadcast(j), dimensions={}
  ROOT s = s32[4] add(v, g)
}
step {
  q = (s32[], s32[4]) parameter(0)
  j = s32[] get-tuple-element(q), index=0
  v = s32[4] get-tuple-element(q), index=1
  k = s32[] constant(2)
  m = s32[] add(k, j)
  g = s32[4] broadcast(m), dimensions={}
  d = s32[4] xor(v, g)
  ROOT s = (s32[], s32[4]) tuple(m, d)
}
"""
NOT_INLINED = 'frontend_attributes={inlineable="false"}'

SPECIAL = {
    "root behind a barrier": text(
        f"{USUAL}  r = (s32[], s32[4]) tuple(n, w)\n  ROOT t = (s32[], s32[4]) opt-barrier(r)"
    ),
    "state used as a whole": text(
        f"""{USUAL}  u = s32[4] call(p), to_apply=whole, {NOT_INLINED}
  a = s32[4] add(u, w)
  ROOT t = (s32[], s32[4]) tuple(n, a)""",
        functions=KEPT,
    ),
    "next state made by a call": text(
        f"  ROOT t = (s32[], s32[4]) call(p), to_apply=step, {NOT_INLINED}", functions=KEPT
    ),
    "elements with a sharding": text(
        USUAL.replace("index=1", "index=1, sharding={replicated}") + "  ROOT t = (s32[], s32[4]) tuple(n, w)"
    ),
    "an element that waits": text(
        """
  i = s32[] get-tuple-element(p), index=0
  f = s32[4] broadcast(i), dimensions={}
  x = s32[4] get-tuple-element(p), index=1, control-predecessors={f}
  y = s32[4] multiply(x, f)
  two = s32[] constant(2)
  n = s32[] add(i, two)
  ROOT t = (s32[], s32[4]) tuple(n, y)"""
    ),
    "next counter used elsewhere": text(
        f"""{USUAL}  m = s32[4] broadcast(n), dimensions={{}}
  a = s32[4] xor(w, m)
  ROOT t = (s32[], s32[4]) tuple(n, a)"""
    ),
    "counter of one element": text(
        """
  v = s32[1] get-tuple-element(p), index=0
  i = s32[] reshape(v)
  x = s32[4] get-tuple-element(p), index=1
  f = s32[4] broadcast(i), dimensions={}
  y = s32[4] multiply(x, f)
  w = s32[4] add(y, f)
  two = s32[1] constant({2})
  n = s32[1] add(v, two)
  ROOT t = (s32[1], s32[4]) tuple(n, w)""",
        "(s32[1], s32[4])",
        "s32[1]",
        more="v = s32[1] get-tuple-element(p), index=0\n  i = s32[] reshape(v)",
    ),
    "a body that does nothing but count": text(
        """
  i = s32[] get-tuple-element(p), index=0
  x = s32[4] get-tuple-element(p), index=1
  two = s32[] constant(2)
  n = s32[] subtract(i, two)
  four = s32[] constant(4)
  m = s32[] add(n, four)
  ROOT t = (s32[], s32[4]) tuple(m, x)"""
    ),
}


def bits(module: ModuleOp) -> list[bytes]:
    return [np.asarray(value).tobytes() for value in Program(module).run(np.array([3, -1, 7, 2], np.int32))]


@pytest.mark.parametrize("marked", ["0", "1"])
@pytest.mark.parametrize("name", SPECIAL)
def test_all_forms_compute_the_same(name: str, marked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DISABLE, marked)
    expected = bits(parse_hlo(SPECIAL[name]))
    for form in FORMS:
        module = parse_hlo(SPECIAL[name])
        form.apply(Context(), module)
        verify_module(module)
        printed = print_hlo(module)
        loops = sum(isinstance(op, WhileOp) for op in module.walk())
        assert loops == (0 if form is FORMS[0] else 1), printed
        assert bits(module) == expected
        assert bits(parse_hlo(printed)) == expected


@pytest.mark.parametrize(
    ("name", "kept"),
    [("elements with a sharding", "sharding={replicated}"), ("an element that waits", "control-predecessors")],
)
def test_what_an_element_says_is_kept(name: str, kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An element that is more than an element stays an instruction, in each of the five copies."""
    monkeypatch.setenv(DISABLE, "1")
    module = parse_hlo(SPECIAL[name])
    FORMS[0].apply(Context(), module)
    assert print_hlo(module).count(kept) == 5
