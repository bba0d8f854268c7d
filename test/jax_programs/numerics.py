"""Numbers: narrow and wide types, special values, random bits, complex numbers, special functions."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax
from jax_programs.registry import f32, integers, normal, program

_SPECIAL = np.array([[1.0, -np.inf, 3.0, np.inf], [np.nan, 2.0, -0.0, 0.0]], np.float32)


@program(_SPECIAL)
def reductions_of_special_values(x):
    """Reductions that begin with an infinity, over infinities and NaN."""
    return (
        *(jnp.max(x, axis=1), jnp.min(x, axis=0), jnp.argmax(x, axis=1), jnp.argmin(x[:1], axis=1)),
        *(
            jnp.sum(x, axis=1),
            jnp.prod(x, axis=0),
            jnp.nanmax(x, axis=1),
            jnp.isnan(x),
            jnp.any(x > 2),
            jnp.all(x == x),
        ),
    )


@program(f32(3, 4))
def reductions(x):
    """With nothing special in them, several at once too."""
    together = lax.reduce(
        (x, x), (jnp.float32(0), jnp.float32(1)), lambda a, b: (a[0] + b[0], a[1] * b[1]), dimensions=(1,)
    )
    return together, jnp.mean(x, axis=0), jnp.var(x), jax.nn.logsumexp(x, axis=1), jnp.linalg.norm(x)


@program(normal(ml_dtypes.bfloat16, 4, 6), normal(ml_dtypes.bfloat16, 6, 3), tolerance=1e-2)
def bf16_matmul(a, b):
    """Products of bf16, kept and accumulated wider."""
    return a @ b, jnp.dot(a, b, preferred_element_type=jnp.float32), jax.nn.softmax(a)


@program(normal(ml_dtypes.float8_e4m3fn, 4, 8), normal(ml_dtypes.float8_e5m2, 8, 3), tolerance=1e-2)
def f8_matmul(a, b):
    """Two kinds of f8."""
    return jnp.dot(a, b, preferred_element_type=jnp.float32), a.astype(jnp.float32).astype(jnp.float8_e5m2)


@program(normal(np.float16, 8), tolerance=2e-3)
def f16_constants(x):
    """Constants of types whose bytes are not f32's."""
    return x * jnp.array([1.5, -jnp.inf, jnp.nan, 0.1] * 2, jnp.float16) + jnp.bfloat16(3)


@program(integers(-8, 8, 6, dtype="int8"))
def narrow_integers(x):
    """Integers of four bits and of eight, signed and not."""
    low = x.astype(jnp.int4)
    return (low + jnp.array([1, -2, 3, -4, 7, -8], jnp.int4)).astype(jnp.int32), x.astype(jnp.uint8) >> 3, ~x, -x // 3


@program(integers(-(2**31), 2**31, 8, dtype="int64"))
def bits(x):
    """Bits counted, shifted and read as other types. (64-bit integers become 32-bit ones by JAX's default.)"""
    y = x.astype(jnp.int32)
    u = lax.bitcast_convert_type(y, jnp.uint32)
    return lax.population_count(u), lax.clz(u), u << 5, y >> 3, lax.bitcast_convert_type(u, jnp.float32), u ^ (u >> 1)


@program(integers(0, 1000, dtype="uint32"))
def random_numbers(seed):
    """Threefry: uniform, normal, permuted, and bits."""
    key = jax.random.key(seed)
    one, two, three = jax.random.split(key, 3)
    return (
        jax.random.uniform(one, (4, 3)),
        jax.random.normal(two, (5,)),
        jax.random.permutation(three, 8),
        jax.random.bits(key, (3,), jnp.uint32),
        jax.random.bernoulli(one, 0.3, (6,)),
    )


@program(integers(0, 1000, 4, dtype="uint32"))
def random_bit_generator(state):
    """HLO's own generator."""
    return lax.rng_bit_generator(state, (5,), dtype=jnp.uint32)[1]


@program(f32(3, 4), f32(3, 4))
def complex_numbers(re, im):
    """Arithmetic, parts, a constant, a Fourier transform."""
    z = lax.complex(re, im)
    w = z * (1.0 + 2.0j) + jnp.conj(z) * jnp.array([1j, -1.5, 2 + 0.5j, 0], jnp.complex64)
    return w, jnp.abs(w), jnp.real(jnp.exp(1j * re)), jnp.fft.fft(w), jnp.fft.irfft(jnp.fft.rfft(re))


@program(f32(16))
def special_functions(x):
    """Functions that JAX prints in the chlo dialect."""
    y = jnp.clip(x, -0.9, 0.9)
    return (
        *(lax.erf(x), lax.erfc(x), lax.erf_inv(y), lax.lgamma(jnp.abs(x) + 0.5), lax.digamma(jnp.abs(x) + 0.5)),
        *(
            jnp.arcsin(y),
            jnp.arccos(y),
            jnp.arctan(x),
            jnp.arcsinh(x),
            jnp.arctanh(y),
            jnp.sinh(x),
            jnp.cosh(x),
            jnp.tan(y),
        ),
        *(jax.nn.gelu(x), jnp.square(x), lax.bessel_i1e(x), jnp.cbrt(x), jnp.expm1(x), jnp.log1p(y), jnp.isinf(x)),
    )


@program(f32(3, 3), f32(3, 2), platform="tpu", tolerance=1e-4)
def linear_algebra(a, b):
    """Triangular systems, solved from the left and from the right; a Cholesky factor."""
    a = jnp.tril(a) + 3.0 * jnp.eye(3)
    left = lax.linalg.triangular_solve(a, b, left_side=True, lower=True)
    right = lax.linalg.triangular_solve(a, b.T, left_side=False, lower=True, transpose_a=True)
    return left, right, lax.linalg.cholesky(a @ a.T)


@program(np.linspace(-300, 300, 9).astype(np.float32))
def conversions(x):
    """Between types, with saturation; rounding of every kind."""
    return (
        *(x.astype(jnp.int8), x.astype(jnp.uint8), x.astype(jnp.bfloat16), x.astype(bool), x.astype(jnp.float8_e4m3fn)),
        *(
            jnp.round(x / 7),
            jnp.floor(x / 7),
            jnp.ceil(x / 7),
            jnp.trunc(x / 7),
            jnp.sign(x),
            lax.reduce_precision(x, 5, 3),
        ),
    )
