"""Which blocks are inside dynamic loops."""

from xneuron.analysis.dynamic_blocks import DynamicBlockCollector
from xneuron.dialects.bir import DoWhileOp, DynamicForLoopOp, FuncOp, LoopOp, RegisterOp


def test_only_dynamic_loops_count() -> None:
    func, n = FuncOp("main"), RegisterOp("n")
    outer, static, inner, do = (
        DynamicForLoopOp("i", 0, n.result),
        LoopOp("j", 0, 4),
        DynamicForLoopOp("k", 0, n.result),
        DoWhileOp(n.result),
    )
    static.body.block.add_op(inner)
    outer.body.block.add_op(static)
    func.entry.add_ops([n, outer, do])
    found = DynamicBlockCollector(func)
    blocks = [func.entry, outer.body.block, static.body.block, inner.body.block, do.body.block]
    assert [found.depths[block] for block in blocks] == [0, 1, 1, 2, 0]
    assert [found.is_dynamic(block) for block in blocks] == [False, True, True, True, False]
    assert list(found.dynamic_blocks()) == blocks[1:4]
