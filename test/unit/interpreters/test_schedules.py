"""What a random schedule is for: copies of a loop's body that share channels meet each other's collectives."""

from collections.abc import Sequence

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xneuron.analysis.channels import channel_of
from xneuron.dialects.hlo.attributes import integer
from xneuron.execution.errors import EvaluationError
from xneuron.formats.hlo_text import parse_hlo
from xneuron.interpreters.evaluator import Program
from xneuron.transforms.call_inliner import CallInliner
from xneuron.transforms.tuple_simplifier import TupleSimplifier
from xneuron.transforms.unroll_while_loop import UnrollWhileLoop

SEEDS = range(20)
LOOP = """HloModule two_gathers, replica_count=2
body {
  p = (s32[], s32[3,2], s32[3,2], s32[8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  w = s32[3,2] get-tuple-element(p), index=1
  v = s32[3,2] get-tuple-element(p), index=2
  sum = s32[8] get-tuple-element(p), index=3
  zero = s32[] constant(0)
  wi = s32[1,2] dynamic-slice(w, i, zero), dynamic_slice_sizes={1,2}
  vi = s32[1,2] dynamic-slice(v, i, zero), dynamic_slice_sizes={1,2}
  a = s32[2,2] all-gather(wi), dimensions={0}, channel_id=1, replica_groups={}
  b = s32[2,2] all-gather(vi), dimensions={0}, channel_id=2, replica_groups={}
  fa = s32[4] reshape(a)
  fb = s32[4] reshape(b)
  both = s32[8] concatenate(fa, fb), dimensions={0}
  eleven = s32[] constant(11)
  wide = s32[8] broadcast(eleven), dimensions={}
  scaled = s32[8] multiply(sum, wide)
  next_sum = s32[8] add(scaled, both)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT t = (s32[], s32[3,2], s32[3,2], s32[8]) tuple(next, w, v, next_sum)
}
cond {
  p = (s32[], s32[3,2], s32[3,2], s32[8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY main {
  w = s32[3,2] parameter(0)
  v = s32[3,2] parameter(1)
  z = s32[] constant(0)
  s = s32[8] broadcast(z), dimensions={}
  init = (s32[], s32[3,2], s32[3,2], s32[8]) tuple(z, w, v, s)
  loop = (s32[], s32[3,2], s32[3,2], s32[8]) while(init), condition=cond, body=body
  ROOT r = s32[8] get-tuple-element(loop), index=3
}"""


def inputs() -> list[list[np.ndarray]]:
    rng = np.random.default_rng(0)
    return [[rng.integers(0, 10, (3, 2), np.int32) for _ in range(2)] for _ in range(2)]


def unrolled() -> ModuleOp:
    """Three copies of the body, which wait for each other only where they use what another one made."""
    module = parse_hlo(LOOP)
    for transform in (UnrollWhileLoop(), CallInliner(), TupleSimplifier()):
        transform.apply(Context(), module)
    module.verify()
    return module


def results(module: ModuleOp, schedule: str) -> list[list[int]]:
    return [result.tolist() for (result,) in Program(module, schedule=schedule).run_all(inputs())]


def renumber(module: ModuleOp, channels: Sequence[int]) -> None:
    ops = [op for op in module.walk() if channel_of(op) is not None]
    for op, channel in zip(ops, channels, strict=True):
        op.properties["channel_id"] = integer(channel)


def some_schedule(module: ModuleOp) -> None:
    for seed in SEEDS:
        results(module, f"random:{seed}")


def test_unrolled_loops_meet_as_they_should():
    expected = results(parse_hlo(LOOP), "program")
    for schedule in ("program", *(f"random:{seed}" for seed in SEEDS)):
        assert results(parse_hlo(LOOP), schedule) == expected
        assert results(unrolled(), schedule) == expected


@pytest.mark.parametrize(
    "channels",
    [
        pytest.param((1, 2, 1, 2, 1, 2), id="every copy keeps the channels of the original"),
        pytest.param((1, 1, 2, 2, 3, 3), id="one channel for all of a copy"),
    ],
)
def test_copies_on_one_channel_are_found(channels: Sequence[int]):
    module = unrolled()
    renumber(module, channels)
    assert results(module, "program") == results(unrolled(), "program")
    with pytest.raises(EvaluationError, match=r"channel \d joins different instructions"):
        some_schedule(module)
