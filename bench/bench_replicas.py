"""Eight replicas in lockstep: a loop with an all-gather and ten elementwise operations on f32[128,512].

Aim: at most 1.5 x eight runs, one after another, of the same loop on one replica without the all-gather.
"""

from __future__ import annotations

import numpy as np
from common import medians

from xneuron.formats.hlo_text import parse_hlo
from xneuron.interpreters.evaluator import Program

REPLICAS = 8
TRIPS = 200
LOOP = """
HloModule loop
body {
  p = (s32[], f32[128,512], f32[128,512], f32[128,512]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[128,512] get-tuple-element(p), index=1
  w = f32[128,512] get-tuple-element(p), index=2
  y = f32[128,512] get-tuple-element(p), index=3
GATHER
  o0 = f32[128,512] multiply(x, w)
  o1 = f32[128,512] add(o0, g)
  o2 = f32[128,512] multiply(o1, y)
  o3 = f32[128,512] maximum(o2, w)
  o4 = f32[128,512] multiply(o3, y)
  o5 = f32[128,512] add(o4, w)
  o6 = f32[128,512] minimum(o5, o1)
  o7 = f32[128,512] add(o6, y)
  o8 = f32[128,512] multiply(o7, y)
  o9 = f32[128,512] abs(o8)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT t = (s32[], f32[128,512], f32[128,512], f32[128,512]) tuple(next, o9, w, y)
}
cond {
  p = (s32[], f32[128,512], f32[128,512], f32[128,512]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(TRIPS)
  ROOT lt = pred[] compare(i, n), direction=LT
}
ENTRY main {
  zero = s32[] constant(0)
  x = f32[128,512] parameter(0)
  w = f32[128,512] parameter(1)
  y = f32[128,512] parameter(2)
  init = (s32[], f32[128,512], f32[128,512], f32[128,512]) tuple(zero, x, w, y)
  loop = (s32[], f32[128,512], f32[128,512], f32[128,512]) while(init), condition=cond, body=body
  ROOT r = f32[128,512] get-tuple-element(loop), index=1
}
""".replace("TRIPS", str(TRIPS))
GATHER = """  rows = f32[16,512] slice(x), slice={[0:16], [0:512]}
  g = f32[128,512] all-gather(rows), channel_id=1, replica_groups={}, dimensions={0}"""


def main() -> None:
    rng = np.random.default_rng(0)
    # All values stay in (0, 1]: overflow and denormals would cost more than the loop.
    scale, shift = np.float32([[[0.5]], [[0.5]], [[0.25]]]), np.float32([[[0.5]], [[0.5]], [[0.25]]])
    inputs = [list(rng.random((3, 128, 512), np.float32) * scale + shift) for _ in range(REPLICAS)]
    alone = Program(parse_hlo(LOOP.replace("GATHER", "  g = f32[128,512] copy(y)")))
    together = Program(parse_hlo(LOOP.replace("GATHER", GATHER)), replicas=REPLICAS)
    seconds = medians(
        {
            "one after another": lambda: [alone.run(*each) for each in inputs],
            "in lockstep": lambda: together.run_all(inputs),
        },
        rounds=5,
    )
    print(f"{REPLICAS} replicas, {TRIPS} iterations of ten operations on f32[128,512]")
    for name, taken in seconds.items():
        print(f"  {name:<24} {1e6 * taken / TRIPS / REPLICAS:8.1f} µs an iteration and replica")
    ratio = seconds["in lockstep"] / seconds["one after another"]
    print(f"  lockstep with an all-gather costs {ratio:.2f} x as much (aim: at most 1.5)")


if __name__ == "__main__":
    main()
