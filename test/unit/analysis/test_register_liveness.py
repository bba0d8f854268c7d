"""Register pressure: what is live where, per engine, and the error that names it."""

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.parser import Parser

from xneuron.analysis.flow import flow_graph
from xneuron.analysis.register_liveness import RegisterPressureError, check_registers
from xneuron.dialects.bir import BIR, FuncOp, RegisterAluOp, RegisterMoveOp, RegisterOp, ReturnOp
from xneuron.dialects.bir.enums import AluOpType, Engine


def function(body: str) -> FuncOp:
    ctx = Context()
    ctx.load_dialect(Builtin)
    ctx.load_dialect(BIR)
    module = Parser(ctx, f"bir.func @main {{ {body} bir.return }}").parse_module()
    module.verify()
    func = module.body.block.first_op
    assert isinstance(func, FuncOp)
    return func


REGISTERS = "".join(f'%{name} = bir.register "{name}" ' for name in "abcn")


def live(body: str, engine: Engine = Engine.DVE) -> tuple[str, ...]:
    return check_registers(function(REGISTERS + body))[engine].live


def test_a_dead_register_is_reused() -> None:
    body = "bir.register_move %a = 1 bir.register_alu %b = add(%a, 1) bir.register_alu %c = add(%b, 1)"
    assert len(live(body)) == 1


def test_what_is_read_after_a_branch_is_live_before_it() -> None:
    body = """
        bir.register_move %a = 1
        bir.compare_and_branch IS_LTIMM(%n, 3) ^left, ^right
      ^left:
        bir.register_move %b = 1
        bir.unconditional_branch ^right
      ^right:
        bir.register_alu %c = add(%a, 1)
    """
    assert live(body) == ("a", "n")


def test_what_a_trip_needs_from_the_last_is_live_around_the_loop() -> None:
    body = """
        bir.register_move %a = 1
        bir.dynamic_for_loop for %i "i" in range(0, %n, 1) {
          bir.register_alu %a = add(%a, 1)
          bir.register_move %b = 5
          bir.register_alu %b = add(%b, 1)
        }
        bir.register_alu %c = add(%a, 0)
    """
    assert live(body) == ("a", "b", "i (counter)", "i (limit)")


def test_do_while_reads_its_condition_at_the_end() -> None:
    assert live(
        "bir.register_move %a = 1 bir.do_while { bir.register_move %n = 0 } while %n bir.register_alu %a = add(%a, 1)"
    ) == ("a", "n")


def test_offsets_read_registers() -> None:
    memory = '%x = bir.memory_location "x" : SB float32 [128, 4] '
    assert live(memory + "bir.memset %x[4 * %n][[4, 1], [1, 4]]") == ("n",)


def test_engines_count_their_own_registers_and_pairs_twice() -> None:
    body = """
        %p = bir.register "p" <engine = Pool>
        %w = bir.register "w" <num_physical_regs = 2>
        bir.register_move %w : int64 = 1 : int64
        bir.register_move %p = 1
        bir.register_alu %p = add(%p, 1)
        bir.register_alu %w : uint64 = add(%w : uint64, 1 : uint64) <is_64bit = true>
    """
    peaks = check_registers(function(body))
    assert (peaks[Engine.Pool].count, peaks[Engine.Pool].live) == (3, ("p", "w"))
    assert (peaks[Engine.DVE].count, peaks[Engine.DVE].live) == (2, ("w",))


def many(count: int, short_lived: bool) -> FuncOp:
    """`count` registers that are written, and read at once or all at the end."""
    func = FuncOp("main")
    total = RegisterOp("total")
    registers = [RegisterOp(f"r{number}") for number in range(count)]
    writes = [RegisterMoveOp([register.result], [1]) for register in registers]
    reads = [RegisterAluOp([total.result], [total.result, r.result], op=AluOpType.add) for r in registers]
    pairs = [op for pair in zip(writes, reads, strict=True) for op in pair]
    func.entry.add_ops([total, *registers, *(pairs if short_lived else [*writes, *reads]), ReturnOp()])
    return func


def test_62_live_registers_fit_and_63_do_not() -> None:
    assert check_registers(many(61, short_lived=False))[Engine.SP].count == 62
    message = (
        "cannot allocate registers of engine Pool in @main: expected at most 62 live at once but got 63 at .*: r0, r1, "
    )
    with pytest.raises(RegisterPressureError, match=message):
        check_registers(many(62, short_lived=False))


def test_many_short_lived_registers_fit() -> None:
    assert check_registers(many(16_384, short_lived=True))[Engine.SP].count == 2


def test_flow_graph_of_loops_is_well_formed() -> None:
    body = """
        bir.loop for %i "i" in range(0, 3, 1) {
          bir.do_while {
            bir.compare_and_branch IS_EQIMM(%n, 0) ^leave, ^stay
          ^leave:
            bir.break
          ^stay:
            bir.continue
          } while %n
          bir.dynamic_for_loop for %j "j" in range(0, %n, 1) { }
        }
    """
    graph = flow_graph(function(REGISTERS + body))
    graph.validate_topology()
    assert {str(loop.header): loop.depth for loop in graph.natural_loops()} == {"i.body": 1, "do.body": 2, "j.body": 2}
    assert [str(node) for node in graph.nodes] == [
        "bb0", "i.body", "do.body", "do.leave", "do.stay", "do.latch", "do.exit", "j.body", "j.latch", "j.exit",
        "i.latch", "i.exit",
    ]  # fmt: skip
