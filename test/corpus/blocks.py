"""Blocks of models and of numerics: attention, recurrent cells, convolution, sort, gather, narrow types, random."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from registry import f32, integers, normal, program


@program(f32(5, 3), f32(4), f32(3, 4, scale=0.5), f32(4, 4, scale=0.5))
def rnn(xs, h, wx, wh):
    return lax.scan(lambda h, x: (jnp.tanh(x @ wx + h @ wh),) * 2, h, xs)


@program(f32(4, 2, 3), f32(2, 4), f32(7, 16, scale=0.3))
def lstm(xs, h, w):
    def cell(state, x):
        h, c = state
        i, f, g, o = jnp.split(jnp.concatenate([x, h], -1) @ w, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    return lax.scan(cell, (h, jnp.zeros_like(h)), xs)


@program(f32(3, 2, 3), f32(2, 4), f32(7, 12, scale=0.3))
def gru_grad(xs, h, w):
    def cell(h, x):
        r, z, n = jnp.split(jnp.concatenate([x, h], -1) @ w, 3, -1)
        h = jax.nn.sigmoid(z) * h + (1 - jax.nn.sigmoid(z)) * jnp.tanh(n + jax.nn.sigmoid(r) * h)
        return h, h

    return jax.grad(lambda w: jnp.sum(lax.scan(cell, h, xs)[1] ** 2))(w)


def _attend(q, k, v):
    scores = jnp.einsum("qhd,khd->hqk", q, k) / np.sqrt(q.shape[-1]).astype(np.float32)
    mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    return jnp.einsum("hqk,khd->qhd", jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), -1), v)


@program(f32(6, 2, 4), f32(6, 2, 4), f32(6, 2, 4))
def attention(q, k, v):
    return _attend(q, k, v)


@program(f32(6, 4), f32(8, 4), f32(8, 4))
def attention_running_softmax(q, k, v):
    def block(state, kv):
        top, total, out = state
        k, v = kv
        scores = q @ k.T
        new = jnp.maximum(top, jnp.max(scores, -1))
        weights, shrink = jnp.exp(scores - new[:, None]), jnp.exp(top - new)
        return (new, total * shrink + jnp.sum(weights, -1), out * shrink[:, None] + weights @ v), None

    start = jnp.full(6, -jnp.inf, jnp.float32), jnp.zeros(6, jnp.float32), jnp.zeros((6, 4), jnp.float32)
    blocks = k.reshape(4, 2, 4), v.reshape(4, 2, 4)
    (_, total, out), _ = lax.scan(block, start, blocks)
    return out / total[:, None]


def _norm(x, scale):
    x = x - jnp.mean(x, -1, keepdims=True)
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * scale


def _layers(x, weights):
    def layer(x, w):
        scale, qkv, out, up, down = w
        q, k, v = jnp.split((_norm(x, scale) @ qkv).reshape(x.shape[0], 2, -1), 3, -1)
        x = x + _attend(q, k, v).reshape(x.shape) @ out
        return x + jax.nn.gelu(_norm(x, scale) @ up) @ down, None

    return lax.scan(layer, x, weights)[0]


_LAYERS = (f32(3, 8), f32(3, 8, 24, scale=0.2), f32(3, 8, 8, scale=0.2), f32(3, 8, 16, scale=0.2))


@program(f32(5, 8), *_LAYERS, f32(3, 16, 8, scale=0.2))
def transformer(x, *weights):
    return _layers(x, weights)


@program(f32(5, 8), *_LAYERS, f32(3, 16, 8, scale=0.2))
def transformer_grad(x, *weights):
    return jax.grad(lambda w: jnp.mean(_layers(x, w) ** 2))(weights)


@program(normal(jnp.bfloat16, 4, 6))
def softmax_bf16(x):
    return jax.nn.softmax(x, -1)


@program(normal(jnp.bfloat16, 4), normal(jnp.bfloat16, 5, 4))
def scan_bf16(h, xs):
    return lax.scan(lambda h, x: (h * jnp.bfloat16(0.5) + x, h), h, xs)


@program(normal(np.float16, 3, 4), normal(np.float16, 4, 3))
def matmul_f16(x, y):
    return jnp.maximum(x @ y, 0)


@program(f32(4, 5), f32(5, 3))
def matmul_f8(x, y):
    x, y = x.astype(jnp.float8_e4m3fn), y.astype(jnp.float8_e5m2)
    return x.astype(jnp.float32) @ y.astype(jnp.float32), (x.astype(jnp.float32) * 2).astype(jnp.float8_e5m2)


@program(integers(np.int8, -128, 128, 4, 5), integers(np.int8, -128, 128, 5, 3))
def matmul_s8(x, y):
    return lax.dot(x, y, preferred_element_type=jnp.int32)


@program(f32(2, 3, 4), f32(2, 4, 5))
def einsum_batched(x, y):
    return jnp.einsum("bij,bjk->bki", x, y)


@program(f32(1, 8, 8, 3), f32(3, 3, 3, 4))
def conv_2d(x, w):
    return lax.conv_general_dilated(x, w, (2, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@program(f32(2, 4, 10), f32(6, 2, 3))
def conv_1d_groups(x, w):
    return lax.conv_general_dilated(x, w, (1,), [(2, 1)], lhs_dilation=(2,), rhs_dilation=(2,), feature_group_count=2)


@program(f32(1, 2, 6, 6), f32(3, 2, 3, 3))
def conv_grad(x, w):
    def loss(x, w):
        return jnp.sum(jnp.sin(lax.conv(x, w, (2, 2), "SAME")))

    return jax.grad(loss, argnums=(0, 1))(x, w)


@program(f32(1, 6, 6, 2))
def max_pool_grad(x):
    def pool(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    return pool(x), jax.grad(lambda x: jnp.sum(pool(x) ** 2))(x)


@program(f32(1, 5, 5, 2))
def average_pool(x):
    return lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") / 9.0


@program(integers(np.int32, -20, 20, 3, 7), f32(3, 7))
def sort_pairs(keys, values):
    return lax.sort((keys, values), dimension=1, num_keys=1)


@program(np.array([3, np.nan, -0.0, 0.0, -np.inf, np.inf, -2, 1], np.float32))
def sort_special(x):
    return jnp.sort(x), jnp.argsort(-x)


@program(f32(3, 9))
def top_k(x):
    return lax.top_k(x, 4)


@program(f32(4, 6))
def arg_reductions(x):
    return jnp.argmax(x, 1), jnp.argmin(x, 0), jnp.max(x), jnp.min(x, 1), jnp.prod(x, 0), jnp.any(x > 2), jnp.all(x < 9)


@program(np.array([[1, np.nan, 3], [-np.inf, 0, np.inf], [-np.inf, -np.inf, -np.inf]], np.float32))
def reductions_special(x):
    return jnp.max(x, 1), jnp.min(x, 1), jnp.nanmax(x, 1), jax.nn.logsumexp(x[1:], 1), jnp.nansum(x, 0)


@program(f32(5, 4))
def cumulative(x):
    return jnp.cumsum(x, 0), lax.cummax(x, 1), lax.cumlogsumexp(x, 0), jnp.cumprod(x, 1)


@program(f32(10, 4), integers(np.int32, -12, 12, 6))
def gather_rows(table, rows):
    return table[rows], jnp.take(table, rows, axis=0, mode="clip"), jnp.take(table, rows, axis=0, mode="fill")


@program(f32(10, 4), integers(np.int32, 0, 10, 6))
def embedding_grad(table, rows):
    return jax.grad(lambda t: jnp.sum(t[rows] ** 3))(table)


@program(f32(6, 3), integers(np.int32, 0, 8, 5), f32(5, 3))
def scatters(x, rows, updates):
    return x.at[rows].add(updates), x.at[rows].max(updates), x.at[rows[0]].set(updates[0]), x.at[rows].mul(updates)


@program(f32(4, 6), integers(np.int32, 0, 6, 4, 2))
def take_along_axis(x, index):
    return jnp.take_along_axis(x, index, 1)


@program(np.uint32(7))
def random_uniform(seed):
    return jax.random.uniform(jax.random.key(seed), (4, 3)), jax.random.bits(jax.random.key(1), (5,))


@program(np.uint32(3))
def random_normal(seed):
    key, other = jax.random.split(jax.random.key(seed))
    return jax.random.normal(key, (6,)), jax.random.randint(other, (5,), -10, 10), jax.random.permutation(other, 6)


@program(f32(5), np.int32(1))
def conditional(x, k):
    return lax.cond(k > 0, jnp.sin, lambda x: x * 2, x), lax.switch(k, [jnp.cos, jnp.exp, jnp.negative], x)


@program(integers(np.int32, -1000, 1000, 8), integers(np.int32, -5, 6, 8))
def integer_division(x, y):
    return x // jnp.where(y == 0, 1, y), lax.div(x, y), lax.rem(x, y), x % 7, jnp.sign(x), jnp.abs(x), -x, x * x * x * x


@program(integers(np.uint32, 0, 2**32, 8), integers(np.uint32, 0, 40, 8))
def bit_twiddling(x, shift):
    signed = lax.bitcast_convert_type(x, jnp.int32)
    shifts = x << shift, lax.shift_right_logical(x, shift), lax.shift_right_arithmetic(signed, shift.astype(jnp.int32))
    return (
        *shifts,
        lax.population_count(x),
        lax.clz(x),
        ~x,
        x & shift,
        x ^ shift,
        lax.bitcast_convert_type(x, jnp.float32),
    )


@program(np.array([1e10, -1e10, np.nan, np.inf, -np.inf, 2.5, -2.5, 0.49, 300, -129], np.float32))
def conversions(x):
    types = jnp.int8, jnp.uint8, jnp.int32, jnp.uint32, jnp.bfloat16, jnp.float16, jnp.bool_, jnp.float8_e4m3fn
    return tuple(x.astype(t) for t in types)


@program(f32(12, scale=2.0))
def elementwise_float(x):
    positive = jnp.abs(x) + 0.1
    trig = jnp.sin(x), jnp.cos(x), jnp.tan(x), jnp.tanh(x), jnp.arctan2(x, positive), jnp.sinh(x)
    powers = jnp.exp(x), jnp.expm1(x), jnp.log(positive), jnp.log1p(positive), jnp.sqrt(positive), lax.rsqrt(positive)
    steps = jnp.floor(x), jnp.ceil(x), lax.round(x), jnp.round(x), jnp.sign(x), lax.cbrt(x), lax.logistic(x), lax.erf(x)
    return trig, powers, steps, positive**x, lax.rem(x, positive), jnp.isfinite(x), lax.nextafter(x, positive)


@program(f32(2, 3), f32(2, 3))
def complex_numbers(x, y):
    z = lax.complex(x, y)
    return z * z, z / (z + 1), jnp.exp(z), jnp.abs(z), jnp.conj(z).real, jnp.log(z), jnp.sqrt(z).imag


@program(f32(3, 4), f32(2, 4))
def shapes(x, y):
    padded = lax.pad(x, jnp.float32(9), [(1, -1, 1), (-1, 2, 0)])
    joined = jnp.concatenate([x, y[::-1]], 0)
    return (
        padded,
        joined[1::2, ::-1],
        x.T.reshape(2, 6),
        jnp.broadcast_to(x[:, None, :1], (3, 2, 4)),
        jnp.clip(x, -0.5, 0.5),
    )


@program(f32(6, 4), f32(4, 3), f32(3, 4, 4, scale=0.5))
def mixture_of_experts(x, router, experts):
    chosen = jnp.argmax(x @ router, -1)
    return jax.vmap(lambda row, k: row @ experts[k])(x, chosen)


@program(f32(9))
def large_constants(x):
    table = np.linspace(-1, 1, 36, dtype=np.float32).reshape(4, 9)
    flags = np.arange(20) % 3 == 0
    return jnp.asarray(table) @ x, jnp.where(flags, jnp.float32(np.nan), jnp.float32(-np.inf))
