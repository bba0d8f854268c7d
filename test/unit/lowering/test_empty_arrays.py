"""Arrays without elements: in slices and shifts, in loops, as parameters and results."""

from __future__ import annotations

import json
from pathlib import Path

import lowered
import numpy as np
import pytest

from xneuron.lowering.hlo_to_bir.rules import NotLowerable
from xneuron.tools.xneuron_run import run

LINE = np.arange(1, 6, dtype=np.int32)
SUM = """HloModule m
sum { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT s = s32[] add(a, b) }
larger { a = s32[] parameter(0)
  i = s32[] parameter(1)
  b = s32[] parameter(2)
  j = s32[] parameter(3)
  m = s32[] maximum(a, b)
  n = s32[] minimum(i, j)
  ROOT t = (s32[], s32[]) tuple(m, n) }
"""


def program(*instructions: str) -> str:
    """`x` is s32[5], `none` an empty slice of it, `n` a scalar."""
    lines = "\n".join(instructions)
    return f"""{SUM}ENTRY e {{ x = s32[5] parameter(0)
  n = s32[] parameter(1)
  none = s32[0] slice(x), slice={{[5:5]}}
  {lines} }}"""


@pytest.mark.parametrize(
    "root",
    [
        "s32[5] concatenate(x, none), dimensions={0}",
        "s32[5] concatenate(none, x), dimensions={0}",
        "s32[0] negate(none)",
        "s32[2] pad(none, n), padding=1_1",
        "s32[3] pad(none, n), padding=3_0_2",
        "s32[5] dynamic-update-slice(x, none, n)",
        "s32[] reduce(none, n), dimensions={0}, to_apply=sum",
        "(s32[], s32[]) reduce(none, none, n, n), dimensions={0}, to_apply=larger",
        "s32[] dot(none, none), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
        "s32[0,0] dot(none, none), lhs_contracting_dims={}, rhs_contracting_dims={}",
        "s32[] get-dimension-size(none), dimensions={0}",
        "s32[0] sort(none), dimensions={0}, to_apply=less",
        "(s32[0], s32[5], (s32[0])) tuple(none, x, t)",
        "s32[0,7] broadcast(none), dimensions={0}",
        "s32[0] iota(), iota_dimension=0",
        "s32[0] constant({})",
    ],
)
def test_what_is_made_of_nothing(root: str) -> None:
    less = "less { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT r = pred[] compare(a, b), direction=LT }\n"
    text = program("t = (s32[0]) tuple(none)", f"ROOT r = {root}").replace("ENTRY", f"{less}ENTRY")
    lowered.agree(text, LINE, np.int32(3))


def test_scatter_of_nothing() -> None:
    how = "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1"
    text = program("at = s32[0,1] reshape(none)", f"ROOT r = s32[5] scatter(x, at, none), {how}, to_apply=sum")
    lowered.agree(text, LINE, np.int32(3))


def test_an_update_by_nothing_is_another_name() -> None:
    """The old array is read after the "update", whose result is written to in place."""
    state = "(s32[], s32[5], s32[0])"
    text = f"""{SUM}cond {{ p = {state} parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(4)
  ROOT c = pred[] compare(i, n), direction=LT }}
body {{ p = {state} parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = s32[5] get-tuple-element(p), index=1
  none = s32[0] get-tuple-element(p), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  same = s32[5] dynamic-update-slice(x, none, i)
  element = s32[1] dynamic-slice(same, j), dynamic_slice_sizes={{1}}
  changed = s32[5] dynamic-update-slice(same, element, i)
  sum = s32[5] add(changed, x)
  ROOT t = {state} tuple(j, sum, none) }}
ENTRY e {{ x = s32[5] parameter(0)
  none = s32[0] parameter(1)
  zero = s32[] constant(0)
  t = {state} tuple(zero, x, none)
  ROOT w = {state} while(t), condition=cond, body=body }}"""
    lowered.agree(text, LINE, np.zeros(0, np.int32))


def test_a_window_over_nothing_is_refused() -> None:
    text = program("ROOT r = s32[3] reduce-window(none, n), window={size=1 pad=1_2}, to_apply=sum")
    with pytest.raises(NotLowerable, match="reduce_window 'r' to BIR: an operand has no elements, but the result has"):
        lowered.lowered(text)


def test_the_tool_gives_them_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "empty.hlo"
    file.write_text(program("ROOT r = (s32[0], s32[5]) tuple(none, x)"))
    assert run([str(file), "--random", "0", "--check-levels"]) == 0
    capsys.readouterr()
    assert run([str(file), "--random", "0", "--through=bir", "--json"]) == 0
    ((empty, line),) = json.loads(capsys.readouterr().out)["outputs"]
    assert (empty["shape"], line["shape"]) == ([0], [5])
