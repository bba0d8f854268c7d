"""For notebooks and scripts that have JAX: a function in, a function out (extra `jax`)."""
