"""Which values are equal within groups: every rule, asked of the result of a small program."""

import pytest

from xneuron.analysis.participants import Participants
from xneuron.analysis.replication import Replication
from xneuron.dialects.hlo.replica_groups import Groups
from xneuron.formats.hlo_text import parse_hlo

ALL: Groups = ((0, 1, 2, 3),)
PAIRS: Groups = ((0, 1), (2, 3))
ACROSS: Groups = ((0, 2), (1, 3))


def result_of(text: str, groups: Groups, path: tuple[int, ...] = (), **options: object) -> str | None:
    """What makes the entry's result differ."""
    module = parse_hlo(text)
    module.verify()
    entry = next(op for op in module.body.block.ops if op.properties.get("sym_visibility") is None)
    analysis = Replication(module, groups, Participants.of(module), **options)  # pyright: ignore[reportArgumentType]
    return analysis.difference(entry.regions[0].block.last_op.operands[0], path)


def program(lines: str, header: str = "replica_count=4", computations: str = "") -> str:
    return f"""HloModule m, {header}
sum {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}}
{computations}
ENTRY main {{
{lines}
}}"""


X = "  x = f32[] parameter(0)\n"
ID = "  id = u32[] replica-id()\n  x = f32[] convert(id)\n"


@pytest.mark.parametrize(
    ("lines", "groups", "why"),
    [
        ("  ROOT c = f32[] constant(1)", ALL, None),
        (X + "  ROOT y = f32[] negate(x)", ALL, "parameter 0 of main"),
        ("  ROOT i = u32[] replica-id()", ALL, "%i (replica-id)"),
        ("  ROOT i = u32[] partition-id()", ALL, None),
        ("  l = f32[] constant(0)\n  h = f32[] constant(1)\n  ROOT r = f32[] rng(l, h), distribution=rng_uniform", ALL,
         "%r (rng)"),
        ("  s = u64[2] constant({1, 2})\n  ROOT g = (u64[2], u32[3]) rng-bit-generator(s), algorithm=rng_default", ALL,
         None),
        ("  t = token[] after-all()\n  ROOT i = (f32[], token[]) infeed(t)", ALL, "%i (infeed)"),
        ("  t = token[] after-all()\n  r = (f32[], u32[], token[]) recv(t), channel_id=1\n"
         "  ROOT d = (f32[], token[]) recv-done(r), channel_id=1", ALL, "%d (recv-done)"),
        ('  ROOT c = f32[] custom-call(), custom_call_target="anything"', ALL, "%c (custom-call)"),
        ("  c = f32[] constant(1)\n"
         '  ROOT m = f32[] custom-call(c), custom_call_target="NeuronBoundaryMarker-Start"', ALL, None),
        (X + "  ROOT r = f32[] all-reduce(x), replica_groups={}, to_apply=sum", ALL, None),
        (X + "  ROOT r = f32[] all-reduce(x), replica_groups={{0,1},{2,3}}, to_apply=sum", PAIRS, None),
        (X + "  ROOT r = f32[] all-reduce(x), replica_groups={{0,1,2,3}}, to_apply=sum", PAIRS, None),
        (X + "  ROOT r = f32[] all-reduce(x), replica_groups={{0,1},{2,3}}, to_apply=sum", ALL, "parameter 0 of main"),
        (ID + "  ROOT r = f32[] all-reduce(x), replica_groups={{0,1,2},{3}}, to_apply=sum", ALL, "%r (all-reduce)"),
        ("  c = f32[] constant(1)\n  ROOT r = f32[] all-reduce(c), replica_groups={{0,1},{2,3}}, to_apply=sum", ALL,
         None),
        (X + "  ROOT r = f32[] all-reduce(x), replica_groups={{0,1},{2,3}}, to_apply=sum", ACROSS,
         "parameter 0 of main"),
        (X + "  p = f32[] all-reduce(x), replica_groups={{0,1},{2,3}}, to_apply=sum\n"
         "  ROOT r = f32[] all-reduce(p), replica_groups={{0,2},{1,3}}, to_apply=sum", ALL, "parameter 0 of main"),
        (X + "  p = f32[] all-reduce(x), replica_groups={{0,1},{2,3}}, to_apply=sum\n"
         "  ROOT r = f32[] all-reduce(p), replica_groups={{0,2},{1,3}}, to_apply=sum", PAIRS, None),
        (X + "  y = f32[1] reshape(x)\n  ROOT g = f32[4] all-gather(y), replica_groups={}, dimensions={0}", ALL, None),
        ("  y = f32[4] parameter(0)\n  ROOT g = f32[1] reduce-scatter(y), replica_groups={}, dimensions={0}, "
         "to_apply=sum", ALL, "%g (reduce-scatter)"),
        ("  c = f32[2] constant({1, 2})\n  ROOT g = f32[1] reduce-scatter(c), replica_groups={{0,1},{2,3}}, "
         "dimensions={0}, to_apply=sum", ACROSS, None),
        ("  c = f32[2] constant({1, 2})\n  ROOT g = f32[1] reduce-scatter(c), replica_groups={{0,1},{3,2}}, "
         "dimensions={0}, to_apply=sum", ACROSS, "%g (reduce-scatter)"),
        (ID + "  ROOT p = f32[] collective-permute(x), source_target_pairs={{0,1},{1,0},{2,3},{3,2}}", ALL,
         "%id (replica-id)"),
        ("  c = f32[] constant(1)\n  ROOT p = f32[] collective-permute(c), source_target_pairs={{0,1},{1,0}}", ALL,
         "%p (collective-permute)"),
        ("  c = f32[] constant(1)\n  ROOT p = f32[] collective-permute(c), source_target_pairs={{0,1},{1,0}}", PAIRS,
         None),
        (X + "  ROOT b = f32[] collective-broadcast(x), replica_groups={{1,0},{2,3}}", PAIRS, None),
        (ID + "  o = f32[] constant(0)\n  t = (f32[], f32[]) tuple(x, o)\n"
         "  ROOT e = f32[] get-tuple-element(t), index=1", ALL, None),
        (ID + "  o = f32[] constant(0)\n  t = (f32[], f32[]) tuple(x, o)\n"
         "  ROOT e = f32[] get-tuple-element(t), index=0", ALL, "%id (replica-id)"),
        (ID + "  c = f32[] copy(x)\n  cs = (f32[], f32[], u32[]) copy-start(c)\n  ROOT d = f32[] copy-done(cs)", ALL,
         "%id (replica-id)"),
        ("  y = f32[1] parameter(0)\n  s = (f32[1], f32[4]) all-gather-start(y), replica_groups={}, dimensions={0}\n"
         "  ROOT d = f32[4] all-gather-done(s)", ALL, None),
        (X + "  s = f32[] all-reduce-start(x), replica_groups={}, to_apply=sum\n"
         "  ROOT d = f32[] all-reduce-done(s)", ALL, None),
    ],
)  # fmt: skip
def test_instructions(lines: str, groups: Groups, why: str | None) -> None:
    assert result_of(program(lines), groups) == why


@pytest.mark.parametrize(
    ("said", "header", "groups", "same"),
    [
        ("sharding={replicated}", "num_partitions=4", ALL, True),
        ("sharding={devices=[4]<=[4]}", "num_partitions=4", ALL, False),
        ("sharding={replicated}", "replica_count=4", ALL, False),
        ("parameter_replication={true}", "replica_count=4", ALL, True),
        ("parameter_replication={false}", "replica_count=4", ALL, False),
        ("sharding={replicated}", "replica_count=2, num_partitions=2", PAIRS, True),
        ("sharding={replicated}", "replica_count=2, num_partitions=2", ACROSS, False),
        ("parameter_replication={true}", "replica_count=2, num_partitions=2", ACROSS, True),
        ("parameter_replication={true}", "replica_count=2, num_partitions=2", ALL, False),
        ("sharding={replicated}, parameter_replication={true}", "replica_count=2, num_partitions=2", ALL, True),
    ],
)
def test_annotated_parameters(said: str, header: str, groups: Groups, same: bool) -> None:
    text = program(f"  p = f32[4] parameter(0), {said}\n  ROOT c = f32[4] copy(p)", header)
    assert (result_of(text, groups) is None) is same


def test_annotations_of_tuples_are_per_leaf() -> None:
    lines = "  p = (f32[4], (f32[4], f32[4])) parameter(0), sharding={{devices=[4]<=[4]}, {replicated}, {replicated}}\n"
    text = program(lines + "  ROOT c = (f32[4], (f32[4], f32[4])) copy(p)", "num_partitions=4")
    assert result_of(text, ALL, (0,)) == "parameter 0 of main"
    assert result_of(text, ALL, (1,)) is None
    assert result_of(text, ALL, ()) == "parameter 0 of main"


def test_parameters_by_option_and_lonely_groups() -> None:
    text = program(X + "  ROOT y = f32[] negate(x)")
    assert result_of(text, ALL, parameters=(0,)) is None
    assert result_of(text, ((0,), (1,), (2,), (3,))) is None


def test_partition_and_replica_ids_by_group() -> None:
    header = "replica_count=2, num_partitions=2"
    for opcode, equal, differing in (("replica-id", PAIRS, ACROSS), ("partition-id", ACROSS, PAIRS)):
        text = program(f"  ROOT i = u32[] {opcode}()", header)
        assert result_of(text, equal) is None
        assert result_of(text, differing) == f"%i ({opcode})"


@pytest.mark.parametrize(
    ("channel", "groups", "same"),
    [
        ("", ACROSS, True),  # replicas 0 and 1, each partition by itself
        ("", ALL, False),
        (", channel_id=1", ALL, True),  # and all partitions
        (", channel_id=1, use_global_device_ids=true", PAIRS, True),  # participants 0 and 1
        (", channel_id=1, use_global_device_ids=true", ACROSS, False),
    ],
)
def test_group_modes(channel: str, groups: Groups, same: bool) -> None:
    ids = "{{0,1},{2,3}}" if "global" in channel else "{{0,1}}"
    lines = X + f"  ROOT r = f32[] all-reduce(x), replica_groups={ids}{channel}, to_apply=sum"
    assert (result_of(program(lines, "replica_count=2, num_partitions=2"), groups) is None) is same


def loop(update: str, result: str = "l", bound: str = "n", init: str = "") -> str:
    """Slots: a counter, a bound that stays, a value with an update."""
    state = "(s32[], s32[], f32[])"
    parts = f"""body {{
  p = {state} parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  v = f32[] get-tuple-element(p), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
{update}
  ROOT t = {state} tuple(j, n, u)
}}
cond {{
  p = {state} parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  ROOT c = pred[] compare(i, n), direction=LT
}}"""
    lines = f"""  zero = s32[] constant(0)
  five = s32[] constant(5)
  mine = s32[] parameter(0)
  start = f32[] {init or "constant(0)"}
  t = {state} tuple(zero, {bound}, start)
  ROOT l = {state} while(t), condition=cond, body=body"""
    return program(lines, computations=parts)


def test_loops() -> None:
    steady = loop("  u = f32[] add(v, v)", bound="five")
    assert result_of(steady, ALL) is None
    begins = loop("  u = f32[] add(v, v)", bound="five", init="convert(mine)")
    assert [result_of(begins, ALL, (slot,)) for slot in range(3)] == [None, None, "parameter 0 of main"]
    grows = loop("  id = u32[] replica-id()\n  f = f32[] convert(id)\n  u = f32[] add(v, f)", bound="five")
    assert [result_of(grows, ALL, (slot,)) for slot in range(3)] == [None, None, "%id (replica-id)"]
    heals = loop("  u = f32[] all-reduce(v), replica_groups={}, to_apply=sum", bound="five", init="convert(mine)")
    assert result_of(heals, ALL, (2,)) == "parameter 0 of main"  # where it does not run


def test_leaving_at_different_times() -> None:
    """What the body changes differs; what it hands on does not, if it was the same before."""
    text = loop("  u = f32[] copy(v)", bound="mine")
    assert [result_of(text, ALL, (slot,)) for slot in range(3)] == ["parameter 0 of main"] * 2 + [None]


BRANCHES = """left {
  p = f32[] parameter(0)
  ROOT r = f32[] negate(p)
}
right {
  p = f32[] parameter(0)
  id = u32[] replica-id()
  ROOT r = f32[] convert(id)
}"""


@pytest.mark.parametrize(
    ("predicate", "branches", "why"),
    [
        ("constant(true)", "true_computation=left, false_computation=left", None),
        ("parameter(0)", "true_computation=left, false_computation=left", "parameter 0 of main"),
        ("constant(true)", "true_computation=left, false_computation=right", "%id (replica-id)"),
    ],
)
def test_conditionals(predicate: str, branches: str, why: str | None) -> None:
    lines = f"  c = pred[] {predicate}\n  o = f32[] constant(1)\n  ROOT r = f32[] conditional(c, o, o), {branches}"
    assert result_of(program(lines, computations=BRANCHES), ALL) == why


def test_calls_and_fusions() -> None:
    lines = X + "  o = f32[] constant(1)\n  ROOT r = f32[] call({}), to_apply=left"
    assert result_of(program(lines.format("o"), computations=BRANCHES), ALL) is None
    assert result_of(program(lines.format("x"), computations=BRANCHES), ALL) == "parameter 0 of main"
    fused = X + "  o = f32[] constant(1)\n  ROOT r = f32[] fusion({}), kind=kLoop, calls=left"
    assert result_of(program(fused.format("o"), computations=BRANCHES), ALL) is None
    assert result_of(program(fused.format("x"), computations=BRANCHES), ALL) == "parameter 0 of main"


def test_participants_are_at_least_those_named() -> None:
    text = "HloModule m\nENTRY main { x = f32[2] parameter(0)\n  ROOT g = f32[8] all-gather(x), replica_groups={}"
    assert Participants.of(parse_hlo(text + ", dimensions={0} }")) == Participants(4, 1)
    text = text.replace("{}", "{{0,1,2,3}}, channel_id=1, use_global_device_ids=true")
    assert Participants.of(parse_hlo(text + ", dimensions={0} }")) == Participants(4, 1)
    text = text.replace("HloModule m", "HloModule m, num_partitions=2")
    assert Participants.of(parse_hlo(text + ", dimensions={0} }")) == Participants(2, 2)
