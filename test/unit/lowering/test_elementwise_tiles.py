"""Elementwise rules on arrays of any size, wherever they live, and on their own operand's memory."""

import numpy as np
import pytest
from elementwise_cases import differences, program
from lowered import agree, branched, function_of, lowered, run_bir, run_hlo, same_bits
from oracle.programs import shape
from xdsl.dialects.builtin import ModuleOp

from xneuron.dialects.bir.loops import LoopOp
from xneuron.dialects.bir.movement import DMACopyOp, TensorCopyOp
from xneuron.lowering.hlo_to_bir.layout import PARTITIONS, TILE
from xneuron.lowering.hlo_to_bir.storage import VALUES

STEPS = {
    "f32": ("floor(x)", "ceil(x)", "round-nearest-even(x)", "round-nearest-afz(x)", "sign(x)", "remainder(x, y)",
            "remainder(y, x)", "cosine(x)", "tan(x)", "cbrt(x)", "log-plus-one(x)", "exponential-minus-one(x)",
            "sinh(x)", "cosh(x)", "clamp(y, x, x)", "select(p, y, x)", "select(p, x, y)", "maximum(x, y)",
            "reduce-precision(x), exponent_bits=5, mantissa_bits=10", "clamp(half, x, ten)", "select(yes, x, y)"),
    "s32": ("divide(x, y)", "divide(y, x)", "remainder(x, y)", "remainder(y, x)", "sign(x)", "popcnt(x)",
            "count-leading-zeros(x)", "mulhi(x, y)", "shift-left(x, y)", "shift-right-arithmetic(y, x)",
            "shift-right-logical(x, x)", "power(x, x)", "not(x)"),
}  # fmt: skip
"""What may write its result over an operand; `p` is a pred, `yes`, `half` and `ten` are scalars."""
COMPOSED = ("cosine", "tan", "cbrt", "log-plus-one", "exponential-minus-one", "sinh", "cosh")
"""What differs from the evaluator by a few units in the last place."""
UPDATE = """HloModule m
cond {{
  s = ({state}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT more = pred[] compare(i, n), direction=LT
}}
body {{
  s = ({state}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = {type} get-tuple-element(s), index=1
  y = {type} get-tuple-element(s), index=2
  p = {pred} get-tuple-element(s), index=3
  yes = pred[] get-tuple-element(s), index=4
  half = {scalar} get-tuple-element(s), index=5
  ten = {scalar} get-tuple-element(s), index=6
  one = s32[] constant(1)
  next = s32[] add(i, one)
  new = {type} {step}
  ROOT t = ({state}) tuple(next, new, y, p, yes, half, ten)
}}
ENTRY e {{
  x = {type} parameter(0)
  y = {type} parameter(1)
  p = {pred} parameter(2)
  yes = pred[] parameter(3)
  half = {scalar} parameter(4)
  ten = {scalar} parameter(5)
  zero = s32[] constant(0)
  init = ({state}) tuple(zero, x, y, p, yes, half, ten)
  loop = ({state}) while(init), condition=cond, body=body
  ROOT r = {type} get-tuple-element(loop), index=1
}}"""


def update(name: str, step: str, size: int) -> str:
    """A loop of three trips of `x = step`."""
    types = {"type": f"{name}[{size}]", "pred": f"pred[{size}]", "scalar": f"{name}[]"}
    state = ", ".join(
        ["s32[]", types["type"], types["type"], types["pred"], "pred[]", types["scalar"], types["scalar"]]
    )
    return UPDATE.format(step=step, state=state, **types)


@pytest.mark.parametrize(("name", "step"), [(name, step) for name, steps in STEPS.items() for step in steps])
def test_results_over_operands(name: str, step: str) -> None:
    random = np.random.default_rng(0)
    x, y = random.integers(-9, 9, (2, 6)).astype(np.int32)
    if name == "f32":
        x, y = (x / 8).astype(np.float32), y.astype(np.float32)
    scalars = np.array(True), np.asarray(0.5, x.dtype), np.asarray(10, x.dtype)
    text, arrays = update(name, step, 6), (x, y, np.arange(6) % 2 == 0, *scalars)
    module, wanted = lowered(text), run_hlo(text, *arrays)
    found = [run_bir(form, arrays, wanted, strict=True)[0] for form in (module, branched(module))]
    assert same_bits(*found)
    if step.partition("(")[0] in COMPOSED:
        np.testing.assert_allclose(found[0], wanted[0], rtol=1e-5)
    else:
        assert same_bits(found[0], wanted[0])
    assert not copies(module)


def copies(module: ModuleOp) -> list[str]:
    """Copies of whole arrays inside of the loop."""
    (loop,) = [op for op in function_of(module).walk() if isinstance(op, LoopOp)]
    return [str(op) for op in loop.walk() if isinstance(op, TensorCopyOp | DMACopyOp) and "6, 1" in str(op)]


SIZES = (1, 7, 128, 131, 1000)
TALL = {"tiles and rest": PARTITIONS * TILE + 3 * PARTITIONS + 5, "a prime": 300007, "two tiles": 2 * PARTITIONS * TILE}


@pytest.mark.parametrize("size", SIZES)
def test_sizes(size: int) -> None:
    """Operands in DRAM, and on chip; scalars go with all elements."""
    random = np.random.default_rng(size)
    x, y = (random.normal(0, 4, (2, size))).astype(np.float32)
    lines = {
        "sum": (shape(x), "add(p0, p1)"),
        "floor": (shape(x), "floor(v0)"),
        "mask": (f"pred[{size}]", "compare(v1, p1), direction=GT"),
        "chosen": (shape(x), "select(v2, v1, p0)"),
        "by a scalar": (shape(x), "select(p2, v1, p0)"),
        "clamped": (shape(x), "clamp(p3, v0, p4)"),
        "integers": (f"s32[{size}]", "convert(v0)"),
        "quotients": (f"s32[{size}]", "divide(v6, v6)"),
        "a scalar on chip": ("pred[]", "not(p2)"),
        "by that": (shape(x), "select(v8, v1, p0)"),
    }
    assert not list(differences(lines, x, y, np.array(True), np.float32(-1), np.float32(2.5)))


@pytest.mark.parametrize("size", TALL.values(), ids=list(TALL))
def test_what_does_not_fit_is_done_in_tiles(size: int) -> None:
    x = np.random.default_rng(0).integers(-9, 9, size).astype(np.int32)
    text = f"""HloModule m
      ENTRY e {{
        x = s32[{size}] parameter(0)
        bound = s32[] parameter(1)
        yes = pred[] parameter(2)
        three = s32[] constant(3)
        threes = s32[{size}] broadcast(three), dimensions={{}}
        third = s32[{size}] divide(x, threes)
        less = s32[{size}] clamp(bound, third, three)
        twice = s32[{size}] add(less, less)
        ROOT r = s32[{size}] select(yes, twice, x)
      }}"""
    agree(text, x, np.int32(-2), np.array(True))


@pytest.mark.parametrize("name", ["s64", "f32"])
def test_tiles_have_room_beside_values_that_fill_their_share(name: str) -> None:
    """The rules that need most, on operands in DRAM, while the share of values is full."""
    size = PARTITIONS * TILE
    wide = np.random.default_rng(0).integers(-(2**62), 2**62, size)
    x = wide if name == "s64" else (wide / 2.0**60).astype(np.float32)
    opcodes = {
        "s64": (
            "divide",
            "remainder",
            "popcnt",
            "count-leading-zeros",
            "shift-right-arithmetic",
            "shift-left",
            "clamp",
        ),
        "f32": ("floor", "ceil", "round-nearest-afz", "remainder", "tan", "clamp"),
    }
    arity = {"popcnt": 1, "count-leading-zeros": 1, "floor": 1, "ceil": 1, "round-nearest-afz": 1, "tan": 1, "clamp": 3}
    held = VALUES // (TILE * 4) + 1
    lines = {f"held {n}": (f"s32[{size}]", "convert(p0)") for n in range(held)}
    for opcode in opcodes[name]:
        operands = ", ".join(f"p{n + 1}" for n in range(arity.get(opcode, 2)))
        lines[opcode] = (shape(x), f"{opcode}({operands})")
    lines["all"] = (f"s32[{size}]", "add(v0, v1)")
    for n in range(2, held):
        lines[f"all {n}"] = (f"s32[{size}]", f"add(v{len(lines) - 1}, v{n})")
    lowered(program(lines, wide, x, x, x))
