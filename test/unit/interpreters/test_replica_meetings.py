"""Participants in lockstep: who waits for whom, and what is said when they do not meet."""

import re

import numpy as np
import pytest
from replica_programs import SCHEDULES, entry, fails, program

from xneuron.execution.errors import EvaluationError
from xneuron.formats.hlo_text import parse_hlo

# Who does not come

BY_REPLICA = """
yes { x = s32[] parameter(0)
  ROOT a = s32[] all-reduce(x), channel_id=5, to_apply=sum }
no { ROOT x = s32[] parameter(0) }
other { x = s32[] parameter(0)
  ROOT b = s32[] OTHER }
cond { p = s32[] parameter(0)
  r = u32[] replica-id()
  one = s32[] constant(1)
  n = s32[] convert(r)
  m = s32[] add(n, one)
  ROOT c = pred[] compare(p, m), direction=LT }
body { p = s32[] parameter(0)
  a = s32[] all-reduce(p), channel_id=5, to_apply=largest
  one = s32[] constant(1)
  ROOT next = s32[] add(a, one) }
"""


def branching(true: str, false: str, other: str = "add(x, x)") -> str:
    return BY_REPLICA.replace("OTHER", other) + entry(
        "r = u32[] replica-id()",
        "zero = u32[] constant(0)",
        "first = pred[] compare(r, zero), direction=EQ",
        "x = s32[] constant(3)",
        f"ROOT c = s32[] conditional(first, x, x), true_computation={true}, false_computation={false}",
    )


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_one_does_not_come(schedule):
    fails(
        branching("yes", "no"),
        "deadlock: 1 of 2 wait and nobody can go on\n"
        "  replica 0 waits at all-reduce %a on channel 5, for replica 1\n"
        "  replica 1 has finished",
        schedule=schedule,
    )


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_loop_that_runs_longer(schedule):
    text = BY_REPLICA + entry("z = s32[] constant(0)", "ROOT w = s32[] while(z), condition=cond, body=body")
    fails(
        text.replace("OTHER", "add(x, x)"),
        "deadlock: 1 of 2 wait and nobody can go on\n"
        "  replica 1 waits at all-reduce %a on channel 5 in iteration 1, for replica 0\n"
        "  replica 0 has finished",
        schedule=schedule,
    )


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_each_waits_elsewhere(schedule):
    fails(
        branching("yes", "other", "all-reduce(x), channel_id=6, to_apply=sum"),
        "deadlock: 2 of 2 wait and nobody can go on\n"
        "  replica 0 waits at all-reduce %a on channel 5, for replica 1\n"
        "  replica 1 waits at all-reduce %b on channel 6, for replica 0",
        schedule=schedule,
    )


# Who should not meet


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_different_instructions_on_one_channel(schedule):
    fails(
        branching("yes", "other", "all-reduce(x), channel_id=5, to_apply=largest"),
        "channel 5 joins different instructions:\n"
        "  replica 0 waits at all-reduce %a on channel 5\n"
        "  replica 1 waits at all-reduce %b on channel 5",
        schedule=schedule,
    )


def test_different_opcodes_on_one_channel():
    text = """
yes { x = s32[2] parameter(0)
  ROOT a = s32[2] all-reduce(x), channel_id=5, to_apply=sum }
no { x = s32[2] parameter(0)
  g = s32[4] all-gather(x), channel_id=5, dimensions={0}
  ROOT s = s32[2] slice(g), slice={[0:2]} }
""" + entry(
        "r = u32[] replica-id()",
        "zero = u32[] constant(0)",
        "first = pred[] compare(r, zero), direction=EQ",
        "x = s32[2] constant({3, 4})",
        "ROOT c = s32[2] conditional(first, x, x), true_computation=yes, false_computation=no",
    )
    fails(
        text,
        "channel 5 joins different opcodes:\n"
        "  replica 0 waits at all-reduce %a on channel 5\n"
        "  replica 1 waits at all-gather %g on channel 5",
    )


def test_different_shapes_on_one_channel():
    text = branching("yes", "other", "reshape(q)").replace(
        "  ROOT b = s32[] reshape(q)",
        "  y = s32[1] reshape(x)\n  q = s32[1] all-reduce(y), channel_id=5, to_apply=sum\n  ROOT b = s32[] reshape(q)",
    )
    fails(
        text,
        "channel 5 joins different shapes:\n"
        "  replica 0 waits at all-reduce %a on channel 5\n"
        "  replica 1 waits at all-reduce %q on channel 5",
    )


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_different_iterations(schedule):
    """Two by two for one, four times once for the other: the same number of meetings, in other iterations."""
    text = """
inner_cond { p = s32[] parameter(0)
  r = u32[] replica-id()
  one = u32[] constant(1)
  n = u32[] add(r, one)
  m = s32[] convert(n)
  ROOT c = pred[] compare(p, m), direction=LT }
inner { p = s32[] parameter(0)
  a = s32[] all-reduce(p), to_apply=largest
  one = s32[] constant(1)
  ROOT q = s32[] add(p, one) }
outer_cond { p = s32[] parameter(0)
  n = s32[] constant(4)
  ROOT c = pred[] compare(p, n), direction=LT }
outer { p = s32[] parameter(0)
  z = s32[] constant(0)
  ROOT w = s32[] while(z), condition=inner_cond, body=inner }
""" + entry("z = s32[] constant(0)", "ROOT v = s32[] while(z), condition=outer_cond, body=outer")
    fails(
        text,
        "all-reduce %a joins different iterations:\n"
        "  replica 0 waits at all-reduce %a in iteration 1.0\n"
        "  replica 1 waits at all-reduce %a in iteration 0.1",
        schedule=schedule,
        max_iterations=9,
    )


TWO = """
f { x = s32[2] parameter(0)
  ROOT g = s32[4] all-gather(x), CHANNELdimensions={0} }
""" + entry(
    "x = s32[2] parameter(0)",
    "y = s32[2] negate(x)",
    "a = s32[4] call(x), to_apply=f",
    "b = s32[4] call(y), to_apply=f",
    "ROOT t = (s32[4], s32[4]) tuple(a, b)",
)


def test_a_function_called_twice():
    """Without a channel the calls are told apart; with one, both meet on it, in whatever order they come."""
    inputs = [[np.array([v, 0], np.int32)] for v in (1, 2)]
    for seed in range(20):
        made = program(TWO.replace("CHANNEL", ""), schedule=f"random:{seed}")
        assert [value.tolist() for value in made.run_all(inputs)[1]] == [[1, 0, 2, 0], [-1, 0, -2, 0]]
    with pytest.raises(EvaluationError, match=r"channel 1 joins different calls:.*\n.*, called by %[ab]\n"):
        [
            program(TWO.replace("CHANNEL", "channel_id=1, "), schedule=f"random:{seed}").run_all(inputs)
            for seed in range(20)
        ]


# Groups that do not fit


def test_ids_that_do_not_exist():
    text = "ROOT r = s32[] all-reduce(x), to_apply=sum, replica_groups={{0,1,2}}"
    fails(entry("x = s32[] constant(1)", text), "all-reduce %r names replicas [2], but the run has 2")
    text = text.replace("sum,", "sum, use_global_device_ids=true, channel_id=1,")
    fails(entry("x = s32[] constant(1)", text), "all-reduce %r names participants [2], but the run has 2")


def test_ids_of_partitions_that_do_not_exist():
    text = "ROOT r = s32[2] all-to-all(x), dimensions={0}, channel_id=1, replica_groups={{0,1}}"
    fails(entry("x = s32[2] constant({1, 2})", text), "all-to-all %r names partitions [1], but the run has 1")


def test_in_no_group():
    text = "ROOT r = s32[] all-reduce(x), to_apply=sum, replica_groups={{0,1}}"
    message = "all-reduce %r is run by replica 2, which is in none of its groups"
    fails(entry("x = s32[] constant(1)", text), message, 3)


def test_uneven_groups():
    text = "ROOT r = s32[4] all-gather(x), dimensions={0}, replica_groups={{0,1},{2}}"
    with pytest.raises(Exception, match=re.escape("expected replica groups of one size, found {2,1}")):
        parse_hlo("HloModule m\n" + entry("x = s32[2] constant({1, 2})", text)).verify()


def test_a_group_of_another_size_than_the_shape_says():
    text = "ROOT r = s32[4] all-gather(x), dimensions={0}, replica_groups={}"
    message = "all-gather %r: expected s32[4], found int32[6] from a group of 3"
    fails(entry("x = s32[2] constant({1, 2})", text), message, 3)


def test_extents_that_cannot_be_cut():
    text = "ROOT r = s32[1] reduce-scatter(x), dimensions={0}, to_apply=sum"
    message = "reduce-scatter %r: expected extent 0 to be a multiple of the group's 2, found 3"
    fails(entry("x = s32[3] constant({1, 2, 3})", text), message)
    text = "ROOT r = (s32[], s32[]) all-to-all(x, x)"
    message = "all-to-all %r: expected 3 operands, one for each of the group, found 2"
    fails(entry("x = s32[] constant(1)", text), message, 3)


@pytest.mark.parametrize(("pairs", "what"), [("{{0,1},{0,0}}", "source 0"), ("{{0,1},{1,1}}", "target 1")])
def test_a_permute_with_a_doubled_end(pairs, what):
    text = f"ROOT r = s32[] collective-permute(x), source_target_pairs={pairs}"
    fails(entry("x = s32[] constant(1)", text), f"collective-permute %r: {what} is in more than one pair")


def test_a_permute_to_nobody():
    text = "ROOT r = s32[] collective-permute(x), source_target_pairs={{0,2}}"
    message = "collective-permute %r names participants [2], but 2 can take part"
    fails(entry("x = s32[] constant(1)", text), message)
