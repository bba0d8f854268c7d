"""What goes wrong while running: the message names the instruction, the iteration and the registers."""

import numpy as np
import pytest
from bir_programs import function

from xneuron.execution.errors import EvaluationError
from xneuron.lowering.bir_lower_loops_to_branches import lower_loops_to_branches
from xneuron.simulator.program import Program

HEADER = """%n = bir.register "n" %m = bir.register "m"
    %x = bir.memory_location "x" : SB float32 [4, 8] <kind = ExternalInput>
    %y = bir.memory_location "y" : SB float32 [4, 8]
    %p = bir.memory_location "p" : PSUM float32 [8, 8] """


def fails(text: str, message: str, strict: bool = False, branches: bool = False, limit: int | None = None, **registers):
    func = function(f"{HEADER} {text} bir.return")
    if branches:
        lower_loops_to_branches(func)
    with pytest.raises(EvaluationError) as caught:
        Program(func, strict=strict, max_iterations=limit).run({"x": np.zeros((4, 8), np.float32)}, registers)
    assert caught.value.message == message
    return caught.value


def test_max_iterations_names_the_loop_the_iteration_and_the_registers() -> None:
    inner = 'bir.dynamic_for_loop for %j "j" in range(0, %n, 1) { bir.register_alu %m = add(%m, 1) }'
    fails(
        f'bir.loop for %i "i" in range(5, 9, 2) {{ {inner} bir.register_alu %n = mult(%n, 10) }}',
        "loop 'j' did not end after 20 iterations (at i = 7, with n = 30, m = 23)",
        limit=20,
        n=3,
        m=0,
    )


@pytest.mark.parametrize(
    ("text", "branches", "message"),
    [
        ("bir.do_while { bir.no_op } while %n", False, "loop 'do_while' did not end after 9 iterations (with n = 1)"),
        ('bir.loop for %i "i" in range(0, 10, 1) { }', False, "loop 'i' did not end after 9 iterations"),
        (
            "bir.do_while { bir.no_op } while %n",
            True,
            "loop 'do.body' did not end after 9 iterations (at do.body = 8, with n = 1)",
        ),
    ],
)
def test_max_iterations_bounds_every_kind_of_loop(text: str, branches: bool, message: str) -> None:
    fails(text, message, branches=branches, limit=9, n=1)


def test_a_loop_of_exactly_that_many_iterations_is_no_error() -> None:
    text = f"""{HEADER}
        bir.loop for %i "i" in range(0, 9, 1) {{ }}
        bir.dynamic_for_loop for %j "j" in range(0, %n, 1) {{ }}
        bir.do_while {{ bir.register_alu %n = subtract(%n, 1) }} while %n
        bir.return"""
    assert Program(function(text), max_iterations=9).run(registers={"n": 9}).registers["n"] == 0


def test_a_break_in_time_is_no_error() -> None:
    text = f"""{HEADER} bir.dynamic_for_loop for %i "i" in range(0, %n, 1) {{ bir.break }} bir.return"""
    Program(function(text), max_iterations=3).run(registers={"n": 100})


def test_accesses_out_of_bounds() -> None:
    copy = "bir.tensor_copy %y[{}][[8, 1], [1, 2]] = %x[0][[8, 1], [1, 2]]"
    fails(
        copy.format("%n"),
        "bir.tensor_copy: the access covers elements 7 to 8 of the 8 of each partition of 'y' (with n = 15)",
        n=15,
    )
    fails(
        copy.format("%n"),
        "bir.tensor_copy: the access at offset 32 covers partitions 4 to 4 of the 4 of 'y' (with n = 32)",
        n=32,
    )
    fails(
        copy.format("%n"),
        "bir.tensor_copy: the access at offset -1 covers partitions -1 to -1 of the 4 of 'y' (with n = -1)",
    )


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("bir.register_alu %n = add(%n, %m)", "with n = 1, m = unwritten"),
        ("bir.register_move %n = %m", "with n = 1, m = unwritten"),
        ("bir.memset %y[%m][[8, 1], [1, 1]]", "with m = unwritten"),
        ("bir.do_while { } while %m", "with m = unwritten"),
        ("bir.compare_and_branch IS_LTREG(%n, %m) ^next, ^next ^next:", "with n = 1, m = unwritten"),
    ],
)
def test_strict_reads_of_registers(text: str, where: str) -> None:
    fails(text, f"{text.split()[0]}: register 'm' is read before it is written ({where})", strict=True, n=1)


def test_strict_reads_of_bounds() -> None:
    text = 'bir.dynamic_for_loop for %i "i" in range(0, %m, 1) { }'
    message = "bir.dynamic_for_loop 'i': register 'm' is read before it is written (with m = unwritten)"
    fails(text, message, strict=True)


def test_strict_reads_of_memory() -> None:
    # Trip i writes row i of y, and reads half of it.
    text = """bir.loop for %i "i" in range(0, 3, 1) {
        bir.memset %y[8 * %i][[8, 1], [1, 8]]
        bir.tensor_tensor "sum" %y[8 * %i][[8, 1], [1, 4]] = add(%x[0][[8, 1], [1, 4]], %y[8 * %i + 4][[8, 1], [1, 4]])
    }"""
    program = Program(function(f"{HEADER} {text} bir.return"), strict=True)
    program.run({"x": np.zeros((4, 8), np.float32)})
    with pytest.raises(
        EvaluationError, match=r"memory 'x' is read before it is written: element \[0, 0\] of the access, 4 of 4"
    ):
        program.run()
    fails(
        text.replace("%y[8 * %i + 4]", "%y[8 * %i + 12]"),
        "bir.tensor_tensor 'sum': memory 'y' is read before it is written: element [0, 0] of the access, "
        "4 of 4 in all (at i = 0)",
        strict=True,
    )


def test_strict_lets_instructions_that_say_so_read_what_is_unwritten() -> None:
    text = f"{HEADER} bir.tensor_copy %y = %x <can_read_uninit = true> bir.return"
    Program(function(text), strict=True).run()


def test_strict_knows_that_accumulating_reads() -> None:
    multiply = "bir.matmult %p = %x, %x"
    Program(function(f"{HEADER} {multiply} bir.return"), strict=True).run({"x": np.zeros((4, 8), np.float32)})
    fails(
        f"{multiply} <start_tensor_calc = false>",
        "bir.matmult: memory 'p' is read before it is written: element [0, 0] of the access, 64 of 64 in all",
        strict=True,
    )


def test_strict_holds_a_loop_to_its_declared_bound() -> None:
    text = 'bir.dynamic_for_loop for %i "i" in range(2, %n, 3) <max_tripcount = 4> { }'
    fails(text, "loop 'i' has more trips than its max_tripcount of 4 (with n = 15)", strict=True, n=15)
    Program(function(f"{HEADER} {text} bir.return"), strict=True).run(registers={"n": 14})
    Program(function(f"{HEADER} {text} bir.return")).run(registers={"n": 15})


def test_exit_aborts() -> None:
    fails("bir.exit ^never:", "bir.exit: InstExit Instruction encountered, exiting...")


def test_inputs_are_checked() -> None:
    program = Program(function(f"{HEADER} bir.return"))
    with pytest.raises(EvaluationError, match=r"input 'x': expected float32\[4, 8\], found float64\[4, 8\]"):
        program.run({"x": np.zeros((4, 8))})
    with pytest.raises(EvaluationError, match=r"expected a memory location \(x, y, p\), found 'z'"):
        program.run({"z": np.zeros((4, 8))})


def test_unwritten_memory_is_all_ones() -> None:
    text = """%i = bir.memory_location "i" : DRAM int32 [1, 2] <kind = ExternalOutput>
        %f = bir.memory_location "f" : DRAM float32 [1, 2] <kind = ExternalOutput>
        %u = bir.memory_location "u" : DRAM uint8 [1, 2] <kind = ExternalOutput> bir.return"""
    outputs = Program(function(text)).run().outputs
    assert outputs["i"].tolist() == [[-1, -1]]
    assert outputs["u"].tolist() == [[255, 255]]
    assert np.isnan(outputs["f"]).all()


def test_a_run_does_not_see_what_the_last_one_left() -> None:
    text = """%x = bir.memory_location "x" : SB int32 [1, 1] <kind = ExternalOutput>
        %r = bir.register "r" bir.register_alu %r = add(%r, 1) bir.tensor_save %x = %r bir.return"""
    program = Program(function(text))
    first, second = program.run(registers={"r": 4}), program.run()
    assert (first.outputs["x"].item(), second.outputs["x"].item()) == (5, 0)
