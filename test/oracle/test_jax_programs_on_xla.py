"""The JAX programs, there and back: read, unrolled, written, they give on XLA what JAX gave. See `jax_programs`."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from jax_programs.printed import Printed, distance, printed
from jax_programs.registry import names
from oracle.xla import Outcome, Program, run_on_xla
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xneuron.formats.hlo_text import parse_hlo, print_hlo
from xneuron.formats.stablehlo.parser import parse_stablehlo
from xneuron.formats.stablehlo.writer import print_stablehlo
from xneuron.transforms.unroll_while_loop import UnrollWhileLoop
from xneuron.transforms.while_loop_unroller import WhileLoopUnroller

pytestmark = pytest.mark.xdist_group("jax_programs")
ALWAYS = (
    "fori_traced scan_carry_and_outputs while_with_closure nested_counted grad_of_scan switch_in_scan gather_rows "
    "sort_pairs reductions_of_special_values f8_matmul rnn composite loop_in_a_device pmapped"
).split()
"""Programs of every run: one of each kind. The others come with `make fuzz`."""


def module_of(name: str, form: str = "pretty") -> ModuleOp:
    module = parse_stablehlo(printed()[name].texts[form], name)
    module.verify()
    return module


def unrolled(name: str, by: ModulePass) -> str:
    module = module_of(name)
    by.apply(Context(), module)
    module.verify()
    return print_stablehlo(module)


def hlo_text(name: str) -> str:
    return print_hlo(module_of(name, "debug"))


STAGES: dict[str, Callable[[str], str]] = {
    "as it is": lambda name: print_stablehlo(module_of(name, "debug")),
    "HLO text": hlo_text,
    "HLO text and back": lambda name: print_stablehlo(parse_hlo(hlo_text(name), name)),
    "unroll-while-loop": lambda name: unrolled(name, UnrollWhileLoop()),
    "while_loop_unroller": lambda name: unrolled(name, WhileLoopUnroller()),
    "unroll-factor": lambda name: unrolled(name, WhileLoopUnroller(unroll_factor=2)),
}
"""What becomes of a program on its way to XLA. Boundary markers stay where the unroller puts them."""


def on_xla(name: str, stage: str) -> Program:
    arguments = printed()[name].arguments
    return Program(STAGES[stage](name), arguments, partitions=len(arguments), stablehlo=stage != "HLO text")


def differences(outcome: Outcome, program: Printed) -> list[str]:
    if outcome.replicas is None:
        return [outcome.error[:300]]
    found: list[str] = []
    for device, (mine, expected) in enumerate(zip(outcome.replicas, program.results, strict=True)):
        if len(mine) != len(expected):
            return [f"{len(mine)} results, in JAX {len(expected)}"]
        found += [
            f"device {device}, result {number}: {apart}"
            for number, (ours, theirs) in enumerate(zip(mine, expected, strict=True))
            if (apart := distance(ours, theirs)) > program.tolerance
        ]
    return found


LOOP_STAGES = ("unroll-while-loop", "while_loop_unroller", "unroll-factor")


def has_loop(name: str) -> bool:
    return b"stablehlo.while" in printed()[name].texts["pretty"]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in ALWAYS else pytest.mark.fuzz) for name in names()]
)
def test_runs_on_xla_as_in_jax(name: str) -> None:
    stages = [stage for stage in STAGES if stage not in LOOP_STAGES or has_loop(name)]
    outcomes = run_on_xla([on_xla(name, stage) for stage in stages])
    found = {stage: differences(outcome, printed()[name]) for stage, outcome in zip(stages, outcomes, strict=True)}
    assert {stage: said for stage, said in found.items() if said} == {}
