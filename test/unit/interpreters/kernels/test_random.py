"""Random numbers: known answers, ranges, and the state that instructions share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xneuron.formats.hlo_text import parse_hlo
from xneuron.interpreters.evaluator import Program
from xneuron.interpreters.kernels.random import philox, three_fry

Run = Callable[..., Any]
ONES = np.uint32(0xFFFFFFFF)


def test_three_fry_gives_the_known_answers_of_its_authors():
    zero, ones = np.zeros(2, np.uint32), np.full(2, ONES)
    with np.errstate(over="ignore"):
        assert [hex(x) for x in three_fry(zero, *zero)] == ["0x6b200159", "0x99ba4efe"]
        assert [hex(x) for x in three_fry(ones, *ones)] == ["0x1cb996fc", "0xbb002be7"]


def test_philox_gives_the_known_answers_of_its_authors():
    with np.errstate(over="ignore"):
        words = philox(np.zeros(2, np.uint32), [np.uint32(0)] * 4)
        assert [hex(x) for x in words] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]
        words = philox(np.full(2, ONES), [ONES] * 4)
        assert [hex(x) for x in words] == ["0x408f276d", "0x41c83b0e", "0xa20bc7c6", "0x6d5451fd"]


def test_bits_continue_where_the_state_left_off(run: Run):
    for algorithm in ("rng_three_fry", "rng_philox"):
        state = np.array([3, 5], np.uint64)
        line = f"(u64[2], u64[{{}}]) rng-bit-generator(p0), algorithm={algorithm}"
        after, first = run(line.format(4), state)
        _, second = run(line.format(4), after)
        _, both = run(line.format(8), state)
        assert np.concatenate([first, second]).tolist() == both.tolist()


def draws(body: str) -> list[Any]:
    return Program(parse_hlo(f"HloModule m\nENTRY e {{ {body} }}")).run()


def test_uniform_numbers_lie_in_the_interval():
    body = "a = {0}[] constant({1}) b = {0}[] constant({2}) ROOT r = {0}[1000] rng(a, b), distribution=rng_uniform"
    for name, low, high in [("f32", -1, 1), ("bf16", 0, 1), ("s32", -3, 3), ("u8", 0, 200)]:
        (values,) = draws(body.format(name, low, high))
        assert values.astype(float).min() >= low
        assert values.astype(float).max() < high
        assert len(np.unique(values)) > 5


def test_normal_numbers_have_the_mean_and_deviation():
    (values,) = draws(
        "a = f32[] constant(5) b = f32[] constant(2) ROOT r = f32[4000] rng(a, b), distribution=rng_normal"
    )
    assert abs(values.mean() - 5) < 0.2
    assert abs(values.std() - 2) < 0.2


def test_instructions_share_one_state():
    state, next_state = draws(
        """a = u64[2] rng-get-and-update-state(), delta=7
        b = u64[2] rng-get-and-update-state(), delta=7 ROOT t = (u64[2], u64[2]) tuple(a, b)"""
    )
    assert int(next_state[1]) - int(state[1]) == 7
    draw = "rng(lo, hi), distribution=rng_uniform"
    low_high = "lo = f32[] constant(0) hi = f32[] constant(1)"
    first, second = draws(f"{low_high} a = f32[2] {draw} b = f32[2] {draw} ROOT t = (f32[2], f32[2]) tuple(a, b)")
    assert first.tolist() != second.tolist()
