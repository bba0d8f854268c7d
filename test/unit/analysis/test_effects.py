"""XLA's side effects, through regions and calls."""

import pytest
from xdsl.dialects.func import CallOp

from xneuron.analysis.effects import Effects
from xneuron.formats.hlo_text import parse_hlo

PROGRAM = """HloModule m{header}
sum {{ a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }}
inner {{ x = f32[2] parameter(0)
  ROOT r = f32[2] {instruction} }}
cond {{ x = f32[2] parameter(0)
  ROOT c = pred[] constant(false) }}
ENTRY main {{ x = f32[2] parameter(0)
  direct = f32[2] {instruction}
  called = f32[2] call(x), to_apply=inner
  ROOT loop = f32[2] while(x), condition=cond, body=inner }}
"""

ROWS = [
    ("negate(x)", False, False),
    ("all-reduce(x), to_apply=sum", False, True),
    ("all-reduce(x), channel_id=1, to_apply=sum", True, True),
    ("all-reduce(x), constrain_layout=true, to_apply=sum", True, True),
    ("collective-permute(x), source_target_pairs={{0,0}}", False, True),
    ("collective-broadcast(x), replica_groups={}", True, True),
    ('custom-call(x), custom_call_target="f"', False, False),
    ('custom-call(x), custom_call_target="f", custom_call_has_side_effect=true', True, True),
    ("opt-barrier(x)", False, False),
]


@pytest.mark.parametrize(("instruction", "acts", "stays"), ROWS, ids=[row[0] for row in ROWS])
def test_effects_of(instruction: str, acts: bool, stays: bool):
    module = parse_hlo(PROGRAM.format(header="", instruction=instruction))
    effects = Effects(module)
    found = {op.results[0].name_hint: op for op in module.walk() if op.results}
    assert isinstance(found["called"], CallOp)
    assert {name: effects.has_side_effect(found[name]) for name in ("direct", "called", "loop")} == dict.fromkeys(
        ("direct", "called", "loop"), acts
    )
    # A loop stays whatever is in it: it may not end.
    assert [effects.must_stay(found[name]) for name in ("direct", "called", "loop")] == [stays, stays, True]


def test_a_channel_is_no_effect_in_an_spmd_module():
    text = PROGRAM.format(header=", num_partitions=2", instruction="all-reduce(x), channel_id=1, to_apply=sum")
    module = parse_hlo(text)
    effects = Effects(module)
    assert not any(effects.has_side_effect(op) for op in module.walk() if op.name == "hlo.all_reduce")
