"""Traces and profiles: what ran, at which iteration, with which values."""

import json
from io import StringIO

import numpy as np
import pytest
from bir_programs import function

from xneuron.interpreters.trace import json_lines
from xneuron.simulator.program import Program

TEXT = """%n = bir.register "n" %c = bir.register "c"
    %x = bir.memory_location "x" : SB float32 [2, 4]
    %y = bir.memory_location "y" : SB float32 [2, 4]
    bir.register_move %c = 0
    bir.memset %y
    bir.loop for %i "i" in range(4, 8, 2) {
      bir.dynamic_for_loop for %j "j" in range(0, %n, 1) {
        bir.memset "one" %x[%j][[4, 2], [1, 1]] <constant = 1.5>
        bir.register_alu %c = add(%c, 1)
      }
    }
    bir.do_while { bir.register_alu %n = subtract(%n, 1) } while %n
    bir.return"""


def trace(text: str = TEXT, **registers: int) -> list[dict]:
    file = StringIO()
    Program(function(text), trace=json_lines(file)).run(registers=registers)
    return [json.loads(line) for line in file.getvalue().splitlines()]


def test_records_have_the_iteration_vector_and_the_registers() -> None:
    records = [record for record in trace(n=2) if record["opcode"] == "register_alu"]
    assert [(r["at"], r["axes"], r["registers"]) for r in records] == [
        ([0, 0], {"i": 4, "j": 0}, {"c": 1}),
        ([0, 1], {"i": 4, "j": 1}, {"c": 2}),
        ([1, 0], {"i": 6, "j": 0}, {"c": 3}),
        ([1, 1], {"i": 6, "j": 1}, {"c": 4}),
        ([0], {}, {"n": 1}),
        ([1], {}, {"n": 0}),
    ]


def test_records_say_what_was_written_to_memory() -> None:
    (first, *_) = [record for record in trace(n=1) if record["name"] == "one"]
    assert first["opcode"] == "memset"
    written = first["memories"]["x"]
    assert (written["dtype"], written["shape"], written["min"], written["max"]) == ("float32", [2, 1], 1.5, 1.5)


def test_the_written_set_is_cleared_after_each_trip_of_a_dynamic_or_do_while_loop() -> None:
    trips = [(r["name"], r["at"], r["written"]) for r in trace(n=2) if r["opcode"] == "trip"]
    assert trips == [
        ("j", [0, 0], ["y", "x"]),  # y was written before the loop
        ("j", [0, 1], ["x"]),
        ("i", [0], []),
        ("j", [1, 0], ["x"]),
        ("j", [1, 1], ["x"]),
        ("i", [1], []),
        ("do_while", [0], []),
        ("do_while", [1], []),
    ]


def test_a_static_loop_does_not_clear_it() -> None:
    text = """%x = bir.memory_location "x" : SB float32 [2, 4]
        bir.loop for %i "i" in range(0, 2, 1) { bir.memset %x } bir.return"""
    assert [r["written"] for r in trace(text) if r["opcode"] == "trip"] == [["x"], ["x"]]


def test_branches_and_unwritten_registers_are_recorded() -> None:
    text = """%n = bir.register "n"
        bir.compare_and_branch "b" IS_LTIMM(%n, 3) ^next, ^next
      ^next:
        bir.return"""
    (record,) = trace(text)
    assert (record["opcode"], record["name"], record["registers"]) == ("compare_and_branch", "b", {"n": -1})


def test_a_trace_changes_nothing() -> None:
    plain = Program(function(TEXT)).run(registers={"n": 3})
    traced = Program(function(TEXT), trace=lambda record: None, strict=True, profile=True).run(registers={"n": 3})
    assert plain.registers == traced.registers


@pytest.mark.parametrize("n", [1, 3])
def test_profile(n: int) -> None:
    program = Program(function(TEXT), profile=True)
    program.run(registers={"n": n})
    profile = program.profile
    assert profile.iterations == {"i": 2, "j": 2 * n, "do_while": n}
    assert profile.instructions == {"register_move": 1, "memset": 1 + 2 * n, "register_alu": 3 * n, "return": 1}
    assert profile.calls == {"main": 1}
    program.run(registers={"n": n})
    assert program.profile.executed == 2 * profile.executed


def test_what_is_off_is_not_in_the_code() -> None:
    plain, full = Program(function(TEXT)), Program(function(TEXT), strict=True, profile=True, trace=lambda record: None)
    assert len(plain.text.splitlines()) + 15 < len(full.text.splitlines())
    assert "None" not in plain.text


def test_the_code_of_a_loop_is_a_python_loop() -> None:
    text = """%n = bir.register "n" %c = bir.register "c"
        %x = bir.memory_location "x" : SB float32 [2, 4] <kind = ExternalOutput>
        bir.memset %x
        bir.dynamic_for_loop for %i "i" in range(0, %n, 1) {
          bir.register_alu %c = add(%c, 3)
          bir.tensor_scalar %x = %x <op0 = add, const0 = 1.0>
        }
        bir.return"""
    program = Program(function(text))
    lines = program.text.splitlines()
    (start,) = (at for at, line in enumerate(lines) if line.startswith(" for "))
    body = [line.strip() for line in lines[start + 1 :] if line.startswith("  ")]
    assert len(body) == 3
    assert body[:2] == ["r1 = r1 + 3", "if r1 > 2147483647: r1 -= 4294967296"]
    assert body[2].startswith("add")  # the ufunc itself
    np.testing.assert_array_equal(program.run(registers={"n": 4}).outputs["x"], np.full((2, 4), 4, np.float32))
