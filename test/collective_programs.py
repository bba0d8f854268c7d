"""One program per kind of collective and group mode, on four participants, with what numpy says of it.

Who meets whom is written out by hand, and each kind is defined once more, straight from XLA's operation semantics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
Members = Sequence[Sequence[Array]]
Definition = Callable[[Members], list[list[Array]]]
"""From the operands of each member of a group, in its order, to the results of each."""


@dataclass(frozen=True)
class Mode:
    """Attributes of a collective, and the groups that they mean for so many participants."""

    name: str
    replicas: int
    partitions: int
    attributes: str
    groups: Sequence[Sequence[int]]


ANY = (
    Mode("cross_replica", 4, 1, "replica_groups={{0,2},{3,1}}", [[0, 2], [3, 1]]),
    Mode("cross_replica.all", 4, 1, "replica_groups={}", [[0, 1, 2, 3]]),
    Mode("cross_replica.partitions", 2, 2, "replica_groups={{1,0}}", [[2, 0], [3, 1]]),
    Mode("cross_replica.iota", 4, 1, "replica_groups=[2,2]<=[2,2]T(1,0)", [[0, 2], [1, 3]]),
)
"""Modes of every kind with groups."""
WITH_GLOBAL_IDS = (
    *ANY,
    Mode("cross_replica_and_partition", 2, 2, "channel_id=1, replica_groups={{0},{1}}", [[0, 1], [2, 3]]),
    Mode("cross_replica_and_partition.all", 2, 2, "channel_id=1, replica_groups={}", [[0, 1, 2, 3]]),
    Mode("cross_replica_and_partition.order", 2, 2, "channel_id=1, replica_groups={{1,0}}", [[2, 3, 0, 1]]),
    Mode(
        "flattened_id", 2, 2, "channel_id=1, replica_groups={{0,3},{2,1}}, use_global_device_ids=true", [[0, 3], [2, 1]]
    ),
    Mode(
        "flattened_id.partitions",
        1,
        4,
        "channel_id=1, replica_groups={{3,0,1,2}}, use_global_device_ids=true",
        [[3, 0, 1, 2]],
    ),
)
WITHOUT_GLOBAL_IDS = (
    *ANY,
    Mode("cross_partition", 2, 2, "channel_id=1, replica_groups={{1,0}}", [[1, 0], [3, 2]]),
    Mode("cross_partition.all", 2, 2, "channel_id=1, replica_groups={}", [[0, 1], [2, 3]]),
    Mode("cross_partition.one_replica", 1, 4, "channel_id=1, replica_groups={{3,0},{1,2}}", [[3, 0], [1, 2]]),
)
PERMUTES = (
    Mode("cross_replica", 4, 1, "source_target_pairs={{0,1},{1,2},{3,0}}", [[0, 1, 2, 3]]),
    Mode("cross_replica.partitions", 2, 2, "source_target_pairs={{0,1},{1,0}}", [[0, 2], [1, 3]]),
    Mode("cross_partition", 2, 2, "channel_id=1, source_target_pairs={{1,0}}", [[0, 1], [2, 3]]),
    Mode("cross_partition.one_replica", 1, 4, "channel_id=1, source_target_pairs={{3,1},{0,0}}", [[0, 1, 2, 3]]),
)


@dataclass(frozen=True)
class Kind:
    """A kind of collective: the instruction for a group of `n`, the shapes of its operands, and what it means."""

    name: str
    modes: Sequence[Mode]
    instruction: Callable[[int], str]
    operands: Callable[[int], Sequence[tuple[type, tuple[int, ...]]]]
    definition: Callable[[Mode], Definition]
    started: Callable[[int], str] | None = None
    """Type of its start: it runs as a start and a done."""


def _alike(result: Callable[[Members], list[Array]]) -> Callable[[Mode], Definition]:
    """Everybody gets the same."""
    return lambda mode: lambda members: [result(members)] * len(members)


def _gather(members: Members) -> list[Array]:
    return [np.concatenate([member[0] for member in members], 1)]


def _gather_two(members: Members) -> list[Array]:
    return [np.concatenate([member[at] for member in members], 0) for at in (0, 1)]


def _sum(members: Members) -> list[Array]:
    return [np.sum(parts, 0, dtype=np.int32) for parts in zip(*members, strict=True)]


def _maximum(members: Members) -> list[Array]:
    return [np.max([member[0] for member in members], 0)]


def _scatter(mode: Mode) -> Definition:
    def define(members: Members) -> list[list[Array]]:
        total = np.sum([member[0] for member in members], 0, dtype=np.int32)
        rows = len(total) // len(members)
        return [[total[i * rows : (i + 1) * rows]] for i in range(len(members))]

    return define


def _all_to_all(mode: Mode) -> Definition:
    def define(members: Members) -> list[list[Array]]:
        width = members[0][0].shape[1] // len(members)
        return [
            [np.concatenate([member[0][:, i * width : (i + 1) * width] for member in members], 1)]
            for i in range(len(members))
        ]

    return define


def _all_to_all_tuple(mode: Mode) -> Definition:
    return lambda members: [[member[i] for member in members] for i in range(len(members))]


def _first(members: Members) -> list[Array]:
    return [members[0][0]]


def _permute(mode: Mode) -> Definition:
    pairs = mode.attributes.partition("source_target_pairs=")[2]
    sources = {int(pair[3]): int(pair[1]) for pair in pairs[1:-1].replace("},", "}|").split("|")}

    def define(members: Members) -> list[list[Array]]:
        nothing = np.zeros_like(members[0][0])
        return [[members[sources[i]][0] if i in sources else nothing] for i in range(len(members))]

    return define


F, S = np.float32, np.int32
KINDS = (
    Kind(
        "all-gather", WITH_GLOBAL_IDS,
        lambda n: f"f32[2,{3 * n}] all-gather(x0), dimensions={{1}}", lambda n: [(F, (2, 3))], _alike(_gather),
    ),
    Kind(
        "all-gather.two", ANY,
        lambda n: f"(f32[{2 * n}], s32[{3 * n},2]) all-gather(x0, x1), dimensions={{0}}",
        lambda n: [(F, (2,)), (S, (3, 2))], _alike(_gather_two),
    ),
    Kind(
        "all-reduce", WITH_GLOBAL_IDS,
        lambda n: "s32[2,3] all-reduce(x0), to_apply=sum", lambda n: [(S, (2, 3))], _alike(_sum),
    ),
    Kind(
        "all-reduce.two", ANY,
        lambda n: "(s32[2,3], s32[5]) all-reduce(x0, x1), to_apply=sum",
        lambda n: [(S, (2, 3)), (S, (5,))], _alike(_sum),
    ),
    Kind(
        "all-reduce.max", WITH_GLOBAL_IDS,
        lambda n: "f32[7] all-reduce(x0), to_apply=largest", lambda n: [(F, (7,))], _alike(_maximum),
    ),
    Kind(
        "reduce-scatter", WITH_GLOBAL_IDS,
        lambda n: f"s32[{8 // n},2] reduce-scatter(x0), dimensions={{0}}, to_apply=sum",
        lambda n: [(S, (8, 2))], _scatter,
    ),
    Kind(
        "all-to-all", WITHOUT_GLOBAL_IDS,
        lambda n: "f32[2,4] all-to-all(x0), dimensions={1}", lambda n: [(F, (2, 4))], _all_to_all,
    ),
    Kind(
        "all-to-all.tuple", WITHOUT_GLOBAL_IDS,
        lambda n: f"({', '.join(['f32[3]'] * n)}) all-to-all({', '.join(f'x{i}' for i in range(n))})",
        lambda n: [(F, (3,))] * n, _all_to_all_tuple,
    ),
    Kind(
        "collective-broadcast", WITHOUT_GLOBAL_IDS,
        lambda n: "f32[2,3] collective-broadcast(x0)", lambda n: [(F, (2, 3))], _alike(_first),
    ),
    Kind(
        "collective-permute", PERMUTES,
        lambda n: "f32[2,3] collective-permute(x0)", lambda n: [(F, (2, 3))], _permute,
    ),
    Kind(
        "all-gather.async", WITH_GLOBAL_IDS,
        lambda n: f"f32[2,{3 * n}] all-gather(x0), dimensions={{1}}", lambda n: [(F, (2, 3))], _alike(_gather),
        lambda n: f"(f32[2,3], f32[2,{3 * n}])",
    ),
    Kind(
        "all-reduce.async", WITH_GLOBAL_IDS,
        lambda n: "s32[2,3] all-reduce(x0), to_apply=sum", lambda n: [(S, (2, 3))], _alike(_sum),
        lambda n: "s32[2,3]",
    ),
    Kind(
        "collective-permute.async", PERMUTES,
        lambda n: "f32[2,3] collective-permute(x0)", lambda n: [(F, (2, 3))], _permute,
        lambda n: "(f32[2,3], f32[2,3], u32[], u32[])",
    ),
    Kind(
        "all-to-all.async", WITHOUT_GLOBAL_IDS,
        lambda n: "f32[2,4] all-to-all(x0), dimensions={1}", lambda n: [(F, (2, 4))], _all_to_all,
        lambda n: "((f32[2,4]), f32[2,4])",
    ),
    Kind(
        "reduce-scatter.async", WITH_GLOBAL_IDS,
        lambda n: f"s32[{8 // n},2] reduce-scatter(x0), dimensions={{0}}, to_apply=sum",
        lambda n: [(S, (8, 2))], _scatter,
        lambda n: f"((s32[8,2]), s32[{8 // n},2])",
    ),
)  # fmt: skip

HEADER = """HloModule {name}, replica_count={replicas}, num_partitions={partitions}
sum {{ a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT s = s32[] add(a, b) }}
largest {{ a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b) }}
ENTRY main {{
"""
_SPELLED = {F: "f32", S: "s32"}


@dataclass(frozen=True)
class Case:
    """A kind in a mode."""

    kind: Kind
    mode: Mode

    @property
    def name(self) -> str:
        """For pytest."""
        return f"{self.kind.name}-{self.mode.name}"

    @property
    def size(self) -> int:
        """Members of a group."""
        return len(self.mode.groups[0])

    def text(self) -> str:
        """The program."""
        mode = self.mode
        lines = [
            f"  x{i} = {_SPELLED[dtype]}[{','.join(map(str, shape))}] parameter({i})"
            for i, (dtype, shape) in enumerate(self.kind.operands(self.size))
        ]
        lines += self._instructions()
        name = self.kind.name.replace("-", "_").replace(".", "_")
        header = HEADER.format(name=name, replicas=mode.replicas, partitions=mode.partitions)
        return header + "\n".join(lines) + "\n}\n"

    def _instructions(self) -> list[str]:
        instruction = f"{self.kind.instruction(self.size)}, {self.mode.attributes}"
        if self.kind.started is None:
            return [f"  ROOT r = {instruction}"]
        type, _, rest = instruction.partition(" ")
        opcode, _, rest = rest.partition("(")
        started = f"  s = {self.kind.started(self.size)} {opcode}-start({rest}"
        return [started, f"  ROOT r = {type} {opcode}-done(s)"]

    def inputs(self, seed: int) -> list[list[Array]]:
        """Random operands of each participant."""
        rng = np.random.default_rng(seed)
        return [[_random(rng, *operand) for operand in self.kind.operands(self.size)] for _ in range(4)]

    def expected(self, inputs: Sequence[Sequence[Array]]) -> list[list[Array]]:
        """Results of each participant."""
        results: list[list[Array]] = [[] for _ in inputs]
        define = self.kind.definition(self.mode)
        for group in self.mode.groups:
            for member, result in zip(group, define([inputs[member] for member in group]), strict=True):
                results[member] = result
        return results


def _random(rng: np.random.Generator, dtype: type, shape: tuple[int, ...]) -> Array:
    return rng.integers(-(2**31), 2**31, shape).astype(S) if dtype is S else rng.standard_normal(shape).astype(F)


CASES = [Case(kind, mode) for kind in KINDS for mode in kind.modes]
