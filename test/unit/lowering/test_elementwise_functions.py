"""Functions and rounding of floats: bit by bit where BIR has the function, else within units of float32."""

import numpy as np
import pytest
from elementwise_cases import FLOATS, differences, floats, results
from oracle.programs import DTYPES, pairs, shape

ENGINE = ("exponential", "log", "tanh", "logistic", "sqrt", "rsqrt", "erf", "sine")
"""Functions of the machine."""
ROUNDING = ("floor", "ceil", "round-nearest-even", "round-nearest-afz")
COMPOSED = {
    "exponential-minus-one": 4,
    "log-plus-one": 3,
    "cosine": 3,
    "tan": 4,
    "sinh": 5,
    "cosh": 4,
    "cbrt": 3,
}
"""Functions made of others, and by how many units in the last place of float32 they may differ."""


@pytest.mark.parametrize("name", FLOATS)
def test_exact_functions(name: str) -> None:
    x = floats(name, 60)
    assert not list(differences({opcode: (shape(x), f"{opcode}(p0)") for opcode in (*ENGINE, *ROUNDING)}, x))


@pytest.mark.parametrize("name", ["f16", "f8e4m3", "bf16"])
def test_exact_functions_of_every_number(name: str) -> None:
    dtype = DTYPES[name]
    x = np.arange(1 << 8 * dtype.itemsize).astype(f"u{dtype.itemsize}").view(dtype)
    assert not list(differences({opcode: (shape(x), f"{opcode}(p0)") for opcode in (*ENGINE, *ROUNDING)}, x))


def samples() -> np.ndarray:
    """Numbers of all magnitudes, close to zeros and poles of functions, and close to where they overflow."""
    random = np.random.default_rng(0)
    magnitudes = np.exp2(random.uniform(-126, 126, 400)) * random.choice([-1, 1], 400)
    near = np.arange(-40, 41)[:, None] * (np.pi / 2) + random.normal(0, 1e-3, (81, 3))
    ends = [88.7, 88.8, -88.7, 89.3, 89.5, -103.9, -104.1, -0.9999999, -1.0, -1.5, 1e-7, -1e-7, 1e-4, 16777216.0]
    return np.concatenate([magnitudes, random.normal(0, 3, 500), near.ravel(), ends]).astype(np.float32)


@pytest.mark.parametrize("opcode", COMPOSED)
def test_composed_functions(opcode: str) -> None:
    x = samples()
    ((wanted, found),) = results({opcode: (shape(x), f"{opcode}(p0)")}, x).values()
    assert (np.isfinite(wanted) == np.isfinite(found)).all()
    finite = np.isfinite(wanted)
    units = np.abs(wanted[finite].astype(np.float64) - found[finite]) / np.spacing(np.abs(wanted[finite]))
    assert units.max() <= COMPOSED[opcode]


@pytest.mark.parametrize("opcode", COMPOSED)
def test_composed_functions_of_special_values(opcode: str) -> None:
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan], np.float32)
    assert not list(differences({opcode: (shape(x), f"{opcode}(p0)")}, x))


def test_angles() -> None:
    y, x = pairs(np.array([0.0, -0.0, 1.0, -1.0, 0.25, -3.0, 1e-45, -1e30, 3e38, np.inf, -np.inf, np.nan], np.float32))
    some = np.random.default_rng(0).normal(0, 1, (2, 500)).astype(np.float32)
    y, x = np.concatenate([y, some[0]]), np.concatenate([x, some[1] ** 3])
    ((wanted, found),) = results({"atan2": (shape(y), "atan2(p0, p1)")}, y, x).values()
    np.testing.assert_allclose(found, wanted, rtol=4e-7)
    assert (np.signbit(found) == np.signbit(wanted))[~np.isnan(wanted)].all()


@pytest.mark.parametrize("name", ["bf16", "f16", "f8e4m3"])
def test_narrow_floats_are_rounded_once(name: str) -> None:
    """What is in between is float32, so that a few of its units are at most one of theirs, and seldom that."""
    with np.errstate(over="ignore"):
        x = samples().astype(DTYPES[name])
    word = np.dtype(f"i{x.dtype.itemsize}")
    for wanted, found in results({opcode: (shape(x), f"{opcode}(p0)") for opcode in COMPOSED}, x).values():
        number = ~np.isnan(wanted.astype(np.float32))
        assert (number == ~np.isnan(found.astype(np.float32))).all()
        units = np.abs(wanted.view(word).astype(np.int64) - found.view(word).astype(np.int64))[number]
        assert (units == 0).mean() > 0.99
        assert units.max() <= 1
