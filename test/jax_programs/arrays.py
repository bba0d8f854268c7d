"""Moving data: slices, gathers, scatters, sorts, windows, convolutions."""

import jax
import jax.numpy as jnp
from jax import lax
from jax_programs.registry import f32, integers, program


@program(f32(6, 4), integers(0, 6, 3))
def gather_rows(table, rows):
    """Rows by number."""
    return table[rows], jnp.take(table, rows, axis=0, mode="clip"), table.at[rows].get(mode="fill", fill_value=-1.0)


@program(f32(3, 5), integers(0, 5, 3, 2))
def gather_along_axis(x, indices):
    """With batch dimensions."""
    return jnp.take_along_axis(x, indices, axis=1)


@program(f32(6, 2), integers(0, 6, 4), f32(4, 2))
def scatters(x, at, updates):
    """Set, add, multiply, minimum and maximum."""
    return x.at[at].add(updates), x.at[at].mul(updates), x.at[at].min(updates), x.at[at].max(updates)


@program(f32(5, 4), integers(0, 8), integers(0, 8))
def dynamic_slices(x, i, j):
    """Starts that are clamped; a window cut out, and put back elsewhere."""
    cut = lax.dynamic_slice(x, (i, j), (2, 3))
    return cut, lax.dynamic_update_slice(x, cut * 2.0, (j, i))


@program(f32(3, 7))
def sorts(x):
    """Ascending, with indices, descending, and the largest of each row."""
    return jnp.sort(x, axis=1), jnp.argsort(x, axis=0), jnp.sort(x, descending=True), lax.top_k(x, 3)


@program(integers(0, 4, 12), f32(12))
def sort_pairs(keys, values):
    """Several operands move together."""
    return lax.sort((keys, values), num_keys=2)


@program(f32(2, 8, 8, 3), f32(3, 3, 3, 4))
def convolution(images, kernel):
    """Strides, padding, dilation."""
    labels = ("NHWC", "HWIO", "NHWC")
    plain = lax.conv_general_dilated(images, kernel, (1, 2), "SAME", dimension_numbers=labels)
    wide = lax.conv_general_dilated(
        images, kernel, (1, 1), [(1, 0), (2, 1)], rhs_dilation=(2, 1), dimension_numbers=labels
    )
    return plain, wide


@program(f32(1, 4, 9), f32(6, 2, 3))
def grouped_convolution(x, kernel):
    """Two groups of features, in one dimension; and its gradient."""

    def apply(k):
        return lax.conv_general_dilated(x, k, (2,), "VALID", feature_group_count=2)

    return apply(kernel), jax.grad(lambda k: jnp.sum(apply(k) ** 2))(kernel)


@program(f32(2, 6, 6))
def pooling(x):
    """Sums and maxima of windows, and the gradient of the maxima."""

    def maxima(y):
        return lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2), (1, 2, 2), "VALID")

    sums = lax.reduce_window(x, 0.0, lax.add, (1, 3, 3), (1, 1, 1), "SAME")
    return sums, maxima(x), jax.grad(lambda y: jnp.sum(maxima(y) ** 2))(x)


@program(f32(3, 4))
def shapes(x):
    """Pads, reversals, transposes, concatenations, repetitions, rolls."""
    return (
        jnp.pad(x, ((1, 0), (0, 2)), constant_values=7.0),
        lax.pad(x, 0.5, ((0, 1, 1), (-1, 0, 2))),
        jnp.concatenate([x[::-1], x.T.reshape(3, 4)], axis=1),
        jnp.tile(x, (2, 1)),
        jnp.roll(x, 1, axis=1),
        x[::2, 1:3],
    )


@program(f32(4, 5))
def running(x):
    """Prefix sums, products and maxima."""
    return jnp.cumsum(x, axis=1), jnp.cumprod(x, axis=0), lax.cummax(x, axis=1)


@program(integers(0, 6, 20))
def histogram(x):
    """Counting by scatter."""
    return jnp.bincount(x, length=6), jnp.zeros(6).at[x].add(1.0)
