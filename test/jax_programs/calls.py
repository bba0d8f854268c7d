"""Functions within functions: jitted, differentiated by hand, checkpointed, donated, with effects on nothing."""

import jax
import jax.numpy as jnp
from jax import lax
from jax_programs.registry import f32, integers, program


@jax.jit
def _inner(x, y):
    return jnp.sin(x) * y, x - y


@program(f32(4), f32(4))
def calls_of_one_function(x, y):
    """One function, called twice, with two results."""
    a, b = _inner(x, y)
    c, d = _inner(b, a)
    return c + d, a


@jax.custom_jvp
def _soft(x):
    return jnp.log1p(jnp.exp(x))


@_soft.defjvp
def _soft_jvp(primals, tangents):
    return _soft(primals[0]), jax.nn.sigmoid(primals[0]) * tangents[0]


@program(f32(5))
def custom_jvp(x):
    """A derivative given by hand, forward."""
    return jax.value_and_grad(lambda y: jnp.sum(_soft(y)))(x)


@jax.custom_vjp
def _clipped(x):
    return x * x


_clipped.defvjp(lambda x: (x * x, x), lambda x, g: (jnp.clip(2.0 * x * g, -1.0, 1.0),))


@program(f32(5))
def custom_vjp(x):
    """And backward."""
    return _clipped(x), jax.grad(lambda y: jnp.sum(_clipped(y)))(x)


@program(f32(4), f32(4))
def rematerialised(x, w):
    """Checkpointing puts a barrier before what is computed again."""
    layer = jax.checkpoint(lambda a: jnp.sin(jnp.cos(a) * w))
    return jax.grad(lambda a: jnp.sum(layer(layer(a))))(x)


@program(f32(3, 3), f32(3, 3), donated=(0,))
def donated(state, update):
    """An argument whose buffer the result may take."""
    return state + update, jnp.sum(update)


@program(f32(4), integers(0, 3))
def tree_of_results(x, n):
    """Results that are dictionaries and lists."""
    return {"a": x * n, "b": [x + 1.0, (n,)], "c": None}


@program(f32(4))
def identity_and_constants(x):
    """Results that are arguments, constants, and twice the same."""
    return x, jnp.arange(5), jnp.ones((2, 2)), x, jnp.float32(3.5)


@program(f32(4), f32(4), f32(4))
def unused_arguments(x, y, z):
    """Two of three arguments are not needed."""
    return y * 2.0


@program(f32(4))
def barrier(x):
    """An explicit barrier."""
    a, b = lax.optimization_barrier((x * 2.0, x + 1.0))
    return a * b


@program(f32(3, 4))
def mapped(rows):
    """lax.map and vmap over rows, nested."""
    return lax.map(lambda r: jnp.sum(r) * r, rows), jax.vmap(jax.vmap(lambda a: a * a + 1.0))(rows)


@program(f32(4))
def composite(x):
    """A call that stands for an operation."""

    scaled = lax.composite(lambda y, *, factor: y * factor, "project.scaled", version=2)
    return scaled(x, factor=2.5)
