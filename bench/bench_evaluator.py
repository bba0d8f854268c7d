"""Running loops: a scalar loop and a loop over f32[128,512], per iteration.

Aims: at least 20 x (scalars) and 500 x (arrays) StableHLO's reference interpreter; arrays within 1.3 x of the numpy
calls alone, with and without buffers to write into. XLA's CPU compiler shows what compiling everything would give.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from common import medians, print_rates
from jax._src.interpreters import mlir as jax_mlir
from jaxlib import _hlo, _jax
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from xneuron.formats.hlo_text import parse_hlo
from xneuron.interpreters.evaluator import Program

SCALARS = """
HloModule scalars
body {
  p = (s32[], s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  a = s32[] get-tuple-element(p), index=1
  n = s32[] get-tuple-element(p), index=2
  one = s32[] constant(1)
  three = s32[] constant(3)
  m = s32[] multiply(a, three)
  x = s32[] xor(m, i)
  b = s32[] add(x, one)
  next = s32[] add(i, one)
  ROOT t = (s32[], s32[], s32[]) tuple(next, b, n)
}
cond {
  p = (s32[], s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=2
  ROOT lt = pred[] compare(i, n), direction=LT
}
ENTRY main {
  n = s32[] parameter(0)
  zero = s32[] constant(0)
  init = (s32[], s32[], s32[]) tuple(zero, zero, n)
  w = (s32[], s32[], s32[]) while(init), condition=cond, body=body
  ROOT a = s32[] get-tuple-element(w), index=1
}
"""
ARRAYS = """
HloModule arrays
body {
  p = (s32[], f32[128,512], f32[128,512], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[128,512] get-tuple-element(p), index=1
  w = f32[128,512] get-tuple-element(p), index=2
  n = s32[] get-tuple-element(p), index=3
  one = s32[] constant(1)
  half = f32[] constant(0.5)
  h = f32[128,512] broadcast(half), dimensions={}
  a = f32[128,512] multiply(x, w)
  b = f32[128,512] add(a, h)
  c = f32[128,512] subtract(b, x)
  d = f32[128,512] multiply(c, h)
  next = s32[] add(i, one)
  ROOT t = (s32[], f32[128,512], f32[128,512], s32[]) tuple(next, d, w, n)
}
cond {
  p = (s32[], f32[128,512], f32[128,512], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=3
  ROOT lt = pred[] compare(i, n), direction=LT
}
ENTRY main {
  n = s32[] parameter(0)
  x = f32[128,512] parameter(1)
  w = f32[128,512] parameter(2)
  zero = s32[] constant(0)
  init = (s32[], f32[128,512], f32[128,512], s32[]) tuple(zero, x, w, n)
  r = (s32[], f32[128,512], f32[128,512], s32[]) while(init), condition=cond, body=body
  ROOT y = f32[128,512] get-tuple-element(r), index=1
}
"""
HALF = np.float32(0.5)


def stablehlo_of(text: str) -> bytes:
    module = _hlo.hlo_module_from_text(text)
    return _jax.mlir.xla_computation_to_mlir_module(_hlo.XlaComputation(module.as_serialized_hlo_module_proto()))


def on_xla(text: str, inputs: Sequence[Any]) -> Callable[[], Any]:
    devices = jax.devices("cpu")[:1]
    with jax_mlir.make_ir_context():
        module = ir.Module.parse(stablehlo_of(text))
        executable = devices[0].client.compile_and_load(module, _jax.DeviceList(tuple(devices)), _jax.CompileOptions())
    arrays = [jax.device_put(value, devices[0]) for value in inputs]
    return lambda: np.asarray(executable.execute_sharded(arrays).disassemble_into_single_device_arrays()[0][0])


def on_stablehlo(text: str, inputs: Sequence[Any]) -> Callable[[], Any]:
    context = jax_mlir.make_ir_context()
    with context, ir.Location.unknown():
        module = ir.Module.parse(stablehlo_of(text))
        arguments = [ir.DenseElementsAttr.get(np.asarray(value)) for value in inputs]

    def run() -> Any:
        with context, ir.Location.unknown():
            (result,) = stablehlo.eval_module(module, arguments)
            return np.array(result)

    return run


def scalar_operators(n: int) -> Any:
    i, a, one, three, end = np.int32(0), np.int32(0), np.int32(1), np.int32(3), np.int32(n)
    while i < end:
        a = ((a * three) ^ i) + one
        i = i + one
    return a


def array_operators(n: int, x: Any, w: Any) -> Any:
    for _ in range(n):
        x = (x * w + HALF - x) * HALF
    return x


def array_calls(n: int, x: Any, w: Any) -> Any:
    x, y = x.copy(), np.empty_like(x)
    for _ in range(n):
        np.multiply(x, w, out=y)
        np.add(y, HALF, out=y)
        np.subtract(y, x, out=y)
        np.multiply(y, HALF, out=y)
        x, y = y, x
    return x


def compare(title: str, runs: dict[str, tuple[int, Callable[[], Any]]]) -> None:
    """Prints iterations per second; each contestant runs as many iterations as it can bear."""
    taken = medians({name: run for name, (_, run) in runs.items()})
    print_rates(title, {name: taken[name] / trips for name, (trips, _) in runs.items()}, 1, "iterations", "xneuron")


def run(
    title: str, text: str, arrays: Sequence[Any], trips: int, few: int, numpy: dict[str, Callable[[], Any]]
) -> None:
    program = Program(parse_hlo(text))

    def inputs(count: int) -> list[Any]:
        return [np.int32(count), *arrays]

    reference = on_stablehlo(text, inputs(few))
    np.testing.assert_array_equal(program.run(*inputs(few))[0], reference())
    for name, function in numpy.items():
        np.testing.assert_array_equal(program.run(*inputs(trips))[0], function(), err_msg=name)
    with np.errstate(all="ignore"):
        compare(
            title,
            {
                "xneuron": (trips, lambda: program.run(*inputs(trips))),
                "StableHLO interpreter": (few, reference),
                **{name: (trips, function) for name, function in numpy.items()},
                "XLA CPU": (trips, on_xla(text, inputs(trips))),
            },
        )


if __name__ == "__main__":
    trips = 300_000
    with np.errstate(all="ignore"):
        run(
            "loop over s32 scalars, 5 operations",
            SCALARS,
            [],
            trips,
            20_000,
            {"numpy scalars, by hand": lambda: scalar_operators(trips)},
        )
    rng = np.random.default_rng(0)
    x, w = rng.random((2, 128, 512), np.float32)
    run(
        "loop over f32[128,512], 4 operations",
        ARRAYS,
        [x, w],
        1000,
        2,
        {
            "numpy calls, out=": lambda: array_calls(1000, x, w),
            "numpy operators": lambda: array_operators(1000, x, w),
        },
    )
