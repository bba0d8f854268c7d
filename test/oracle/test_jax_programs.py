"""The JAX programs: read from every form in which JAX prints them, and run as JAX runs them."""

from __future__ import annotations

import numpy as np
import pytest
from jax_programs.printed import FORMS, Printed, distance, printed
from jax_programs.registry import THEMES, names, theme_of
from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.formats.hlo_text import parse_hlo, print_hlo
from xneuron.formats.stablehlo.parser import parse_stablehlo
from xneuron.interpreters.evaluator import Program
from xneuron.tools.run_outputs import flat
from xneuron.transforms.unroll_while_loop import UnrollWhileLoop
from xneuron.transforms.while_loop_unroller import WhileLoopUnroller

pytestmark = pytest.mark.xdist_group("jax_programs")
PROGRAMS = names()


def test_there_are_enough() -> None:
    assert len(set(PROGRAMS)) == len(PROGRAMS) >= 40


def module_of(program: Printed, form: str) -> ModuleOp:
    module = parse_stablehlo(program.texts[form], form)
    module.verify()
    return module


def without_metadata(module: ModuleOp) -> ModuleOp:
    """The module without what JAX says only where it prints locations."""
    for op in module.walk():
        op.attributes.pop("metadata", None)
        if isinstance(op, FuncOp) and op.arg_attrs is not None:
            kept = [{k: v for k, v in each.data.items() if k != "metadata"} for each in op.arg_attrs]
            op.arg_attrs = op.arg_attrs.__class__([DictionaryAttr(each) for each in kept]) if any(kept) else None
    return module


def differences(module: ModuleOp, program: Printed) -> list[str]:
    """Where the module's results, on each device, are too far from JAX's."""
    runs = Program(module).run_all(program.arguments)
    outputs = [[np.asarray(leaf) for value in run for leaf in flat(value)] for run in runs]
    assert [len(each) for each in outputs] == [len(each) for each in program.results]
    return [
        f"device {device}, result {number}: {apart}; {ours.dtype}{ours.shape}, in JAX {theirs.dtype}{theirs.shape}"
        for device, (mine, expected) in enumerate(zip(outputs, program.results, strict=True))
        for number, (ours, theirs) in enumerate(zip(mine, expected, strict=True))
        if (apart := distance(ours, theirs)) > program.tolerance
    ]


@pytest.mark.parametrize("name", PROGRAMS)
def test_computes_what_jax_computes(name: str) -> None:
    program = printed()[name]
    assert differences(module_of(program, "pretty"), program) == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_all_forms_give_the_same_module(name: str) -> None:
    program = printed()[name]
    first, *others = [without_metadata(module_of(program, form)) for form in FORMS]
    for form, other in zip(FORMS[1:], others, strict=True):
        assert first.is_structurally_equivalent(other), form


@pytest.mark.parametrize("name", PROGRAMS)
def test_goes_out_as_hlo_text(name: str) -> None:
    """What HLO text says of the module is the module."""
    program = printed()[name]
    text = print_hlo(module_of(program, "debug"))
    again = parse_hlo(text, name)
    again.verify()
    assert print_hlo(again) == text
    assert differences(again, program) == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_knows_its_lines_of_python(name: str) -> None:
    """With locations, operations name the file of the program, or of who called it; without, none."""
    program = printed()[name]
    assert files_of(module_of(program, "pretty")) == set()
    for form in ("debug", "bytecode"):
        files = files_of(module_of(program, form))
        assert f"{theme_of(name)}.py" in files or name in WITHOUT_LINES
        # JAX traces its own functions once: where first, a program before this one may have been the caller.
        assert files <= {*(f"{theme}.py" for theme in THEMES), "worker.py"}


WITH_LOOPS = """
fori_static fori_traced fori_range scan_carry_and_outputs scan_reversed scan_unrolled_by_two while_with_closure
while_of_one_value collatz_steps nested_counted nested_triangle nested_scans grad_of_scan jvp_of_fori
grad_of_checkpointed_scan counter_of_u8 switch_in_scan cond_with_loop_inside random_numbers rnn lstm_gradients
attention_in_blocks training_steps k_means mapped loop_in_a_device loop_around_devices training_on_devices
""".split()
TRACED = {"fori_traced", "fori_range", "while_with_closure", "while_of_one_value", "collatz_steps"}
"""Programs with a loop whose number of iterations the data decide."""


@pytest.mark.parametrize(
    "unroller", [UnrollWhileLoop(), WhileLoopUnroller(wrap_in_trivial_loop=False)], ids=lambda u: u.name
)
@pytest.mark.parametrize("name", WITH_LOOPS)
def test_unrolled_computes_the_same(name: str, unroller: ModulePass) -> None:
    program = printed()[name]
    module = module_of(program, "pretty")
    unroller.apply(Context(), module)
    module.verify()
    assert bool(loops_of(module)) == (name in TRACED)
    assert differences(module, program) == []


def test_the_list_of_programs_with_loops_is_complete() -> None:
    assert [name for name in PROGRAMS if loops_of(module_of(printed()[name], "pretty"))] == WITH_LOOPS


def loops_of(module: ModuleOp) -> list[Operation]:
    return [op for op in module.walk() if isinstance(op, WhileOp)]


WITHOUT_LINES = ("identity_and_constants",)


def files_of(module: ModuleOp) -> set[str]:
    found: set[str] = set()
    for op in module.walk():
        metadata = op.attributes.get("metadata")
        if isinstance(metadata, DictionaryAttr) and isinstance(file := metadata.data.get("source_file"), StringAttr):
            found.add(file.data.rpartition("/")[2])
    return found
