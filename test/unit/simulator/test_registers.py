"""Registers: arithmetic of machine integers, moves, loads and saves, comparisons, against exact integers."""

import struct

import ml_dtypes
import numpy as np
import pytest
from bir_programs import function

from xneuron.dialects.bir.enums import REGISTER_ALU_OPS
from xneuron.execution.errors import EvaluationError
from xneuron.simulator.program import Program


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def floor_or_zero(a: int, b: int) -> tuple[int, int]:
    return divmod(a, b) if b else (0, 0)


def power(a: int, b: int, bits: int) -> int:
    if b < 0:
        return a ** (b & 1) if a in (1, -1) else 0
    return pow(a, b, 1 << bits)


def reciprocal_root(a: int, bits: int) -> int:
    if a <= 0:
        return 0 if a < 0 else (1 << (bits - 1)) - 1
    return {1: 1, 2: 1, 3: 1}.get(a, 0)


ALU = {
    "bypass": lambda a, b, n: a,
    "bitwise_not": lambda a, b, n: ~a,
    "arith_shift_left": lambda a, b, n: a << b % n,
    "arith_shift_right": lambda a, b, n: signed(a, n) >> b % n,
    "add": lambda a, b, n: a + b,
    "subtract": lambda a, b, n: a - b,
    "mult": lambda a, b, n: a * b,
    "divide": lambda a, b, n: floor_or_zero(a, b)[0],
    "max": lambda a, b, n: max(a, b),
    "min": lambda a, b, n: min(a, b),
    "bitwise_and": lambda a, b, n: a & b,
    "bitwise_or": lambda a, b, n: a | b,
    "bitwise_xor": lambda a, b, n: a ^ b,
    "logical_and": lambda a, b, n: int(a != 0 and b != 0),
    "logical_or": lambda a, b, n: int(a != 0 or b != 0),
    "logical_xor": lambda a, b, n: int((a != 0) != (b != 0)),
    "logical_shift_left": lambda a, b, n: a << b % n,
    "logical_shift_right": lambda a, b, n: (a % 2**n) >> b % n,
    "is_equal": lambda a, b, n: int(a == b),
    "not_equal": lambda a, b, n: int(a != b),
    "is_gt": lambda a, b, n: int(a > b),
    "is_ge": lambda a, b, n: int(a >= b),
    "is_lt": lambda a, b, n: int(a < b),
    "is_le": lambda a, b, n: int(a <= b),
    "pow": power,
    "mod": lambda a, b, n: floor_or_zero(a, b)[1],
    "rsqrt": lambda a, b, n: reciprocal_root(a, n),
    "abs": lambda a, b, n: abs(a),
}


def test_no_operation_is_forgotten() -> None:
    assert ALU.keys() == {op.value for op in REGISTER_ALU_OPS}


EDGES = {
    32: [0, 1, 2, 3, 5, 31, 32, 100, 2**30, 2**31 - 1, -1, -2, -3, -100, -(2**31), -(2**31) + 1],
    64: [0, 1, 3, 40, 63, 64, 2**40, 2**63 - 1, -1, -3, -(2**40), -(2**63)],
}


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("op", ALU)
@pytest.mark.parametrize("immediate", [False, True])
def test_alu(op: str, dtype: str, immediate: bool) -> None:
    bits = int(dtype[-2:])
    rights = [b for b in EDGES[bits] if not immediate or b >= 0 or not dtype.startswith("u")]
    pairs = [(a, b) for a in EDGES[bits] for b in rights]
    wide = f" <num_physical_regs = {bits // 32}>"
    lines = [f'%a{i} = bir.register "a{i}"{wide} %b{i} = bir.register "b{i}"{wide} ' for i in range(len(pairs))]
    for i, (_, b) in enumerate(pairs):
        right = f"{b}" if immediate else f"%b{i}"
        lines.append(f"bir.register_alu %a{i} : {dtype} = {op}(%a{i} : {dtype}, {right} : {dtype})")
        lines.append(" <is_64bit = true>" * (bits == 64))
    given = {f"a{i}": a for i, (a, _) in enumerate(pairs)} | {f"b{i}": b for i, (_, b) in enumerate(pairs)}
    found = Program(function("\n".join([*lines, "bir.return"]))).run(registers=given).registers
    for i, (a, b) in enumerate(pairs):
        read = [value % 2**bits if dtype.startswith("u") else value for value in (a, b)]
        assert found[f"a{i}"] == signed(ALU[op](*read, bits), bits), (op, a, b)


def run(text: str, inputs: dict[str, np.ndarray] | None = None, **registers: int):
    return Program(function(f"{text} bir.return")).run(inputs, registers)


def test_a_register_nobody_wrote_is_minus_one() -> None:
    assert run('%a = bir.register "a" %b = bir.register "b" bir.register_alu %b = add(%a, 0)').registers == {
        "a": -1,
        "b": -1,
    }


def test_entry_values_are_patterns_or_signed_and_must_fit() -> None:
    text = '%a = bir.register "a" %p = bir.register "p" <num_physical_regs = 2> bir.register_alu %a = add(%a, 1)'
    assert run(text, a=2**32 - 1, p=2**64 - 2).registers == {"a": 0, "p": -2}
    with pytest.raises(EvaluationError, match="register 'a': expected a value of 32 bits, found 4294967296"):
        run(text, a=2**32)
    with pytest.raises(EvaluationError, match=r"expected a register \(a, p\), found 'q'"):
        run(text, q=1)


@pytest.mark.parametrize(
    ("source", "bits"),
    [
        ("5", 5),
        ("-5", -5),
        ("4294967295 : uint32", -1),
        ("1.5", struct.unpack("<i", struct.pack("<f", 1.5))[0]),
        ("-inf", struct.unpack("<i", struct.pack("<f", float("-inf")))[0]),
        ("%b", 77),
    ],
)
def test_moves_copy_bits(source: str, bits: int) -> None:
    dtype = " : float32" if "." in source or "inf" in source else ""
    text = f'%a = bir.register "a" %b = bir.register "b" bir.register_move %a{dtype} = {source}'
    assert run(text, b=77).registers["a"] == bits


def test_pairs_are_moved_and_counted_in_64_bits() -> None:
    text = """%p = bir.register "p" <num_physical_regs = 2>
        bir.register_move %p : int64 = 9223372036854775807 : int64
        bir.register_alu %p : int64 = add(%p : int64, 2 : int64) <is_64bit = true>"""
    assert run(text).registers["p"] == -(2**63) + 1


def float_bits(value: float) -> int:
    return struct.unpack("<i", struct.pack("<f", value))[0]


BF16 = np.dtype(ml_dtypes.bfloat16)


@pytest.mark.parametrize(
    ("dtype", "stored", "register"),
    [
        ("int32", np.int32(-7), -7),
        ("uint32", np.uint32(2**32 - 1), -1),
        ("int8", np.int8(-7), -7),
        ("uint8", np.uint8(249), 249),
        ("int16", np.int16(-300), -300),
        ("uint16", np.uint16(65535), 65535),
        ("float32", np.float32(2.5), float_bits(2.5)),
        ("bfloat16", BF16.type(2.5), float_bits(2.5)),
        ("float16", np.float16(-1.5), float_bits(-1.5)),
        ("int64", np.int64(2**40 + 5), 5),
    ],
)
def test_tensor_load_and_save(dtype: str, stored, register: int) -> None:
    text = f"""%r = bir.register "r"
        %x = bir.memory_location "x" : DRAM {dtype} [1, 3] <kind = ExternalInput>
        %y = bir.memory_location "y" : DRAM {dtype} [1, 3] <kind = ExternalOutput>
        bir.tensor_load %r = %x[1][[1, 1]]
        bir.tensor_save %y[2][[1, 1]] = %r"""
    x = np.zeros((1, 3), stored.dtype)
    x[0, 1] = stored
    result = run(text, {"x": x})
    assert result.registers["r"] == register
    y = result.outputs["y"]
    assert y[0, 2] == (5 if dtype == "int64" else stored)
    assert (y.view(np.uint8)[0, : 2 * stored.dtype.itemsize] == 0xFF).all()  # unwritten


@pytest.mark.parametrize(
    ("dtype", "value", "pair"), [("int64", -5, -5), ("uint32", 2**32 - 5, 2**32 - 5), ("int8", -5, -5)]
)
def test_loads_into_pairs(dtype: str, value: int, pair: int) -> None:
    text = f"""%p = bir.register "p" <num_physical_regs = 2>
        %x = bir.memory_location "x" : DRAM {dtype} [1, 1] <kind = ExternalInput>
        %y = bir.memory_location "y" : DRAM int64 [1, 1] <kind = ExternalOutput>
        bir.tensor_load %p : int64 = %x
        bir.tensor_save %y = %p : int64"""
    result = run(text, {"x": np.array([[value]], dtype)})
    assert (result.registers["p"], result.outputs["y"].item()) == (pair, pair)


@pytest.mark.parametrize(
    ("dtype", "comparison", "a", "b", "holds"),
    [
        ("int32", "LT", -1, 1, True),
        ("uint32", "LT", -1, 1, False),
        ("int8", "EQ", 0x1FF, -1, True),
        ("uint8", "GT", -1, 5, True),
        ("float32", "LT", float_bits(-2.0), float_bits(1.0), True),
        ("float32", "NE", float_bits(float("nan")), float_bits(float("nan")), True),
        ("float32", "GE", float_bits(0.0), float_bits(-0.0), True),
    ],
)
@pytest.mark.parametrize("form", ["REG", "IMM"])
def test_branches_compare_in_the_dtype_of_the_left(
    dtype: str, comparison: str, a: int, b: int, holds: bool, form: str
) -> None:
    floats = dtype == "float32"
    number = struct.unpack("<f", struct.pack("<i", b))[0] if floats else b
    right = "%b" if form == "REG" else f"{number} : {dtype if floats else 'int32'}"
    text = f"""%a = bir.register "a" %b = bir.register "b" %c = bir.register "c"
        bir.register_move %c = 0
        bir.compare_and_branch IS_{comparison}{form}(%a : {dtype}, {right}) ^yes, ^no
      ^yes:
        bir.register_move %c = 1
        bir.unconditional_branch ^no
      ^no:"""
    assert run(text, a=a, b=b).registers["c"] == int(holds)


def test_registers_with_one_physical_number_are_one_register() -> None:
    text = """%a = bir.register "a" <engine = SP, physical_id = 3> %b = bir.register "b" <engine = SP, physical_id = 3>
        %c = bir.register "c" <engine = PE, physical_id = 3>
        bir.register_move %a = 5 bir.register_move %c = 6 bir.register_alu %b = add(%b, 1)"""
    assert run(text).registers == {"a": 6, "b": 6, "c": 6}
    half = """%a = bir.register "a" <physical_id = 3> %p = bir.register "p" <physical_id = 2, num_physical_regs = 2>
        bir.register_move %a = 5 bir.register_move %p : int64 = 5 : int64"""
    with pytest.raises(EvaluationError, match="registers 'a' and 'p' overlap in part"):
        run(half)
