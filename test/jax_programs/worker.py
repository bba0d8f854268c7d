"""Prints and runs the programs with JAX: `python worker.py OUT NAME…`. Started by `printed.py`, never imported.

OUT becomes a pickle: by name of the program, its texts by form, and for each device its arguments and results.
"""

from __future__ import annotations

import io
import os
import pickle
import sys
from importlib import import_module
from pathlib import Path

# Before the first client: four devices, and bf16 chains rounded after each operation.
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4 --xla_allow_excess_precision=false"
os.environ["JAX_PLATFORMS"] = "cpu"
sys.path.insert(0, str(Path(__file__).parents[1]))

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jax_programs.registry import PROGRAMS, THEMES, Program


def printed(lowered: jax.stages.Lowered) -> dict[str, bytes]:
    """The module in each form."""
    operation = lowered.compiler_ir("stablehlo").operation
    bytecode = io.BytesIO()
    operation.write_bytecode(bytecode)
    return {
        "pretty": lowered.as_text().encode(),
        "debug": lowered.as_text(debug_info=True).encode(),
        "generic": str(operation.get_asm(print_generic_op_form=True)).encode(),
        "bytecode": bytecode.getvalue(),
    }


def placed(program: Program) -> list[jax.Array]:
    """The arguments, where they belong."""
    if program.parts is None:
        return [jax.numpy.asarray(argument) for argument in program.arguments]
    row = any("i" in part for part in program.parts)
    devices = np.array(jax.devices()[:4])
    mesh = Mesh(devices, ("i",)) if row else Mesh(devices.reshape(2, 2), ("x", "y"))
    return [
        jax.device_put(argument, NamedSharding(mesh, PartitionSpec(*part)))
        for argument, part in zip(program.arguments, program.parts, strict=True)
    ]


def rows(arrays: list[jax.Array], devices: int) -> list[list[np.ndarray]]:
    """What each device holds."""
    if devices == 1:
        return [[np.asarray(array) for array in arrays]]
    shards = [sorted(array.addressable_shards, key=lambda shard: shard.device.id) for array in arrays]
    return [[np.asarray(shard[device].data) for shard in shards] for device in range(devices)]


def run(program: Program) -> dict[str, object]:
    """The program's texts, arguments and results."""
    devices = 1 if program.parts is None else 4
    jitted = jax.jit(program.function, keep_unused=True, donate_argnums=program.donated)
    arguments = placed(program)
    given = rows(arguments, devices)
    texts = printed(jitted.trace(*arguments).lower(lowering_platforms=(program.platform,)))
    results = rows(jax.tree.leaves(jitted(*arguments)), devices)
    return {"texts": texts, "arguments": given, "results": results, "tolerance": program.tolerance}


if __name__ == "__main__":
    for theme in THEMES:
        import_module(f"jax_programs.{theme}")
    out, *names = sys.argv[1:]
    Path(out).write_bytes(pickle.dumps({name: run(PROGRAMS[name]) for name in names or PROGRAMS}))
