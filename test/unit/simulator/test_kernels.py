"""Kernels that do something real, each equal to numpy: with loops, with branches, and in strict mode."""

from pathlib import Path

import numpy as np
import pytest
from bir_programs import function

from xneuron.lowering.bir_lower_loops_to_branches import lower_loops_to_branches
from xneuron.simulator.program import Program, Result

EXAMPLES = Path(__file__).parents[3] / "examples" / "bir"
RNG = np.random.default_rng(7)


@pytest.fixture(params=["loops", "branches", "strict"])
def run(request):
    """Runs an example in one of three ways."""

    def run(name: str, inputs: dict[str, np.ndarray], **registers: int) -> Result:
        func = function((EXAMPLES / f"{name}.mlir").read_text())
        if request.param == "branches":
            lower_loops_to_branches(func)
            func.verify()
            assert not any(op.regions for block in func.body.blocks for op in block.ops)
        return Program(func, strict=request.param == "strict").run(inputs, registers)

    return run


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("blocks", [0, 1, 16])
def test_row_sum(run, blocks: int) -> None:
    x = normal(128, 128)
    result = run("row_sum", {"x": x, "blocks": np.array([[blocks]], np.int32)})
    np.testing.assert_allclose(result.outputs["y"], x[:, : 8 * blocks].sum(1, keepdims=True), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("n", "m"), [(4, 4), (1, 3), (3, 1), (0, 2)])
def test_matmul_with_a_dynamic_number_of_tiles(run, n: int, m: int) -> None:
    at, b = normal(512, 64), normal(512, 128)
    c = run("matmul", {"at": at, "b": b}, n=n, m=m).outputs["c"]
    expected = at[: 128 * n].T @ b[: 128 * n, : 32 * m]
    np.testing.assert_allclose(c[:, : 32 * m], expected, rtol=1e-4, atol=1e-3)
    assert np.isnan(c[:, 32 * m :]).all()  # never written


@pytest.mark.parametrize("n", [1, 5, 8])
def test_running_softmax(run, n: int) -> None:
    x = 10 * normal(128, 128)
    y = run("softmax", {"x": x}, n=n).outputs["y"][:, : 16 * n]
    taken = x[:, : 16 * n].astype(np.float64)
    weights = np.exp(taken - taken.max(1, keepdims=True))
    np.testing.assert_allclose(y, weights / weights.sum(1, keepdims=True), rtol=1e-4, atol=1e-6)


def regular_code() -> np.ndarray:
    """13 checks on 24 bits, three a bit; no two bits share two checks, so that one error is corrected at once."""
    lines = [[(start + step) % 13 for step in line] for line in ((0, 1, 4), (0, 2, 7)) for start in range(13)]
    h = np.zeros((13, 24), np.float32)
    for bit, line in enumerate(lines[:24]):
        h[line, bit] = 1
    return h


def flipped(h: np.ndarray, word: np.ndarray, most: int) -> tuple[np.ndarray, int]:
    """The decoder in numpy, and the rounds it took."""
    for rounds in range(most):
        syndrome = (h @ word) % 2
        word = (word + (2 * (h.T @ syndrome) > h.sum(0)[:, None])) % 2
        if not syndrome.any():
            return word, rounds + 1
    return word, most


@pytest.mark.parametrize("errors", [0, 1, 3])
def test_ldpc_iterates_until_a_register_is_zero(run, errors: int) -> None:
    h = regular_code()
    received = np.zeros((24, 1), np.float32)
    received[RNG.permutation(24)[:errors]] = 1
    inputs = {"h": h, "ht": h.T.copy(), "degree": h.sum(0)[:, None], "received": received}
    result = run("ldpc", inputs, most=20)
    word, rounds = flipped(h, received, 20)
    np.testing.assert_array_equal(result.outputs["decoded"], word)
    assert result.registers["rounds"] == rounds
    if errors <= 1:
        assert not word.any()
        assert (result.registers["unsatisfied"], rounds) == (0, 1 + errors)


@pytest.mark.parametrize(("n", "w"), [(3, 16), (5, 3), (0, 4), (4, 0)])
def test_prefix_sum_in_nested_dynamic_loops(run, n: int, w: int) -> None:
    x = normal(128, 64)
    y = run("prefix_sum", {"x": x}, n=n, w=w).outputs["y"]
    np.testing.assert_allclose(y[:, : n * w], np.cumsum(x[:, : n * w], 1), rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(y[:, n * w :], x[:, n * w :])
