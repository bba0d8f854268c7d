"""Loops that both unrollers count copy by copy: their bounds are counters or results of loops that are unrolled."""

from collections.abc import Sequence

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xneuron.analysis import simulation
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.formats.hlo_text.parser import parse_hlo
from xneuron.interpreters.evaluator import Program
from xneuron.remarks import Remark, collect
from xneuron.transforms.unroll_while_loop import UnrollWhileLoop
from xneuron.transforms.waiting_loops import MARK
from xneuron.transforms.while_loop_unroller import WhileLoopUnroller

UNROLLERS = (
    UnrollWhileLoop(),
    WhileLoopUnroller(),
    WhileLoopUnroller(wrap_in_trivial_loop=False),
    WhileLoopUnroller(unroll_factor=2),
)
COUNTING = """cond {
  p = (s32[], s32[], s32[]) parameter(0)
  j = s32[] get-tuple-element(p), index=0
  m = s32[] get-tuple-element(p), index=1
  ROOT c = pred[] compare(j, m), direction=LT
}
count {
  p = (s32[], s32[], s32[]) parameter(0)
  j = s32[] get-tuple-element(p), index=0
  m = s32[] get-tuple-element(p), index=1
  s = s32[] get-tuple-element(p), index=2
  o = s32[] constant(1)
  n = s32[] add(j, o)
  after = s32[] add(s, n)
  ROOT r = (s32[], s32[], s32[]) tuple(n, m, after)
}
"""
"""`while (j < m) s += ++j` on a state (j, m, s)."""


def nest(depth: int, trips: int) -> str:
    """Loops in loops; each but the outermost runs as often as the counter of the outermost says."""
    text = ["HloModule nest", COUNTING]
    inner = "count"
    for level in range(depth - 1):
        bound = "m" if level < depth - 2 else "j"
        text.append(f"""body{level} {{
  p = (s32[], s32[], s32[]) parameter(0)
  j = s32[] get-tuple-element(p), index=0
  m = s32[] get-tuple-element(p), index=1
  s = s32[] get-tuple-element(p), index=2
  z = s32[] constant(0)
  t = (s32[], s32[], s32[]) tuple(z, {bound}, s)
  loop{level} = (s32[], s32[], s32[]) while(t), condition=cond, body={inner}
  after = s32[] get-tuple-element(loop{level}), index=2
  o = s32[] constant(1)
  n = s32[] add(j, o)
  ROOT r = (s32[], s32[], s32[]) tuple(n, m, after)
}}""")
        inner = f"body{level}"
    text.append(f"""ENTRY main {{
  z = s32[] constant(0)
  m = s32[] constant({trips})
  t = (s32[], s32[], s32[]) tuple(z, m, z)
  ROOT outer = (s32[], s32[], s32[]) while(t), condition=cond, body={inner}
}}""")
    return "\n".join(text)


def chain(loops: int, first: str) -> str:
    """Loops one after another, each runs as often as the sum of the one in front says."""
    text = ["HloModule chain", COUNTING, "ENTRY main {", "  x = s32[] parameter(0)", "  z = s32[] constant(0)"]
    text.append(f"  sum.0 = s32[] {first}")
    for k in range(loops):
        text.append(f"  t{k} = (s32[], s32[], s32[]) tuple(z, sum.{k}, z)")
        text.append(f"  w{k} = (s32[], s32[], s32[]) while(t{k}), condition=cond, body=count")
        text.append(f"  sum.{k + 1} = s32[] get-tuple-element(w{k}), index=2")
    return "\n".join([*text, f"  ROOT r = s32[] copy(sum.{loops})", "}"])


def unrolled(text: str, unroller: ModulePass) -> tuple[ModuleOp, list[Remark]]:
    module = parse_hlo(text)
    with collect() as remarks:
        unroller.apply(Context(), module)
    module.verify()
    assert MARK not in str(module)
    return module, [remark for remark in remarks if remark.loop != "builtin.module"]


def values(module: ModuleOp, *inputs: int) -> list[int]:
    return [int(np.asarray(value)) for value in Program(module).run(*map(np.int32, inputs))]


def loops(module: ModuleOp) -> int:
    return sum(isinstance(op, WhileOp) for op in module.walk())


def in_python(depth: int, bound: int, total: int) -> int:
    for j in range(bound):
        total = in_python(depth - 1, j if depth == 2 else bound, total) if depth > 1 else total + j + 1
    return total


@pytest.mark.parametrize("unroller", UNROLLERS, ids=str)
@pytest.mark.parametrize(("depth", "trips"), [(2, 0), (2, 1), (2, 4), (3, 3)])
def test_a_nest_computes_the_same(unroller: ModulePass, depth: int, trips: int) -> None:
    module, _ = unrolled(nest(depth, trips), unroller)
    expected = values(parse_hlo(nest(depth, trips)))
    assert values(module) == expected
    if depth == 2:
        assert expected == [trips, trips, sum(j + 1 for i in range(trips) for j in range(i))]


@pytest.mark.parametrize("unroller", [UNROLLERS[0], UNROLLERS[2]], ids=str)
@pytest.mark.parametrize(("depth", "trips"), [(2, 5), (3, 3), (4, 3)])
def test_no_loop_of_a_nest_is_left(unroller: ModulePass, depth: int, trips: int) -> None:
    module, remarks = unrolled(nest(depth, trips), unroller)
    assert loops(module) == 0
    assert [remark.loop for remark in remarks if remark.code == "waits"] == [f"loop{k}" for k in range(depth - 1)]
    assert all(remark.kind != "missed" for remark in remarks if remark.code != "loop-not-marked")


def test_wrapped_copies_are_counted_through_the_loop_around_them() -> None:
    """Four loops that run once, or run once anyway: the outer one and three that run."""
    module, remarks = unrolled(nest(2, 4), UNROLLERS[1])
    assert loops(module) == 4
    names = [remark.loop for remark in remarks if remark.code in ("loop-dropped", "runs-once", "unrolled-wrapped")]
    assert names == ["outer", *(f"body0.{copy}.loop0" for copy in range(4))]


@pytest.mark.parametrize("unroller", UNROLLERS[:3], ids=str)
def test_a_chain(unroller: ModulePass) -> None:
    """2, then 1 + 2, then 1 + 2 + 3 iterations, and their sum."""
    text = chain(3, "constant(2)")
    module, remarks = unrolled(text, unroller)
    assert values(module, 0) == values(parse_hlo(text), 0) == [21]
    assert [remark.facts["trips"] for remark in remarks if remark.code.startswith("unrolled")] == [2, 3, 6]


@pytest.mark.parametrize("unroller", UNROLLERS, ids=str)
def test_what_never_becomes_known_does_not_wait(unroller: ModulePass) -> None:
    module, remarks = unrolled(chain(2, "copy(x)"), unroller)
    assert loops(module) == 2
    assert [(remark.loop, remark.code) for remark in remarks] == [
        ("w0", "bound-not-constant"),
        ("w1", "bound-not-constant"),
    ]


def test_a_loop_that_waited_for_nothing_says_so_once() -> None:
    """The outer loop was expected to be unrolled, and is too large."""
    module, remarks = unrolled(nest(2, 50), UnrollWhileLoop(max_instructions=100))
    assert loops(module) == 2
    assert [(remark.loop, remark.code) for remark in remarks] == [
        ("loop0", "waits"),
        ("outer", "max-instructions"),
        ("loop0", "bound-not-constant"),
    ]


def test_copies_share_one_budget() -> None:
    """Bodies of 8 instructions: 190 - 8 * (1 + 2 + … + 6) leave too little for 7 of them."""
    unroller = WhileLoopUnroller(max_total_instructions=190, wrap_in_trivial_loop=False)
    module, remarks = unrolled(nest(2, 8), unroller)
    told = [(remark.loop, remark.code) for remark in remarks if ".loop0" in remark.loop and "mark" not in remark.code]
    assert told[:7] == [
        ("body0.0.loop0", "loop-dropped"),
        *((f"body0.{k}.loop0", "unrolled-in-full") for k in range(1, 7)),
    ]
    assert told[7:] == [("body0.7.loop0", "max-total-instructions")]
    assert values(module) == values(parse_hlo(nest(2, 8)))


@pytest.mark.parametrize("unroller", [UNROLLERS[0], UNROLLERS[2]], ids=str)
def test_counting_copies_costs_no_square(unroller: ModulePass, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound of each copy is one addition away from that of the copy before: nothing is folded again and again."""

    def folds(trips: int) -> int:
        seen: list[object] = []
        original = simulation._fold_one  # pyright: ignore[reportPrivateUsage]

        def counted(*args: Sequence[object]) -> object:
            seen.append(args)
            return original(*args)  # pyright: ignore[reportArgumentType]

        monkeypatch.setattr(simulation, "_fold_one", counted)
        unrolled(nest(2, trips), unroller)
        monkeypatch.undo()
        return len(seen)

    few, more, many = folds(4), folds(8), folds(16)
    assert many - more <= 2 * (more - few)
