"""What is lowered although nobody needs its result: loops that may never end, and what has effects."""

from __future__ import annotations

import lowered
import numpy as np
import pytest

from xneuron.execution.errors import EvaluationError
from xneuron.lowering.hlo_to_bir.rules import NotLowerable

FOREVER = """HloModule m
always { p = (s32[]) parameter(0)
  ROOT t = pred[] constant(true) }
same { ROOT p = (s32[]) parameter(0) }
"""
IN_A_LOOP = (
    FOREVER
    + """three { p = (s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT }
body { p = (s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  inner = (s32[]) tuple(one)
  w = (s32[]) while(inner), condition=always, body=same
  j = s32[] add(i, one)
  ROOT t = (s32[]) tuple(j) }
ENTRY e { flag = pred[] parameter(0)
  zero = s32[] constant(0)
  t = (s32[]) tuple(zero)
  w = (s32[]) while(t), condition=three, body=body
  ROOT r = s32[] constant(1) }"""
)
IN_A_BRANCH = (
    FOREVER
    + """then { p = s32[] parameter(0)
  t = (s32[]) tuple(p)
  w = (s32[]) while(t), condition=always, body=same
  ROOT r = s32[] get-tuple-element(w), index=0 }
else { ROOT p = s32[] parameter(0) }
ENTRY e { flag = pred[] parameter(0)
  zero = s32[] constant(0)
  c = s32[] conditional(flag, zero, zero), true_computation=then, false_computation=else
  ROOT r = s32[] constant(1) }"""
)


@pytest.mark.parametrize("text", [IN_A_LOOP, IN_A_BRANCH], ids=["in a loop", "in a branch"])
def test_a_loop_without_an_end_has_none_although_nobody_needs_it(text: str) -> None:
    structured = lowered.lowered(text)
    for module in (structured, lowered.branched(structured)):
        with pytest.raises(EvaluationError, match="did not end after 1000 iterations"):
            lowered.run_bir(module, [np.True_], [np.int32(0)], max_iterations=1000)


def test_the_other_branch_ends() -> None:
    lowered.agree(IN_A_BRANCH, np.False_)


@pytest.mark.parametrize(
    ("instruction", "blamed"),
    [
        ("token[] outfeed(x, t), outfeed_shape=s32[]", "outfeed 'i'"),
        ('() custom-call(x), custom_call_target="print", custom_call_has_side_effect=true', "custom_call 'i'"),
        ('s32[0] custom-call(x), custom_call_target="print", custom_call_has_side_effect=true', "custom_call 'i'"),
        ("s32[] all-reduce(x), to_apply=sum, replica_groups={}", "all_reduce 'i'"),
    ],
)
def test_effects_are_not_dropped_silently(instruction: str, blamed: str) -> None:
    text = f"""HloModule m
sum {{ a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT s = s32[] add(a, b) }}
ENTRY e {{ x = s32[] parameter(0)
  t = token[] after-all()
  i = {instruction}
  ROOT r = s32[] constant(1) }}"""
    with pytest.raises(NotLowerable, match=blamed):
        lowered.lowered(text)


def test_a_call_without_effects_is_dropped_however_unknown() -> None:
    text = """HloModule m
ENTRY e { x = s32[] parameter(0)
  i = s32[] custom-call(x), custom_call_target="unknown"
  ROOT r = s32[] negate(x) }"""
    assert lowered.run_bir(lowered.lowered(text), [np.int32(5)], [np.int32(0)]) == [-5]


@pytest.mark.parametrize("type", ["token[]", "(s32[], token[])"])
def test_tokens_are_no_locations(type: str) -> None:
    text = f"""HloModule m
ENTRY e {{ x = s32[] parameter(0)
  k = {type} parameter(1)
  y = s32[] negate(x)
  ROOT r = (s32[], {type}) tuple(y, k) }}"""
    kinds = [op.name for op in lowered.function_of(lowered.lowered(text)).walk() if op.name == "bir.memory_location"]
    assert len(kinds) >= 2


def test_the_extent_of_a_static_dimension_is_a_number() -> None:
    text = """HloModule m
ENTRY e { x = s32[2,5] parameter(0)
  ROOT n = s32[] get-dimension-size(x), dimensions={1} }"""
    assert lowered.agree(text, np.zeros((2, 5), np.int32)) == [5]
