"""Small models: layers, their gradients, steps of training."""

import jax
import jax.numpy as jnp
from jax import lax
from jax_programs.registry import f32, integers, program


@program(f32(7, 3), f32(3, 4), f32(4, 4), f32(4))
def rnn(inputs, win, wrec, bias):
    """A recurrent layer over time."""
    step = lambda h, x: (jnp.tanh(x @ win + h @ wrec + bias),) * 2  # noqa: E731
    return lax.scan(step, jnp.zeros(4), inputs)


@program(f32(5, 3), f32(3, 8), f32(2, 8), f32(2))
def lstm_gradients(inputs, win, wrec, target):
    """Gates, and the gradient through time."""

    def loss(win, wrec):
        def cell(state, x):
            h, c = state
            i, f, g, o = jnp.split(x @ win + h @ wrec, 4)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        return jnp.sum((lax.scan(cell, (jnp.zeros(2), jnp.zeros(2)), inputs)[1] - target) ** 2)

    return jax.grad(loss, argnums=(0, 1))(win, wrec)


@program(f32(2, 6, 8), f32(2, 6, 8), f32(2, 6, 8))
def attention(q, k, v):
    """Masked softmax attention."""
    scores = jnp.einsum("bqd,bkd->bqk", q, k) / jnp.sqrt(8.0)
    scores = jnp.where(jnp.tril(jnp.ones((6, 6), bool)), scores, -jnp.inf)
    return jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(scores, axis=-1), v)


@program(f32(4, 8), f32(8, 8), f32(8, 8))
def attention_in_blocks(q, k, v):
    """A running softmax over blocks of keys."""

    def block(state, kv):
        best, total, acc = state
        keys, values = kv
        scores = q @ keys.T
        new = jnp.maximum(best, scores.max(axis=1))
        weights = jnp.exp(scores - new[:, None])
        scale = jnp.exp(best - new)
        return (new, total * scale + weights.sum(axis=1), acc * scale[:, None] + weights @ values), None

    start = (jnp.full(4, -jnp.inf), jnp.zeros(4), jnp.zeros((4, 8)))
    (_, total, acc), _ = lax.scan(block, start, (k.reshape(2, 4, 8), v.reshape(2, 4, 8)))
    return acc / total[:, None]


@program(f32(3, 4, 4), f32(5, 4), integers(0, 4, 5))
def training_steps(weights, x, labels):
    """Three layers, cross entropy, four steps of gradient descent."""

    def loss(weights):
        hidden = x
        for w in weights:
            hidden = jax.nn.relu(hidden @ w)
        return -jnp.mean(jax.nn.log_softmax(hidden)[jnp.arange(5), labels])

    def step(w, _):
        value, gradient = jax.value_and_grad(loss)(w)
        return w - 0.1 * gradient, value

    return lax.scan(step, weights, None, length=4)


@program(f32(4, 6), f32(6))
def normalisation(x, scale):
    """A layer norm, and its gradient."""

    def norm(x, scale):
        mean, variance = jnp.mean(x, axis=-1, keepdims=True), jnp.var(x, axis=-1, keepdims=True)
        return scale * (x - mean) * lax.rsqrt(variance + 1e-5)

    return norm(x, scale), jax.grad(lambda x, s: jnp.sum(norm(x, s) ** 3), argnums=(0, 1))(x, scale)


@program(f32(8, 4), f32(3, 4))
def k_means(points, centres):
    """Nearest centre and mean, five times."""

    def step(_, c):
        nearest = jnp.argmin(jnp.sum((points[:, None] - c[None]) ** 2, axis=-1), axis=1)
        member = jax.nn.one_hot(nearest, 3)
        return member.T @ points / jnp.maximum(member.sum(axis=0), 1.0)[:, None]

    return lax.fori_loop(0, 5, step, centres)
