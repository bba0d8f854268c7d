"""StableHLO: reading and writing a module of 20,000 operations, against what MLIR takes for it, and against xDSL.

Reading is MLIR's parser and verifier in its process, the way of the tree out of it, and our module. Processor time of
this process alone would leave the other one out: both halves run here. Aims: at most ten times MLIR's parser and a
walk in its bindings over all operands, types and attributes; five times as fast as xDSL's parser on the same program.
"""

from __future__ import annotations

import pickle
from io import StringIO

from bench_hlo_text import dressed_module, plain_module
from common import medians, print_rates
from jaxlib.mlir import ir
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.parser import Parser
from xdsl.printer import Printer

from xneuron.dialects.hlo import HLO
from xneuron.fastir import collector_off
from xneuron.formats.hlo_text import parse_hlo
from xneuron.formats.stablehlo import decode, mlir
from xneuron.formats.stablehlo.parser import translated
from xneuron.formats.stablehlo.writer import print_stablehlo

COUNT = 20_000


def by_mlir(text: bytes) -> int:
    """Parses, verifies, and looks at everything once."""
    return _seen(ir.Module.parse(text, mlir.context()).operation)


def _seen(op: ir.Operation) -> int:
    count = 1 + len([value.type for value in op.operands]) + len([value.type for value in op.results])
    count += len([op.attributes[name] for name in op.attributes if name != "value"])
    return count + sum(_seen(inner.operation) for region in op.regions for block in region for inner in block)


def by_us(text: bytes) -> None:
    """All that happens in both processes."""
    module = mlir.read(text, mlir.context())
    mlir.legalise(module)
    with collector_off():
        tree = pickle.loads(pickle.dumps(decode.tree(module), pickle.HIGHEST_PROTOCOL))
    translated(tree, "bench", text.decode())


def by_xdsl(text: str) -> None:
    context = Context()
    for dialect in (Builtin, Func, HLO):
        context.load_dialect(dialect)
    Parser(context, text).parse_module()


def main() -> None:
    for title, text in (("plain", plain_module(COUNT)), ("dressed, with locations", dressed_module(COUNT))):
        module = parse_hlo(text)
        generic = print_stablehlo(module)
        pretty = mlir.pretty(generic, "locations" in title).encode()
        output = StringIO()
        Printer(output).print_op(module)
        ours = output.getvalue()
        contestants = {
            "xneuron": lambda pretty=pretty: by_us(pretty),
            "MLIR's parser and a walk": lambda pretty=pretty: by_mlir(pretty),
            "xDSL, our dialect": lambda ours=ours: by_xdsl(ours),
        }
        print_rates(f"read, {title}", medians(contestants, 3), COUNT, "operations", "xneuron")
        contestants = {
            "xneuron": lambda module=module: print_stablehlo(module),
            "xDSL's printer": lambda module=module: Printer(StringIO()).print_op(module),
        }
        print_rates(f"write, {title}", medians(contestants, 3), COUNT, "operations", "xneuron")


if __name__ == "__main__":
    main()
