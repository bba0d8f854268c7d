"""HLO text: reading and writing a module of 20,000 instructions, against XLA's own code and xDSL's printer.

Aims: read at least half as fast as XLA (C++), write at least ten times as fast as xDSL prints MLIR.
"""

from __future__ import annotations

import random
from io import StringIO

from common import medians, print_rates
from jaxlib import _hlo
from xdsl.printer import Printer

from xneuron.formats.hlo_text import parse_hlo, print_hlo

COUNT = 20_000


def plain_module(count: int) -> str:
    """Straight-line elementwise code, `%` and layouts on, as XLA prints it."""
    rng = random.Random(0)
    shape = "f32[128,512]{1,0}"
    lines = [f"  %p{i} = {shape} parameter({i})" for i in range(4)]
    names = [f"p{i}" for i in range(4)]
    for at in range(count - len(lines)):
        opcode = rng.choice(["add", "multiply", "subtract", "maximum", "tanh", "negate"])
        operands = rng.sample(names[-40:], 1 if opcode in ("tanh", "negate") else 2)
        lines.append(f"  %{opcode}.{at} = {shape} {opcode}({', '.join('%' + name for name in operands)})")
        names.append(f"{opcode}.{at}")
    lines[-1] = lines[-1].replace("  %", "  ROOT %", 1)
    signature = ", ".join(f"p{i}: f32[128,512]" for i in range(4))
    body = "\n".join(lines)
    return f"HloModule plain\n\nENTRY %main ({signature}) -> f32[128,512] {{\n{body}\n}}\n"


def dressed_module(count: int) -> str:
    """Like a JAX dump after optimisation: attributes, constants, and metadata that differs from line to line."""
    lines = ['  %x = f32[128,512]{1,0} parameter(0), metadata={op_name="x"}']
    previous = "x"
    while len(lines) < count:
        at = len(lines)
        meta = f'metadata={{op_name="jit(step)/while/body/op_{at}" source_file="model.py" source_line={at % 97 + 1}}}'
        lines += [
            f"  %constant.{at} = f32[] constant({at % 50 / 4}), {meta}",
            f"  %broadcast.{at} = f32[128,512]{{1,0}} broadcast(%constant.{at}), dimensions={{}}, {meta}",
            f"  %compare.{at} = pred[128,512]{{1,0}} compare(%{previous}, %broadcast.{at}), direction=LT, {meta}",
            f"  %slice.{at} = f32[1,512]{{1,0}} slice(%{previous}), slice={{[{at % 128}:{at % 128 + 1}], [0:512]}}",
            f"  %pad.{at} = f32[128,512]{{1,0}} pad(%slice.{at}, %constant.{at}), padding=0_127x0_0, {meta}",
            f"  %select.{at} = f32[128,512]{{1,0}} select(%compare.{at}, %{previous}, %pad.{at}), {meta}",
        ]
        previous = f"select.{at}"
    body = "\n".join(lines)
    return f"HloModule dressed\n\nENTRY %main (x: f32[128,512]) -> f32[128,512] {{\n{body}\n}}\n"


def xdsl_text(module: object) -> str:
    output = StringIO()
    Printer(output).print_op(module)  # pyright: ignore[reportArgumentType]
    return output.getvalue()


def run(name: str, text: str) -> None:
    count = text.count("\n  ")
    module, xla_module = parse_hlo(text), _hlo.hlo_module_from_text(text)
    assert print_hlo(parse_hlo(print_hlo(module))) == print_hlo(module)
    reading = {"XLA": lambda: _hlo.hlo_module_from_text(text), "xneuron": lambda: parse_hlo(text)}
    print_rates(f"read, {name} ({count:,} instructions)", medians(reading), count, "instructions", "xneuron")
    writing = {
        "XLA": lambda: xla_module.to_string(),
        "xDSL (MLIR)": lambda: xdsl_text(module),
        "xneuron": lambda: print_hlo(module),
    }
    print_rates(f"write, {name}", medians(writing, 5), count, "instructions", "xneuron")


if __name__ == "__main__":
    run("plain", plain_module(COUNT))
    run("with attributes and metadata", dressed_module(COUNT))
