"""Who shares a channel: what belongs together, what is refused, what only random schedules find."""

import pytest
from xdsl.utils.exceptions import VerifyException

from xneuron.analysis.channels import shared_channels, verify_channels
from xneuron.analysis.verification import verify_module
from xneuron.formats.hlo_text import parse_hlo

TEXT = """HloModule m, replica_count=2
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
leaf { x = f32[] parameter(0)
  ROOT deep = f32[] all-reduce(x), channel_id=1, to_apply=sum }
middle { x = f32[] parameter(0)
  y = f32[] call(x), to_apply=leaf
  ROOT z = f32[] CALL }
ENTRY main { x = f32[] parameter(0)
  tok = token[] after-all()
  LINES
  ROOT r = f32[] call(x), to_apply=middle }
"""
PAIR = """ra = (f32[], u32[], token[]) recv(tok), channel_id=2
  sa = (f32[], u32[], token[]) send(x, tok), channel_id=2
  sd = token[] send-done(sa), channel_id=2
  rd = (f32[], token[]) recv-done(ra), channel_id=2"""

STARTED = """v = f32[4] broadcast(x), dimensions={}
  g = (f32[4], f32[8]) all-gather-start(v), channel_id=3, dimensions={0}
  d = f32[8] all-gather-done(g)"""


def module(lines: str = "", call: str = "negate(y)"):
    return parse_hlo(TEXT.replace("LINES", lines).replace("CALL", call))


def shared(lines: str = "", call: str = "negate(y)") -> dict[int, list[str]]:
    found = shared_channels(module(lines, call))
    return {channel: [op.results[0].name_hint or "" for op in ops] for channel, ops in found}


def test_what_belongs_together_is_not_shared():
    assert shared() == {}
    assert shared(PAIR) == {}
    assert shared(STARTED) == {}


def test_two_collectives():
    assert shared("c = f32[] all-reduce(x), channel_id=1, to_apply=sum") == {1: ["deep", "c"]}


def test_a_function_called_twice():
    assert shared(call="call(y), to_apply=leaf") == {1: ["deep"]}
    assert shared("w = f32[] call(x), to_apply=middle") == {1: ["deep"]}


def test_two_sends():
    second = "sb = (f32[], u32[], token[]) send(x, tok), channel_id=2\n  e = token[] send-done(sb), channel_id=2"
    assert shared(f"{PAIR}\n  {second}") == {2: ["ra", "sa", "sb"]}


def test_different_opcodes():
    """As JAX writes them: all on one channel."""
    permute = "c = f32[] collective-permute(x), channel_id=1, source_target_pairs={{0,1}}"
    assert shared(permute) == {1: ["deep", "c"]}
    verify_module(module(permute))


def test_what_the_verifier_refuses():
    verify_channels(module(PAIR))
    with pytest.raises(VerifyException, match="expected channel 2 of the start, found 3 on its done"):
        verify_module(module(PAIR.replace("recv-done(ra), channel_id=2", "recv-done(ra), channel_id=3")))
