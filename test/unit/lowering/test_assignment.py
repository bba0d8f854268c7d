"""The state of a loop gets its next values as if all at the same time, with as few copies as that takes."""

from random import Random

import lowered
import numpy as np
import pytest

SIZE = 6


def loop(body: list[str], slots: int) -> str:
    """Five iterations of a body whose next state is `n0, n1, …`, from slots `v0, v1, …`; returns the state."""
    state = f"(s32[], {', '.join([f's32[{SIZE}]'] * slots)})"
    reads = [f"v{k} = s32[{SIZE}] get-tuple-element(p), index={k + 1}" for k in range(slots)]
    parameters = [f"x{k} = s32[{SIZE}] parameter({k})" for k in range(slots)]
    results = [f"r{k} = s32[{SIZE}] get-tuple-element(w), index={k + 1}" for k in range(slots)]
    names = lambda stem: ", ".join(f"{stem}{k}" for k in range(slots))  # noqa: E731
    return "\n".join(
        [
            "HloModule m",
            f"cond {{ p = {state} parameter(0)\n i = s32[] get-tuple-element(p), index=0",
            " five = s32[] constant(5)\n ROOT c = pred[] compare(i, five), direction=LT }",
            f"body {{ p = {state} parameter(0)\n i = s32[] get-tuple-element(p), index=0",
            " one = s32[] constant(1)\n next = s32[] add(i, one)",
            *reads,
            *body,
            f" ROOT t = {state} tuple(next, {names('n')}) }}",
            "ENTRY e {",
            *parameters,
            f" zero = s32[] constant(0)\n t = {state} tuple(zero, {names('x')})",
            f" w = {state} while(t), condition=cond, body=body",
            *results,
            f" ROOT r = ({', '.join([f's32[{SIZE}]'] * slots)}) tuple({names('r')}) }}",
        ]
    )


def arrays(slots: int) -> list[np.ndarray]:
    return [np.arange(SIZE, dtype=np.int32) + 10 * k for k in range(slots)]


def copies_in(text: str) -> int:
    """How many copies the loop's body has."""
    function = lowered.function_of(lowered.lowered(text))
    (found,) = (op for op in function.walk() if op.name == "bir.loop")
    return sum(op.name in ("bir.tensor_copy", "bir.load", "bir.save", "bir.dma_copy") for op in found.walk())


@pytest.mark.parametrize("seed", range(30))
def test_any_shuffle_of_the_state(seed: int) -> None:
    """Each next slot is a slot, or a sum of two, at random: chains, forks, cycles."""
    random, slots = Random(seed), 5
    body = [
        f"n{k} = s32[{SIZE}] copy(v{random.randrange(slots)})"
        if random.random() < 0.7
        else f"n{k} = s32[{SIZE}] add(v{random.randrange(slots)}, v{random.randrange(slots)})"
        for k in range(slots)
    ]
    lowered.agree(loop(body, slots), *arrays(slots))


@pytest.mark.parametrize(
    ("next_slots", "copies"),
    [
        ((0, 1, 2), 0),  # nothing moves
        ((1, 1, 1), 2),  # two overwritten by one that stays
        ((1, 2, 2), 2),  # a chain: in the right order nothing has to be put aside
        ((1, 0, 2), 3),  # a cycle of two takes three copies
        ((1, 2, 0), 4),  # a cycle of three takes four
    ],
)
def test_copies_of_a_shuffle(next_slots: tuple[int, ...], copies: int) -> None:
    text = loop([f"n{k} = s32[{SIZE}] copy(v{source})" for k, source in enumerate(next_slots)], 3)
    assert copies_in(text) == copies
    lowered.agree(text, *arrays(3))


def test_a_result_goes_straight_to_its_slot() -> None:
    text = loop([f"n0 = s32[{SIZE}] add(v0, v1)", f"n1 = s32[{SIZE}] multiply(v1, v1)"], 2)
    assert copies_in(text) == 0
    lowered.agree(text, *arrays(2))


def test_a_slot_that_is_read_later_is_not_overwritten_early() -> None:
    text = loop([f"n0 = s32[{SIZE}] add(v0, v1)", f"n1 = s32[{SIZE}] multiply(v0, v1)"], 2)
    assert copies_in(text) == 1
    lowered.agree(text, *arrays(2))


def test_two_slots_of_one_value() -> None:
    text = loop([f"n0 = s32[{SIZE}] add(v0, v1)", f"n1 = s32[{SIZE}] copy(n0)"], 2)
    assert copies_in(text) == 1
    lowered.agree(text, *arrays(2))


def test_the_same_initial_value_for_slots_that_go_different_ways() -> None:
    text = loop([f"n0 = s32[{SIZE}] add(v0, v0)", f"n1 = s32[{SIZE}] copy(v1)"], 2).replace(
        "tuple(zero, x0, x1)", "tuple(zero, x0, x0)"
    )
    lowered.agree(text, *arrays(2))


def test_the_counter_of_a_counted_loop_is_nowhere_in_memory() -> None:
    text = loop([f"n0 = s32[{SIZE}] add(v0, v0)"], 1)
    function = lowered.function_of(lowered.lowered(text))
    assert not [op for op in function.memory_locations if op.geometry.elements == 1]


def test_a_branch_that_hands_on_its_operand_is_no_other_name_for_it() -> None:
    """The index is known, so that only one branch is there; the state is overwritten before its old value is read."""
    text = """HloModule m
    same { ROOT p = s32[6] parameter(0) }
    negative { p = s32[6] parameter(0)
      ROOT r = s32[6] negate(p) }
    cond { p = (s32[], s32[6], s32[6]) parameter(0)
      i = s32[] get-tuple-element(p), index=0
      n = s32[] constant(3)
      ROOT c = pred[] compare(i, n), direction=LT }
    body { p = (s32[], s32[6], s32[6]) parameter(0)
      i = s32[] get-tuple-element(p), index=0
      x = s32[6] get-tuple-element(p), index=1
      y = s32[6] get-tuple-element(p), index=2
      one = s32[] constant(1)
      j = s32[] add(i, one)
      zero = s32[] constant(0)
      old = s32[6] conditional(zero, x, x), branch_computations={same, negative}
      x2 = s32[6] reverse(y), dimensions={0}
      y2 = s32[6] subtract(x2, old)
      ROOT t = (s32[], s32[6], s32[6]) tuple(j, x2, y2) }
    ENTRY e { x = s32[6] parameter(0)
      y = s32[6] parameter(1)
      zero = s32[] constant(0)
      t = (s32[], s32[6], s32[6]) tuple(zero, x, y)
      ROOT w = (s32[], s32[6], s32[6]) while(t), condition=cond, body=body }"""
    lowered.agree(text, *arrays(2))
