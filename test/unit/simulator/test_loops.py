"""Control flow: nests, breaks, bounds that are read once, graphs of every shape."""

import numpy as np
import pytest
from bir_programs import Machine, function

from xneuron.dialects.bir import FuncOp, LoopOp, ReturnOp
from xneuron.execution.errors import EvaluationError
from xneuron.lowering.bir_lower_loops_to_branches import lower_loops_to_branches
from xneuron.simulator.levels import Level, build
from xneuron.simulator.program import Program

REGISTERS = "".join(f'%{name} = bir.register "{name}" ' for name in ("n", "m", "c", "t"))


def both(text: str, **registers: int) -> dict[str, int]:
    """Final registers of a program, the same with loops and with branches."""
    func = function(f"{REGISTERS} bir.register_move %c = 0 {text} bir.return")
    found = Program(func).run(registers=registers).registers
    branched = func.clone()
    lower_loops_to_branches(branched)
    branched.verify()
    other = Program(branched).run(registers=registers).registers
    assert {name: other[name] for name in found} == found
    return found


def loop(kind: str, axis: str, body: str) -> str:
    bounds = {
        "static": 'loop for %{} "{}" in range(1, 8, 3)',
        "dynamic": 'dynamic_for_loop for %{} "{}" in range(0, 2 * %n + 1, 3)',
    }
    return f"bir.{bounds[kind].format(axis, axis)} {{ {body} }}"


@pytest.mark.parametrize("outer", ["static", "dynamic"])
@pytest.mark.parametrize("middle", ["static", "dynamic"])
@pytest.mark.parametrize("inner", ["static", "dynamic"])
def test_nests_three_deep(outer: str, middle: str, inner: str) -> None:
    step = "bir.register_alu %c = add(%c, 1)"
    text = loop(outer, "i", loop(middle, "j", loop(inner, "k", step) + step) + step)
    trips = {"static": 3, "dynamic": len(range(0, 2 * 5 + 1, 3))}
    a, b, c = trips[outer], trips[middle], trips[inner]
    assert both(text, n=5)["c"] == a * (b * (c + 1) + 1)


def test_induction_values_reach_memory() -> None:
    text = """%n = bir.register "n"
        %x = bir.memory_location "x" : DRAM int32 [3, 4, 5] <kind = ExternalOutput>
        bir.register_move %n = 4
        bir.loop for %i "i" in range(0, 3, 1) {
          bir.dynamic_for_loop for %j "j" in range(1, %n, 2) {
            bir.loop for %k "k" in range(0, 5, 2) {
              bir.tensor_save %x[20 * %i + 5 * %j + %k][[1, 1]] = %n
            }
          }
        }"""
    x = np.full((3, 4, 5), -1, np.int32)
    x[:, 1:4:2, ::2] = 4
    np.testing.assert_array_equal(Program(function(f"{text} bir.return")).run().outputs["x"], x)


def test_a_bound_register_overwritten_inside_does_not_change_the_count() -> None:
    text = """bir.dynamic_for_loop for %i "i" in range(0, 3 * %n + 1, 1) {
        bir.register_alu %c = add(%c, 1) bir.register_alu %n = mult(%n, 2)
    }"""
    assert both(text, n=2) == {"n": 2 * 2**7, "m": -1, "c": 7, "t": -1}


def test_an_unwritten_bound_means_no_trip() -> None:
    assert both('bir.dynamic_for_loop for %i "i" in range(0, %n, 1) { bir.register_move %c = 1 }')["c"] == 0


def test_a_bound_is_read_again_at_each_entry() -> None:
    text = """bir.loop for %i "i" in range(0, 4, 1) {
        bir.dynamic_for_loop for %j "j" in range(0, %n, 1) { bir.register_alu %c = add(%c, 1) }
        bir.register_alu %n = add(%n, 1)
    }"""
    assert both(text, n=0)["c"] == 0 + 1 + 2 + 3


def test_do_while_runs_at_least_once() -> None:
    text = "bir.do_while { bir.register_alu %c = add(%c, 1) bir.register_alu %n = subtract(%n, 1) } while %n"
    assert both(text, n=5)["c"] == 5
    assert both(text, n=1)["c"] == 1


def test_a_scheduling_unit_runs_once() -> None:
    assert both('bir.loop for %i "i" in range(0, 0, 0) { bir.register_alu %c = add(%c, 1) }')["c"] == 1


@pytest.mark.parametrize(
    "header", ['loop for %i "i" in range(0, 9, 1)', 'dynamic_for_loop for %i "i" in range(0, %n, 1)']
)
def test_break_continue_and_return(header: str) -> None:
    text = f"""bir.{header} {{
        bir.register_alu %c = add(%c, 1)
        bir.compare_and_branch IS_EQIMM(%c, 2) ^skip, ^go
      ^go:
        bir.register_alu %t = add(%t, 10)
        bir.compare_and_branch IS_GEREG(%c, %m) ^leave, ^on
      ^on:
        bir.compare_and_branch IS_GEIMM(%c, 8) ^end, ^skip
      ^skip:
        bir.continue
      ^leave:
        bir.break
      ^end:
        bir.return
    }}
    bir.register_alu %t = add(%t, 1000)"""
    assert both(text, n=9, m=5, t=0) | {"n": 9} == {"n": 9, "m": 5, "c": 5, "t": 10 * 4 + 1000}
    assert both(text, n=9, m=100, t=0)["t"] == 10 * 7  # returns at 8, from inside the loop
    assert both(text, n=9, m=0, t=0)["c"] == 1


def test_break_leaves_a_do_while_without_asking() -> None:
    text = """bir.do_while {
        bir.register_alu %c = add(%c, 1)
        bir.compare_and_branch IS_GTIMM(%c, 3) ^out, ^next
      ^out:
        bir.break
      ^next:
        bir.continue
    } while %n"""
    assert both(text, n=1)["c"] == 4
    assert both(text, n=0)["c"] == 1


def test_loops_nested_deeper_than_python_allows() -> None:
    body = "bir.register_alu %c = add(%c, 1)"
    for level in range(40):
        body = (
            f'bir.dynamic_for_loop for %i{level} "i{level}" in range(0, %{"m" if level == 35 else "n"}, 1) {{ {body} }}'
        )
    assert both(body, n=1, m=3)["c"] == 3
    inside = "bir.register_alu %c = add(%c, 1) bir.return"
    for level in range(30):
        inside = f'bir.loop for %i{level} "i{level}" in range(0, 2, 1) {{ {inside} }}'
    assert both(inside + "bir.register_move %c = 100")["c"] == 1


def test_too_deep_is_an_error() -> None:
    func = FuncOp("main")
    block = func.entry
    for level in range(120):
        block.add_op(loop := LoopOp(f"i{level}", 0, 1))
        block = loop.body.block
    func.entry.add_op(ReturnOp())
    with pytest.raises(EvaluationError, match="the loops are nested too deeply to run"):
        Program(func)


def test_induction_values_beyond_32_bits_wrap() -> None:
    text = """%n = bir.register "n"
        %x = bir.memory_location "x" : DRAM int32 [1, 7] <kind = ExternalOutput>
        bir.dynamic_for_loop for %i "i" in range(2147483646, 2 * %n + 2, 1) {
          bir.tensor_save %x[mod(%i, 7)][[1, 1]] = %n
        }
        bir.return"""
    func, n = function(text), 2**30
    x = np.full((1, 7), -1)
    for value in range(2147483646, 2 * n + 2):
        x[0, (value if value < 2**31 else value - 2**32) % 7] = n
    np.testing.assert_array_equal(Program(func).run(registers={"n": n}).outputs["x"], x)
    lower_loops_to_branches(func)
    np.testing.assert_array_equal(Program(func).run(registers={"n": n}).outputs["x"], x)


@pytest.mark.parametrize("n", [2**30, 2**31 - 1, 2**30 - 1, 1, 0, -5])
def test_a_bound_too_far_away_for_a_counter_aborts_the_branched_form(n: int) -> None:
    """`4 * n` may be 2**32 and more above the lower bound: structured loops are exact, branched ones never silent."""
    text = f"""{REGISTERS} bir.register_move %c = 0
        bir.dynamic_for_loop for %i "i" in range(0, 4 * %n, 2147483647) {{ bir.register_alu %c = add(%c, 1) }}
        bir.return"""
    func = function(text)
    expected = max(0, -(-4 * n // 2147483647))
    assert Program(func).run(registers={"n": n}).registers["c"] == expected
    lower_loops_to_branches(func)
    branched = Program(func)
    if 4 * n < 2**32:
        assert branched.run(registers={"n": n}).registers["c"] == expected
        return
    with pytest.raises(EvaluationError, match="InstExit Instruction encountered, exiting"):
        branched.run(registers={"n": n})


# Graphs


def test_an_irreducible_loop() -> None:
    """Two blocks that jump to each other, both entered from outside."""
    text = """
        bir.compare_and_branch IS_EQIMM(%n, 0) ^left, ^right
      ^left:
        bir.register_alu %c = add(%c, 1)
        bir.compare_and_branch IS_GTIMM(%c, 50) ^end, ^right
      ^right:
        bir.register_alu %c = add(%c, 10)
        bir.compare_and_branch IS_GTIMM(%c, 50) ^end, ^left
      ^end:"""
    for n in (0, 1):
        func = function(f"{REGISTERS} bir.register_move %c = 0 {text} bir.return")
        assert Program(func).run(registers={"n": n}).registers == Machine().run(func, n=n)


def level(graph: dict[str, str], entry: str = "a") -> Level:
    return build(list(graph), [entry], None, lambda node: graph.get(node, ""))


def shape(level: Level) -> list:
    return [shape(node) if isinstance(node, Level) else node for node in level.nodes]


def test_levels_of_nested_loops() -> None:
    graph = {"a": "b", "b": "c", "c": "cd", "d": "be", "e": ""}
    found = level(graph)
    assert shape(found) == ["a", ["b", ["c"], "d"], "e"]
    assert not any(found.is_guarded(number) for number in range(3))
    inner = found.nodes[1]
    assert (inner.header, inner.entries, inner.exits) == ("b", ["b"], ["e"])


def test_a_diamond_is_guarded_where_a_branch_may_skip() -> None:
    found = level({"a": "bc", "b": "d", "c": "d", "d": ""})
    assert sorted(shape(found)[1:3]) == ["b", "c"]
    assert [found.is_guarded(number) for number in range(4)] == [False, True, True, False]


def test_an_irreducible_loop_is_a_level_with_two_entries() -> None:
    found = level({"a": "bc", "b": "c", "c": "bd", "d": ""})
    inner = found.nodes[1]
    assert (inner.header, inner.entries, shape(inner)) == ("b", ["b", "c"], ["b", "c"])
    assert [inner.is_guarded(0), inner.is_guarded(1)] == [True, False]


def test_blocks_that_nothing_reaches_are_left_out() -> None:
    assert shape(level({"a": "b", "b": "", "x": "b"})) == ["a", "b"]
