"""What collectives move in a run: loops multiply, unknown counts stay, a conditional counts its most."""

import numpy as np
import pytest

from xneuron.analysis.cost import Amount, CommunicationCost, Traffic, spelled_bytes
from xneuron.formats.hlo_text import parse_hlo
from xneuron.interpreters.evaluator import Program


def loop(name: str, count: str, body: str) -> str:
    return f"""{name}.body {{
  p = (s32[], f32[4], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[4] get-tuple-element(p), index=1
  k = s32[] get-tuple-element(p), index=2
  zero = s32[] constant(0)
  one = s32[] constant(1)
  n = s32[] add(i, one)
  t = (s32[], f32[4], s32[]) tuple(zero, x, k)
{body}
  ROOT r = (s32[], f32[4], s32[]) tuple(n, y, k)
}}
{name}.cond {{
  p = (s32[], f32[4], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  k = s32[] get-tuple-element(p), index=2
  c = s32[] constant(3)
  ROOT lt = pred[] compare(i, {count}), direction=LT
}}
"""


SUM = "sum { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b) }\n"
GATHER = """  g = f32[8] all-gather(x), replica_groups={}, dimensions={0}
  y = f32[4] reduce-scatter(g), replica_groups={}, dimensions={0}, to_apply=sum"""
INNER = """  w = (s32[], f32[4], s32[]) while(t), condition=inner.cond, body=inner.body
  z = f32[4] get-tuple-element(w), index=1
  y = f32[4] all-reduce(z), replica_groups={}, to_apply=sum"""
ENTRY = """ENTRY main {
  x = f32[4] parameter(0)
  k = s32[] parameter(1)
  start = s32[] constant(0)
  t = (s32[], f32[4], s32[]) tuple(start, x, k)
  ROOT outer = (s32[], f32[4], s32[]) while(t), condition=outer.cond, body=outer.body
}"""


def nest(inner: str, outer: str) -> str:
    return "HloModule m, replica_count=2\n" + SUM + loop("inner", inner, GATHER) + loop("outer", outer, INNER) + ENTRY


def cost(text: str) -> dict[str, Traffic]:
    return CommunicationCost(parse_hlo(text)).of_program()


def test_known_counts_multiply() -> None:
    found = cost(nest("c", "c"))
    assert found == {
        "all-gather": Traffic(Amount.of(9), Amount.of(9 * 32)),
        "reduce-scatter": Traffic(Amount.of(9), Amount.of(9 * 32)),
        "all-reduce": Traffic(Amount.of(3), Amount.of(3 * 16)),
    }


def test_unknown_counts_stay_symbolic() -> None:
    found = cost(nest("k", "k"))
    assert str(found["all-gather"]) == "1 * trips(outer) * trips(w) of 32 * trips(outer) * trips(w) bytes in all"
    assert found["all-gather"].bytes.at({"outer": 5, "w": 7}) == 32 * 35
    with pytest.raises(KeyError, match="outer"):
        found["all-gather"].bytes.at({"w": 7})
    assert str(cost(nest("c", "k"))["all-gather"].runs) == "3 * trips(outer)"


@pytest.mark.parametrize("trips", [0, 1, 4])
def test_agrees_with_what_runs(trips: int) -> None:
    text = nest("k", "c")
    program = Program(parse_hlo(text), profile=True)
    program.run_all([[np.ones(4, np.float32), trips]] * 2)
    runs = {opcode: traffic.runs.at({"w": trips}) for opcode, traffic in cost(text).items()}
    assert runs == {opcode: program.profile.collectives.get(opcode, 0) for opcode in runs}


def test_conditionals_count_their_most() -> None:
    text = """HloModule m, replica_count=2
one { x = f32[4] parameter(0)
  ROOT g = f32[8] all-gather(x), replica_groups={}, dimensions={0} }
two { x = f32[4] parameter(0)
  g = f32[8] all-gather(x), replica_groups={}, dimensions={0}
  h = f32[16] all-gather(g), replica_groups={}, dimensions={0}
  ROOT s = f32[8] slice(h), slice={[0:8]} }
ENTRY main { c = pred[] parameter(0)
  x = f32[4] parameter(1)
  ROOT r = f32[8] conditional(c, x, x), true_computation=one, false_computation=two }"""
    assert cost(text) == {"all-gather": Traffic(Amount.of(2), Amount.of(32 + 64))}


def test_calls_and_starts() -> None:
    text = """HloModule m, replica_count=2
f { x = f32[4] parameter(0)
  s = (f32[4], f32[8]) all-gather-start(x), replica_groups={}, dimensions={0}
  ROOT d = f32[8] all-gather-done(s) }
ENTRY main { x = f32[4] parameter(0)
  a = f32[8] call(x), to_apply=f
  b = f32[8] call(x), to_apply=f
  ROOT p = f32[8] collective-permute(a), source_target_pairs={{0,1}} }"""
    found = cost(text)
    assert found["all-gather"] == Traffic(Amount.of(2), Amount.of(64))
    assert found["collective-permute"] == Traffic(Amount.of(1), Amount.of(32))


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1536, "1.5 KiB"),
        (64 << 20, "64.0 MiB"),
        (3 << 50, "3072.0 TiB"),
    ],
)
def test_spelled(number: int, text: str) -> None:
    assert spelled_bytes(number) == text
