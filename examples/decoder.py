"""Makes decoder.hlo: a small language model that writes six tokens, as JAX hands it to XLA.

    .venv/bin/python examples/decoder.py

It has the loops that real programs have: a counted loop over tokens, a counted loop over layers inside it, and a loop
that runs until a number is good enough, whose count nobody can know beforehand.
"""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

WORDS, WIDTH, LAYERS, LENGTH, TOKENS = 12, 8, 3, 8, 6


def attend(x, qkv):
    """Causal attention of one head."""
    q, k, v = jnp.split(x @ qkv, 3, -1)
    scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), q @ k.T, -jnp.inf)
    return jax.nn.softmax(scores / np.sqrt(WIDTH).astype(np.float32)) @ v


def layers(x, weights):
    """All layers, one iteration each."""

    def layer(x, w):
        qkv, up, down = w
        x = x + attend(x, qkv)
        return x + jnp.tanh(x @ up) @ down, None

    return lax.scan(layer, x, weights)[0]


def square_root(x):
    """Newton's method, until it changes nothing any more."""

    def better(state):
        guess, _ = state
        new = 0.5 * (guess + x / guess)
        return new, jnp.abs(new - guess) > 1e-6 * new

    return lax.while_loop(lambda state: state[1], better, (x, jnp.bool_(True)))[0]


def decode(tokens, embedding, qkv, up, down):
    """Writes TOKENS tokens after the first, and the norm of the last logits."""

    def step(i, state):
        tokens, _ = state
        x = layers(embedding[tokens], (qkv, up, down))
        logits = lax.dynamic_index_in_dim(x, i, keepdims=False) @ embedding.T
        word = jnp.argmax(logits).astype(jnp.int32)
        return lax.dynamic_update_index_in_dim(tokens, word, i + 1, 0), logits

    tokens, logits = lax.fori_loop(0, TOKENS, step, (tokens, jnp.zeros(WORDS, jnp.float32)))
    return tokens, square_root(1.0 + jnp.sum(logits * logits))


def main() -> None:
    """Writes decoder.hlo beside this file."""
    floats = [(WORDS, WIDTH), (LAYERS, WIDTH, 3 * WIDTH), (LAYERS, WIDTH, 2 * WIDTH), (LAYERS, 2 * WIDTH, WIDTH)]
    arguments = [jax.ShapeDtypeStruct((LENGTH,), jnp.int32), *(jax.ShapeDtypeStruct(s, jnp.float32) for s in floats)]
    text = jax.jit(decode).lower(*arguments).as_text("hlo")
    Path(__file__).with_suffix(".hlo").write_text(text.rstrip() + "\n")


if __name__ == "__main__":
    main()
