"""Loops: counted, runtime-bounded, data-dependent, nested, differentiated, with every sort of counter."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from registry import f32, integers, program


@program(f32(8))
def fori_static(x):
    return lax.fori_loop(0, 10, lambda i, c: c * 0.5 + jnp.float32(i), x)


@program(f32(4), np.int32(7))
def fori_traced(x, n):
    return lax.fori_loop(0, n, lambda i, c: c + jnp.float32(i) * x, x)


@program(f32(4), np.int32(2), np.int32(9))
def fori_traced_range(x, low, high):
    return lax.fori_loop(low, high, lambda i, c: c * 0.75 + jnp.float32(i - low), x)


@program(f32(4))
def fori_zero_trips(x):
    return lax.fori_loop(5, 5, lambda i, c: c + 1.0, x)


@program(f32(4))
def fori_one_trip(x):
    return lax.fori_loop(5, 6, lambda i, c: c + jnp.float32(i), x)


@program(f32(4))
def count_down(x):
    return lax.while_loop(lambda s: s[0] > 0, lambda s: (s[0] - 3, s[1] * 0.5 + jnp.float32(s[0])), (10, x))


@program(f32(4))
def count_s8(x):
    start = (jnp.int8(-100), x)
    return lax.while_loop(lambda s: s[0] < jnp.int8(100), lambda s: (s[0] + jnp.int8(25), s[1] + 1.0), start)


@program(f32(4))
def count_u32_step(x):
    start = (jnp.uint32(1), x)
    return lax.while_loop(lambda s: s[0] <= jnp.uint32(40), lambda s: (s[0] + jnp.uint32(3), s[1] * 0.9), start)


@program(f32(4))
def count_not_equal(x):
    return lax.while_loop(lambda s: s[1] != 12, lambda s: (s[0] * 0.5 + 1.0, s[1] + 4), (x, 0))


@program(f32(4))
def count_geometric(x):
    return lax.while_loop(lambda s: s[0] < 100, lambda s: (s[0] * 3, s[1] + 1.0), (1, x))


@program(f32(4))
def count_float(x):
    start = (jnp.float32(0), x)
    return lax.while_loop(lambda s: s[0] < 2.0, lambda s: (s[0] + 0.25, s[1] * 1.5), start)


@program(f32(4))
def count_shifts(x):
    start = (jnp.uint8(128), x)
    return lax.while_loop(lambda s: s[0] != 0, lambda s: (s[0] >> jnp.uint8(1), s[1] + jnp.float32(s[0])), start)


@program(f32(3), f32(3))
def two_counters(x, y):
    def body(state):
        i, j, x, y = state
        return i + 1, j + 2, x + jnp.float32(j), y * 0.5 + jnp.float32(i)

    return lax.while_loop(lambda s: (s[0] < 20) & (s[1] < 14), body, (0, 0, x, y))


@program(np.float32(2.0))
def newton_sqrt(x):
    def step(state):
        guess, _ = state
        better = 0.5 * (guess + x / guess)
        return better, jnp.abs(better - guess)

    return lax.while_loop(lambda s: s[1] > 1e-5, step, (x, jnp.float32(1)))


@program(np.int32(27))
def collatz(n):
    def step(state):
        n, steps = state
        return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1

    return lax.while_loop(lambda s: s[0] != 1, step, (n, 0))


@program(integers(np.uint32, 1, 1000, 6), integers(np.uint32, 1, 1000, 6))
def gcd_batched(a, b):
    def one(a, b):
        return lax.while_loop(lambda s: s[1] != 0, lambda s: (s[1], s[0] % s[1]), (a, b))[0]

    return jax.vmap(one)(a, b)


@program(f32(4, 5))
def nested_static(x):
    def outer(i, c):
        return lax.fori_loop(0, 4, lambda j, d: d * 0.9 + jnp.float32(i * j), c)

    return lax.fori_loop(0, 3, outer, x)


@program(f32(4))
def nested_triangle(x):
    def outer(i, c):
        return lax.fori_loop(0, i, lambda j, d: d + jnp.float32(j), c) * 0.5

    return lax.fori_loop(0, 6, outer, x)


@program(f32(2))
def nested_three(x):
    def inner(k, d):
        return d * 0.5 + jnp.float32(k)

    def middle(j, c):
        return lax.fori_loop(0, 2, inner, c) + jnp.float32(j)

    return lax.fori_loop(0, 2, lambda i, b: lax.fori_loop(0, 3, middle, b) - jnp.float32(i), x)


@program(f32(12))
def scan_sum(xs):
    return lax.scan(lambda c, x: (c + x, c * x), jnp.float32(0), xs)


@program(f32(3), f32(6, 3), f32(3, 3, scale=0.5))
def scan_matmul(h, xs, w):
    def step(h, x):
        h = jnp.tanh(h @ w + x)
        return h, h

    return lax.scan(step, h, xs)


@program(f32(7, 2))
def scan_reverse(xs):
    return lax.scan(lambda c, x: (0.9 * c + x, c), jnp.zeros(2, jnp.float32), xs, reverse=True)


@program(f32(7, 2))
def scan_unroll_two(xs):
    return lax.scan(lambda c, x: (0.9 * c + x, c), jnp.zeros(2, jnp.float32), xs, unroll=2)


@program(f32(3), f32(5, 3), f32(3, 3, scale=0.5))
def scan_grad(h, xs, w):
    def loss(h, xs, w):
        def step(h, x):
            h = jnp.tanh(h @ w + x)
            return h, jnp.sum(h * h)

        return jnp.sum(lax.scan(step, h, xs)[1])

    return jax.value_and_grad(loss, argnums=(0, 1, 2))(h, xs, w)


@program(f32(3))
def fori_grad(x):
    return jax.grad(lambda x: jnp.sum(lax.fori_loop(0, 5, lambda i, c: jnp.sin(c) * x, x)))(x)


@program(f32(3))
def scan_jvp(x):
    def run(x):
        return lax.scan(lambda c, t: (jnp.sin(c * t), c), x, jnp.arange(1, 5, dtype=jnp.float32))

    return jax.jvp(run, (x,), (jnp.ones_like(x),))


@program(f32(3), f32(4, 3))
def scan_checkpoint_grad(h, xs):
    def loss(h, xs):
        step = jax.checkpoint(lambda h, x: (jnp.sin(h) * x, jnp.cos(h)))
        return jnp.sum(lax.scan(step, h, xs)[1])

    return jax.grad(loss)(h, xs)


@program(f32(8, 3))
def read_by_counter(table):
    def body(i, c):
        return c + lax.dynamic_index_in_dim(table, i, keepdims=False) * jnp.float32(i)

    return lax.fori_loop(0, 8, body, jnp.zeros(3, jnp.float32))


@program(f32(3))
def write_by_counter(x):
    def body(i, buffer):
        return lax.dynamic_update_index_in_dim(buffer, x * jnp.float32(i), i, 0)

    return lax.fori_loop(0, 6, body, jnp.zeros((6, 3), jnp.float32))


@program(f32(10))
def in_place_prefix(x):
    return lax.fori_loop(1, 10, lambda i, a: a.at[i].add(a[i - 1]), x)


@program(f32(4, 4))
def power_iteration(a):
    def body(_, v):
        v = a @ v
        return v / jnp.sqrt(jnp.sum(v * v))

    return lax.fori_loop(0, 12, body, jnp.ones(4, jnp.float32))


@program(np.int32(3))
def fibonacci_wraps(n):
    return lax.fori_loop(0, 60, lambda i, s: (s[1], s[0] + s[1]), (n, n + 1))


@program(f32(5), np.int32(0))
def cond_in_loop(x, flip):
    def body(i, c):
        return lax.cond((i + flip) % 2 == 0, lambda c: c * 0.5, lambda c: c + 1.0, c)

    return lax.fori_loop(0, 7, body, x)


@program(f32(5))
def switch_in_scan(x):
    branches = [lambda c: c + 1.0, lambda c: c * 0.5, jnp.sin]
    return lax.scan(lambda c, k: (lax.switch(k, branches, c), k), x, jnp.array([0, 1, 2, 7, -3, 1]))


@program(f32(4))
def called_twice(x):
    @jax.jit
    def layer(x, i):
        return jnp.tanh(x) * i

    y = layer(x, jnp.float32(2))
    return layer(lax.fori_loop(0, 3, lambda i, c: layer(c, jnp.float32(i) + 1), y), jnp.float32(3))


@program(f32(6, 6))
def map_rows(x):
    return lax.map(lambda row: jnp.sum(jnp.exp(row - jnp.max(row))), x)


@program(integers(np.int32, 0, 2, 8, 8))
def game_of_life(board):
    def step(board, _):
        moves = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
        around = sum(jnp.roll(board, move, (0, 1)) for move in moves)
        board = ((around == 3) | ((board == 1) & (around == 2))).astype(jnp.int32)
        return board, jnp.sum(board)

    return lax.scan(step, board, None, length=5)


@program(f32(3, 4))
def mandelbrot(x):
    c = lax.complex(x, x.T.reshape(3, 4))

    def body(_, state):
        z, inside = state
        z = jnp.where(jnp.abs(z) <= 2, z * z + c, z)
        return z, inside + (jnp.abs(z) <= 2)

    return lax.fori_loop(0, 8, body, (jnp.zeros_like(c), jnp.zeros(c.shape, jnp.int32)))[1]


@program(f32(16))
def associative_scan(x):
    return lax.associative_scan(jnp.multiply, x)


@program(integers(np.int32, -50, 50, 9))
def bubble_sort(x):
    def inner(j, x):
        low, high = jnp.minimum(x[j], x[j + 1]), jnp.maximum(x[j], x[j + 1])
        return x.at[j].set(low).at[j + 1].set(high)

    return lax.fori_loop(0, 8, lambda i, x: lax.fori_loop(0, 8 - i, inner, x), x)


@program(f32(5, 2), f32(3, 2))
def k_means(points, centres):
    def step(_, centres):
        distance = jnp.sum((points[:, None] - centres[None]) ** 2, -1)
        nearest = jax.nn.one_hot(jnp.argmin(distance, 1), 3)
        return (nearest.T @ points + centres) / (jnp.sum(nearest, 0)[:, None] + 1)

    return lax.fori_loop(0, 4, step, centres)


@program(f32(6, 3), f32(6), f32(3))
def sgd(x, y, w):
    def loss(w):
        return jnp.mean((x @ w - y) ** 2)

    return lax.fori_loop(0, 10, lambda i, w: w - 0.1 * jax.grad(loss)(w), w)


@program(f32(4))
def adam_scan(w):
    def step(state, t):
        w, m, v = state
        g = 2 * (w - 3)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        w = w - 0.1 * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8)
        return (w, m, v), jnp.sum(w)

    start = (w, jnp.zeros_like(w), jnp.zeros_like(w))
    return lax.scan(step, start, jnp.arange(1, 7, dtype=jnp.float32))


@program(f32(4), np.int32(3), np.int32(4))
def nested_traced(x, rows, columns):
    """Two loops, one in the other, that nobody knows the length of."""

    def row(i, c):
        return lax.fori_loop(0, columns + i, lambda j, d: d * 0.5 + jnp.float32(i * 10 + j), c)

    return lax.fori_loop(0, rows, row, x)


@program(f32(6), f32(6, 6, scale=0.3), np.float32(1e-3))
def fixed_point(b, a, tolerance):
    """Jacobi iterations until nothing moves any more."""

    def moves(state):
        _, change, steps = state
        return (change > tolerance) & (steps < 100)

    def step(state):
        x, _, steps = state
        y = b + jnp.dot(a * 0.5, x)
        return y, jnp.max(jnp.abs(y - x)), steps + 1

    x, _, steps = lax.while_loop(moves, step, (jnp.zeros_like(b), jnp.float32(jnp.inf), 0))
    return x, steps


@program(f32(8, 64), np.int32(3))
def softmax_over_blocks(x, blocks):
    """Softmax of the first blocks of 16 columns, with a running maximum and sum; the rest stays 0."""

    def block(i):
        return lax.dynamic_slice(x, (0, 16 * i), (8, 16))

    def statistics(i, state):
        most, total = state
        new = jnp.maximum(most, jnp.max(block(i), axis=1))
        return new, total * jnp.exp(most - new) + jnp.sum(jnp.exp(block(i) - new[:, None]), axis=1)

    most, total = lax.fori_loop(0, blocks, statistics, (jnp.full(8, -jnp.inf), jnp.zeros(8)))

    def write(i, y):
        return lax.dynamic_update_slice(y, jnp.exp(block(i) - most[:, None]) / total[:, None], (0, 16 * i))

    return lax.fori_loop(0, blocks, write, jnp.zeros_like(x))


@program(f32(12, 5), np.int32(9), np.int32(2))
def traced_down(x, high, low):
    """A loop that counts down from one number to another, both given at run time."""

    def step(state):
        i, total = state
        return i - 1, total * 0.5 + x[i]

    return lax.while_loop(lambda state: state[0] > low, step, (high, jnp.zeros(5)))


@program(f32(16, 8), np.int32(11))
def stack_and_sum(x, n):
    """Running sums of the first rows, stacked."""

    def step(i, state):
        total, rows = state
        total = total + x[i]
        return total, rows.at[i].set(total)

    return lax.fori_loop(0, n, step, (jnp.zeros(8), jnp.zeros_like(x)))
