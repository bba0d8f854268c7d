"""A recurrence over the rows of xs, as JAX hands it to XLA: prints StableHLO."""

import jax
import jax.numpy as jnp


def recurrence(h, xs, w):
    def step(h, x):
        h = jnp.tanh(w @ h + x)
        return h, h.sum()

    return jax.lax.scan(step, h, xs)


if __name__ == "__main__":
    h, xs, w = jnp.zeros(3), jnp.ones((4, 3)), jnp.eye(3)
    print(jax.jit(recurrence).lower(h, xs, w).as_text())
