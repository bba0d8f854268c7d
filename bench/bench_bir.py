"""Loops of the BIR simulator: registers against xDSL's interpreter, tensors against numpy and XLA.

Aims: five register operations at least 100 times as fast as xDSL's interpreter on the same loop in `scf`; three
instructions on f32[128, 512] within 1.3 times the numpy calls they are.
"""

from __future__ import annotations

import numpy as np
from common import medians, print_rates
from xdsl.context import Context
from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import Builtin, IndexType, IntegerAttr, ModuleOp
from xdsl.interpreter import Interpreter
from xdsl.interpreters import arith as arith_functions
from xdsl.interpreters import func as func_functions
from xdsl.interpreters import scf as scf_functions
from xdsl.parser import Parser

from xneuron.dialects.bir import BIR
from xneuron.lowering.bir_lower_loops_to_branches import lower_loops_to_branches
from xneuron.simulator.program import Program

REGISTERS = """
bir.func @main {
  %n = bir.register "n"
  %a = bir.register "a"
  %b = bir.register "b"
  %c = bir.register "c"
  bir.register_move %a = 1
  bir.register_move %b = 1
  bir.dynamic_for_loop for %i "i" in range(0, %n, 1) {
    bir.register_alu %a = add(%a, 3)
    bir.register_alu %b = mult(%a, 5)
    bir.register_alu %c = bitwise_xor(%b, %a)
    bir.register_alu %b = add(%c, %b)
    bir.register_alu %a = max(%a, %b)
  }
  bir.return
}
"""
SCF_REGISTERS = """
func.func @main(%n: index) -> i32 {
  %zero = arith.constant 0 : index
  %step = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  %five = arith.constant 5 : i32
  %last, %other = scf.for %i = %zero to %n step %step iter_args(%a = %one, %b = %one) -> (i32, i32) {
    %a1 = arith.addi %a, %three : i32
    %b1 = arith.muli %a1, %five : i32
    %c = arith.xori %b1, %a1 : i32
    %b2 = arith.addi %c, %b1 : i32
    %d = arith.cmpi sgt, %a1, %b2 : i32
    %a2 = arith.select %d, %a1, %b2 : i32
    scf.yield %a2, %b2 : i32, i32
  }
  func.return %last : i32
}
"""
TENSORS = """
bir.func @main {
  %n = bir.register "n"
  %x = bir.memory_location "x" : SB float32 [128, 512] <kind = ExternalInput>
  %y = bir.memory_location "y" : SB float32 [128, 512] <kind = ExternalInput>
  %z = bir.memory_location "z" : SB float32 [128, 512] <kind = ExternalOutput>
  bir.dynamic_for_loop for %i "i" in range(0, %n, 1) {
    bir.tensor_tensor %z = add(%x, %y) on DVE
    bir.tensor_scalar %x = %z <op0 = mult, const0 = 0.5> on DVE
    bir.tensor_tensor %y = max(%x, %y) on DVE
  }
  bir.return
}
"""


def parsed(text: str) -> ModuleOp:
    ctx = Context()
    for dialect in (Builtin, BIR, func.Func, arith.Arith, scf.Scf):
        ctx.load_dialect(dialect)
    module = Parser(ctx, text).parse_module()
    module.verify()
    return module


def branched(text: str) -> Program:
    module = parsed(text)
    for op in module.body.block.ops:
        lower_loops_to_branches(op)  # pyright: ignore[reportArgumentType]
    return Program(module)


def registers(ours: int, theirs: int) -> None:
    """Iterations a second; xDSL runs fewer of them."""
    program, branches = Program(parsed(REGISTERS)), branched(REGISTERS)
    interpreter = Interpreter(parsed(SCF_REGISTERS), index_bitwidth=64)
    for functions in (arith_functions.ArithFunctions(), func_functions.FuncFunctions(), scf_functions.ScfFunctions()):
        interpreter.register_implementations(functions)
    trips = IntegerAttr(theirs, IndexType())  # what xDSL computes with
    given = {"n": ours}
    seconds = medians(
        {"loops": lambda: program.run(registers=given), "branches": lambda: branches.run(registers=given)}, 5
    )
    slow = medians({"xDSL's interpreter": lambda: interpreter.call_op("main", (trips,))}, 3)
    per_iteration = {name: taken * theirs / ours for name, taken in seconds.items()} | slow
    print_rates("five register operations", per_iteration, theirs, "iterations", "loops")


def tensors(count: int) -> None:
    """Three instructions, and the three numpy calls that they are."""
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((128, 512)).astype(np.float32) for _ in range(2))
    program = Program(parsed(TENSORS))

    def plain() -> None:
        a, b, z = x.copy(), y.copy(), np.empty_like(x)
        half = np.float32(0.5)
        for _ in range(count):
            np.add(a, b, out=z)
            np.multiply(z, half, out=a)
            np.maximum(a, b, out=b)

    contestants = {
        "simulator": lambda: program.run({"x": x, "y": y}, {"n": count}),
        "numpy calls": plain,
        "XLA CPU": compiled_by_xla(x, y, count),
    }
    print_rates("three instructions on f32[128, 512]", medians(contestants), count, "iterations", "simulator")


def compiled_by_xla(x: np.ndarray, y: np.ndarray, count: int):
    """The same loop, with its number of trips a runtime value."""
    import jax
    import jax.numpy

    def body(_, state):
        x, y, _ = state
        z = x + y
        x = z * np.float32(0.5)
        return x, jax.numpy.maximum(x, y), z

    loop = jax.jit(lambda n, x, y: jax.lax.fori_loop(0, n, body, (x, y, x)))
    loop(count, x, y)[0].block_until_ready()
    return lambda: loop(count, x, y)[0].block_until_ready()


if __name__ == "__main__":
    registers(ours=500_000, theirs=5_000)
    tensors(count=2_000)
