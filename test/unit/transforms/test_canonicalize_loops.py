"""The fixpoint of the canonicalisers: what is reported, and what one after another they achieve."""

import pytest

from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.formats.hlo_text import parse_hlo
from xneuron.transforms import canonicalize_loops
from xneuron.transforms.canonicalize_loops import canonicalize

NOTHING_TO_DO = "HloModule m\nENTRY main { ROOT p = f32[] parameter(0) }"

NESTED = """HloModule m
inner_body { p = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  i2 = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  s = s32[] add(i2, n)
  ROOT t = (s32[], s32[]) tuple(s, n) }
inner_cond { p = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  ROOT c = pred[] compare(i, n), direction=LT }
outer_body { p = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  box = (s32[], s32[]) tuple(i, n)
  a = s32[] get-tuple-element(box), index=0
  b = s32[] get-tuple-element(box), index=1
  q = (s32[], s32[]) tuple(a, b)
  w = (s32[], s32[]) while(q), condition=inner_cond, body=inner_body
  r = s32[] get-tuple-element(w), index=0
  ROOT t = (s32[], s32[]) tuple(r, b) }
outer_cond { p = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  ROOT c = pred[] compare(i, n), direction=LT }
ENTRY main { i = s32[] parameter(0)
  n = s32[] constant(5)
  t = (s32[], s32[]) tuple(i, n)
  ROOT w = (s32[], s32[]) while(t), condition=outer_cond, body=outer_body }
"""


def test_unchanged_is_unchanged():
    module = parse_hlo(NOTHING_TO_DO)
    before = str(module)
    assert canonicalize(module) is False
    assert str(module) == before


def test_bound_reaches_the_inner_loop_through_tuples():
    module = parse_hlo(NESTED)
    assert canonicalize(module)
    module.verify()
    loops = [op for op in module.walk() if isinstance(op, WhileOp)]
    assert len(loops) == 2
    for loop in loops:
        assert loop.inits[0].owner.name == "hlo.tuple"
        assert [op.name for op in loop.cond.block.ops] == [
            "hlo.constant",
            "hlo.get_tuple_element",
            "hlo.compare",
            "hlo.return",
        ]


@pytest.mark.parametrize(
    ("changes", "rounds", "changed", "ran"),
    [
        ([False], 25, False, 1),
        ([True, False], 25, True, 2),
        ([True] * 30, 25, True, 25),
        ([True] * 30, 1, True, 1),
        ([], 0, False, 0),
    ],
)
def test_a_change_is_reported_at_the_limit_too(
    monkeypatch: pytest.MonkeyPatch, changes: list[bool], rounds: int, changed: bool, ran: int
):
    seen: list[bool] = []

    def one_round(module: object) -> bool:
        seen.append(changes[len(seen)])
        return seen[-1]

    monkeypatch.setattr(canonicalize_loops, "_round", one_round)
    assert canonicalize(parse_hlo(NOTHING_TO_DO), rounds) is changed
    assert len(seen) == ran
