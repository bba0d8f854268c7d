"""`unroll-while-loop`: the meaning stays; costs and counters."""

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp

from xneuron.analysis.channels import channel_of, next_channel_id
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.formats.hlo_text.parser import parse_hlo
from xneuron.interpreters.evaluator import Program
from xneuron.remarks import collect
from xneuron.transforms.unroll_while_loop import UnrollWhileLoop


def unrolled(text: str, **options: int) -> ModuleOp:
    module = parse_hlo(text)
    UnrollWhileLoop(**options).apply(Context(), module)
    module.verify()
    return module


def count(module: ModuleOp, kind: type) -> int:
    return sum(isinstance(op, kind) for op in module.walk())


def summing(type: str, init: int, direction: str, bound: int, update: str, step: int) -> str:
    """`s += x * i` while `i <direction> bound`: the result shows each value that the counter had."""
    return f"""HloModule summing
scaled {{
  a = f32[3] parameter(0)
  b = {type}[] parameter(1)
  c = f32[] convert(b)
  d = f32[3] broadcast(c), dimensions={{}}
  ROOT e = f32[3] multiply(a, d)
}}
body {{
  p = (f32[3], {type}[], f32[3]) parameter(0)
  s = f32[3] get-tuple-element(p), index=0
  i = {type}[] get-tuple-element(p), index=1
  x = f32[3] get-tuple-element(p), index=2
  y = f32[3] call(x, i), to_apply=scaled
  z = f32[3] add(s, y)
  k = {type}[] constant({step})
  n = {type}[] {update}(i, k)
  ROOT t = (f32[3], {type}[], f32[3]) tuple(z, n, x)
}}
cond {{
  p = (f32[3], {type}[], f32[3]) parameter(0)
  i = {type}[] get-tuple-element(p), index=1
  b = {type}[] constant({bound})
  ROOT c = pred[] compare(i, b), direction={direction}
}}
ENTRY main {{
  x = f32[3] parameter(0)
  zero = f32[] constant(0)
  s = f32[3] broadcast(zero), dimensions={{}}
  i = {type}[] constant({init})
  t = (f32[3], {type}[], f32[3]) tuple(s, i, x)
  ROOT w = (f32[3], {type}[], f32[3]) while(t), condition=cond, body=body
}}
"""


@pytest.mark.parametrize(
    ("type", "init", "direction", "bound", "update", "step", "trips"),
    [
        ("s32", 0, "LT", 6, "add", 2, 3),
        ("s32", 10, "GT", 0, "subtract", 3, 4),
        ("u8", 250, "LT", 255, "add", 3, 87),
        ("s8", 125, "LT", 127, "add", 3, 86),
        ("u32", 5, "LT", 6, "add", 4294967295, 6),
        ("s32", 1, "LE", 64, "multiply", 2, 7),
        ("s16", 5, "EQ", 5, "add", 1, 1),
        ("s32", 7, "LT", 7, "add", 1, 0),
    ],
)
def test_rolled_and_unrolled_compute_the_same(
    type: str, init: int, direction: str, bound: int, update: str, step: int, trips: int
) -> None:
    text = summing(type, init, direction, bound, update, step)
    module = unrolled(text)
    assert count(module, WhileOp) == 0
    assert (
        sum(op.callee.root_reference.data.startswith("body") for op in module.walk() if isinstance(op, CallOp)) == trips
    )
    x = np.array([1, -2, 0.5], np.float32)
    before, after = Program(parse_hlo(text)).run(x), Program(module).run(x)
    assert [np.asarray(a).tobytes() for a in before] == [np.asarray(a).tobytes() for a in after]


def test_callees_without_channels_are_shared() -> None:
    module = unrolled(summing("s32", 0, "LT", 6, "add", 2))
    assert [op.sym_name.data for op in module.ops if isinstance(op, FuncOp)] == [
        "scaled",
        "body.clone",
        "body.clone.1",
        "body.clone.2",
        "main",
    ]


def many_loops(loops: int) -> str:
    """A chain of equal loops of two trips with a channel each."""
    text = ["HloModule many", "sum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }"]
    for k in range(loops):
        text.append(f"""body{k} {{ p = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[2] get-tuple-element(p), index=1
  y = f32[2] all-reduce(x), channel_id={k + 1}, replica_groups={{}}, to_apply=sum
  o = s32[] constant(1)
  n = s32[] add(i, o)
  ROOT r = (s32[], f32[2]) tuple(n, y) }}
cond{k} {{ p = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  b = s32[] constant(2)
  ROOT c = pred[] compare(i, b), direction=LT }}""")
    text.append("ENTRY main { x = f32[2] parameter(0)\n z = s32[] constant(0)\n w = (s32[], f32[2]) tuple(z, x)")
    for k in range(loops):
        last = f"w{k - 1}" if k else "w"
        text.append(f"x{k} = f32[2] get-tuple-element({last}), index=1\n t{k} = (s32[], f32[2]) tuple(z, x{k})")
        text.append(f"w{k} = (s32[], f32[2]) while(t{k}), condition=cond{k}, body=body{k}")
    text.append(f"ROOT r = f32[2] get-tuple-element(w{loops - 1}), index=1 }}")
    return "\n".join(text)


def test_the_module_is_not_walked_once_per_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting, channel numbers and remarks look at the whole module as often for 30 loops as for 3."""

    def walks(loops: int) -> int:
        module = parse_hlo(many_loops(loops))
        seen: list[object] = []
        original = ModuleOp.walk
        monkeypatch.setattr(ModuleOp, "walk", lambda *args, **kwargs: seen.append(0) or original(*args, **kwargs))
        with collect() as remarks:
            UnrollWhileLoop().apply(Context(), module)
        monkeypatch.undo()
        assert [remark.code for remark in remarks] == ["unrolled"] * loops
        return len(seen)

    assert walks(3) == walks(30)


def test_one_running_channel_counter() -> None:
    """Ids of all copies of all loops differ; the largest before is 3."""
    ids = [channel_of(op) for op in unrolled(many_loops(3)).walk() if channel_of(op) is not None]
    assert ids == [4, 5, 6, 7, 8, 9]


def test_next_channel_id() -> None:
    assert next_channel_id(parse_hlo(many_loops(5))) == 6
    assert next_channel_id(parse_hlo(summing("s32", 0, "LT", 6, "add", 2))) == 1


def test_facts_are_typed() -> None:
    with collect() as remarks:
        unrolled(summing("s32", 0, "LT", 6, "add", 2))
    (remark,) = remarks
    assert remark.kind == "passed"
    assert remark.loop == "w"
    assert remark.facts == {
        "trips": 3,
        "how": "closed-form",
        "slot": 1,
        "init": 0,
        "step": 2,
        "compare": "LT",
        "bound": 6,
        "ops_before": 1 + 9 + 4,
        "ops_after": 3 * (9 + 1),
    }
