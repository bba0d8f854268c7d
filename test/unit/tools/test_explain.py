"""What `xneuron-explain` says: each kind of sentence, and the facts behind them; numbers are worked out by hand."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from xneuron.formats.hlo_text.parser import parse_hlo
from xneuron.tools.explain_loops import Loop, as_json, explained
from xneuron.tools.explain_text import WIDTH, as_text
from xneuron.tools.xneuron_explain import run

SUM = "sum { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b) }"


def program(
    cond: str = "ROOT c = pred[] compare(i, b), direction=LT",
    step: str = "k = s32[] constant(1)\n  j = s32[] add(i, k)",
    body: str = "y = f32[8] add(x, x)",
    start: str = "i0 = s32[] constant(0)",
    bound: str = "n0 = s32[] copy(p1)",
    more: str = "",
    attributes: str = "",
    header: str = "",
) -> str:
    """A loop over (counter, bound, array); in the condition `b` is the bound."""
    state = "(s32[], s32[], f32[8])"
    return f"""HloModule m{header}
{SUM}
{more}
body {{ p = {state} parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  x = f32[8] get-tuple-element(p), index=2
  {step}
  {body}
  ROOT t = {state} tuple(j, n, y) }}
cond {{ p = {state} parameter(0)
  i = s32[] get-tuple-element(p), index=0
  b = s32[] get-tuple-element(p), index=1
  {cond} }}
ENTRY main {{
  p0 = s32[] parameter(0)
  p1 = s32[] parameter(1)
  x0 = f32[8] parameter(2)
  {start}
  {bound}
  t = {state} tuple(i0, n0, x0)
  ROOT w = {state} while(t), condition=cond, body=body{attributes} }}
"""


def loops(text: str) -> list[Loop]:
    return explained(parse_hlo(text))


def said(**parts: str) -> str:
    """The paragraph on one line."""
    (loop,) = loops(program(**parts))
    return " ".join(as_text(loop).split())


FOUR = "n0 = s32[] constant(4)"
RUNTIME = "i0 = s32[] copy(p0)"
DOWN = "k = s32[] constant(-2)\n  j = s32[] add(i, k)"


def compare(direction: str) -> str:
    return f"ROOT c = pred[] compare(i, b), direction={direction}"


def test_a_counted_loop() -> None:
    """An iteration: 1 + 8 flops and 12 + 96 bytes of adds, 1 and 9 of the compare; the body has 8 instructions."""
    assert said(bound=FOUR) == (
        "w (line 25) runs 4 times: i = 0; i < 4; i += 1, where i is slot 0 of its state. "
        "unroll-while-loop would replace it by 4 calls of its body, 36 instructions in all. "
        "while_loop_unroller would put 4 copies of its body, 8 instructions each, into a loop that runs once. "
        "In BIR it is a bir.loop over range(0, 4, 1). It has no collectives. "
        "An iteration executes 3 instructions, computes 10 flops and moves 117 B; "
        "all 4 together 13 instructions, 41 flops and 477 B."
    )


def test_few_iterations() -> None:
    once = said(bound="n0 = s32[] constant(1)")
    assert "w (line 25) runs once: i = 0" in once
    assert "while_loop_unroller would leave it as it is, since it runs once already." in once
    assert once.endswith("moves 117 B.")
    never = said(bound="n0 = s32[] constant(0)")
    assert "w (line 25) never runs: i = 0" in never
    assert "unroll-while-loop would put its initial value in its place." in never
    assert "while_loop_unroller would put its initial value in its place." in never
    assert "In BIR nothing is left of it." in never
    assert "runs twice" in said(bound="n0 = s32[] constant(2)")


def test_falling() -> None:
    text = said(start="i0 = s32[] constant(9)", bound=FOUR, cond=compare("GE"), step=DOWN)
    assert "runs 3 times: i = 9; i >= 4; i -= 2, where i is slot 0 of its state." in text


def test_closed_form_of_a_condition_that_is_not_one_comparison() -> None:
    cond = "c = pred[] compare(i, b), direction=LT\n  ROOT d = pred[] and(c, c)"
    assert "runs 4 times, by closed form: slot 0 of its state goes from 0 in steps of 1." in said(bound=FOUR, cond=cond)


def test_simulated() -> None:
    text = said(start="i0 = s32[] constant(1)", bound="n0 = s32[] constant(100)", step="j = s32[] add(i, i)")
    assert "runs 7 times, counted by running slot 0 of its state, from 1, and nothing else of it." in text
    assert "while_loop_unroller would leave it alone [no-closed-form]: Loop doesn't have trivial trip count" in text


def test_never_ends() -> None:
    text = said(
        bound=FOUR,
        cond=compare("GE"),
        start="i0 = s32[] constant(4)",
        step="k = s32[] constant(0)\n  j = s32[] add(i, k)",
    )
    assert "w (line 25) never ends: s32[] from 4 by 0 while GE 4 never fails its condition." in text
    assert "In BIR it is a guard and a bir.do_while [never-exits]." in text
    assert text.endswith("moves 117 B.")


def test_a_runtime_bound() -> None:
    text = said()
    assert "runs while slot 0 < slot 1, in steps of 1; it starts at 0, and the bound is known at run time." in text
    assert "Neither unroller would touch it [bound-not-constant]: the condition depends on a parameter" in text
    assert (
        "In BIR it is a bir.dynamic_for_loop over range(0, n, 1), "
        "where n is slot 1, read into a register when the loop begins. It has" in text
    )
    assert text.endswith("moves 117 B, times trips(w).")


def test_a_bound_that_is_included() -> None:
    text = said(cond=compare("LE"))
    assert "over range(0, n + 1, 1)," in text
    assert "In front of it, slot 1 = 2147483647, with which it never ends, goes to a loop without end." in text


def test_falling_to_a_runtime_bound() -> None:
    text = said(
        cond=compare("GT"), start="i0 = s32[] constant(9)", step="k = s32[] constant(1)\n  j = s32[] subtract(i, k)"
    )
    assert "over range(0, 9 - n, 1), where n is slot 1," in text


def test_a_runtime_start() -> None:
    text = said(start=RUNTIME, bound=FOUR)
    assert "runs while slot 0 < 4, in steps of 1; the start is known at run time." in text
    assert "over range(0, 4 - s, 1), where s is slot 0, read into a register when the loop begins." in text


def test_start_and_bound_at_run_time() -> None:
    text = said(start=RUNTIME)
    assert "start and bound are known at run time." in text
    assert (
        "over range(0, d, 1), where d = slot 1 - slot 0 (0 unless slot 0 < slot 1) is computed in a register." in text
    )
    assert "In front of it, a distance of 2**31 or more goes to bir.exit." in text
    falling = said(start=RUNTIME, cond=compare("GE"), step="k = s32[] constant(-1)\n  j = s32[] add(i, k)")
    assert "where d = slot 0 - slot 1 + 1 (0 unless slot 0 >= slot 1) is computed in a register." in falling


def test_a_count_that_ranges_show() -> None:
    """The bound is a clamp to [5, 5]."""
    text = said(bound="five = s32[] constant(5)\n  n0 = s32[] clamp(five, p1, five)")
    assert "runs 5 times, as the ranges of its counter and its bound show." in text
    assert "over range(0, 5, 1)." in text


def test_a_condition_that_is_tested() -> None:
    text = said(step="j = s32[] add(i, n)")
    assert "w (line 24) runs as often as only a run can tell: slot 0 does not move by a constant." in text
    assert "In BIR it is a guard and a bir.do_while [step-not-constant]." in text


def test_what_no_unroller_would_copy() -> None:
    body = """k0 = token[] after-all()
  s = (f32[8], u32[], token[]) send(x, k0), channel_id=1
  d = token[] send-done(s), channel_id=1
  y = f32[8] add(x, x)"""
    text = said(bound=FOUR, body=body)
    assert "Neither unroller would touch it [send-recv]: Not attempting to unroll w because it contains" in text


GATHER = """g = f32[16] all-gather(x), replica_groups={{0,1}}, dimensions={0}
  y = f32[8] reduce-scatter(g), replica_groups={{0,1}}, dimensions={0}, to_apply=sum"""


def test_collectives_of_a_counted_loop() -> None:
    """Each moves the whole: 16 floats."""
    text = said(bound=FOUR, body=GATHER, header=", replica_count=2")
    parts = "An iteration runs 1 all-gather (64 B) and 1 reduce-scatter (64 B)"
    assert f"{parts}; a run of the loop moves 512 B." in text


def test_collectives_of_a_loop_with_a_runtime_bound() -> None:
    text = said(body=GATHER, header=", replica_count=2")
    assert "; a run of the loop moves 128 * trips(w) bytes." in text


def test_where_it_comes_from() -> None:
    metadata = ', metadata={op_name="jit(f)/while" source_file="model.py" source_line=33}'
    assert said(bound=FOUR, attributes=metadata).startswith("w (line 25, model.py:33, jit(f)/while) runs 4 times")


NESTED = """inner { p = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[8] get-tuple-element(p), index=1
  k = s32[] constant(1)
  j = s32[] add(i, k)
  y = f32[8] multiply(x, x)
  ROOT t = (s32[], f32[8]) tuple(j, y) }
three { p = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  b = s32[] constant(3)
  ROOT c = pred[] compare(i, b), direction=LT }
cube { x = f32[8] parameter(0)
  z = s32[] constant(0)
  t = (s32[], f32[8]) tuple(z, x)
  v = (s32[], f32[8]) while(t), condition=three, body=inner
  ROOT y = f32[8] get-tuple-element(v), index=1 }"""


def nested(bound: str = FOUR) -> list[Loop]:
    return loops(program(bound=bound, body="y = f32[8] call(x), to_apply=cube", more=NESTED))


def test_a_loop_inside_a_called_function_is_inside_the_loop_around_the_call() -> None:
    """An inner iteration executes 3 instructions, so the inner loop 10, an outer iteration 12, all four 49."""
    outer, inner = nested()
    assert (outer.name, inner.name, inner.parent, inner.depth) == ("w", "v", outer, 1)
    assert str(inner.run.work.instructions) == "10"
    assert str(outer.run.work.instructions) == "49"
    lines = as_text(inner).splitlines()
    assert lines[0].startswith("    v (line ")
    assert all(line.startswith("      ") for line in lines[1:])


def test_formulas_of_nests() -> None:
    outer, _ = nested("n0 = s32[] copy(p1)")
    assert str(outer.run.work.instructions) == "12 * trips(w) + 1"
    text = " ".join(as_text(outer).split())
    assert "An iteration executes 12 instructions" in text


def test_lines_are_short() -> None:
    for loop in nested():
        assert max(map(len, as_text(loop).splitlines())) <= WIDTH


def test_the_module_stays() -> None:
    module = parse_hlo(program(bound=FOUR))
    before = str(module)
    explained(module)
    assert str(module) == before


@pytest.mark.parametrize(
    ("parts", "lowering"),
    [
        ({"bound": FOUR}, {"form": "bir.loop", "trips": 4}),
        ({"step": "j = s32[] add(i, n)"}, {"form": "bir.do_while", "code": "step-not-constant"}),
        (
            {"start": RUNTIME, "cond": compare("LE")},
            {
                "form": "bir.dynamic_for_loop",
                "register": "distance",
                "start": {"slot": [0]},
                "bound": {"slot": [1]},
                "compare": "LE",
                "step": 1,
                "lb": 0,
                "coeff": 1,
                "const": 0,
                "stride": 1,
                "distance": {"extra": 1, "mask": None, "tested": True},
                "never_ends": 2**31 - 1,
                "too_far": True,
            },
        ),
    ],
)
def test_lowering_as_json(parts: dict[str, str], lowering: dict[str, Any]) -> None:
    (loop,) = loops(program(**parts))
    found = as_json(loop)["lowering"]
    assert found.items() >= lowering.items()


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "loop.hlo"
    file.write_text(program(body=GATHER, header=", replica_count=2"))
    assert run([str(file), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert {key: facts[key] for key in ("schema", "file", "level")} == {"schema": 1, "file": str(file), "level": "hlo"}
    (loop,) = facts["loops"]
    assert loop["trips"]["count"] is None
    assert loop["trips"]["code"] == "bound-not-constant"
    assert loop["unrollers"]["unroll-while-loop"]["code"] == "bound-not-constant"
    assert loop["iteration"]["collectives"]["all-gather"] == {"runs": 1, "bytes": 64}
    assert loop["run"]["collectives"]["all-gather"] == {"runs": "1 * trips(w)", "bytes": "64 * trips(w)"}


BIR = """bir.func @main {
  %n = bir.register "n"
  bir.loop for %i "i" in range(0, 10, 3) {
    bir.no_op
    bir.dynamic_for_loop for %j "j" in range(0, 2 * %n + 1, 1) <max_tripcount = 16> {
      bir.no_op
    }
  }
  bir.loop for %k "k" in range(0, 0, 0) {
    bir.no_op
  }
  bir.return
}
"""


def test_bir(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "loop.mlir"
    file.write_text(BIR)
    assert run([str(file)]) == 0
    first, second, third, total = capsys.readouterr().out.split("\n\n")
    assert " ".join(first.split()).startswith(
        "i is a bir.loop over range(0, 10, 3): it runs 4 times. On trn2 a trip takes "
    )
    assert second.startswith(
        "    j is a bir.dynamic_for_loop over range(0, 2 * n + 1, 1): it runs max(0, 2 * n + 1) times; the"
    )
    assert "the program promises that it is at most 16." in " ".join(second.split())
    assert "k is a bir.loop over range(0, 0, 0): it runs once." in third
    assert re.match(r"@main takes \d+ \* trips\(j\) \+ \d+ ns on trn2\.", total)


def test_the_cost_of_a_function_is_that_of_its_loops(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "loop.mlir"
    file.write_text(BIR.replace("2 * %n + 1", "%n"))
    assert run([str(file), "--json", "--hardware", "trn3"]) == 0
    facts = json.loads(capsys.readouterr().out)
    outer, _, once = facts["loops"]
    (function,) = facts["functions"]
    assert (function["name"], function["hardware"]) == ("main", "trn3")
    factor, _, rest = outer["run_ns"].partition(" * trips(j) + ")
    assert function["run_ns"] == f"{factor} * trips(j) + {int(rest or 0) + once['run_ns']}"
