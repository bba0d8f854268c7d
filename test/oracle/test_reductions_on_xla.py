"""Reductions, windows, sorts and top-k against XLA."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.agreement import check
from oracle.programs import DTYPES, edge_floats, program, shape

RANDOM = np.random.default_rng(0)


def reducer(opcode: str, element: str) -> str:
    """A computation `f` that is one operation."""
    return f"f {{ a = {element}[] parameter(0) b = {element}[] parameter(1) ROOT r = {element}[] {opcode}(a, b) }}"


def values(name: str, *extents: int) -> np.ndarray:
    """Small whole numbers, whose sums and products are exact in any order."""
    return RANDOM.integers(-3, 4, extents).astype(DTYPES[name])


@pytest.mark.parametrize("name", ["s8", "u8", "s32", "u64", "f32", "f64", "bf16", "f16", "s4"])
@pytest.mark.parametrize("opcode", ["add", "multiply", "maximum", "minimum"])
def test_reductions_by_one_operation(name: str, opcode: str):
    if name == "bf16" and opcode == "multiply":
        return
    x = values(name, 3, 4, 2)
    initial = DTYPES[name].type(1)
    computations = reducer(opcode, name)
    lines = {
        "one": f"{name}[3,2] reduce(p0, p1), dimensions={{1}}, to_apply=f",
        "two": f"{name}[4] reduce(p0, p1), dimensions={{2,0}}, to_apply=f",
        "all": f"{name}[] reduce(p0, p1), dimensions={{0,1,2}}, to_apply=f",
    }
    programs = {key: program(line, x, initial, computations=computations) for key, line in lines.items()}
    if opcode == "add":  # XLA drops the initial value here, which only an identity allows
        line = f"{name}[3,4,2] reduce(p0, p1), dimensions={{}}, to_apply=f"
        programs["none"] = program(line, x, DTYPES[name].type(0), computations=computations)
    check(programs)


@pytest.mark.parametrize("opcode", ["and", "or", "xor"])
def test_reductions_of_bits(opcode: str):
    programs = {}
    for name, x in {"s32": values("s32", 3, 5), "pred": RANDOM.random((3, 5)) < 0.7}.items():
        line = f"{name}[3] reduce(p0, p1), dimensions={{1}}, to_apply=f"
        initial = DTYPES[name].type(opcode == "and")
        programs[name] = program(line, x, initial, computations=reducer(opcode, name))
    check(programs)


def test_extremes_of_edge_values():
    programs = {}
    for opcode, initial in {"maximum": -np.inf, "minimum": np.inf}.items():
        zeros = np.array([[0.0, -0.0], [-0.0, 0.0], [-0.0, -0.0], [0.0, 0.0]], np.float32)
        line = "f32[{}] reduce(p0, p1), dimensions={{1}}, to_apply=f"
        for key, x in {"zeros": zeros, "edges": edge_floats("f32").reshape(-1, 4)}.items():
            args = (x, np.float32(initial))
            programs[f"{opcode} {key}"] = program(line.format(len(x)), *args, computations=reducer(opcode, "f32"))
    check(programs)


def test_sums_of_floats_within_tolerance():
    x = RANDOM.normal(size=(50, 40)).astype(np.float32)
    line = "f32[40] reduce(p0, p1), dimensions={0}, to_apply=f"
    check({"sum": program(line, x, np.float32(0), computations=reducer("add", "f32"))}, tolerance=1e-5)


ARG_MAX = """f { a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2) j = s32[] parameter(3)
  gt = pred[] compare(a, b), direction=GT  eq = pred[] compare(a, b), direction=EQ
  lt = pred[] compare(i, j), direction=LT  tie = pred[] and(eq, lt)  left = pred[] or(gt, tie)
  v = f32[] select(gt, a, b) k = s32[] select(left, i, j) ROOT t = (f32[], s32[]) tuple(v, k) }"""
ODD = """f { a = s32[] parameter(0) b = s32[] parameter(1) c = s32[] constant(3) d = s32[] multiply(a, c)
  ROOT r = s32[] subtract(d, b) }"""


def test_reductions_by_any_computation():
    x = RANDOM.integers(0, 5, (4, 6)).astype(np.float32)
    i = np.broadcast_to(np.arange(6, dtype=np.int32), (4, 6)).copy()
    line = "(f32[4], s32[4]) reduce(p0, p1, p2, p3), dimensions={1}, to_apply=f"
    odd = "s32[4] reduce(p0, p1), dimensions={1}, to_apply=f"
    check(
        {
            "arg max": program(line, x, i, np.float32(-1), np.int32(0), computations=ARG_MAX),
            "in order": program(odd, x.astype(np.int32), np.int32(2), computations=ODD),
        }
    )


WINDOWS = {
    "pool": ("size=2x2 stride=2x2", (3, 3)),
    "padded": ("size=3x2 pad=1_1x0_1", (6, 7)),
    "dilated": ("size=2x3 stride=1x2 pad=2_2x1_0 lhs_dilate=2x3 rhs_dilate=3x2", (12, 8)),
    "cut": ("size=2x2 pad=-1_-1x0_-2", (3, 4)),
    "running": ("size=1x7 pad=0_0x6_0", (6, 7)),
}


@pytest.mark.parametrize("window", WINDOWS)
def test_reduce_windows(window: str):
    text, places = WINDOWS[window]
    x = RANDOM.integers(-9, 9, (6, 7)).astype(np.int32)
    programs = {}
    for opcode, initial in {"add": 0, "maximum": -(1 << 31), "multiply": 1}.items():
        line = f"s32[{places[0]},{places[1]}] reduce-window(p0, p1), window={{{text}}}, to_apply=f"
        programs[opcode] = program(line, x, np.int32(initial), computations=reducer(opcode, "s32"))
    check(programs)


def test_reduce_window_of_several_operands():
    computation = """f { a = s32[] parameter(0) b = f32[] parameter(1) c = s32[] parameter(2) d = f32[] parameter(3)
      e = s32[] add(a, c) g = f32[] maximum(b, d) ROOT t = (s32[], f32[]) tuple(e, g) }"""
    x = RANDOM.integers(-9, 9, (8,)).astype(np.int32)
    line = "(s32[4], f32[4]) reduce-window(p0, p1, p2, p3), window={size=3 stride=2 pad=1_1}, to_apply=f"
    y = x.astype(np.float32)
    check({"two": program(line, x, y, np.int32(0), np.float32(-99), computations=computation)})


def test_select_and_scatter():
    computations = """ge { a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = pred[] compare(a, b), direction=GE }
    add { c = s32[] parameter(0) d = s32[] parameter(1) ROOT s = s32[] add(c, d) }"""
    x = RANDOM.integers(0, 5, (6, 6)).astype(np.int32)
    windows = {"disjoint": ("size=2x3 stride=2x3", (3, 2)), "overlapping": ("size=3x3 stride=1x2 pad=1_1x1_0", (6, 3))}
    programs = {}
    for name, (window, places) in windows.items():
        source = RANDOM.integers(1, 99, places).astype(np.int32)
        line = f"s32[6,6] select-and-scatter(p0, p1, p2), window={{{window}}}, select=ge, scatter=add"
        programs[name] = program(line, x, source, np.int32(7), computations=computations)
    check(programs)


@pytest.mark.parametrize("name", ["s8", "u32", "f32", "bf16", "pred", "s4", "f64"])
def test_sorts(name: str):
    if name == "pred":
        x = RANDOM.random((3, 9)) < 0.5
    else:
        x = RANDOM.integers(-4, 4, (3, 9)).astype(DTYPES[name])
    programs = {}
    for direction in ("LT", "GT"):
        computation = f"""f {{ a = {name}[] parameter(0) b = {name}[] parameter(1)
          ROOT r = pred[] compare(a, b), direction={direction} }}"""
        for dimension in (0, 1):
            line = f"{shape(x)} sort(p0), dimensions={{{dimension}}}, is_stable=true, to_apply=f"
            programs[f"{direction} {dimension}"] = program(line, x, computations=computation)
    check(programs)


def test_sorts_by_total_order():
    x = np.concatenate([edge_floats("f32"), -edge_floats("f32")])
    programs = {}
    for direction in ("LT", "GT"):
        computation = f"""f {{ a = f32[] parameter(0) b = f32[] parameter(1)
          ROOT r = pred[] compare(a, b), direction={direction}, type=TOTALORDER }}"""
        line = f"{shape(x)} sort(p0), dimensions={{0}}, to_apply=f"
        programs[direction] = program(line, x, computations=computation)
    check(programs)


def test_sorts_of_several_operands():
    keys, payload = RANDOM.integers(0, 4, (5, 33)).astype(np.int32), RANDOM.normal(size=(5, 33)).astype(np.float32)
    parameters = "a = s32[] parameter(0) b = s32[] parameter(1) c = f32[] parameter(2) d = f32[] parameter(3)"
    by_key = f"f {{ {parameters} ROOT r = pred[] compare(a, b), direction=LT }}"
    by_payload_backwards = f"f {{ {parameters} ROOT r = pred[] compare(d, c), direction=LT }}"
    by_both = f"""f {{ {parameters} lt = pred[] compare(a, b), direction=LT  eq = pred[] compare(a, b), direction=EQ
      gt = pred[] compare(c, d), direction=GT  tie = pred[] and(eq, gt) ROOT r = pred[] or(lt, tie) }}"""
    line = "(s32[5,33], f32[5,33]) sort(p0, p1), dimensions={1}, is_stable=true, to_apply=f"
    cases = {"key": by_key, "payload": by_payload_backwards, "both": by_both}
    check({name: program(line, keys, payload, computations=f) for name, f in cases.items()})


@pytest.mark.parametrize("largest", ["true", "false"])
def test_top_k(largest: str):
    x = RANDOM.integers(-5, 5, (3, 12)).astype(np.float32)
    line = f"(f32[3,4], s32[3,4]) topk(p0), k=4, largest={largest}"
    check({"topk": program(line, x)})


def test_map():
    computation = """f { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] constant(2) d = f32[] multiply(a, c)
      ROOT r = f32[] subtract(d, b) }"""
    x, y = RANDOM.normal(size=(2, 3, 4)).astype(np.float32)
    check({"map": program("f32[3,4] map(p0, p1), dimensions={0,1}, to_apply=f", x, y, computations=computation)})


def test_scan():
    computation = """f { x = s32[] parameter(0) c = s32[] parameter(1) t = s32[] multiply(c, c) s = s32[] add(x, t)
      ROOT r = (s32[], s32[]) tuple(c, s) }"""
    x = RANDOM.integers(-9, 9, 6).astype(np.int32)
    programs = {}
    for flag in ("", ", is_reverse=true"):
        line = f"(s32[6], s32[]) scan(p0, p1), dimensions={{0}}, num_carries=1, to_apply=f{flag}"
        programs[f"scan{flag}"] = program(line, x, np.int32(2), computations=computation)
    check(programs)
