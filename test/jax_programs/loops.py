"""Loops: counted, traced, scanned, nested, and their gradients."""

import jax
import jax.numpy as jnp
from jax import lax
from jax_programs.registry import f32, integers, program


@program(f32(4))
def fori_static(x):
    """A counted loop with constant bounds, which JAX prints as a scan."""
    return lax.fori_loop(0, 7, lambda i, c: c * 1.5 + i, x)


@program(f32(4), integers(5, 6))
def fori_traced(x, n):
    """The bound comes as an argument."""
    return lax.fori_loop(0, n, lambda i, c: c + jnp.sin(c) * i, x)


@program(f32(3), integers(-2, -1), integers(4, 5))
def fori_range(x, start, stop):
    """Both bounds do."""
    return lax.fori_loop(start, stop, lambda i, c: c + i, x)


@program(f32(5, 3))
def scan_carry_and_outputs(rows):
    """A scan that consumes rows, carries a sum and produces products."""
    return lax.scan(lambda total, row: (total + row, total * row), jnp.zeros(3), rows)


@program(f32(6, 2))
def scan_reversed(rows):
    """From the last row to the first."""
    return lax.scan(lambda c, row: (c * 0.5 + row, c), jnp.ones(2), rows, reverse=True)


@program(f32(8, 2))
def scan_unrolled_by_two(rows):
    """JAX itself puts two steps into one iteration."""
    return lax.scan(lambda c, row: (jnp.tanh(c + row), c.sum()), jnp.ones(2), rows, unroll=2)


@program(f32(4), f32())
def while_with_closure(x, limit):
    """The condition uses a value from around the loop."""
    return lax.while_loop(lambda c: jnp.sum(c) < limit + 50.0, lambda c: c * c + 1.0, x)


@program(f32())
def while_of_one_value(x):
    """One carried value only."""
    return lax.while_loop(lambda c: c < 100.0, lambda c: c * 2.0 + 1.0, jnp.abs(x))


@program(integers(1, 40, 6))
def collatz_steps(numbers):
    """A loop under vmap: it runs until the last is done, the others wait."""

    def steps(n):
        return lax.while_loop(
            lambda s: s[0] != 1, lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1), (n, 0)
        )[1]

    return jax.vmap(steps)(numbers)


@program(f32(3, 3))
def nested_counted(x):
    """A counted loop in a counted loop."""

    def row(i, m):
        return lax.fori_loop(0, 3, lambda j, n: n.at[i, j].add(n[j, i] * 0.5), m)

    return lax.fori_loop(0, 3, row, x)


@program(f32(4))
def nested_triangle(x):
    """The inner loop's bound is the outer loop's counter."""
    return lax.fori_loop(0, 4, lambda i, c: lax.fori_loop(0, i, lambda j, d: d + d[j], c), x)


@program(f32(2, 3, 4))
def nested_scans(x):
    """A scan in a scan, both with outputs."""

    def outer(c, block):
        return lax.scan(lambda d, row: (d + row, d), c, block)

    return lax.scan(outer, jnp.zeros(4), x)


@program(f32(5, 3), f32(3))
def grad_of_scan(rows, w):
    """Forward and backward through a scan."""

    def loss(w):
        return jnp.sum(lax.scan(lambda c, row: (jnp.tanh(c * w + row), c), jnp.zeros(3), rows)[1] ** 2)

    return jax.value_and_grad(loss)(w)


@program(f32(4))
def jvp_of_fori(x):
    """Forward mode through a loop."""
    return jax.jvp(lambda y: lax.fori_loop(0, 4, lambda i, c: jnp.sin(c) * y, y), (x,), (jnp.ones(4),))


@program(f32(4, 3))
def grad_of_checkpointed_scan(rows):
    """The backward pass computes the forward pass again."""

    def loss(rows):
        step = jax.checkpoint(lambda c, row: (jnp.sin(c) + row * c, None))
        return jnp.sum(lax.scan(step, jnp.ones(3), rows)[0])

    return jax.grad(loss)(rows)


@program(f32(16))
def associative_scan(x):
    """A prefix product in logarithmic depth."""
    return lax.associative_scan(jnp.multiply, 1.0 + 0.1 * x)


@program(integers(0, 5, 4, dtype="uint8"))
def counter_of_u8(x):
    """A counter narrower than the usual."""
    return lax.while_loop(
        lambda s: s[0] < jnp.uint8(9), lambda s: (s[0] + jnp.uint8(2), s[1] + s[0]), (jnp.uint8(1), x)
    )
