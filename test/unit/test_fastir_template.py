"""Copies stamped out of a template, against xDSL's own clones."""

from io import StringIO

import pytest
from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.dialects.func import ReturnOp as FuncReturnOp
from xdsl.ir import Block, Operation, Region
from xdsl.printer import Printer
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.attributes import integer
from xneuron.fastir import Template, symbols_indexed
from xneuron.formats.hlo_text.parser import parse_hlo

PROGRAM = """HloModule m
sum { a = f32[] parameter(0)
  b.7 = f32[] parameter(1)
  ROOT s = f32[] add(a, b.7) }
body { p = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x.12 = f32[4] get-tuple-element(p), index=1, metadata={op_name="f"}
  y = f32[4] all-reduce(x.12), channel_id=5, replica_groups={}, to_apply=sum
  n = s32[] add(i, i)
  ROOT t = (s32[], f32[4]) tuple(n, y) }
cond { p = (s32[], f32[4]) parameter(0)
  ROOT c = pred[] constant(true) }
ENTRY main { q = (s32[], f32[4]) parameter(0)
  w = (s32[], f32[4]) while(q), condition=cond, body=body
  ROOT v = (s32[], f32[4]) while(w), condition=cond, body=body }
"""


def program() -> FuncOp:
    function = next(op for op in parse_hlo(PROGRAM).ops if isinstance(op, FuncOp))
    function.detach()
    return function


def printed(block: Block) -> str:
    """The block as generic text with locations."""
    out = StringIO()
    region = block.parent or Region(block)
    Printer(out, print_generic_format=True, print_debuginfo=True).print_region(region, print_entry_block_args=True)
    return out.getvalue()


def links(block: Block) -> list[list[tuple[int, str, int]]]:
    """Use lists of all values, in order, with the number of the op that uses."""
    ops = list(walk(block))
    numbers = {id(op): number for number, op in enumerate(ops)}
    values = [*block.args, *(arg for op in ops for r in op.regions for arg in r.block.args)]
    values += [result for op in ops for result in op.results]
    return [[(numbers[id(use.operation)], use.operation.name, use.index) for use in value.uses] for value in values]


def walk(block: Block) -> list[Operation]:
    return [inner for op in block.ops for inner in op.walk()]


def test_copies_equal_clones() -> None:
    """Text, raw name hints, locations, use lists in their order."""
    original = program()
    stamped = [Template(original.body.block).stamp() for _ in range(2)]
    cloned = original.body.clone().block
    assert links(stamped[0]) == links(cloned)
    names = [result._name for op in walk(original.body.block) for result in op.results]  # pyright: ignore
    assert [result._name for op in walk(stamped[0]) for result in op.results] == names  # pyright: ignore
    assert "x.12" in names
    assert [op.location for op in walk(stamped[1])] == [op.location for op in walk(original.body.block)]
    assert printed(stamped[1]) == printed(stamped[0]) == printed(cloned)


def test_a_copy_verifies_and_can_be_taken_apart() -> None:
    block = Template(program().body.block).stamp()
    function = FuncOp("copy", (list(block.arg_types), [block.last_op.operands[0].type]), Region(block))  # pyright: ignore
    function.verify()
    for op in reversed(list(block.ops)):
        block.erase_op(op)
    assert not list(block.ops)
    assert all(arg.first_use is None for arg in block.args)


def test_dictionaries_are_not_shared() -> None:
    """Passes write to them: a change to one copy is seen nowhere else."""
    original = program()
    template = Template(original.body.block)
    first, second = template.stamp(), template.stamp()
    before = printed(original.body.clone().block)
    for op in walk(first):
        op.attributes["mark"] = StringAttr("x")
        op.properties["mark"] = StringAttr("x")
    assert printed(second) == before


def test_special_ops_get_the_dictionaries_they_are_given() -> None:
    template = Template(program().body.block, lambda op: "channel_id" in op.properties)
    assert [op.name for op in template.specials] == ["hlo.all_reduce"] * 2
    mark = {"mark": StringAttr("x")}
    block = template.stamp(lambda op: ({**op.properties, "channel_id": integer(42)}, {**op.attributes, **mark}))
    reduces = [op for op in walk(block) if op.name == "hlo.all_reduce"]
    assert [op.properties["channel_id"] for op in reduces] == [integer(42)] * 2
    assert [op for op in walk(block) if "mark" in op.attributes] == reduces


def test_into_a_block_with_values_for_the_arguments() -> None:
    """What inlining needs: copies behind what is there, the terminator left out, its operands handed back."""
    original = program()
    target = Block(arg_types=original.body.block.arg_types)
    template = Template(original.body.block)
    once = template.stamp_into(target, target.args)
    (result,) = template.stamp_into(target, once)
    ops = list(target.ops)
    assert [op.name for op in ops] == ["hlo.while"] * 4
    assert ops[0].operands[0] is target.args[0]
    assert ops[2].operands[0] is ops[1].results[0]
    assert result is ops[3].results[0]


def test_names_of_copies_in_a_block() -> None:
    """The prefix is for the copies themselves: what is inside them keeps its names."""
    original = program()
    target = Block(arg_types=original.body.block.arg_types)
    Template(original.body.block).stamp_into(target, target.args, prefix="body.3.")
    for copy, op in zip(target.ops, original.body.block.ops, strict=False):
        assert copy.results[0].name_hint == f"body.3.{op.results[0].name_hint}"
        inside, originals = ([x.results for x in each.walk() if x is not each] for each in (copy, op))
        assert [r.name_hint for rs in inside for r in rs] == [r.name_hint for rs in originals for r in rs]


def test_terminator() -> None:
    loop = next(op for op in program().walk() if op.name == "hlo.while")
    block = Template(loop.regions[1].block, terminator=FuncReturnOp).stamp()
    assert isinstance(block.last_op, FuncReturnOp)
    assert block.last_op.operands[0].type == block.arg_types[0]


def test_values_from_outside_are_refused() -> None:
    """Copies could not know what to use instead."""
    original = program()
    (first, second, _) = original.body.block.ops
    second.detach()
    with pytest.raises(ValueError, match=r"uses nothing from outside: hlo\.while"):
        Template(Block([second]))
    assert first.results[0].first_use is not None


def test_symbols_are_found_by_an_index() -> None:
    """The same answers as xDSL's look-up, the first of two equal names included; afterwards everything is as it was."""
    module = parse_hlo("""HloModule m
f { ROOT a = f32[] parameter(0) }
ENTRY main { x = f32[] parameter(0)
  ROOT y = f32[] call(x), to_apply=f }
""")
    call = next(op for op in module.walk() if isinstance(op, CallOp))
    original = SymbolTable.lookup_symbol
    expected = [original(call, name) for name in ("f", "main", "g")]
    with symbols_indexed():
        assert SymbolTable.lookup_symbol is not original
        assert [SymbolTable.lookup_symbol(call, name) for name in ("f", "main", "g")] == expected
        assert SymbolTable.lookup_symbol(call, call.callee) is expected[0]
        assert SymbolTable.lookup_symbol(call, StringAttr("f")) is expected[0]
        module.verify()
    assert SymbolTable.lookup_symbol is original
    assert expected[0] is not None
    assert expected[2] is None


def test_verification_still_finds_a_wrong_call() -> None:
    module = parse_hlo("HloModule m\nENTRY main { ROOT x = f32[] parameter(0) }")
    function = next(op for op in module.ops if isinstance(op, FuncOp))
    block = function.body.block
    block.insert_op_before(CallOp("nowhere", [block.args[0]], [block.args[0].type]), block.last_op)  # pyright: ignore
    with symbols_indexed(), pytest.raises(VerifyException, match="'@nowhere' could not be found in symbol table"):
        module.verify()
