"""Kernels of `dialects/hlo/random.py`.

`rng-bit-generator` is XLA's bit for bit (prng.cc, rng_bit_generator_expander.cc). `rng` and `rng-get-and-update-state`
have hidden state in HLO, so no implementation's numbers are right; here all such instructions of one program share
one state per participant, in the order in which they run, so that an unrolled loop draws the same numbers as the loop.
Every participant starts in the same state, as on XLA.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from xneuron.dialects.hlo import random as hlo
from xneuron.dialects.hlo.attributes import int_of, text_of
from xneuron.dialects.hlo.types import element_of, elements_of
from xneuron.interpreters.kernels.registry import Context, Kernel, kernel
from xneuron.interpreters.values import Array, as_value, dtype_of, static_shape

ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)
PARITY = np.uint32(0x1BD11BDA)
MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
WEYL = np.uint32(0x9E3779B9), np.uint32(0xBB67AE85)
HALF = np.uint64(32)


def three_fry(key: Array, x: Any, y: Any) -> tuple[Any, Any]:
    """Threefry 2x32 with 20 rounds (Salmon et al. 2011) of u32 words."""
    keys = [key[0], key[1], key[0] ^ key[1] ^ PARITY]
    x, y = x + keys[0], y + keys[1]
    for group in range(5):
        for rotation in ROTATIONS[4 * (group % 2) : 4 * (group % 2) + 4]:
            x = x + y
            y = x ^ (y << np.uint32(rotation) | y >> np.uint32(32 - rotation))
        x, y = x + keys[(group + 1) % 3], y + keys[(group + 2) % 3] + np.uint32(group + 1)
    return x, y


def philox(key: Array, words: list[Any]) -> list[Any]:
    """Philox 4x32 with 10 rounds (Salmon et al. 2011) of u32 words."""
    first, second = key[0], key[1]
    for _ in range(10):
        low, high = words[0].astype(np.uint64) * MULTIPLIERS[0], words[2].astype(np.uint64) * MULTIPLIERS[1]
        words = [_upper(high) ^ words[1] ^ first, _lower(high), _upper(low) ^ words[3] ^ second, _lower(low)]
        first, second = first + WEYL[0], second + WEYL[1]
    return words


def _lower(x: Any) -> Any:
    return x.astype(np.uint32)


def _upper(x: Any) -> Any:
    return (x >> HALF).astype(np.uint32)


def _joined(low: Any, high: Any) -> Any:
    return low.astype(np.uint64) | high.astype(np.uint64) << HALF


def _key(state: Array) -> Array:
    """The two words of the state's first number."""
    return np.array([_lower(state[0]), _upper(state[0])])


def three_fry_bits(state: Array, shape: tuple[int, ...], bits: int) -> tuple[Any, Any]:
    """(new counter, unsigned numbers of `bits`). State: u64 key and counter.

    Numbers of up to 32 bits come in pairs, which lie next to each other in the first dimension of even extent, or
    the largest one.
    """
    counter = state[1:2]
    if bits == 64:
        numbers = counter + np.arange(prod(shape), dtype=np.uint64)
        values = _joined(*three_fry(_key(state), _lower(numbers), _upper(numbers))).reshape(shape)
        return counter + np.uint64(prod(shape)), values
    split = _split_dimension(shape)
    padded = [-(-extent // 2) if d == split else extent for d, extent in enumerate(shape or (1,))]
    numbers = counter + np.arange(prod(padded), dtype=np.uint64)
    pair = three_fry(_key(state), _lower(numbers), _upper(numbers))
    both = np.stack([half.reshape(padded) for half in pair], split + 1)
    both = both.reshape([2 * extent if d == split else extent for d, extent in enumerate(padded)])
    values = both[tuple(slice(extent) for extent in shape)] if shape else both[0]
    return counter + np.uint64(prod(padded)), values


def _split_dimension(shape: tuple[int, ...]) -> int:
    even = [d for d, extent in enumerate(shape) if extent % 2 == 0]
    return even[0] if even else int(np.argmax(shape)) if shape else 0


def philox_bits(state: Array, shape: tuple[int, ...], bits: int) -> tuple[Any, Any]:
    """(new counter, unsigned numbers of `bits`). State: u64 key, and a 128-bit counter in u64[3] or 64 bits in u64[2].

    Four words at a time; with a state of two numbers the key is the upper half of the counter.
    """
    low, high = (state[1], state[2]) if len(state) > 2 else (state[1], state[0])
    words = prod(shape) * (2 if bits == 64 else 1)
    groups = -(-words // 4)
    lows = low + np.arange(groups, dtype=np.uint64)
    highs = np.where(lows < low, high + np.uint64(1), high)
    results = philox(_key(state), [_lower(lows), _upper(lows), _lower(highs), _upper(highs)])
    flat = np.stack(results, 1).reshape(-1)
    if bits == 64:
        flat = _joined(flat[0::2], flat[1::2])
    after = low + np.uint64(groups)
    counter = np.array([after, high + np.uint64(1) if after < low else high])
    return counter[: len(state) - 1], flat[: prod(shape)].reshape(shape)


@kernel(hlo.RngBitGeneratorOp)
def rng_bit_generator(op: hlo.RngBitGeneratorOp, context: Context) -> Kernel:
    """(new state, bits). `rng_default` is Philox, as on XLA's CPU; a u32 state is read as u64 numbers."""
    algorithm = text_of(op.algorithm)
    generate = three_fry_bits if algorithm == "rng_three_fry" else philox_bits
    type = elements_of(op.result.type)[1]
    shape, dtype, bits = static_shape(type), dtype_of(type), element_of(type).bits

    def run(state: Any) -> Any:
        words = np.ascontiguousarray(state).view(np.uint64)
        counter, values = generate(words, shape, bits)
        after = np.concatenate([words[:1], counter]).view(state.dtype)
        return after, as_value(np.asarray(values).astype(f"u{dtype.itemsize}").view(dtype))

    return run


INITIAL_STATE = 0x7012395


class HiddenState:
    """The state of one participant of a program: a 128-bit counter, and the generator behind `rng`."""

    def __init__(self) -> None:
        self.counter = INITIAL_STATE
        self.generator = np.random.default_rng(INITIAL_STATE)


_states: WeakKeyDictionary[Context, dict[int, HiddenState]] = WeakKeyDictionary()


def _state_of(context: Context) -> Callable[[], HiddenState]:
    """A function that gives the state of whoever runs now."""
    states = _states.setdefault(context, {})

    def state() -> HiddenState:
        participant = context.participant
        if participant not in states:
            states[participant] = HiddenState()
        return states[participant]

    return state


@kernel(hlo.RngGetAndUpdateStateOp)
def rng_get_and_update_state(op: hlo.RngGetAndUpdateStateOp, context: Context) -> Kernel:
    """The counter, its upper half first, which each execution moves on by `delta`."""
    delta, shape, dtype = int_of(op.delta), static_shape(op.result.type), dtype_of(op.result.type)
    current = _state_of(context)

    def run() -> Any:
        state = current()
        raw = state.counter.to_bytes(16, "big")
        state.counter = (state.counter + delta) % (1 << 128)
        return np.frombuffer(raw, ">u8").astype(dtype)[-prod(shape) :].reshape(shape)

    return run


@kernel(hlo.RngOp)
def rng(op: hlo.RngOp, context: Context) -> Kernel:
    """Numbers of numpy's default generator with a fixed seed; uniform ones in [low, high)."""
    shape, dtype, element = static_shape(op.result.type), dtype_of(op.result.type), element_of(op.result.type)
    current = _state_of(context)
    if text_of(op.distribution) == "rng_normal":
        return lambda mean, deviation: _as(current().generator.normal(float(mean), float(deviation), shape), dtype)
    if element.kind in ("int", "uint"):
        holder = _holder(element.kind)
        return lambda low, high: _as(current().generator.integers(int(low), int(high), shape, holder), dtype)
    if element.kind == "pred":
        return lambda low, high: _as(current().generator.integers(int(low), int(high), shape, endpoint=True), dtype)
    return lambda low, high: _below(_as(current().generator.uniform(float(low), float(high), shape), dtype), low, high)


def _holder(kind: str) -> Any:
    return np.int64 if kind == "int" else np.uint64


def _as(values: Any, dtype: Any) -> Any:
    return as_value(np.asarray(values).astype(dtype))


def _below(values: Any, low: Any, high: Any) -> Any:
    """Rounding to a narrow type may reach the upper end, which does not belong to the interval."""
    return as_value(np.where(values == high, low, values))
