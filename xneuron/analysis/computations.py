"""Walks over computations, in the orders that transforms need.

They look at each op once and recurse only into ops with regions: several times faster than `Operation.walk`.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation, Region

from xneuron.dialects.hlo.control_flow import WhileOp


def computations(root: Operation) -> list[Block]:
    """Blocks of everything inside `root`, inner ones first, else in program order. A list: edits do not disturb it."""
    found: list[Block] = []
    for region in root.regions:
        for block in region.blocks:
            for op in block.ops:
                if op.regions:
                    found += computations(op)
            found.append(block)
    return found


def computations_outside_in(root: Operation) -> Iterator[Block]:
    """The same blocks, each before those inside it; what is inside is looked for after the caller is done with it."""
    for region in root.regions:
        for block in region.blocks:
            yield block
            for op in block.ops:
                if op.regions:
                    yield from computations_outside_in(op)


def loops(root: Operation) -> Iterator[WhileOp]:
    """Loops inside `root`, innermost first, else in program order."""
    return (op for block in computations(root) for op in block.ops if type(op) is WhileOp)


def instruction_count(region: Region) -> int:
    """Instructions of a computation and of those inside it. A computation's return counts for its parameter."""
    return sum(1 for _ in region.walk())
