"""What stays in its loop, and what is said about it. Each row changes one thing in a program that is rewritten."""

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xneuron.formats.hlo_text.parser import parse_hlo
from xneuron.remarks import Remark, collect
from xneuron.transforms.all_gather_trip_count import AllGatherTripCount
from xneuron.transforms.aws_neuron_rewrite_all_gather_trip_count import AwsNeuronRewriteAllGatherTripCount as Widen
from xneuron.transforms.neuron_move_all_gather_while_loop import NeuronMoveAllGatherWhileLoop as Hoist
from xneuron.transforms.neuron_move_reduce_scatter_while_loop import NeuronMoveReduceScatterWhileLoop as Sink

SLICES = """HloModule slices, replica_count=2
body {
  p = (s32[], f32[4,3], f32[5,2,3], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[4,3] get-tuple-element(p), index=1
  w = f32[5,2,3] get-tuple-element(p), index=2
  k = s32[] get-tuple-element(p), index=3
  zero = s32[] constant(0)
  one = s32[] constant(1)
  s = f32[1,2,3] dynamic-slice(w, i, zero, zero), dynamic_slice_sizes={1,2,3}
  r = f32[2,3] reshape(s)
  g = f32[4,3] all-gather(r), replica_groups={{0,1}}, dimensions={0}
  y = f32[4,3] add(x, g)
  n = s32[] add(i, one)
  ROOT t = (s32[], f32[4,3], f32[5,2,3], s32[]) tuple(n, y, w, k)
}
cond {
  p = (s32[], f32[4,3], f32[5,2,3], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  five = s32[] constant(5)
  ROOT c = pred[] compare(i, five), direction=LT
}
ENTRY main {
  x = f32[4,3] parameter(0)
  w = f32[5,2,3] parameter(1)
  k = s32[] parameter(2)
  start = s32[] constant(0)
  t = (s32[], f32[4,3], f32[5,2,3], s32[]) tuple(start, x, w, k)
  ROOT l = (s32[], f32[4,3], f32[5,2,3], s32[]) while(t), condition=cond, body=body
}
"""
SLICE = "s = f32[1,2,3] dynamic-slice(w, i, zero, zero), dynamic_slice_sizes={1,2,3}"
RESHAPE = "r = f32[2,3] reshape(s)"
GATHER = "g = f32[4,3] all-gather(r), replica_groups={{0,1}}, dimensions={0}"
TRIPS = "Left-hand side dimension of the tensor being dynamic sliced does not match the trip count"

Changes = list[tuple[str, str]]


def changed(text: str, changes: Changes) -> ModuleOp:
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    module = parse_hlo(text)
    module.verify()
    return module


def applied(module: ModuleOp, step: ModulePass) -> list[Remark]:
    with collect() as found:
        step.apply(Context(), module)
    module.verify()
    return found


def refused(text: str, changes: Changes, step: ModulePass, code: str, message: str) -> None:
    module = changed(text, changes)
    before = str(module)
    (found,) = applied(module, step)
    assert (found.kind, found.code) == ("missed", code)
    assert message in found.message
    assert str(module) == before


@pytest.mark.parametrize("always", [False, True])
@pytest.mark.parametrize(
    ("changes", "code", "message"),
    [
        ([("index=0\n  five = s32[] constant(5)", "index=3\n  five = s32[] constant(5)")], "no-trip-count",
         "While loop does not have a known trip count"),
        ([(SLICE, "s = f32[2,3] constant({{1,2,3},{4,5,6}})"), (RESHAPE, "r = f32[2,3] add(s, s)")],
         "gather-of-no-reshape", "First operand of AllGather is not a Reshape"),
        ([(SLICE, "s = f32[1,2,3] slice(w), slice={[0:1],[0:2],[0:3]}")], "reshape-of-no-slice",
         "First operand of Reshape is not a DynamicSlice"),
        ([("dynamic-slice(w,", "dynamic-slice(w2,"), ("zero = s32[]", "w2 = f32[5,2,3] add(w, w)\n  zero = s32[]")],
         "slice-of-no-element", "First operand of DynamicSlice is not a GetTupleElement"),
        ([("dynamic-slice(w,", "dynamic-slice(w2,"), ("zero = s32[]",
          "b = (s32[], f32[4,3], f32[5,2,3], s32[]) opt-barrier(p)\n  w2 = f32[5,2,3] get-tuple-element(b), index=2\n"
          "  zero = s32[]")], "element-of-no-parameter", "First operand of GetTupleElement is not a Parameter"),
        ([("constant(5)", "constant(4)")], "slices-not-trips", f"{TRIPS}: 5 and 4"),
        ([(RESHAPE, "r = f32[6] reshape(s)"), ("g = f32[4,3] all-gather(r)", "g1 = f32[12] all-gather(r)"),
          ("y = f32", "g = f32[4,3] reshape(g1)\n  y = f32")], "reshape-rank",
         "Reshape rank (1) must be one less than the dynamic sliced rank (3)"),
        ([(RESHAPE, "r = f32[3,2] reshape(s)"), ("g = f32[4,3] all-gather(r)", "g1 = f32[6,2] all-gather(r)"),
          ("y = f32", "g = f32[4,3] reshape(g1)\n  y = f32")], "reshape-extents",
         "Dimension mismatch following the leading dimension: reshape dim=3, slice dim=2"),
        ([("f32[5,2,3]", "f32[5,3,3]")], "partial-slice",
         "the slice takes [2, 3] of [3, 3]"),
        ([("dynamic-slice(w, i,", "dynamic-slice(w, k,")], "index-differs", "it depends on parameter 2 of main"),
        ([("dynamic-slice(w, i,", "dynamic-slice(w, me,"), ("zero = s32[] constant(0)\n  one",
          "zero = s32[] constant(0)\n  id = u32[] replica-id()\n  me = s32[] convert(id)\n  one")], "index-differs",
         "it depends on %id (replica-id)"),
        ([("{{0,1}}, dimensions={0}", "{{0},{1}}, channel_id=1, dimensions={0}")], "group-size",
         "the size that the shapes say"),
        ([("dimensions={0}", "dimensions={0}, constrain_layout=true"), ("r = f32[2,3] resh", "r = f32[2,3]{0,1} resh")],
         "constrained-layout", "constrain_layout with a layout of its own"),
        ([("g = f32[4,3]", "g = f32[<=4,3]")], "dynamic-shape", "an extent is dynamic"),
        ([("y = f32[4,3] add(x, g)", "y = f32[4,3] add(x, g), control-predecessors={g}")], "ordered-collective",
         "g has control dependencies"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else "",
)  # fmt: skip
def test_not_widened(changes: Changes, code: str, message: str, always: bool) -> None:
    refused(SLICES, changes, Widen(always=always), code, message)


WRITTEN = [("tuple(n, y, w, k)", "tuple(n, y, w2, k)"), ("zero = s32[]", "w2 = f32[5,2,3] add(w, w)\n  zero = s32[]")]


def test_a_gather_that_would_stay_is_widened_only_if_asked() -> None:
    refused(SLICES, WRITTEN, Widen(), "gather-would-stay", "tuple element 2, which the loop writes")
    (found,) = applied(changed(SLICES, WRITTEN), Widen(always=True))
    assert found.code == "gather-widened"


def test_size_limit() -> None:
    exact = 5 * 4 * 3 * 4
    message = f"g would give {exact} bytes, more than max-gathered-bytes={exact - 1}"
    refused(SLICES, [], Widen(max_gathered_bytes=exact - 1), "gathered-too-large", message)
    assert applied(changed(SLICES, []), Widen(max_gathered_bytes=exact))[0].code == "gather-widened"
    refused(WHOLE, [], Hoist(max_gathered_bytes=47), "gathered-too-large", "g would give 48 bytes")
    refused(SLABS, [], Sink(max_gathered_bytes=79), "gathered-too-large", "c would give 80 bytes")


def test_parameters_named_as_replicated() -> None:
    index = [("dynamic-slice(w, i,", "dynamic-slice(w, k,")]
    refused(SLICES, index, Widen(replicated_parameters=(0, 1)), "index-differs", "parameter 2 of main")
    (found,) = applied(changed(SLICES, index), Widen(replicated_parameters=(2,)))
    assert found.code == "gather-widened"


def test_outside_of_loops_and_in_conditions() -> None:
    top = "HloModule top, replica_count=2\nENTRY main {\n  x = f32[2] parameter(0)\n"
    top += "  ROOT g = f32[4] all-gather(x), replica_groups={{0,1}}, dimensions={0}\n}"
    message = "g: AllGather is not inside a while loop body computation"
    refused(top, [], Widen(), "gather-outside-loop", message)
    chain = (
        f"w = f32[5,2,3] get-tuple-element(p), index=2\n  zero = s32[] constant(0)\n  {SLICE}\n  {RESHAPE}\n  {GATHER}"
    )
    condition = [("five = s32[]", f"{chain}\n  five = s32[]"), (f"{GATHER}\n  y", "g = f32[4,3] add(x, x)\n  y")]
    refused(SLICES, condition, Widen(), "gather-outside-loop", message)


def test_several_operands() -> None:
    both = [(GATHER, "gg = (f32[4,3], f32[4,3]) all-gather(r, r), replica_groups={{0,1}}, dimensions={0}\n"
             "  g = f32[4,3] get-tuple-element(gg), index=0")]  # fmt: skip
    refused(SLICES, both, Widen(), "gather-of-several", "AllGather of several operands")
    refused(SLICES, both, Hoist(), "gather-of-several", "gg has several operands")


WHOLE = """HloModule whole, replica_count=2
body {
  p = (s32[], f32[4,3], f32[2,3], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[4,3] get-tuple-element(p), index=1
  w = f32[2,3] get-tuple-element(p), index=2
  k = s32[] get-tuple-element(p), index=3
  one = s32[] constant(1)
  g = f32[4,3] all-gather(w), replica_groups={{0,1}}, dimensions={0}
  y = f32[4,3] add(x, g)
  n = s32[] add(i, one)
  ROOT t = (s32[], f32[4,3], f32[2,3], s32[]) tuple(n, y, w, k)
}
cond {
  p = (s32[], f32[4,3], f32[2,3], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  k = s32[] get-tuple-element(p), index=3
  five = s32[] constant(5)
  ROOT c = pred[] compare(i, five), direction=LT
}
ENTRY main {
  x = f32[4,3] parameter(0)
  w = f32[2,3] parameter(1)
  k = s32[] parameter(2)
  start = s32[] constant(0)
  t = (s32[], f32[4,3], f32[2,3], s32[]) tuple(start, x, w, k)
  ROOT l = (s32[], f32[4,3], f32[2,3], s32[]) while(t), condition=cond, body=body
}
"""


@pytest.mark.parametrize(
    ("changes", "code", "message"),
    [
        ([("tuple(n, y, w, k)", "tuple(n, y, v, k)"), ("one = s32", "v = f32[2,3] negate(w)\n  one = s32")],
         "slot-changes", "g gathers tuple element 2, which the loop writes"),
        ([("all-gather(w)", "all-gather(v)"), ("one = s32", "v = f32[2,3] negate(w)\n  one = s32")],
         "gather-not-of-slot", "operand of g is no element of the loop's state"),
        ([("constant(5)", "constant(0)")], "gather-never-runs", "g never runs"),
        ([("compare(i, five)", "compare(i, k)")], "counts-may-differ", "depends on parameter 2 of main"),
        ([("y = f32[4,3] add(x, g)", "y = f32[4,3] add(x, g), control-predecessors={g}")], "ordered-collective",
         "g has control dependencies"),
        ([("condition=cond, body=body", "condition=cond, body=body, sharding={{replicated}, {replicated}, "
           "{replicated}, {replicated}}")], "state-cannot-change", "a sharding for each element"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else "",
)  # fmt: skip
def test_not_hoisted(changes: Changes, code: str, message: str) -> None:
    refused(WHOLE, changes, Hoist(), code, message)


def test_a_sharding_of_the_state_anywhere() -> None:
    sharding = "sharding={{replicated}, {replicated}, {replicated}, {replicated}}"
    for state in ("tuple(n, y, w, k)", "tuple(start, x, w, k)", "(s32[], f32[4,3], f32[2,3], s32[]) parameter(0)"):
        message = "a sharding for each element"
        refused(WHOLE, [(state, f"{state}, {sharding}")], Hoist(), "state-cannot-change", message)
    slices = [("tuple(n, y, w, k)", f"tuple(n, y, w, k), {sharding}")]
    refused(SLICES, slices, Widen(), "gather-would-stay", "a sharding for each element")


def test_gathers_of_different_conversions_are_two() -> None:
    half = "{0} = {0}[2,3] convert(w)\n  {0}g = {0}[4,3] all-gather({0}), replica_groups={{{{0,1}}}}, dimensions={{0}}"
    both = "\n  ".join(half.format(type).replace(f"{type} =", f"{type}c =").replace(f"({type})", f"({type}c)")
                       for type in ("bf16", "f16"))  # fmt: skip
    found = applied(changed(WHOLE, [("y = f32[4,3] add", f"{both}\n  y = f32[4,3] add")]), Hoist())
    assert [remark.facts["gathers_after"] for remark in found] == [1, 1, 1]


def test_a_loop_without_a_tuple() -> None:
    text = """HloModule bare, replica_count=2
body {
  p = f32[2] parameter(0)
  g = f32[4] all-gather(p), replica_groups={{0,1}}, dimensions={0}
  ROOT s = f32[2] slice(g), slice={[1:3]}
}
cond { p = f32[2] parameter(0)
  ROOT c = pred[] constant(false)
}
ENTRY main { x = f32[2] parameter(0)
  ROOT l = f32[2] while(x), condition=cond, body=body
}"""
    refused(text, [], Hoist(), "state-cannot-change", "operand of the while loop is not a tuple")


def test_a_count_that_all_share_is_enough() -> None:
    shared = [("compare(i, five)", "compare(i, k)"), ("parameter(2)", "parameter(2), parameter_replication={true}")]
    (found,) = applied(changed(WHOLE, shared), Hoist())
    assert found.code == "gather-hoisted"
    assert "trips(l) all-gathers of 48 B become 1" in found.message


SLABS = """HloModule slabs, replica_count=2
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
body {
  p = (s32[], f32[4], f32[5,2], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[4] get-tuple-element(p), index=1
  w = f32[5,2] get-tuple-element(p), index=2
  k = s32[] get-tuple-element(p), index=3
  zero = s32[] constant(0)
  one = s32[] constant(1)
  y = f32[4] add(x, x)
  c = f32[2] reduce-scatter(y), replica_groups={{0,1}}, dimensions={0}, to_apply=sum
  u = f32[1,2] reshape(c)
  d = f32[5,2] dynamic-update-slice(w, u, i, zero)
  n = s32[] add(i, one)
  ROOT t = (s32[], f32[4], f32[5,2], s32[]) tuple(n, y, d, k)
}
cond {
  p = (s32[], f32[4], f32[5,2], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  five = s32[] constant(5)
  ROOT c = pred[] compare(i, five), direction=LT
}
ENTRY main {
  x = f32[4] parameter(0)
  w = f32[5,2] parameter(1)
  k = s32[] parameter(2)
  start = s32[] constant(0)
  t = (s32[], f32[4], f32[5,2], s32[]) tuple(start, x, w, k)
  ROOT l = (s32[], f32[4], f32[5,2], s32[]) while(t), condition=cond, body=body
}
"""
UPDATE = "d = f32[5,2] dynamic-update-slice(w, u, i, zero)"


def with_index(lines: str) -> Changes:
    return [(UPDATE, f"{lines}\n  {UPDATE.replace('i,', 'at,')}")]


@pytest.mark.parametrize(
    ("changes", "code", "message"),
    [
        ([("index=0\n  five", "index=3\n  five")], "no-trip-count", "While loop does not have a known trip count"),
        ([("constant(5)", "constant(0)")],
         "reduction-never-runs", "the loop runs zero times"),
        ([("constant(5)", "constant(4)")], "slices-not-trips", f"{TRIPS}: 5 and 4"),
        ([("n = s32[] add(i, one)", "n = s32[] add(i, one), control-predecessors={c}")], "ordered-collective",
         "c has control dependencies"),
        ([("y = f32[4] add(x, x)", "y = f32[4] add(x, x)\n  y2 = f32[4] add(y, y)"), ("tuple(n, y,", "tuple(n, z,"),
          (UPDATE, f"{UPDATE}\n  z = f32[4] concatenate(c, c), dimensions={{0}}")], "reduction-not-stacked", "c: its"),
        ([("tuple(n, y, d, k)", "tuple(n, z, d, k)"),
          (UPDATE, f"{UPDATE}\n  v = f32[1,4] concatenate(u, u), dimensions={{1}}\n  z = f32[4] reshape(v)")],
         "reduction-not-stacked", "its result does not just become a slab"),
        ([("tuple(n, y, d, k)", "tuple(n, z, d, k)"),
          (UPDATE, f"{UPDATE}\n  v = f32[1,2] slice(d), slice={{[0:1], [0:2]}}\n"
           "  v2 = f32[2] reshape(v)\n  z = f32[4] concatenate(v2, v2), dimensions={0}")],
         "reduction-not-stacked", "its stack is used for more than the next iteration"),
        ([(UPDATE, "e = f32[5,2] negate(w)\n  d = f32[5,2] dynamic-update-slice(e, u, i, zero)")],
         "reduction-not-stacked", "its result does not just become a slab"),
        ([("f32[5,2], s32[])", "f32[5,2], f32[5,2])"), ("k = s32[] ", "k = f32[5,2] "), ("d, k)", "k, d)")],
         "reduction-not-stacked", "its stack goes to another element of the state"),
        ([(UPDATE, "b = (s32[], f32[5,2]) tuple(i, w)\n  e = f32[5,2] get-tuple-element(b), index=1\n"
           "  d = f32[5,2] dynamic-update-slice(e, u, i, zero)")], "reduction-not-stacked", "does not just become"),
        ([("f32[5,2]", "s32[5]"), ("f32", "s32"), ("c = s32[2]", "c2 = s32[2]"), (UPDATE.replace("f32[5,2]", "s32[5]"),
           "d = s32[5] dynamic-update-slice(w, v, u)"), ("u = s32[1,2] reshape(c)", "v = s32[1] reshape(k)\n"
           "  c = s32[] all-reduce(k), replica_groups={{0,1}}, to_apply=sum\n  u = s32[1] reshape(c)"),
          ("c2 = s32[2] reduce-scatter(y), replica_groups={{0,1}}, dimensions={0}, to_apply=sum\n",
           "c2 = s32[] copy(k)\n")],
         "reduction-not-stacked", "does not just become"),
        ([("u = f32[1,2] reshape(c)", "u = f32[2,1] reshape(c)")], "slab-shape", "a slab of [2, 1] is not one of"),
        ([("f32[5,2]", "f32[5,3]")], "slab-shape", "a slab of [1, 2] is not one of the 5 of [5, 3]"),
        ([("tuple(n, y, d, k)", "tuple(n, z, d, k)"), (UPDATE, "v = f32[2,2] slice(w), slice={[0:2], [0:2]}\n"
           f"  z = f32[4] reshape(v)\n  {UPDATE}")], "stack-is-read", "the body reads the stack"),
        ([("five = s32[]", "w = f32[5,2] get-tuple-element(p), index=2\n  five = s32[]")], "stack-is-read",
         "the condition reads the stack"),
        ([("zero = s32[] constant(0)\n  one", "zero = s32[] constant(0)\n"
           "  b = (s32[], f32[4], f32[5,2], s32[]) opt-barrier(p)\n  one")], "stack-is-read", "used as a whole"),
        (with_index("at = s32[] add(i, one)"), "slabs-not-covered", "only 4 of 5 slabs are written"),
        (with_index("two = s32[] constant(2)\n  at = s32[] divide(i, two)"), "slabs-not-covered", "only 3 of 5"),
        (with_index("at = s32[] add(i, k)"), "slabs-not-covered", "the index is not known"),
        (with_index("id = u32[] replica-id()\n  at = s32[] convert(id)"), "slabs-not-covered",
         "%id (replica-id), which differs between devices"),
        ([("{{0,1}}", "{{0},{1}}, channel_id=1")], "group-size", "the size that the shapes say"),
        ([("to_apply=sum\n  u", "to_apply=sum, constrain_layout=true\n  u"), ("f32[5,2]", "f32[5,2]{0,1}")],
         "constrained-layout", "constrain_layout with a layout of its own"),
        ([("5,2]", "5,<=2]"), ("c = f32[2] red", "c = f32[<=2] red"), ("u = f32[1,2]", "u = f32[1,<=2]")],
         "dynamic-shape", "an extent is dynamic"),
        ([("condition=cond, body=body", "condition=cond, body=body, sharding={{replicated}, {replicated}, "
           "{replicated}, {replicated}}")], "state-cannot-change", "a sharding for each element"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else "",
)  # fmt: skip
def test_not_sunk(changes: Changes, code: str, message: str) -> None:
    refused(SLABS, changes, Sink(), code, message)


@pytest.mark.parametrize(
    ("text", "step", "codes"),
    [
        (SLICES, AllGatherTripCount(), ["gather-widened", "gather-hoisted", "communication"]),
        (SLICES, Widen(), ["gather-widened"]),
        (WHOLE, Hoist(), ["gather-hoisted"]),
        (SLABS, Sink(), ["reduction-sunk"]),
    ],
)
def test_the_unchanged_programs_are_rewritten(text: str, step: ModulePass, codes: list[str]) -> None:
    assert [found.code for found in applied(changed(text, []), step)] == codes


def test_communication_before_and_after() -> None:
    *_, last = applied(changed(SLICES, []), AllGatherTripCount())
    assert last.message == "all-gather: before 5 of 240 bytes in all, after 1 of 240 bytes in all"
