"""Makes fsdp.hlo and fsdp.npz: one training step of eight layers whose weights are spread over four devices.

    .venv/bin/python examples/fsdp.py

As in fully sharded data parallelism, each device gathers a layer's weights when it needs them, and keeps its part of
the layer's gradient. The text is the program of one device, as XLA's partitioner leaves it; the arrays have the parts
of all four.
"""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

DEVICES, LAYERS, BATCH, WIDTH = 4, 8, 8, 16
HERE = Path(__file__).parent
FLAGS = (
    "--xla_force_host_platform_device_count={} --xla_dump_to={} --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=spmd.*"
)


def partitioned(directory: str) -> str:
    """The text after partitioning, without the table of source positions (it names this machine's files)."""
    (dump,) = Path(directory).glob("*jit_step*after_spmd-partitioning.before_*.txt")
    lines = dump.read_text().splitlines()
    computations = next(number for number, line in enumerate(lines) if line.startswith("%"))
    kept = "\n".join([lines[0], "", *lines[computations:]])
    return kept.rstrip() + "\n"


def main() -> None:
    with TemporaryDirectory() as directory:
        os.environ["XLA_FLAGS"] = FLAGS.format(DEVICES, directory)
        import jax
        import jax.numpy as jnp
        import numpy as np
        from jax import lax
        from jax.sharding import Mesh
        from jax.sharding import PartitionSpec as P

        from xneuron.formats.arrays import save_arrays

        def loss(shards, bias, x):
            def layer(x, parameters):
                shard, b = parameters
                weights = lax.all_gather(shard, "devices", axis=0, tiled=True)
                return jnp.tanh(x @ weights + b), None

            y, _ = lax.scan(layer, x, (shards, bias))
            return jnp.sum(y * y)

        def step(shards, bias, x):
            return jax.value_and_grad(loss)(shards, bias, x)

        mesh = Mesh(np.array(jax.devices()), ("devices",))
        specs = (P(None, "devices", None), P(), P("devices", None))
        mapped = jax.shard_map(
            lambda *given: jax.tree.map(lambda leaf: leaf[None], step(*given)),
            mesh=mesh, in_specs=specs, out_specs=P("devices"), check_vma=False,
        )  # fmt: skip
        rng = np.random.default_rng(0)
        shapes = ((LAYERS, WIDTH, WIDTH), (LAYERS, WIDTH), (BATCH, WIDTH))
        arrays = [(rng.standard_normal(shape) / 4).astype(np.float32) for shape in shapes]

        def jit_step(*given):
            return mapped(*given)

        jit_step.__name__ = "step"
        jax.jit(jit_step).lower(*arrays).compile()
        (HERE / "fsdp.hlo").write_text(partitioned(directory))
        weights, bias, x = arrays
        parts = [np.stack(np.split(weights, DEVICES, 1)), bias, np.stack(np.split(x, DEVICES, 0))]
        save_arrays(HERE / "fsdp.npz", {str(number): part for number, part in enumerate(parts)})


if __name__ == "__main__":
    main()
