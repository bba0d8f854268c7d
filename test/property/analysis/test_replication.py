"""What the analysis calls equal is equal: random programs on eight participants, asked for random groups."""

from random import Random

import numpy as np
import pytest
from xdsl.dialects.func import FuncOp

from xneuron.analysis.participants import Participants
from xneuron.analysis.replication import Replication
from xneuron.formats.hlo_text.parser import parse_hlo
from xneuron.interpreters.evaluator import Program

COUNT = 8
COMPUTATIONS = """sum { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT s = s32[] add(a, b) }
twice { a = s32[] parameter(0)
  ROOT s = s32[] add(a, a) }
own { a = s32[] parameter(0)
  id = u32[] replica-id()
  i = s32[] convert(id)
  ROOT s = s32[] multiply(a, i) }
body { p = (s32[], s32[], s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  u = s32[] get-tuple-element(p), index=2
  v = s32[] get-tuple-element(p), index=3
  one = s32[] constant(1)
  j = s32[] add(i, one)
  w = s32[] add(u, v)
  ROOT t = (s32[], s32[], s32[], s32[]) tuple(j, n, w, v) }
cond { p = (s32[], s32[], s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  ROOT c = pred[] compare(i, n), direction=LT }"""


def groups(random: Random, size: int | None = None) -> list[list[int]]:
    members = random.sample(range(COUNT), COUNT) if random.random() < 0.5 else list(range(COUNT))
    size = size or random.choice((1, 2, 2, 4, 4, 8))
    return [members[at : at + size] for at in range(0, COUNT, size)]


def listed(found: list[list[int]]) -> str:
    return "{" + ",".join("{" + ",".join(map(str, group)) + "}" for group in found) + "}"


class Writer:
    """A program over s32 scalars; later values are made of earlier ones."""

    def __init__(self, random: Random, replicas: int) -> None:
        self.random = random
        self.partitions = COUNT // replicas
        self.values: list[str] = []
        self.lines: list[str] = []
        self.count = 0
        self.used: list[list[list[int]]] = []

    def line(self, type: str, text: str) -> str:
        self.count += 1
        self.lines.append(f"  x{self.count} = {type} {text}")
        return f"x{self.count}"

    def give(self, text: str) -> None:
        self.values.append(self.line("s32[]", text))

    def any(self) -> str:
        return self.random.choice(self.values[-4:] if self.random.random() < 0.5 else self.values)

    def step(self) -> None:
        kind = self.random.choice(
            (
                "constant",
                "id",
                "add",
                "add",
                "reduce",
                "reduce",
                "permute",
                "gather",
                "scatter",
                "branch",
                "loop",
                "call",
            )
        )
        getattr(self, kind)()

    def constant(self) -> None:
        self.give(f"constant({self.random.randint(0, 3)})")

    def id(self) -> None:
        ids = self.line("u32[]", f"{self.random.choice(('replica', 'partition'))}-id()")
        self.give(f"convert({ids})")

    def add(self) -> None:
        self.give(f"{self.random.choice(('add', 'multiply', 'and'))}({self.any()}, {self.any()})")

    def flattened(self, size: int | None = None) -> str:
        self.used.append(groups(self.random, size))
        return f"replica_groups={listed(self.used[-1])}, channel_id=1, use_global_device_ids=true"

    def reduce(self) -> None:
        self.give(f"all-reduce({self.any()}), {self.flattened()}, to_apply=sum")

    def permute(self) -> None:
        if self.partitions > 1:
            return  # pairs name replicas
        size = self.random.choice((2, 4, COUNT))
        sources, targets = (self.random.sample(range(COUNT), size) for _ in range(2))
        pairs = listed([list(pair) for pair in zip(sources, targets, strict=True)])
        self.give(f"collective-permute({self.any()}), source_target_pairs={pairs}")

    def gather(self) -> None:
        one = self.line("s32[1]", f"reshape({self.any()})")
        size = self.random.choice((2, 4))
        all = self.line(f"s32[{size}]", f"all-gather({one}), {self.flattened(size)}, dimensions={{0}}")
        self.first(all)

    def scatter(self) -> None:
        pair = self.line("s32[2]", f"broadcast({self.any()}), dimensions={{}}")
        iota = self.line("s32[2]", "iota(), iota_dimension=0")
        both = self.line("s32[2]", f"add({pair}, {iota})")
        self.first(self.line("s32[1]", f"reduce-scatter({both}), {self.flattened(2)}, dimensions={{0}}, to_apply=sum"))

    def first(self, array: str) -> None:
        self.give(f"reshape({self.line('s32[1]', f'slice({array}), slice={{[0:1]}}')})")

    def branch(self) -> None:
        zero = self.line("s32[]", "constant(0)")
        which = self.line("pred[]", f"compare({self.any()}, {zero}), direction=GT")
        branches = self.random.choice(
            ("true_computation=twice, false_computation=own", "true_computation=twice, false_computation=twice")
        )
        self.give(f"conditional({which}, {self.any()}, {self.any()}), {branches}")

    def loop(self) -> None:
        state = "(s32[], s32[], s32[], s32[])"
        zero, three = self.line("s32[]", "constant(0)"), self.line("s32[]", "constant(3)")
        bound = self.line("s32[]", f"and({self.any()}, {three})")
        packed = self.line(state, f"tuple({zero}, {bound}, {self.any()}, {self.any()})")
        ended = self.line(state, f"while({packed}), condition=cond, body=body")
        for slot in range(4):
            self.give(f"get-tuple-element({ended}), index={slot}")

    def call(self) -> None:
        self.give(f"call({self.any()}), to_apply={self.random.choice(('twice', 'own'))}")

    def text(self) -> str:
        partitions = self.partitions
        self.values.append("p")
        for _ in range(self.random.randint(4, 14)):
            self.step()
        state = ", ".join(["s32[]"] * len(self.values))
        root = f"  ROOT all = ({state}) tuple({', '.join(self.values)})"
        header = f"HloModule m, replica_count={COUNT // partitions}, num_partitions={partitions}"
        annotated = self.random.choice(("", ", sharding={replicated}", ", parameter_replication={true}"))
        self.annotated = annotated
        entry = [f"  p = s32[] parameter(0){annotated}", *self.lines, root]
        return "\n".join([header, COMPUTATIONS, "ENTRY main {", *entry, "}"])


def inputs(random: Random, annotated: str, partitions: int) -> list[list[np.int32]]:
    """A value for each participant, equal where the annotation says so."""
    values = [random.randint(-5, 5) for _ in range(COUNT)]
    if "sharding" in annotated:
        values = [values[member // partitions] for member in range(COUNT)]
    elif annotated:
        values = [values[member % partitions] for member in range(COUNT)]
    return [[np.int32(value)] for value in values]


def check(seed: int) -> int:
    """Compares what is called equal; how many values were."""
    random = Random(seed)
    writer = Writer(random, random.choice((2, 4, 8)))
    module = parse_hlo(writer.text())
    module.verify()
    entry = next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
    end = entry.body.block.last_op
    assert end is not None
    results = Program(module).run_all(inputs(random, writer.annotated, writer.partitions))
    asked = tuple(map(tuple, random.choice([*writer.used, groups(random)])))
    analysis = Replication(module, asked, Participants.of(module))
    equal = [number for number in range(len(writer.values)) if analysis.is_replicated(end.operands[0], (number,))]
    for number in equal:
        for group in asked:
            found = {int(results[member][number]) for member in group}
            assert len(found) == 1, f"{writer.values[number]} is {found} in {group}"
    return len(equal)


@pytest.mark.parametrize("seed", range(0, 60, 10))
def test_equal_values_are_equal(seed: int) -> None:
    assert sum(map(check, range(seed, seed + 10))) > 10  # and it does find some


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(60, 2000, 100))
def test_equal_values_of_many_programs_are_equal(seed: int) -> None:
    for each in range(seed, seed + 100):
        check(each)
