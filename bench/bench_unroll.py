"""Unrolling: clones per second against xDSL's `scf-for-loop-unroll` on the same loop, and how the time grows.

Both passes run in turn on fresh modules, and the ratio is taken run by run: a busy machine slows both. An op made
counts as a clone on either side. Prints one line per question; nothing is asserted about time.
"""

from __future__ import annotations

import gc
import statistics
import time

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.test import TestOp
from xdsl.ir import Block, Operation, Region
from xdsl.passes import ModulePass
from xdsl.transforms.scf_for_loop_unroll import ScfForLoopUnrollPass

from xneuron.formats.hlo_text.parser import parse_hlo
from xneuron.transforms.unroll_while_loop import UnrollWhileLoop

RUNS = 5


def hlo_loop(trips: int, body: int) -> ModuleOp:
    """A while loop with `body` instructions in its body: taking the state apart and together, and a chain of adds."""
    chain = body - 7
    adds = "\n".join(f"  y{k} = f32[] add({f'y{k - 1}' if k else 'x'}, x)" for k in range(chain))
    return parse_hlo(f"""HloModule bench
body {{
  p = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[] get-tuple-element(p), index=1
  one = s32[] constant(1)
  n = s32[] add(i, one)
{adds}
  ROOT t = (s32[], f32[]) tuple(n, y{chain - 1})
}}
cond {{
  p = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  b = s32[] constant({trips})
  ROOT c = pred[] compare(i, b), direction=LT
}}
ENTRY main {{
  x = f32[] parameter(0)
  z = s32[] constant(0)
  t = (s32[], f32[]) tuple(z, x)
  ROOT w = (s32[], f32[]) while(t), condition=cond, body=body
}}
""")


def scf_loop(trips: int, body: int) -> ModuleOp:
    """An scf.for with `body` ops in its body, the yield included: a chain of adds."""
    index = IndexType()
    bounds = [arith.ConstantOp(IntegerAttr(value, index)) for value in (0, trips, 1)]
    start = TestOp(result_types=[f32])
    block = Block(arg_types=[index, f32])
    value = block.args[1]
    ops: list[Operation] = []
    for _ in range(body - 1):
        ops.append(arith.AddfOp(value, block.args[1]))
        value = ops[-1].results[0]
    block.add_ops([*ops, scf.YieldOp(value)])
    loop = scf.ForOp(*(bound.result for bound in bounds), [start.results[0]], Region(block))
    return ModuleOp([FuncOp("main", ((), ()), Region(Block([*bounds, start, loop, ReturnOp()])))])


def size(module: ModuleOp) -> int:
    """All ops of the module."""
    return sum(1 for _ in module.walk())


def rate(module: ModuleOp, transform: ModulePass) -> float:
    """Ops made per second by one run of the pass."""
    gc.collect()
    start = time.perf_counter()
    transform.apply(Context(), module)
    return size(module) / (time.perf_counter() - start)


def against_xdsl(trips: int, body: int) -> None:
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(RUNS):
        theirs.append(rate(scf_loop(trips, body), ScfForLoopUnrollPass()))
        ours.append(rate(hlo_loop(trips, body), UnrollWhileLoop()))
    ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
    print(
        f"{trips} trips x {body} ops: {statistics.median(ours):,.0f} ops/s, "
        f"xDSL scf-for-loop-unroll {statistics.median(theirs):,.0f} ops/s, ratio {ratio:.1f} (aim: 3)"
    )


def growth() -> None:
    """Time per instruction made as the result grows: flat if unrolling is linear."""
    for name, shapes in {
        "trips grow, 20-op body": [(50, 20), (500, 20), (5000, 20)],
        "body grows, 100 trips": [(100, 10), (100, 100), (100, 1000)],
    }.items():
        costs = [
            statistics.median(1e6 / rate(hlo_loop(trips, body), UnrollWhileLoop()) for _ in range(RUNS))
            for trips, body in shapes
        ]
        made = ", ".join(
            f"{trips * body:,}: {cost:.2f} µs/op" for (trips, body), cost in zip(shapes, costs, strict=True)
        )
        print(f"{name}: {made}; last / first {costs[-1] / costs[0]:.2f}")


if __name__ == "__main__":
    against_xdsl(1000, 20)
    against_xdsl(20, 1000)
    growth()
