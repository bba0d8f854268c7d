"""Instructions, operations and bytes, worked out by hand."""

import pytest

from xneuron.analysis.cost import Amount
from xneuron.analysis.work_cost import WHOLE, Work, WorkCost
from xneuron.formats.hlo_text.parser import parse_hlo

PLUS = "plus { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b) }\n"
LESS = "less { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = pred[] compare(a, b), direction=LT }\n"
SCALED = "scaled { a = f32[8] parameter(0)\n  b = f32[8] multiply(a, a)\n  ROOT s = f32[8] add(b, a) }\n"


def work(lines: str, more: str = "") -> Work:
    parameters = "x = f32[8] parameter(0)\n  y = f32[4,8] parameter(1)\n  n = s32[] parameter(2)"
    entry = f"ENTRY main {{\n  {parameters}\n  {lines}\n}}\n"
    return WorkCost(parse_hlo(f"HloModule m\n{PLUS}{LESS}{SCALED}{more}{entry}")).of_program()[WHOLE]


@pytest.mark.parametrize(
    ("line", "flops", "bytes"),
    [
        ("add(x, x)", 8, 3 * 32),
        ("copy(x)", 0, 2 * 32),
        ("f16[8] convert(x)", 8, 32 + 16),
        ("f32[4] dot(y, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}", 2 * 4 * 8, 128 + 32 + 16),
        ("f32[4] reduce(y, z), dimensions={1}, to_apply=plus", 32 - 4, 128 + 4 + 16),
        ("f32[7] reduce-window(x, z), window={size=2}, to_apply=plus", 7, 32 + 4 + 28),
        ("f32[8] sort(x), dimensions={0}, to_apply=less", 8 * 3, 64),
        ("f32[8] map(x, x), dimensions={0}, to_apply=plus", 8, 96),
        ("f32[1,8] dynamic-slice(y, n, n), dynamic_slice_sizes={1,8}", 0, 64),
        ("f32[2] slice(x), slice={[2:4]}", 0, 16),
        ("f32[8] dynamic-update-slice(x, u, n)", 0, 16),
        ("f32[8] fusion(x), kind=kLoop, calls=scaled", 16, 64),
        ("f32[8] transpose(x), dimensions={0}", 0, 64),
        (
            "f32[1,8,3] convolution(v, k), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f",
            2 * 24 * 6,
            4 * (16 + 18 + 24),
        ),
    ],
)
def test_one_instruction(line: str, flops: int, bytes: int) -> None:
    scalars = "z = f32[] constant(0)\n  u = f32[2] constant({1, 2})"
    more = f"{scalars}\n  v = f32[1,8,2] constant({{...}})\n  k = f32[3,2,3] constant({{...}})"
    typed = line if line.split("(")[0].count(" ") else f"f32[8] {line}"
    assert work(f"{more}\n  ROOT r = {typed}") == Work(Amount.of(1), Amount.of(flops), Amount.of(bytes))


def loop(compare: str) -> str:
    """A loop that does x = 2 * x three times, or n times."""
    return f"""body {{ p = (s32[], f32[8], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[8] get-tuple-element(p), index=1
  n = s32[] get-tuple-element(p), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[8] add(x, x)
  ROOT t = (s32[], f32[8], s32[]) tuple(j, y, n) }}
cond {{ p = (s32[], f32[8], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=2
  three = s32[] constant(3)
  ROOT c = pred[] compare(i, {compare}), direction=LT }}
"""


LOOP = """o = s32[] constant(0)
  t = (s32[], f32[8], s32[]) tuple(o, x, n)
  ROOT w = (s32[], f32[8], s32[]) while(t), condition=cond, body=body"""


def test_a_counted_loop() -> None:
    """An iteration: adds of 9 operations and 12 + 96 bytes, a compare of 1 and 9; one compare more at the end."""
    assert work(LOOP, loop("three")) == Work(Amount.of(3 * 3 + 1), Amount.of(3 * 10 + 1), Amount.of(3 * 117 + 9))


def test_an_uncounted_loop() -> None:
    found = work(LOOP, loop("n"))
    assert (str(found.instructions), str(found.flops)) == ("3 * trips(w) + 1", "10 * trips(w) + 1")
