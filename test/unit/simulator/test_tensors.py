"""Each instruction on tensors against values computed element by element, in exact integers or single floats."""

import math
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from bir_programs import function

from xneuron.dialects.bir.enums import AluOpType
from xneuron.execution.errors import EvaluationError
from xneuron.simulator.program import Program

NUMPY = {"bfloat16": ml_dtypes.bfloat16, "float8e4": ml_dtypes.float8_e4m3, "float8e3": ml_dtypes.float8_e3m4}


def dtype_of(name: str) -> np.dtype:
    return np.dtype(NUMPY.get(name, name))


def place(name: str, array: np.ndarray, dtype: str, kind: str, space: str = "SB") -> str:
    return f'%{name} = bir.memory_location "{name}" : {space} {dtype} {list(array.shape)} <kind = {kind}>'


def compute(instruction: str, out: tuple[np.ndarray | tuple[int, ...], str], space: str = "SB", **inputs) -> np.ndarray:
    """What the instruction writes to `%y`; inputs are arrays, or (array, BIR dtype)."""
    shape, out_dtype = out
    template = shape if isinstance(shape, np.ndarray) else np.zeros(shape)
    pairs = {name: x if isinstance(x, tuple) else (x, x.dtype.name) for name, x in inputs.items()}
    lines = [place(name, array, dtype, "ExternalInput") for name, (array, dtype) in pairs.items()]
    func = function(
        "\n".join([*lines, place("y", template, out_dtype, "ExternalOutput", space), instruction, "bir.return"])
    )
    return Program(func, strict=True).run({name: array for name, (array, _) in pairs.items()}).outputs["y"]


def wrap(value: int, dtype: np.dtype) -> int:
    bits = 8 * dtype.itemsize
    value &= (1 << bits) - 1
    return value - (1 << bits) if dtype.kind == "i" and value >> (bits - 1) else value


def trunc_shift(f: Callable[[int, int], int]) -> Callable[[int, int, np.dtype], int]:
    return lambda a, b, dtype: f(a, b % (8 * dtype.itemsize))


def pattern(a: int, dtype: np.dtype) -> int:
    return a & ((1 << 8 * dtype.itemsize) - 1)


INTEGER: dict[str, Callable[[int, int, np.dtype], int]] = {
    "bypass": lambda a, b, t: a,
    "bitwise_not": lambda a, b, t: ~a,
    "bitwise_and": lambda a, b, t: a & b,
    "bitwise_or": lambda a, b, t: a | b,
    "bitwise_xor": lambda a, b, t: a ^ b,
    "arith_shift_left": trunc_shift(lambda a, n: a << n),
    "logical_shift_left": trunc_shift(lambda a, n: a << n),
    "arith_shift_right": lambda a, b, t: wrap(a, np.dtype(f"i{t.itemsize}")) >> b % (8 * t.itemsize),
    "logical_shift_right": lambda a, b, t: pattern(a, t) >> b % (8 * t.itemsize),
    "add": lambda a, b, t: a + b,
    "subtract": lambda a, b, t: a - b,
    "mult": lambda a, b, t: a * b,
    "elemwise_mul": lambda a, b, t: a * b,
    "divide": lambda a, b, t: a // b if b else 0,
    "mod": lambda a, b, t: a % b if b else 0,
    "mod_int": lambda a, b, t: a % b if b else 0,
    "max": lambda a, b, t: max(a, b),
    "min": lambda a, b, t: min(a, b),
    "average": lambda a, b, t: (a + b) // 2,
    "abs": lambda a, b, t: abs(a),
    "abs_max": lambda a, b, t: max(wrap(abs(a), t), wrap(abs(b), t)),
    "abs_min": lambda a, b, t: min(wrap(abs(a), t), wrap(abs(b), t)),
    "pow": lambda a, b, t: a**b if b >= 0 else (a ** (b & 1) if a in (1, -1) else 0),
    "logical_and": lambda a, b, t: int(bool(a) and bool(b)),
    "logical_or": lambda a, b, t: int(bool(a) or bool(b)),
    "logical_xor": lambda a, b, t: int(bool(a) != bool(b)),
    "is_equal": lambda a, b, t: int(a == b),
    "not_equal": lambda a, b, t: int(a != b),
    "is_gt": lambda a, b, t: int(a > b),
    "is_ge": lambda a, b, t: int(a >= b),
    "is_lt": lambda a, b, t: int(a < b),
    "is_le": lambda a, b, t: int(a <= b),
}


def test_no_integer_operation_is_forgotten() -> None:
    assert INTEGER.keys() | {"rsqrt"} == {op.value for op in AluOpType}


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32"])
@pytest.mark.parametrize("op", INTEGER)
def test_integer_alu(op: str, dtype: str) -> None:
    info = np.iinfo(dtype)
    values = [info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 3, 7, 100, *([-1, -2, -7] if info.min else [])]
    exponents = [0, 1, 2, 3, *([-1, -2] if info.min else [])]
    rights = exponents if op == "pow" else values
    pairs = [(a, b) for a in values for b in rights]
    a, b = (np.array([p[i] for p in pairs], dtype).reshape(1, -1) for i in (0, 1))
    y = compute(f"bir.tensor_tensor %y = {op}(%a, %b)", (a, dtype), a=a, b=b)
    expected = [wrap(INTEGER[op](int(x), int(z), a.dtype), a.dtype) for x, z in pairs]
    np.testing.assert_array_equal(y[0], np.array(expected, dtype))


EXTREMES = ("max", "min")
F = np.float32
FLOAT: dict[str, Callable[[F, F], float]] = {
    "bypass": lambda a, b: a,
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "mult": lambda a, b: a * b,
    "elemwise_mul": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "max": lambda a, b: max(a, b),
    "min": lambda a, b: min(a, b),
    "average": lambda a, b: (a + b) / F(2),
    "mod": lambda a, b: a - b * F(math.floor(a / b)),
    "mod_int": lambda a, b: F(int(a) % int(b)) if int(b) else F(np.nan),
    "rsqrt": lambda a, b: F(1) / F(math.sqrt(a)) if a >= 0 else F(np.nan),
    "abs": lambda a, b: abs(a),
    "abs_max": lambda a, b: max(abs(a), abs(b)),
    "abs_min": lambda a, b: min(abs(a), abs(b)),
    "pow": lambda a, b: F(float(a) ** float(b)) if a > 0 or float(b).is_integer() else F(np.nan),
    "logical_and": lambda a, b: float(a != 0 and b != 0),
    "logical_or": lambda a, b: float(a != 0 or b != 0),
    "logical_xor": lambda a, b: float((a != 0) != (b != 0)),
    "is_equal": lambda a, b: float(a == b),
    "not_equal": lambda a, b: float(a != b),
    "is_gt": lambda a, b: float(a > b),
    "is_ge": lambda a, b: float(a >= b),
    "is_lt": lambda a, b: float(a < b),
    "is_le": lambda a, b: float(a <= b),
}
FLOATS = [F(v) for v in (-7.5, -2, -1, -0.25, 0.25, 1, 1.5, 2, 3, 10.75)]


@pytest.mark.parametrize("op", FLOAT)
def test_float_alu(op: str) -> None:
    pairs = [(a, b) for a in FLOATS for b in FLOATS]
    a, b = (np.array([p[i] for p in pairs], F).reshape(1, -1) for i in (0, 1))
    y = compute(f"bir.tensor_tensor %y = {op}(%a, %b)", (a, "float32"), a=a, b=b)
    np.testing.assert_allclose(y[0], np.array([FLOAT[op](*pair) for pair in pairs], F), rtol=1e-5)


@pytest.mark.parametrize("op", ["bitwise_and", "logical_shift_left", "bitwise_not"])
def test_bits_of_floats_are_refused(op: str) -> None:
    x = np.ones((1, 4), F)
    with pytest.raises(EvaluationError, match=f"{op} on float32 is not supported yet: expected integers"):
        compute(f"bir.tensor_tensor %y = {op}(%x, %x)", (x, "float32"), x=x)


def test_narrow_floats_compute_in_single_and_round_once() -> None:
    a, b = (
        np.array([[1.0, 3.0, 100.0]], F).astype(ml_dtypes.bfloat16),
        np.array([[0.0039, 0.01, 0.3]], ml_dtypes.bfloat16),
    )
    y = compute("bir.tensor_tensor %y = add(%a, %b)", (a, "bfloat16"), a=(a, "bfloat16"), b=(b, "bfloat16"))
    np.testing.assert_array_equal(y, (a.astype(F) + b.astype(F)).astype(ml_dtypes.bfloat16))


def test_integers_with_a_float_among_them_compute_in_single() -> None:
    x = np.array([[5, 7, -7, 2**31 - 1]], np.int32)
    y = compute("bir.tensor_scalar %y = %x <op0 = divide, const0 = 2.0>", (x, "int32"), x=x)
    # 2.5, 3.5 and -3.5 go to the even neighbour; 2**30 is what 2**31 - 1 becomes as float32, halved.
    assert y.tolist() == [[2, 4, -4, 2**30]]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("op0 = subtract, const0 = 10.0", lambda x: x - 10),
        ("op0 = subtract, const0 = 10.0, reverse0 = true", lambda x: 10 - x),
        ("op0 = mult, const0 = 2.0, op1 = add, const1 = 1.0", lambda x: 2 * x + 1),
        ("op0 = add, const0 = 1.0, op1 = divide, const1 = 12.0, reverse1 = true", lambda x: 12 / (x + 1)),
        ("op0 = is_gt, const0 = 2.0, op1 = mult, const1 = 3.0", lambda x: 3.0 * (x > 2)),
        ("op0 = abs, op1 = rsqrt", lambda x: 1 / np.sqrt(abs(x))),
        ("op0 = bypass, op1 = add, const1 = 1.0", lambda x: x + 1),
        ("op0 = bypass", lambda x: x),
    ],
)
def test_tensor_scalar(keys: str, expected) -> None:
    x = np.array([[1.0, 2.0, 4.0], [-3.0, 5.0, 0.5]], F)
    y = compute(f"bir.tensor_scalar %y = %x <{keys}>", (x, "float32"), x=x)
    np.testing.assert_allclose(y, expected(x).astype(F), rtol=1e-6)


def test_tensor_scalar_of_integers_wraps_between_its_stages() -> None:
    x = np.array([[100, -100]], np.int8)
    y = compute("bir.tensor_scalar %y = %x <op0 = mult, const0 = 3, op1 = divide, const1 = 2>", (x, "int8"), x=x)
    assert y.tolist() == [[wrap(300, x.dtype) // 2, wrap(-300, x.dtype) // 2]]


def test_tensor_scalar_ptr_has_scalars_per_partition() -> None:
    x, s, t = np.arange(12, dtype=F).reshape(3, 4), np.array([[1.0], [2.0], [3.0]], F), np.array([[10.0], [0], [5]], F)
    y = compute("bir.tensor_scalar_ptr %y = %x, %s, %t <op0 = mult, op1 = subtract>", (x, "float32"), x=x, s=s, t=t)
    np.testing.assert_array_equal(y, x * s - t)
    y = compute("bir.tensor_scalar_ptr %y = %x, %s <op0 = subtract, reverse0 = true>", (x, "float32"), x=x, s=s)
    np.testing.assert_array_equal(y, s - x)


def test_a_scalar_in_the_output_is_read_before_it_is_overwritten() -> None:
    x = np.arange(6, dtype=F).reshape(2, 3) + 1
    text = "bir.tensor_scalar_ptr %y = %x, %y[0][[3, 2], [1, 1]], %y[0][[3, 2], [1, 1]] <op0 = mult, op1 = add>"
    y = compute(f"bir.memset %y <constant = 2.0> {text}", (x, "float32"), x=x)
    np.testing.assert_array_equal(y, x * 2 + 2)


def _softplus(x):
    return np.log1p(np.exp(x))


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


ACTIVATIONS = {
    "Identity": lambda x: x,
    "Copy": lambda x: x,
    "Relu": lambda x: np.where(x > 0, x, 0),
    "Exp": np.exp,
    "Tanh": np.tanh,
    "Sigmoid": _sigmoid,
    "Gelu": lambda x: x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    "Sqrt": lambda x: np.sqrt(abs(x)),
    "Rsqrt": lambda x: 1 / np.sqrt(abs(x)),
    "Reciprocal": lambda x: 1 / x,
    "Square": lambda x: x * x,
    "Abs": abs,
    "Sign": np.sign,
    "Silu": lambda x: x * _sigmoid(x),
    "Softplus": _softplus,
    "Ln": lambda x: np.log(abs(x)),
    "Erf": np.vectorize(math.erf),
    "Sin": np.sin,
    "Arctan": np.arctan,
}


@pytest.mark.parametrize("func", ACTIVATIONS)
@pytest.mark.parametrize("bias", ["", ", %b", ", 0.5"])
def test_activation(func: str, bias: str) -> None:
    x, b = np.array([[0.25, 1.0], [2.0, 3.0]], F), np.array([[0.75], [-0.25]], F)
    if func not in ("Sqrt", "Rsqrt", "Ln"):
        x = np.concatenate([x, -x - 2], 1)
    used = {"": {}, ", %b": {"b": b}, ", 0.5": {}}[bias]
    y = compute(f"bir.activation %y = {func}(%x{bias}) <scale = 2.0>", (x, "float32"), x=x, **used)
    added = {"": 0.0, ", %b": b, ", 0.5": 0.5}[bias]
    np.testing.assert_allclose(y, ACTIVATIONS[func](2.0 * x.astype(np.float64) + added), rtol=2e-5, atol=1e-6)


def test_activation_of_narrow_floats() -> None:
    x = np.array([[0.5, -1.0]], ml_dtypes.bfloat16)
    y = compute("bir.activation %y = Exp(%x)", (x, "float16"), x=(x, "bfloat16"))
    np.testing.assert_array_equal(y, np.exp(x.astype(F)).astype(np.float16))


def test_memset_writes_the_value_in_the_outputs_type() -> None:
    assert compute("bir.memset %y <constant = 1.5>", ((2, 2), "float32")).tolist() == [[1.5, 1.5], [1.5, 1.5]]
    assert compute("bir.memset %y <constant = 2.5>", ((1, 1), "int32")).tolist() == [[2]]
    assert compute("bir.memset %y <constant = 300>", ((1, 1), "uint8")).tolist() == [[44]]
    assert compute("bir.memset %y <constant = 1.0>", ((1, 1), "bfloat16")).astype(F).tolist() == [[1.0]]


def test_random_memset_is_the_same_in_each_run() -> None:
    first, second = (compute("bir.memset %y <mode = Random>", ((4, 50), "float32")) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert ((first >= 0) & (first < 1)).all()
    assert len(np.unique(first)) > 190
    assert len(np.unique(compute("bir.memset %y <mode = Random>", ((4, 50), "int8")))) > 50


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("add", lambda x, axis: x.sum(axis)),
        ("mult", lambda x, axis: x.prod(axis)),
        ("max", lambda x, axis: x.max(axis)),
        ("min", lambda x, axis: x.min(axis)),
        ("abs_max", lambda x, axis: abs(x).max(axis)),
        ("abs_min", lambda x, axis: abs(x).min(axis)),
        ("logical_and", lambda x, axis: (x != 0).all(axis).astype(F)),
        ("logical_or", lambda x, axis: (x != 0).any(axis).astype(F)),
    ],
)
@pytest.mark.parametrize(("axis", "numpy_axis"), [("X", 3), ("XY", (2, 3)), ("XYZ", (1, 2, 3)), ("C", 0)])
def test_tensor_reduce(op: str, expected, axis: str, numpy_axis) -> None:
    x = np.random.default_rng(0).integers(-2, 3, (4, 2, 3, 5)).astype(F)
    want = expected(x, numpy_axis)
    shape = (1, want.size) if axis == "C" else (4, want.size // 4)
    y = compute(f"bir.tensor_reduce %y = {op}(%x) <axis = {axis}, negate = true>", (shape, "float32"), x=x)
    np.testing.assert_array_equal(y.reshape(-1), -want.reshape(-1))


def test_tensor_reduce_of_everything_and_of_integers() -> None:
    x = np.arange(8, dtype=np.int32).reshape(2, 4)
    assert compute("bir.tensor_reduce %y = add(%x) <axis = XYZWC>", ((1, 1), "int32"), x=x).tolist() == [[28]]
    assert compute("bir.tensor_reduce %y = bitwise_or(%x)", ((2, 1), "int32"), x=x).tolist() == [[3], [7]]
    assert compute("bir.tensor_reduce %y = subtract(%x)", ((2, 1), "int32"), x=x).tolist() == [[-6], [-14]]
    big = np.full((1, 3), 100, np.int8)
    assert compute("bir.tensor_reduce %y = add(%x)", ((1, 1), "int8"), x=big).tolist() == [[wrap(300, big.dtype)]]


def test_plus_zero_is_larger_than_minus_zero() -> None:
    a, b = (np.array([row], F) for row in ([0.0, -0.0, -0.0, 1.0, -1.0, np.nan], [-0.0, 0.0, -0.0, -0.0, -0.0, 0.0]))
    larger, smaller = (compute(f"bir.tensor_tensor %y = {op}(%a, %b)", (a, "float32"), a=a, b=b) for op in EXTREMES)
    assert larger.tolist()[0][:5] == [0, 0, 0, 1, 0]
    assert np.signbit(larger[0, :5]).tolist() == [False, False, True, False, True]
    assert np.signbit(smaller[0, :5]).tolist() == [True, True, True, True, True]
    assert np.isnan([larger[0, 5], smaller[0, 5]]).all()


@pytest.mark.parametrize("op", EXTREMES)
def test_tensor_reduce_of_zeros(op: str) -> None:
    x = np.array([[0.0, -0.0, 0.0], [-0.0, -0.0, -0.0], [-0.0, 0.0, -0.0]], F)
    y = compute(f"bir.tensor_reduce %y = {op}(%x)", ((3, 1), "float32"), x=x)
    assert np.signbit(y).tolist() == [[op == "min"], [True], [op == "min"]]


def test_iota() -> None:
    text = "bir.iota %y <base = 5, pattern = [10, 2, -1, 3], channel_multiplier = 100>"
    y = compute(text, ((3, 2, 3), "int32"))
    p, i, j = np.indices((3, 2, 3))
    np.testing.assert_array_equal(y, 5 + 100 * p + 10 * i - j)
    np.testing.assert_array_equal(compute(text, ((3, 6), "float32")), (5 + 100 * p + 10 * i - j).reshape(3, 6))
    assert compute("bir.iota %y <base = 254, pattern = [1, 4]>", ((1, 4), "uint8")).tolist() == [[254, 255, 0, 1]]


def test_select() -> None:
    mask, a, b = np.array([[0, 2, -1]], np.int32), np.array([[1.0, 2, 3]], F), np.array([[4.0, 5, 6]], F)
    y = compute("bir.select %y = %m, %a, %b", (a, "float32"), m=mask, a=a, b=b)
    assert y.tolist() == [[4.0, 2.0, 3.0]]


def test_reciprocal() -> None:
    x = np.array([[2.0, -4.0, 0.0]], F)
    assert compute("bir.reciprocal %y = %x", (x, "float32"), x=x).tolist() == [[0.5, -0.25, np.inf]]
    ints = np.array([[2, 4]], np.int32)
    assert compute("bir.reciprocal %y = %x", (ints, "float32"), x=ints).tolist() == [[0.5, 0.25]]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("n", [(6,), (2, 3)])
def test_matmult_overwrites_then_accumulates(dtype: str, n: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    moving = rng.integers(-3, 4, (5, *n)).astype(dtype_of(dtype))
    stationary = rng.integers(-3, 4, (5, 4)).astype(dtype_of(dtype))
    text = "bir.matmult %y = %m, %s bir.matmult %y = %m, %s <start_tensor_calc = false>"
    y = compute(text, ((4, 6), "float32"), "PSUM", m=(moving, dtype), s=(stationary, dtype))
    np.testing.assert_array_equal(y, 2 * stationary.astype(F).T @ moving.astype(F).reshape(5, 6))


@pytest.mark.parametrize(
    ("given", "to", "expected"),
    [
        ([1.5, 2.5, -0.5, 3e9, -3e9, np.nan], "int32", [2, 2, 0, 2**31 - 1, -(2**31), 0]),
        ([255.4, 256.0, -1.0], "uint8", [255, 255, 0]),
        ([70000, -1], "uint16", [70000 - 65536, 65535]),
        ([2**24 + 1], "float32", [2.0**24]),
        ([1.0 + 2**-9, 1.0 + 3 * 2**-9], "bfloat16", [1.0, 1.0 + 2**-7]),
        ([3e38], "float16", [np.inf]),
    ],
)
def test_copies_convert(given: list[float], to: str, expected: list[float]) -> None:
    x = np.array([given], np.int32 if all(isinstance(v, int) for v in given) else F)
    y = compute("bir.tensor_copy %y = %x", (x, to), x=x)
    np.testing.assert_array_equal(y.astype(np.float64)[0], expected)


def test_streams_pair_up_in_pattern_order_whatever_their_shapes() -> None:
    x, z = np.arange(24, dtype=F).reshape(2, 12), np.arange(24, dtype=F).reshape(2, 12) * 10
    # Partition by partition: x in columns of four, y from the end of each row backwards, z as it is.
    text = "bir.tensor_tensor %y[11][[12, 2], [-1, 12]] = add(%x[0][[12, 2], [1, 3], [3, 4]], %z)"
    y = compute(text, (x, "float32"), x=x, z=z)
    np.testing.assert_array_equal(y[:, ::-1], x.reshape(2, 4, 3).transpose(0, 2, 1).reshape(2, 12) + z)


def test_shapes_that_no_cut_brings_together() -> None:
    x = np.arange(6, dtype=F).reshape(1, 6)
    text = "bir.tensor_tensor %y[0][[6, 1], [3, 2], [1, 3]] = add(%x[0][[6, 1], [1, 3], [3, 2]], %x)"
    y = compute(text, (x, "float32"), x=x)
    np.testing.assert_array_equal(y, x.reshape(2, 3).T.reshape(1, 6) + x)
    y = compute("bir.tensor_copy %y[0][[6, 1], [3, 2], [1, 3]] = %x[0][[6, 1], [1, 3], [3, 2]]", (x, "float32"), x=x)
    np.testing.assert_array_equal(y, x.reshape(2, 3).T.reshape(1, 6))


def test_an_instruction_may_overwrite_what_it_reads() -> None:
    y = compute(
        "bir.iota %y <pattern = [1, 8]> bir.tensor_copy %y[1][[8, 1], [1, 7]] = %y[0][[8, 1], [1, 7]]",
        ((1, 8), "int32"),
    )
    assert y.tolist() == [[0, 0, 1, 2, 3, 4, 5, 6]]


@pytest.mark.parametrize(
    ("instruction", "message"),
    [
        ("bir.tensor_tensor %y = add(%x, %x) <acc = Accumulate>", "acc = Accumulate is not supported yet."),
        ("bir.activation %y = Exp(%x) <acc = Zero>", "acc = Zero is not supported yet."),
        ("bir.tensor_scalar_ptr %y = %x, %s <op0 = add, op1 = mult>", "op1 = mult without a third input is not"),
        ("bir.dma_copy %y = %x <mode = CCE>", "mode = CCE is not supported yet."),
        ("bir.tensor_reduce %s = is_equal(%x)", "reduction by is_equal is not supported yet."),
        ("bir.tensor_reduce %s = add(%x) <apply_transpose = true>", "apply_transpose is not supported yet."),
    ],
)
def test_what_has_no_meaning_says_so_when_it_is_reached(instruction: str, message: str) -> None:
    header = "".join(f'%{n} = bir.memory_location "{n}" : SB float32 {shape} ' for n, shape in
                     (("x", [2, 3]), ("y", [2, 3]), ("s", [2, 1])))  # fmt: skip
    with pytest.raises(EvaluationError, match=message):
        Program(function(f"{header} {instruction} bir.return")).run()
    never = f'bir.loop for %i "i" in range(1, 1, 1) {{ {instruction} }}'
    Program(function(f"{header} {never} bir.return")).run()
