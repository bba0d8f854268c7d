"""Ten larger programs, and what `from_jax`, an unroller and `to_jax` make of them: `python larger.py NAME…`.

For each program a line: its name, then by stage the largest distance from JAX's results in relation to the largest of
them, or what went wrong. Started by `oracle/test_larger_programs.py`, never imported.
"""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from pathlib import Path

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4 --xla_allow_excess_precision=false"
os.environ["JAX_PLATFORMS"] = "cpu"
sys.path.insert(0, str(Path(__file__).parents[1]))

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P
from jax_programs.printed import distance
from xdsl.context import Context

import xneuron
from xneuron.transforms.unroll_while_loop import UnrollWhileLoop
from xneuron.transforms.while_loop_unroller import WhileLoopUnroller

_rng = np.random.default_rng(0)
PROGRAMS = {}


def program(*arguments):
    """Puts the function on the list with what it is called with."""

    def register(function):
        PROGRAMS[function.__name__] = function, arguments
        return function

    return register


def f32(*shape, scale=1.0):
    return (_rng.standard_normal(shape) * scale).astype(np.float32)


def s32(below, *shape):
    return _rng.integers(0, below, shape).astype(np.int32)


def zeros_like(tree):
    return jax.tree.map(np.zeros_like, tree)


def descend(rate, tree, gradient):
    return jax.tree.map(lambda w, g: w - rate * g, tree, gradient)


# ---------------------------------------------------------------- a transformer that learns

LAYERS, WIDTH, HEADS, TOKENS = 3, 16, 4, 6


def normalised(x):
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)


def transformer_layer(x, w):
    q, k, v = [(normalised(x) @ w[m]).reshape(TOKENS, HEADS, -1).transpose(1, 0, 2) for m in "qkv"]
    seen = jnp.tril(jnp.ones((TOKENS, TOKENS), bool))
    attention = jax.nn.softmax(jnp.where(seen, q @ k.transpose(0, 2, 1) / 2.0, -jnp.inf))
    x = x + (attention @ v).transpose(1, 0, 2).reshape(TOKENS, WIDTH) @ w["o"]
    return x + jax.nn.gelu(normalised(x) @ w["up"]) @ w["down"], None


def transformer_loss(weights, tokens):
    x, _ = lax.scan(jax.checkpoint(transformer_layer), weights["words"][tokens], weights["layers"])
    scores = jax.nn.log_softmax(normalised(x) @ weights["words"].T)
    return -jnp.take_along_axis(scores[:-1], tokens[1:, None], 1).mean()


TRANSFORMER = {
    "words": f32(11, WIDTH),
    "layers": {m: f32(LAYERS, WIDTH, WIDTH, scale=0.2) for m in "qkvo"}
    | {"up": f32(LAYERS, WIDTH, 32, scale=0.2), "down": f32(LAYERS, 32, WIDTH, scale=0.2)},
}


@program(TRANSFORMER, zeros_like(TRANSFORMER), s32(11, 2, TOKENS))
def transformer(weights, momentum, batches):
    def step(state, tokens):
        weights, momentum = state
        loss, gradient = jax.value_and_grad(transformer_loss)(weights, tokens)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradient)
        return (descend(0.01, weights, momentum), momentum), loss

    return lax.scan(step, (weights, momentum), batches)


# ---------------------------------------------------------------- diffusion with a U-net


def conv(x, w, stride=1):
    return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def unet(w, x, time):
    high = jax.nn.silu(conv(x, w["in"]))
    low = jax.nn.silu(conv(high, w["down"], 2))
    angles = time * jnp.arange(2.0)
    low = jax.nn.silu(conv(low + jnp.concatenate([jnp.sin(angles), jnp.cos(angles)]) @ w["time"], w["middle"]))
    low = (low - low.mean((1, 2), keepdims=True)) / (low.std((1, 2), keepdims=True) + 1e-5)
    up = lax.conv_transpose(low, w["up"], (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return conv(jnp.concatenate([high, up], -1), w["out"])


_KERNELS = {"in": (2, 4), "down": (4, 8), "middle": (8, 8), "up": (8, 4), "out": (8, 2)}
UNET = {name: f32(3, 3, *channels, scale=0.3) for name, channels in _KERNELS.items()} | {"time": f32(4, 8)}


@program(UNET, f32(1, 8, 8, 2), 3)
def diffusion(w, x, seed):
    def step(i, state):
        x, key = state
        key, drawn = jax.random.split(key)
        x = x - 0.1 * unet(w, x, (4 - i).astype(jnp.float32))
        return x + 0.01 * jax.random.normal(drawn, x.shape), key

    x, _ = lax.fori_loop(0, 4, step, (x, jax.random.key(seed)))
    return x, jax.grad(lambda w: (unet(w, x, 1.0) ** 2).mean())(w)


# ---------------------------------------------------------------- search, routing, sequences


@program(f32(7, 7), f32(7))
def beam_search(transitions, start):
    width, words = 3, 7

    def step(state):
        at, scores, found, ended = state
        after = jnp.where(jnp.arange(words) == 0, 0.0, -jnp.inf)
        options = jnp.where(ended[:, None], after, jax.nn.log_softmax(transitions[found[:, at - 1]]))
        scores, best = lax.top_k((scores[:, None] + options).reshape(-1), width)
        beam, word = best // words, best % words
        return at + 1, scores, found[beam].at[:, at].set(word.astype(jnp.int32)), ended[beam] | (word == 0)

    scores, first = lax.top_k(start, width)
    found = jnp.zeros((width, 6), jnp.int32).at[:, 0].set(first)
    state = 1, scores, found, jnp.zeros(width, bool)
    return lax.while_loop(lambda state: (state[0] < 6) & ~jnp.all(state[3]), step, state)


@program(f32(10, 8), f32(8, 4), f32(4, 8, 12, scale=0.3), f32(4, 12, 8, scale=0.3))
def mixture_of_experts(x, router, first, second):
    gates, experts = lax.top_k(jax.nn.softmax(x @ router), 2)
    flat = experts.reshape(-1)
    order = jnp.argsort(flat)
    sizes = jnp.bincount(flat, length=4).astype(jnp.int32)
    y = lax.ragged_dot(jax.nn.relu(lax.ragged_dot(x[order // 2], first, sizes)), second, sizes)
    return (jnp.zeros_like(y).at[order].set(y).reshape(10, 2, 8) * gates[..., None]).sum(1), sizes


@program(f32(5, 3, 4), np.array([5, 2, 3], np.int32), f32(4, 24, scale=0.4), f32(6, 24, scale=0.4))
def masked_lstm(xs, lengths, w, u):
    def loss(w, u):
        def step(state, x):
            h, c, at = state
            i, f, g, o = jnp.split(x @ w + h @ u, 4, -1)
            new = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            out = jax.nn.sigmoid(o) * jnp.tanh(new)
            inside = (at < lengths)[:, None]
            return (jnp.where(inside, out, h), jnp.where(inside, new, c), at + 1), jnp.where(inside, out, 0)

        (h, _, _), ys = lax.scan(step, (jnp.zeros((3, 6)), jnp.zeros((3, 6)), 0), xs)
        return (h**2).sum() + ys.sum()

    return jax.value_and_grad(loss, (0, 1))(w, u)


@program(f32(12, 5), s32(3, 12), f32(4, 5))
def nearest_neighbours(points, labels, queries):
    apart = ((points[None] - queries[:, None]) ** 2).sum(-1)
    _, nearest = lax.top_k(-apart, 3)
    votes = jax.vmap(lambda labels: jnp.bincount(labels, length=3))(labels[nearest])
    ordered, _ = lax.sort((apart, jnp.broadcast_to(jnp.arange(12), apart.shape)), num_keys=1)
    return {"label": votes.argmax(-1), "apart": ordered[:, :3], "nearest": nearest}


# ---------------------------------------------------------------- training, physics, devices


def perceptron(w, x):
    return jnp.tanh(x @ w["w"] + w["b"]) @ w["v"]


def _perceptron(inputs, hidden, outputs):
    return {"w": f32(inputs, hidden, scale=0.5), "b": f32(hidden), "v": f32(hidden, outputs, scale=0.5)}


@program(_perceptron(2, 8, 3), _perceptron(3, 8, 1), f32(4, 6, 3), jax.random.key(5))
def adversaries(maker, judge, real, key):
    def step(state, real):
        maker, judge, key = state
        key, drawn = jax.random.split(key)
        noise = jax.random.normal(drawn, (6, 2))

        def of_judge(judge):
            made = lax.stop_gradient(perceptron(maker, noise))
            return jax.nn.softplus(-perceptron(judge, real)).mean() + jax.nn.softplus(perceptron(judge, made)).mean()

        def of_maker(maker):
            return jax.nn.softplus(-perceptron(judge, perceptron(maker, noise))).mean()

        judged, by_judge = jax.value_and_grad(of_judge)(judge)
        made, by_maker = jax.value_and_grad(of_maker)(maker)
        return (descend(0.05, maker, by_maker), descend(0.05, judge, by_judge), key), (judged, made)

    return lax.scan(step, (maker, judge, key), real)


@program(f32(4, 2), f32(4, 2, scale=0.1))
def planets(x, v):
    def force(x):
        apart = x[:, None] - x[None]
        return -(apart / ((apart**2).sum(-1) + 0.1)[..., None] ** 1.5).sum(1)

    def leap(state):
        x, v, at = state
        v = v + 0.005 * force(x)
        x = x + 0.01 * v
        return x, v + 0.005 * force(x), at + 1

    def day(_, state):
        return lax.while_loop(lambda s: (s[2] < 3) & (jnp.abs(s[0]).max() < 1e3), leap, (*state, 0))[:2]

    x, v = lax.fori_loop(0, 4, day, (x, v))
    return x, v, 0.5 * (v**2).sum()


@program(f32(8, 8, scale=0.3), f32(3, 4, 8))
def mixed_precision(w, batches):
    def as_f8(a):
        scale = jnp.max(jnp.abs(a)) / 448.0
        return (a / scale).astype(jnp.float8_e4m3fn), scale

    def loss(w, x):
        h = jax.nn.gelu(x.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16)).astype(jnp.float32)
        (a, sa), (b, sb) = as_f8(lax.stop_gradient(h)), as_f8(lax.stop_gradient(w))
        return ((h @ w - x) ** 2).mean() + 0.01 * (lax.dot(a, b, preferred_element_type=jnp.float32) * sa * sb).mean()

    def step(state, x):
        w, scale = state
        scaled, gradient = jax.value_and_grad(lambda w: loss(w, x) * scale)(w)
        gradient = (gradient / scale).astype(jnp.bfloat16).astype(jnp.float32)
        fine = jnp.all(jnp.isfinite(gradient))
        return (jnp.where(fine, w - 0.1 * gradient, w), jnp.where(fine, scale * 2, scale / 2)), scaled / scale

    return lax.scan(step, (w, jnp.float32(1024)), batches)


@program(f32(3, 8, 8, scale=0.3), f32(8, 8))
def layers_in_parts(weights, x):
    mesh = jax.make_mesh((4,), ("x",), axis_types=(AxisType.Auto,))

    @partial(jax.shard_map, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=(P(), P()), check_vma=False)
    def device(weights, x):
        def step(x, w):
            part = lax.dynamic_slice_in_dim(x, lax.axis_index("x") * 2, 2, 1) @ w
            return jnp.tanh(lax.psum(part, "x")), lax.pmax(part.sum(), "x")

        return lax.scan(step, x, weights)

    return device(weights, x)


STAGES = {
    "as it is": (),
    "unroll-while-loop": (UnrollWhileLoop(),),
    "while_loop_unroller": (WhileLoopUnroller(),),
    "unroll-factor": (WhileLoopUnroller(unroll_factor=2),),
}


def outcome(name, passes):
    """The largest distance from JAX's results."""
    function, arguments = PROGRAMS[name]
    module = xneuron.from_jax(function, *arguments)
    for each in passes:
        each.apply(Context(), module)
        module.verify()
    found, expected = xneuron.to_jax(module)(*arguments), jax.jit(function)(*arguments)
    if jax.tree.structure(found) != jax.tree.structure(expected):
        return f"{jax.tree.structure(found)}, in JAX {jax.tree.structure(expected)}"
    return max(map(_apart, jax.tree.leaves(found), jax.tree.leaves(expected)))


def _apart(mine, theirs):
    if jnp.issubdtype(theirs.dtype, jax.dtypes.prng_key):
        mine, theirs = jax.random.key_data(mine), jax.random.key_data(theirs)
    return distance(np.asarray(mine), np.asarray(theirs))


if __name__ == "__main__":
    for each in sys.argv[1:]:
        print(each, json.dumps({stage: outcome(each, passes) for stage, passes in STAGES.items()}), flush=True)
