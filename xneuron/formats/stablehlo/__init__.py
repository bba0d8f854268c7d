"""StableHLO, in and out, by JAX's own MLIR (extra `jax`), which runs in a process of its own."""
