"""Participants in lockstep: what they share, and what goes from one to another."""

import re

import numpy as np
import pytest
from replica_programs import SCHEDULES, entry, fails, program

from xneuron.execution.errors import EvaluationError
from xneuron.formats.hlo_text import parse_hlo
from xneuron.interpreters.evaluator import Program

# What a run is


def test_as_many_participants_as_the_header_says():
    module = parse_hlo("HloModule m, replica_count=2, num_partitions=3\nENTRY e { ROOT r = u32[] replica-id() }")
    assert [int(r) for ((r),) in Program(module).run_all([[]] * 6)] == [0, 0, 0, 1, 1, 1]
    assert len(Program(module, replicas=1, partitions=1).run()) == 1


def test_which_partition():
    text = entry("r = u32[] replica-id()", "p = u32[] partition-id()", "ROOT t = (u32[], u32[]) tuple(r, p)")
    results = program(text, 2, partitions=2).run_all([[]] * 4)
    assert [tuple(map(int, result)) for result in results] == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_inputs_of_each():
    text = entry("x = s32[] parameter(0)", "ROOT r = s32[] all-reduce(x), to_apply=sum")
    for schedule in SCHEDULES:
        results = program(text, 3, schedule=schedule).run_all([[np.int32(v)] for v in (1, 10, 100)])
        assert results == [[111]] * 3


def test_too_few_inputs():
    with pytest.raises(EvaluationError, match="expected inputs of 2 participants, found 1"):
        program(entry("ROOT x = s32[] parameter(0)")).run_all([[np.int32(1)]])


def test_run_is_for_one():
    with pytest.raises(EvaluationError, match="expected one participant, found 2: use run_all"):
        program(entry("ROOT x = s32[] parameter(0)")).run(np.int32(1))


@pytest.mark.parametrize("counts", [{"replicas": 0}, {"replicas": 1, "partitions": -1}])
def test_nobody(counts):
    with pytest.raises(EvaluationError, match="expected at least 1 replica and 1 partition, found"):
        Program(parse_hlo("ENTRY e { ROOT r = u32[] replica-id() }"), **counts)


@pytest.mark.parametrize("schedule", ["random", "random:", "random:x", "fastest"])
def test_no_such_schedule(schedule):
    with pytest.raises(EvaluationError, match=f"expected schedule program or random:SEED, found {schedule}"):
        program(entry("ROOT r = u32[] replica-id()"), schedule=schedule)


def test_each_has_a_hidden_state():
    text = entry(
        "a = u64[1] rng-get-and-update-state(), delta=1", "ROOT b = u64[1] rng-get-and-update-state(), delta=1"
    )
    made = program(text, 2)
    first, second = made.run_all([[], []])
    assert first == second
    assert made.run_all([[], []])[0] != first


def test_an_error_names_the_replica():
    text = """cond { p = s32[] parameter(0)
  r = u32[] replica-id()
  n = s32[] convert(r)
  ROOT c = pred[] compare(p, n), direction=LT }
body { ROOT p = s32[] parameter(0) }
""" + entry("z = s32[] constant(0)", "ROOT w = s32[] while(z), condition=cond, body=body")
    for schedule in SCHEDULES:
        fails(text, "loop %w did not end after 5 iterations (in replica 1)", max_iterations=5, schedule=schedule)


def test_profile_counts_meetings_and_bytes():
    text = entry(
        "x = s32[4] parameter(0)",
        "g = s32[16] all-gather(x), dimensions={0}",
        "s = s32[4] reduce-scatter(g), dimensions={0}, to_apply=sum",
        "t = s32[4] all-to-all(s), dimensions={0}, replica_groups={{0,1},{2,3}}",
        "ROOT p = s32[4] collective-permute(t), source_target_pairs={{0,1},{2,2}}",
    )
    for schedule in ("program", "random:1"):
        made = program(text, 4, profile=True, schedule=schedule)
        made.run_all([[np.zeros(4, np.int32)]] * 4)
        profile = made.profile
        assert profile.collectives == {"all-gather": 1, "reduce-scatter": 1, "all-to-all": 2, "collective-permute": 1}
        assert profile.bytes_moved == {
            "all-gather": 4 * 3 * 16,
            "reduce-scatter": 4 * 3 * 16,
            "all-to-all": 2 * 2 * 8,
            "collective-permute": 16,
        }
        assert profile.instructions["all-gather"] == 4


@pytest.mark.parametrize("schedule", ["program", "random:3"])
def test_trace_says_who_and_in_which_iteration(schedule):
    text = """cond { p = s32[] parameter(0)
  n = s32[] constant(2)
  ROOT c = pred[] compare(p, n), direction=LT }
body { p = s32[] parameter(0)
  one = s32[] constant(1)
  next = s32[] add(p, one)
  ROOT r = s32[] all-reduce(next), to_apply=largest }
""" + entry("z = s32[] constant(0)", "ROOT w = s32[] while(z), condition=cond, body=body")
    records = []
    program(text, 2, trace=records.append, schedule=schedule).run_all([[], []])
    seen = [(r["replica"], r["partition"], r["at"]) for r in records if r["name"] == "%r"]
    assert sorted(seen) == [(0, 0, [0]), (0, 0, [1]), (1, 0, [0]), (1, 0, [1])]


# Kinds that XLA's CPU back end does not have

RAGGED = entry(
    "in = s32[3] parameter(0)",
    "out = s32[4] parameter(1)",
    "starts = s32[2] parameter(2)",
    "sizes = s32[2] parameter(3)",
    "places = s32[2] parameter(4)",
    "expected = s32[2] parameter(5)",
    "ROOT r = s32[4] ragged-all-to-all(in, out, starts, sizes, places, expected), replica_groups={{0,1}}",
)


def ragged(*rows):
    return [np.array(row, np.int32) for row in rows]


def test_ragged_all_to_all():
    """The example in the documentation of `jax.lax.ragged_all_to_all`."""
    first = ragged([1, 2, 2], [0] * 4, [0, 1], [1, 2], [0, 0], [1, 1])
    second = ragged([3, 4, 0], [0] * 4, [0, 1], [1, 1], [1, 2], [2, 1])
    made = program(RAGGED, profile=True)
    results = made.run_all([first, second])
    assert [result.tolist() for (result,) in results] == [[1, 3, 0, 0], [2, 2, 4, 0]]
    assert made.profile.bytes_moved == {"ragged-all-to-all": (2 + 1) * 4}
    assert first[1].tolist() == [0] * 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((5, [1, 2]), "expected recv sizes [1], as sent, found [2]"),
        ((4, [4, 0]), "expected rows in [0, 4), found [4, 5)"),
        ((2, [3, 1]), "expected rows in [0, 3), found [3, 4)"),
    ],
)
def test_ragged_all_to_all_outside(change, message):
    first = ragged([1, 2, 2], [0] * 4, [0, 1], [1, 2], [0, 0], [1, 1])
    second = ragged([3, 4, 0], [0] * 4, [0, 1], [1, 1], [1, 2], [2, 1])
    at, row = change
    first[at] = np.array(row, np.int32)
    with pytest.raises(EvaluationError, match=re.escape(f"ragged-all-to-all %r: {message}")):
        program(RAGGED).run_all([first, second])


def test_broadcast_outside_all_groups_gives_zeros():
    text = entry("x = s32[] parameter(0)", "ROOT r = s32[] collective-broadcast(x), replica_groups={{2,0}}")
    assert program(text, 3).run_all([[np.int32(v)] for v in (1, 2, 3)]) == [[3], [0], [3]]


def test_broadcast_from_roots():
    text = entry(
        "x = s32[] parameter(0)",
        "y = s32[] parameter(1)",
        "roots = s32[2] parameter(2)",
        "ROOT r = (s32[], s32[]) collective-broadcast(x, y, roots), replica_groups={{0,1}}, has_dynamic_root=true",
    )
    inputs = [[np.int32(v), np.int32(v * 10), np.array([1, 0], np.int32)] for v in (1, 2)]
    assert program(text).run_all(inputs) == [[2, 10], [2, 10]]
    inputs[1][2] = np.array([1, 1], np.int32)
    with pytest.raises(EvaluationError, match="expected the same roots everywhere, found"):
        program(text).run_all(inputs)
    inputs[0][2] = inputs[1][2] = np.array([1, 2], np.int32)
    with pytest.raises(EvaluationError, match=re.escape("a root in [0, 2) for each operand, found [1, 2]")):
        program(text).run_all(inputs)


# Transfers


def ring(done: str = "", pairs: str = "{{0,1},{1,2},{2,0}}") -> str:
    at = f'frontend_attributes={{_xla_send_recv_source_target_pairs="{pairs}"}}'
    return entry(
        "x = s32[] parameter(0)",
        "tok = token[] after-all()",
        f"r = (s32[], u32[], token[]) recv(tok), channel_id=0, {at}",
        f"s = (s32[], u32[], token[]) send(x, tok), channel_id=0, {at}",
        "sd = token[] send-done(s), channel_id=0",
        "rd = (s32[], token[]) recv-done(r), channel_id=0",
        "ROOT y = s32[] get-tuple-element(rd), index=0",
    )


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_ring(schedule):
    inputs = [[np.int32(v)] for v in (1, 2, 3)]
    made = program(ring(), 3, schedule=schedule, profile=True)
    assert made.run_all(inputs) == [[3], [1], [2]]
    assert made.profile.bytes_moved == {"send": 12}


def test_who_has_no_source_receives_zero():
    assert program(ring(pairs="{{0,1}}"), 2).run_all([[np.int32(5)], [np.int32(6)]]) == [[0], [5]]


def test_partitions_on_any_other_channel():
    text = ring(pairs="{{1,0}}").replace("channel_id=0", "channel_id=4")
    results = program(text, 2, partitions=2).run_all([[np.int32(v)] for v in (1, 2, 3, 4)])
    assert results == [[2], [0], [4], [0]]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_nobody_sends(schedule):
    lines = ring(pairs="{{0,1}}").splitlines()
    text = "\n".join(line for line in lines if " s = " not in line and " sd = " not in line)
    fails(
        text,
        "deadlock: 1 of 2 wait and nobody can go on\n"
        "  replica 1 waits at recv-done %rd on channel 0, for a send from replica 0\n"
        "  replica 0 has finished",
        inputs=[np.int32(1)],
        schedule=schedule,
    )


def test_between_whom():
    text = ring().replace("_xla_send_recv_source_target_pairs", "other")
    message = "recv %r does not say between whom: expected frontend attribute _xla_send_recv_source_target_pairs"
    fails(text, message, inputs=[np.int32(1)])
    fails(ring(), "recv %r names replicas [2], but the run has 2", inputs=[np.int32(1)])
    text = "recv %r: expected pairs in _xla_send_recv_source_target_pairs, found {{0,1,2}}"
    fails(ring(pairs="{{0,1,2}}"), text, inputs=[np.int32(1)])
    text = "recv %r: in _xla_send_recv_source_target_pairs: expected replica groups like {{0,1},{2,3}}, found {0,1}"
    fails(ring(pairs="{0,1}"), text, inputs=[np.int32(1)])
