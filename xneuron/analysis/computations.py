"""Walks over computations, in the orders that transforms need."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation

from xneuron.dialects.hlo.control_flow import WhileOp


def computations(root: Operation) -> list[Block]:
    """Blocks of everything inside `root`, inner ones first, else in program order. A list: edits do not disturb it."""
    return [block for op in root.walk(region_first=True) for region in op.regions for block in region.blocks]


def loops(root: Operation) -> Iterator[WhileOp]:
    """Loops inside `root`, innermost first, else in program order."""
    return (op for op in root.walk(region_first=True) if isinstance(op, WhileOp))
