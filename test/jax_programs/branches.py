"""Branches: cond, switch, select, under vmap and in loops."""

import jax
import jax.numpy as jnp
from jax import lax
from jax_programs.registry import f32, integers, program


@program(f32(4), f32(4))
def cond_on_data(x, y):
    """Both branches use values from around."""
    return lax.cond(jnp.sum(x) > jnp.sum(y), lambda: (x * 2.0, y), lambda: (y, x - 1.0))


@program(f32(4), integers(0, 5))
def switch_of_three(x, which):
    """The index is clamped."""
    return lax.switch(which, [lambda z: z + 1.0, lambda z: jnp.sin(z), lambda z: -z], x)


@program(f32(6, 3), integers(0, 3, 6))
def switch_in_scan(rows, kinds):
    """A branch in each iteration."""

    def step(c, xs):
        row, kind = xs
        c = lax.switch(kind, [lambda a, b: a + b, lambda a, b: a * b, lambda a, b: a], c, row)
        return c, jnp.sum(c)

    return lax.scan(step, jnp.ones(3), (rows, kinds))


@program(f32(5), integers(0, 2, 5))
def cond_under_vmap(x, flags):
    """What becomes of a branch is a select."""
    return jax.vmap(lambda a, flag: lax.cond(flag == 1, jnp.cos, lambda z: z * 3.0, a))(x, flags)


@program(f32(3))
def cond_with_loop_inside(x):
    """A loop in a branch, with a value from around both."""
    scale = jnp.max(x)
    return lax.cond(scale > 0, lambda z: lax.fori_loop(0, 3, lambda i, c: c * scale, z), lambda z: jnp.zeros_like(z), x)


@program(f32(4))
def grad_of_cond(x):
    """The branch taken decides the gradient."""
    return jax.grad(lambda z: jnp.sum(lax.cond(z[0] > 0, jnp.exp, jnp.square, z)))(x)


@program(f32(3, 4), f32(3, 4))
def select_and_clamp(x, y):
    """Elementwise choices."""
    return jnp.where(x > y, x, -y), jnp.clip(x, -0.5, 0.5), jnp.select([x > 1, y > 1], [x, y], 0.0)
