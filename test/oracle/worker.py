"""Runs HLO and StableHLO texts on XLA's CPU back end, batch after batch. Started by `xla.py`, never imported.

Each line on stdin, `DIRECTORY FIRST`, is a batch; `done` on stdout ends it. DIRECTORY holds `inputs.npz` and
`cases.json` (a list of {"text", "stablehlo", "fuse", "partitions", "inputs": [[names of arrays] per participant]});
case i, from FIRST on, leaves `i.npz` (outputs) or `i.txt` (why there are none). A case that aborts the process leaves
neither: so the parent knows which one.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

# Before the first client: four devices, and bf16 chains rounded after each operation.
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4 --xla_allow_excess_precision=false"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np
from jax._src.interpreters import mlir as jax_mlir
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxlib import _hlo, _jax
from jaxlib.mlir import ir

from xneuron.formats.arrays import load_arrays, save_arrays

jax.config.update("jax_enable_x64", True)  # else s64 and f64 inputs lose half their bits

# `fusion` contracts multiply and add into one rounding; `simplify-while-loops` acts on wrong trip counts.
NEVER, EXACT = "simplify-while-loops", "fusion,simplify-while-loops"
# Without these a module for several partitions runs as it is, in each of them.
PARTITIONERS = ",spmd-partitioning,spmd-prepare,sharding-propagation,sharding-remover"


def to_stablehlo(text: str) -> bytes:
    """An HLO module's text as XLA translates it."""
    module = _hlo.hlo_module_from_text(text)
    computation = _hlo.XlaComputation(module.as_serialized_hlo_module_proto())
    return _jax.mlir.xla_computation_to_mlir_module(computation)


def compile_module(text: str | bytes, replicas: int, partitions: int, fuse: bool):
    """The executable of a StableHLO module, and its devices."""
    devices = jax.devices("cpu")[: replicas * partitions]
    options = _jax.CompileOptions()
    for level in (options, options.executable_build_options):
        level.num_replicas, level.num_partitions = replicas, partitions
    build = options.executable_build_options
    ids = np.array([d.id for d in devices], np.int32).reshape(replicas, partitions)
    build.device_assignment = _jax.DeviceAssignment.create(ids)
    build.use_spmd_partitioning = partitions > 1
    build.debug_options.xla_disable_hlo_passes = (NEVER if fuse else EXACT) + (PARTITIONERS if partitions > 1 else "")
    with jax_mlir.make_ir_context():
        stablehlo = ir.Module.parse(text)
        return devices[0].client.compile_and_load(stablehlo, _jax.DeviceList(tuple(devices)), options), devices


def run_module(text: str | bytes, rows: list[list[np.ndarray]], partitions: int, fuse: bool) -> list[list[np.ndarray]]:
    """Outputs per participant; a tuple result is flattened."""
    executable, devices = compile_module(text, len(rows) // partitions, partitions, fuse)
    sharding = NamedSharding(Mesh(np.array(devices), ("r",)), PartitionSpec())
    inputs = []
    for column in zip(*rows, strict=True):
        buffers = [jax.device_put(value, device) for value, device in zip(column, devices, strict=True)]
        inputs.append(jax.make_array_from_single_device_arrays(np.shape(column[0]), sharding, buffers))
    outputs = executable.execute_sharded(inputs).disassemble_into_single_device_arrays()
    return [[np.asarray(output[r]) for output in outputs] for r in range(len(devices))]


def run_batch(directory: Path, first: int) -> None:
    cases = json.loads((directory / "cases.json").read_text())
    arrays = load_arrays(directory / "inputs.npz")
    for index, case in enumerate(cases[first:], first):
        try:
            rows = [[arrays[name] for name in names] for names in case["inputs"]]
            text = case["text"] if case["stablehlo"] else to_stablehlo(case["text"])
            outputs = run_module(text, rows, case["partitions"], case["fuse"])
        except Exception as error:
            (directory / f"{index}.txt").write_text(f"{type(error).__name__}: {error}")
            continue
        named = {f"{r}.{o}": value for r, row in enumerate(outputs) for o, value in enumerate(row)}
        save_arrays(directory / f"{index}.npz", named)


if __name__ == "__main__":
    for line in sys.stdin:
        name, first_case = line.split()
        run_batch(Path(name), int(first_case))
        print("done", flush=True)
