"""`while_loop_unroller` in full, at 10,000, 100,000 and 800,000 instructions: the time of each step, and memory.

The largest is the default budget's limit: 800 trips of a body of 1,000 instructions. A step's rate is instructions of
the result per second of processor time; steps follow one another on one module. Aims: unroll and inline together (one
step here: copies are made where the loop was) at least 100,000 instructions/s, under 1.5 kB each.
"""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from time import process_time

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xneuron.analysis.call_graph import CallGraph
from xneuron.analysis.computations import loops
from xneuron.analysis.trip_count import TripCount, trip_count
from xneuron.analysis.verification import verify_module
from xneuron.fastir import collector_off
from xneuron.formats.hlo_text.parser import parse_hlo
from xneuron.formats.hlo_text.printer import print_hlo
from xneuron.transforms.call_inliner import inline_calls
from xneuron.transforms.canonicalize_loops import canonicalize
from xneuron.transforms.hlo_dce import eliminate_dead_code
from xneuron.transforms.loop_rewrites import LoopRewrites, Plan
from xneuron.transforms.while_loop_unroller import WhileLoopUnroller

BODY = 1000
TRIPS = (10, 100, 800)


def rolled(trips: int, body: int = BODY) -> ModuleOp:
    """A loop of a layer-like body: slices by the counter, a called function, elementwise chains with metadata."""
    chain = body - 13
    ops = "\n".join(
        f"  y{k} = f32[64] {('add', 'multiply', 'maximum')[k % 3]}({f'y{k - 1}' if k else 'd'}, "
        f'{f"y{k - 7}" if k > 7 else "x"}), metadata={{op_name="layer/block{k // 100}/op"}}'
        for k in range(chain)
    )
    return parse_hlo(f"""HloModule bench
scale {{
  a = f32[64] parameter(0)
  b = f32[] parameter(1)
  c = f32[64] broadcast(b), dimensions={{}}
  ROOT e = f32[64] multiply(a, c)
}}
body {{
  p = (s32[], f32[64], f32[1000]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[64] get-tuple-element(p), index=1
  w = f32[1000] get-tuple-element(p), index=2
  s = f32[1] dynamic-slice(w, i), dynamic_slice_sizes={{1}}
  r = f32[] reshape(s)
  d = f32[64] call(x, r), to_apply=scale
  e = f32[64] negate(d)
  f = f32[64] add(e, x)
{ops}
  one = s32[] constant(1)
  n = s32[] add(i, one)
  ROOT t = (s32[], f32[64], f32[1000]) tuple(n, y{chain - 1}, w)
}}
cond {{
  p = (s32[], f32[64], f32[1000]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  b = s32[] constant({trips})
  ROOT c = pred[] compare(i, b), direction=LT
}}
ENTRY main {{
  x = f32[64] parameter(0)
  w = f32[1000] parameter(1)
  z = s32[] constant(0)
  t = (s32[], f32[64], f32[1000]) tuple(z, x, w)
  ROOT loop = (s32[], f32[64], f32[1000]) while(t), condition=cond, body=body
}}
""")


def unroll(module: ModuleOp) -> None:
    """The rewrite alone, of the one loop."""
    (loop,) = loops(module)
    count = trip_count(loop)
    assert isinstance(count, TripCount)
    LoopRewrites(module, CallGraph(module)).unroll(loop, count, Plan(0, 0, count.count))


STEPS: dict[str, Callable[[ModuleOp], object]] = {
    "inline calls": inline_calls,
    "canonicalise": canonicalize,
    "unroll": unroll,
    "dce": eliminate_dead_code,
    "verify": verify_module,
    "print": print_hlo,
}


def measure(trips: int) -> None:
    """One size, in a process of its own, for the memory's sake. Prints seconds per step, bytes and instructions."""
    module = rolled(trips)
    taken: list[float] = []
    with collector_off():
        before = _resident()
        for name, step in STEPS.items():
            start = process_time()
            step(module)
            taken.append(process_time() - start)
            if name == "dce":
                grown = _resident() - before
    print(*taken, grown, sum(1 for _ in module.walk()))


def whole(trips: int) -> float:
    """Seconds of the pass as a user runs it, budgets and all."""
    module = rolled(trips)
    gc.collect()
    start = process_time()
    WhileLoopUnroller(wrap_in_trivial_loop=False).apply(Context(), module)
    taken = process_time() - start
    assert next(loops(module), None) is None
    return taken


def _resident() -> int:
    """Bytes of memory in use; where /proc is missing, the most there ever were."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    rows: list[list[float]] = []
    for trips in TRIPS:
        run = subprocess.run([sys.executable, __file__, str(trips)], capture_output=True, text=True, check=True)
        rows.append([float(word) for word in run.stdout.split()])
    sizes = [row[-1] for row in rows]
    print("instructions of the result, per second" + "".join(f"{size:>14,.0f}" for size in sizes) + "   growth of cost")
    for number, name in enumerate(STEPS):
        rates = [size / row[number] for size, row in zip(sizes, rows, strict=True)]
        print(f"{name:<38}" + "".join(f"{rate:>14,.0f}" for rate in rates) + f"{rates[0] / rates[-1]:>17.2f}")
    memory = [row[-2] / size for size, row in zip(sizes, rows, strict=True)]
    print(f"{'bytes per instruction (aim: 1,500)':<38}" + "".join(f"{each:>14,.0f}" for each in memory))
    rate = sizes[-1] / whole(TRIPS[-1])
    print(f"the pass as a whole, {sizes[-1]:,.0f} instructions: {rate:,.0f} instructions/s")


if __name__ == "__main__":
    os.environ["NEURON_DISABLE_BOUNDARY_MARKER"] = "1"
    measure(int(sys.argv[1])) if len(sys.argv) > 1 else main()
