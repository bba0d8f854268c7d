"""Lowering to BIR: instructions made per second against xDSL's `convert-linalg-to-loops`, how the time grows, and what
a program costs to run one level down.

Contestants take turns on fresh modules. A lowered instruction and an op that xDSL makes count the same. Nothing is
asserted about time.
"""

from __future__ import annotations

from pathlib import Path
from time import process_time

import numpy as np
from common import medians, print_rates
from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.linalg.ops import AddOp
from xdsl.ir import Block, Region
from xdsl.transforms.convert_linalg_to_loops import ConvertLinalgToLoopsPass

from xneuron.formats.arrays import load_arrays
from xneuron.formats.hlo_text.parser import parse_hlo
from xneuron.interpreters.evaluator import Program as Evaluator
from xneuron.lowering.convert_hlo_to_bir import ConvertHloToBir
from xneuron.simulator.program import Program as Simulator
from xneuron.transforms.unroll_while_loop import UnrollWhileLoop

ROOT = Path(__file__).parents[1]


def hlo_chain(count: int) -> ModuleOp:
    """So many elementwise additions, one after the other."""
    lines = "\n".join(f"  y{k} = f32[128,64] add({f'y{k - 1}' if k else 'x'}, x)" for k in range(count))
    root = f"ROOT r = f32[128,64] negate(y{count - 1})"
    return parse_hlo(f"HloModule m\nENTRY e {{\n  x = f32[128,64] parameter(0)\n{lines}\n  {root} }}")


def linalg_chain(count: int) -> ModuleOp:
    """The same in linalg, on buffers."""
    buffer = MemRefType(f32, [128, 64])
    block = Block(arg_types=[buffer, buffer])
    x, y = block.args
    block.add_ops([*(AddOp([y if k else x, x], [y], []) for k in range(count)), ReturnOp()])
    return ModuleOp([FuncOp("e", ((buffer, buffer), ()), Region(block))])


def size(module: ModuleOp) -> int:
    """All ops of the module."""
    return sum(1 for _ in module.walk())


def lowering(count: int = 400) -> None:
    """Against xDSL."""
    made = {}

    def ours() -> None:
        module = hlo_chains.pop()
        ConvertHloToBir().apply(Context(), module)
        made["xneuron"] = size(module)

    def theirs() -> None:
        module = linalg_chains.pop()
        ConvertLinalgToLoopsPass().apply(Context(), module)
        made["xdsl"] = size(module)

    hlo_chains, linalg_chains = ([make(count) for _ in range(5)] for make in (hlo_chain, linalg_chain))
    taken = medians({"xneuron": ours, "xdsl": theirs}, rounds=5)
    rates = {name: 1 / (made[name] / seconds) for name, seconds in taken.items()}
    print_rates("made by lowering a chain of additions", rates, 1, "ops", "xneuron")
    per = {name: seconds / count for name, seconds in taken.items()}
    print_rates("lowering a chain of additions", per, 1, "additions", "xneuron")


def growth() -> None:
    """A scan over rows, unrolled ever longer: microseconds per instruction should stay what they are."""
    text = (ROOT / "test/corpus/scan_sum.before.hlo").read_text()
    for trips in (250, 1000, 4000):
        module = parse_hlo(text.replace("[12]", f"[{trips}]").replace("constant(12)", f"constant({trips})"))
        UnrollWhileLoop(max_trip_count_simulation=10**6).apply(Context(), module)
        start = process_time()
        ConvertHloToBir().apply(Context(), module)
        count = size(module)
        print(f"  {count:>8} instructions: {(process_time() - start) / count * 1e6:.0f} us each")


def running(name: str = "transformer") -> None:
    """One level down: how much longer a run takes than the evaluator's."""
    text = (ROOT / f"test/corpus/{name}.before.hlo").read_text()
    arrays = list(load_arrays(ROOT / f"test/corpus/{name}.npz").values())
    evaluator, module = Evaluator(parse_hlo(text)), parse_hlo(text)
    ConvertHloToBir().apply(Context(), module)
    simulator = Simulator(module)
    named = {
        op.label: np.asarray(array).reshape(op.geometry.shape)
        for op, array in zip(simulator.inputs, arrays, strict=True)
    }
    taken = medians({"simulator": lambda: simulator.run(named), "evaluator": lambda: evaluator.run(*arrays)})
    print_rates(f"runs of {name}", taken, 1, "runs", "simulator")


if __name__ == "__main__":
    lowering()
    print("a scan, unrolled")
    growth()
    running()
