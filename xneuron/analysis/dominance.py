"""SSA dominance: every value is defined before it is used. xDSL's own verifier does not look.

A region that is isolated from above sees its own values only, any other also those around it. In a region of
several blocks a block sees what the blocks that dominate it define; a block that is never reached is not looked at.
"""

from __future__ import annotations

from collections import defaultdict

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException

from xneuron.analysis.cfg import CFG


def verify_dominance(module: ModuleOp) -> None:
    """Raises VerifyException that names the first use of a value which is not defined before it.

    One pass, in time linear in the operations.
    """
    for region in module.regions:
        _verify_region(region, set())


def _verify_region(region: Region, visible: set[SSAValue]) -> None:
    if len(region.blocks) == 1:
        _verify_block(region.block, visible)
    elif region.blocks:
        _verify_blocks(region, visible)


def _verify_blocks(region: Region, visible: set[SSAValue]) -> None:
    """Walks down the dominator tree; leaving a subtree hides what it defined."""
    graph = CFG.of_region(region)
    dominated: defaultdict[Block, list[Block]] = defaultdict(list)
    for block, dominator in graph.immediate_dominators.items():
        if block is not graph.entry:
            dominated[dominator].append(block)
    stack = [(graph.entry, False)]
    while stack:
        block, done = stack.pop()
        if done:
            visible.difference_update(block.args, *(op.results for op in block.ops))
            continue
        _verify_block(block, visible)
        stack.append((block, True))
        stack += [(child, False) for child in dominated[block]]


def _verify_block(block: Block, visible: set[SSAValue]) -> None:
    """Adds the block's own values to `visible` as they come."""
    visible.update(block.args)
    for op in block.ops:
        for value in op.operands:
            if value not in visible:
                raise VerifyException(_complaint(op, value))
        for region in op.regions:
            isolated = op.has_trait(IsolatedFromAbove, value_if_unregistered=False)
            _verify_region(region, set() if isolated else set(visible))
        visible.update(op.results)


def _complaint(op: Operation, value: SSAValue) -> str:
    name = f"%{value.name_hint}" if value.name_hint else f"a value of type {value.type}"
    user = f"{op.name} %{op.results[0].name_hint}" if op.results and op.results[0].name_hint else op.name
    if isinstance(value.owner, Operation) and value.owner.parent is op.parent:
        return f"{name} is used by {user} before it is defined"
    return f"{name} is used by {user}, where it is not defined"
