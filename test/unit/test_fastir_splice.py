"""Moving a block's ops in front of an op of another block, against moving them one by one."""

import pytest
from xdsl.dialects import test
from xdsl.ir import Block, Operation
from xdsl.rewriter import InsertPoint, Rewriter

from xneuron.fastir import splice


def named(*names: str) -> list[Operation]:
    ops: list[Operation] = [test.TestOp(result_types=[]) for _ in names]
    for op, name in zip(ops, names, strict=True):
        op.attributes["n"] = test.TestType(name)
    return ops


def order(block: Block) -> list[str]:
    forward = [str(op.attributes["n"]) for op in block.ops]
    assert forward == [str(op.attributes["n"]) for op in reversed(block.ops)][::-1]
    assert all(op.parent is block for op in block.ops)
    return forward


@pytest.mark.parametrize("at", [0, 1, 2])
@pytest.mark.parametrize("moved", [(), ("x",), ("x", "y", "z")])
def test_like_moving_one_by_one(at: int, moved: tuple[str, ...]):
    ours, source, target = named("a", "b", "c"), Block(named(*moved)), Block()
    target.add_ops(ours)
    splice(source, ours[at])

    theirs, expected = named("a", "b", "c"), Block()
    expected.add_ops(theirs)
    for op in named(*moved):
        Rewriter.insert_op(op, InsertPoint.before(theirs[at]))

    assert order(target) == order(expected)
    assert order(source) == []


def test_what_was_moved_can_be_taken_out_again():
    (stay,), source, target = named("stay"), Block(named("x", "y")), Block()
    target.add_op(stay)
    splice(source, stay)
    first = target.first_op
    assert first is not None
    first.detach()
    source.add_op(first)
    assert (len(order(source)), len(order(target))) == (1, 2)
