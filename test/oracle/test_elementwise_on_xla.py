"""Elementwise operations against XLA on edge values of every type.

Bit for bit, but for functions that neither side rounds correctly, whose bounds are below. Where XLA's CPU code departs
from HLO's evaluator the operands avoid it: powers beyond 63, subnormal numbers (flushed), popcnt of s4 (of 8 bits).
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from oracle.agreement import check
from oracle.programs import DTYPES, FLOATS, INTEGERS, edge_floats, edge_integers, operation, pairs, program, shape
from oracle.xla import Program

COMPARISONS = ("EQ", "NE", "LT", "LE", "GT", "GE")
ULPS = {
    "exponential": 2,
    "log": 2,
    "rsqrt": 2,
    "sine": 4,
    "cosine": 4,
    "cbrt": 4,
    "tan": 8,
    "tanh": 8,
    "exponential-minus-one": 8,
    "log-plus-one": 8,
    "logistic": 8,
    "erf": 16,
    "atan2": 16,
    "power": 16,
}
"""Units in the last place by which f32 may differ; f64 by eight times as much, narrower types by 1 (both go by f32)."""


def several(lines: dict[str, tuple[str, str]], *arrays: np.ndarray) -> Program:
    """One module for many instructions: name -> (result type, the rest of the line). Compiling is what takes time."""
    body = [f"  v{i} = {type} {rest}" for i, (type, rest) in enumerate(lines.values())]
    types = ", ".join(type for type, _ in lines.values())
    built = program(f"({types}) tuple({', '.join(f'v{i}' for i in range(len(lines)))})", *arrays)
    return Program(built.text.replace("  ROOT", "\n".join([*body, "  ROOT"])), built.replicas)


def integer_program(name: str) -> Program:
    values = edge_integers(name)
    x, y = pairs(values)
    type, pred = shape(x), f"pred[{len(x)}]"
    binary = "add subtract multiply divide remainder maximum minimum and or xor".split()
    binary += ["shift-left", "shift-right-arithmetic", "shift-right-logical"]
    unary = ["negate", "not", "count-leading-zeros"]
    unary += ["popcnt"] if name != "s4" else []
    unary += ["abs", "sign"] if name[0] == "s" else []
    lines = {opcode: (type, f"{opcode}(p0, p1)") for opcode in binary}
    lines |= {opcode: (type, f"{opcode}(p0)") for opcode in unary}
    lines |= {order: (pred, f"compare(p0, p1), direction={order}") for order in COMPARISONS}
    lines["clamp"] = (type, "clamp(p1, p0, p2)")
    return several(lines, x, y, y[::-1].copy())


def test_integers():
    check({name: integer_program(name) for name in INTEGERS})


def test_integer_powers():
    programs = {}
    for name in INTEGERS:
        x, y = pairs(edge_integers(name))
        small = y.astype(np.float64) < 64
        programs[name] = operation("power", x[small], y[small])
    check(programs)


def test_preds():
    x, y = pairs(np.array([False, True]))
    lines = {o: ("pred[4]", f"{o}(p0, p1)") for o in "add multiply maximum minimum and or xor".split()}
    lines |= {order: ("pred[4]", f"compare(p0, p1), direction={order}") for order in COMPARISONS}
    lines["not"] = ("pred[4]", "not(p0)")
    check({"pred": several(lines, x, y)})


def float_lines(name: str, type: str, pred: str) -> dict[str, tuple[str, str]]:
    binary = "add subtract multiply divide maximum minimum remainder".split()
    unary = "negate abs sign floor ceil round-nearest-afz round-nearest-even".split()
    lines = {opcode: (type, f"{opcode}(p0, p1)") for opcode in binary}
    lines |= {opcode: (type, f"{opcode}(p0)") for opcode in unary}
    for order in COMPARISONS:
        lines[order] = (pred, f"compare(p0, p1), direction={order}")
        lines[f"{order} total"] = (pred, f"compare(p0, p1), direction={order}, type=TOTALORDER")
    lines["clamp"] = (type, "clamp(p1, p0, p2)")
    lines["is-finite"] = (pred, "is-finite(p0)")
    lines["select"] = (type, "select(v7, p0, p1)".replace("v7", f"v{len(lines) - 1}"))
    return lines


def test_floats():
    programs = {}
    for name in FLOATS:
        x, y = pairs(edge_floats(name, 14))
        programs[name] = several(float_lines(name, shape(x), f"pred[{len(x)}]"), x, y, y[::-1].copy())
    check(programs)


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64", "f8e4m3fn", "f8e5m2"])
def test_functions_of_floats(name: str):
    scale = {"f32": 1, "f64": 8}.get(name)
    values = edge_floats(name, 60)
    x, y = pairs(values[:30])
    small = ~(np.abs(y.astype(np.float64)) > 50)  # else powers are subnormal
    programs, bounds = {"sqrt": operation("sqrt", values)}, {"sqrt": int(name[:2] == "f8")}
    for opcode, ulps in ULPS.items():
        operands = (x[small], y[small]) if opcode in ("atan2", "power") else (values,)
        programs[opcode], bounds[opcode] = operation(opcode, *operands), ulps * scale if scale else 1
    check(programs, bounds)


def test_complex_numbers():
    random = np.random.default_rng(0)
    z = random.normal(0, 2, 60) + 1j * random.normal(0, 2, 60)
    exact, close = {}, {}
    for name, real in {"c64": "f32", "c128": "f64"}.items():
        x, y = z.astype(DTYPES[name]), np.roll(z, 7).astype(DTYPES[name])
        parts = x.real.copy(), x.imag.copy()
        for opcode in ("add", "subtract"):
            exact[f"{name} {opcode}"] = operation(opcode, x, y)
        for opcode in ("real", "imag"):
            exact[f"{name} {opcode}"] = operation(opcode, x, result=real)
        for order in ("EQ", "NE"):
            exact[f"{name} {order}"] = operation("compare", x, y, result="pred", attributes=f"direction={order}")
        exact[f"{name} negate"] = operation("negate", x)
        exact[f"{name} complex"] = operation("complex", *parts, result=name)
        close[f"{name} abs"] = operation("abs", x, result=real)
        for opcode in ("multiply", "divide", "power", "atan2"):
            close[f"{name} {opcode}"] = operation(opcode, x, y)
        for (
            opcode
        ) in "sign sqrt rsqrt exponential exponential-minus-one log log-plus-one logistic sine cosine tan tanh".split():
            close[f"{name} {opcode}"] = operation(opcode, x)
    check(exact)
    check(close, tolerance=1e-5)


NARROW = ("f4e2m1fn",)
NUMBERS = np.array(
    [
        *(0, -0.0, 1, -1, 0.5, 1.5, -2.5, np.inf, -np.inf, np.nan, 0.3, -7.7, 1.0000001, 1e30, 3.4e38),
        *(7, 8, -8, -9, 15, 16, 17, 127, 128, -128, -129, 255, 256, 300, 32767, 32768, 65535, 65536),
        *(2.0**31, -(2.0**31), 2.0**31 - 128, 2.0**32, 2.0**63, -(2.0**63), 2.0**64, 16777217),
        *(240, 248, 448, 464, 465, 480, 57344, 61440, 65504, 65520),
    ]
)
WHOLE = [0, 1, 2, 3, -1, -2, 5, 77, 2**24 + 1, 2**25 + 3, 2**53 + 1, 2**60 + 12345, 0x3C3C3C3C, 2**63 - 1, -(2**63)]


def numbers(name: str) -> np.ndarray:
    """Numbers around the ends of all other types' ranges."""
    if name == "pred":
        return np.array([False, True])
    with np.errstate(all="ignore"):
        if name[0] == "c":
            return (NUMBERS - 2j).astype(DTYPES[name])
        if name in FLOATS or name in NARROW:
            return NUMBERS.astype(DTYPES[name])
        return np.array(WHOLE, np.int64).astype(np.int64 if name[0] == "s" else np.uint64).astype(DTYPES[name])


def test_conversions():
    """From every type to every type; f4 to integers and NaN to f4, complex to pred are left out: XLA gives nonsense."""
    targets = (*INTEGERS, *FLOATS, "pred", "c64", "c128")
    programs = {}
    for source in targets:
        x = numbers(source)
        wanted = [t for t in targets if t != source and not (source[0] == "c" and t == "pred")]
        programs[source] = several({t: (f"{t}[{len(x)}]", "convert(p0)") for t in wanted}, x)
    check(programs)


def test_conversions_of_four_bit_floats():
    every = np.arange(16, dtype=np.uint8).view(ml_dtypes.float4_e2m1fn)
    targets = [t for t in FLOATS if t != "f8e8m0fnu"]
    back = NUMBERS[np.isfinite(NUMBERS)].astype(np.float32)
    check(
        {
            "from": several({t: (f"{t}[16]", "convert(p0)") for t in targets}, every),
            "to": operation("convert", back, result="f4e2m1fn"),
        }
    )


def test_bitcast_conversions():
    raw = np.random.default_rng(0).integers(0, 256, (4, 8)).astype(np.uint8)
    nibbles = (raw % 16).astype(ml_dtypes.uint4)
    cases = [
        (raw, "s8[4,8]"),
        (raw, "f8e4m3fn[4,8]"),
        (raw, "s4[4,8,2]"),
        (raw, "u2[4,8,4]"),
        (raw.reshape(16, 2), "u16[16]"),
        (raw.reshape(4, 2, 4), "f32[4,2]"),
        (raw, "f64[4]"),
        (raw.view(np.int16), "u8[4,4,2]"),
        (raw.view(np.float32), "s32[4,2]"),
        (raw.view(np.float32), "f64[4]"),
        (nibbles, "s4[4,8]"),
        (nibbles, "f4e2m1fn[4,8]"),
        (nibbles.reshape(16, 2), "u8[16]"),
        (nibbles.reshape(4, 2, 4), "f16[4,2]"),
        (np.array(3.5, np.float32), "s32[]"),
        (np.array(3.5, np.float64), "u32[2]"),
        (np.array([1, 2], np.uint32), "f64[]"),
    ]
    check({f"{shape(x)} -> {result}": operation("bitcast-convert", x, result=result) for x, result in cases})


def test_reduced_precision():
    random = np.random.default_rng(0).normal(0, 10, 40)
    values = np.array([0.3, 1e30, -1e-30, 65504, np.inf, -np.inf, np.nan, 1.5, 3.14159, 300, *random])
    formats = [(5, 10), (4, 3), (8, 7), (8, 23), (5, 2), (3, 1), (11, 52)]
    programs = {}
    with np.errstate(all="ignore"):
        for name in ("f16", "bf16", "f32", "f64"):
            x = values.astype(DTYPES[name])
            lines = {
                str(f): (shape(x), f"reduce-precision(p0), exponent_bits={f[0]}, mantissa_bits={f[1]}") for f in formats
            }
            programs[name] = several(lines, x)
    check(programs)


def test_stochastic_conversions():
    x = np.array([1.25, -2.75, 1e10, np.nan, np.inf, -np.inf, 0, -0.3, 127.5, -128.7, -128, 32767.4], np.float32)
    bits = np.random.default_rng(0).integers(0, 2**32, x.shape).astype(np.uint32)
    check({name: operation("stochastic-convert", x, bits, result=name) for name in ("s8", "s16", "s32")})
