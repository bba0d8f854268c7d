"""Names that are visible at a place of a document, and what they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.ir import Block, Operation, SSAValue

from xneuron.dialects.bir.storage import MemoryLocationOp, RegisterOp
from xneuron.formats.bir_json.document import Node

Placed: TypeAlias = list[tuple[Operation, Node]]
"""Operations, and the objects they were read from."""


@dataclass
class Storage:
    """Registers and memory locations of a function by name, in order, and locations by the name of their set."""

    placed: Placed
    named: dict[str, RegisterOp | MemoryLocationOp] = field(default_factory=dict[str, RegisterOp | MemoryLocationOp])
    sets: dict[str, list[MemoryLocationOp]] = field(default_factory=dict[str, list[MemoryLocationOp]])

    def add(self, op: RegisterOp | MemoryLocationOp, node: Node) -> None:
        self.named[op.label] = op
        self.placed.append((op, node))


@dataclass
class Pending:
    """What the first pass leaves to do: references to look up, operations to give a location."""

    names: set[str] = field(default_factory=set[str])
    dependencies: list[tuple[Node, str]] = field(default_factory=list[tuple[Node, str]])
    queues: list[Node] = field(default_factory=list[Node])
    placed: Placed = field(default_factory=Placed)


@dataclass(frozen=True)
class Scope:
    """What is visible at an instruction: storage of its function, axes around it, blocks it may branch to."""

    version: int
    storage: Storage
    pending: Pending
    axes: Mapping[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    blocks: Mapping[str, Block] = field(default_factory=dict[str, Block])

    def register(self, node: Node) -> SSAValue:
        """The register a name stands for."""
        if not isinstance(found := self.storage.named.get(node.text()), RegisterOp):
            node.error(f"no register of this function is called '{node.text()}'")
        return found.result

    def location(self, node: Node) -> MemoryLocationOp:
        """The memory location a name stands for."""
        if not isinstance(found := self.storage.named.get(node.text()), MemoryLocationOp):
            node.error(f"no memory location of this function is called '{node.text()}'")
        return found

    def axis(self, node: Node) -> SSAValue:
        """The induction variable of an axis around this place."""
        if (found := self.axes.get(node.text())) is None:
            node.error(f"no loop around this place has the axis '{node.text()}'")
        return found

    def block(self, node: Node) -> Block:
        """A block of the same block list."""
        if (found := self.blocks.get(node.text())) is None:
            node.error(f"BasicBlock does not exist! '{node.text()}'")
        return found
