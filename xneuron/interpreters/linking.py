"""Who runs whom: the computations that control flow runs, and which of them talk to the world."""

from __future__ import annotations

from collections import Counter
from functools import cached_property, lru_cache
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation

from xneuron.dialects.hlo.attributes import ComputationAttr
from xneuron.dialects.hlo.channels import GroupedOp, PermuteOp, TransferOp
from xneuron.dialects.hlo.collectives import InfeedOp, OutfeedOp, PartitionIdOp, ReplicaIdOp
from xneuron.dialects.hlo.control_flow import AsyncStartOp, ConditionalOp, FusionOp, WhileOp
from xneuron.dialects.hlo.functions import is_private
from xneuron.execution.errors import EvaluationError, instruction

CONTROL: frozenset[type[Operation]] = frozenset({WhileOp, ConditionalOp, FusionOp, AsyncStartOp})
"""Ops whose regions are run once or more by control flow; other regions belong to kernels."""

_WORLD = (GroupedOp, PermuteOp, TransferOp, ReplicaIdOp, PartitionIdOp, InfeedOp, OutfeedOp)


@lru_cache(maxsize=1024)
def is_request(op: type[Operation]) -> bool:
    """True for ops that a participant cannot answer alone: they are requests to the world outside."""
    return issubclass(op, _WORLD)


_Facts: TypeAlias = tuple[bool, int]


class Linker:
    """Resolves calls of one module. The module must not change while it is in use."""

    def __init__(self, module: ModuleOp) -> None:
        self.module = module
        self.functions = {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, FuncOp)}
        self._facts: dict[Block, _Facts | None] = {}

    def entry(self, symbol: str | None) -> FuncOp:
        """The function of that name; without one the only public function. Raises EvaluationError."""
        if symbol is not None:
            if symbol not in self.functions:
                raise EvaluationError(f"expected a function, found no @{symbol}; there are {_listed(self.functions)}")
            return self.functions[symbol]
        public = {name: op for name, op in self.functions.items() if not is_private(op)}
        if len(public) != 1:
            raise EvaluationError(f"expected one public function, found {_listed(public)}; say which one to run")
        return next(iter(public.values()))

    def callee(self, call: CallOp) -> Block:
        """The block that a call runs. Raises EvaluationError where there is none."""
        name = call.callee.string_value()
        if name not in self.functions:
            raise EvaluationError(f"expected a function, found no @{name}", call)
        return single_block(self.functions[name])

    def inner(self, op: Operation) -> list[Block]:
        """The blocks that the op runs by itself (not those a kernel applies to elements)."""
        if isinstance(op, CallOp):
            return [self.callee(op)]
        if type(op) in CONTROL:
            return [region.block for region in op.regions]
        return []

    def communicates(self, block: Block) -> bool:
        """True if running the block may need the world. Raises EvaluationError for recursion."""
        return self._analyse(block)[0]

    def communicating(self, op: Operation) -> bool:
        """True if running the op may need the world."""
        return is_request(type(op)) or any(map(self.communicates, self.inner(op)))

    def size(self, block: Block) -> int:
        """Instructions in the block and in all it runs, each run site counted."""
        return self._analyse(block)[1]

    def _analyse(self, block: Block) -> _Facts:
        if block not in self._facts:
            self._facts[block] = None
            self._facts[block] = self._analysed(block)
        if (facts := self._facts[block]) is None:
            raise EvaluationError(f"expected no recursion, found @{name_of(block)} calling itself", block.parent_op())
        return facts

    def _analysed(self, block: Block) -> _Facts:
        talks, size = False, 0
        for op in block.ops:
            size += 1
            talks = talks or is_request(type(op))
            for inner in self.inner(op):
                inner_talks, inner_size = self._analyse(inner)
                talks, size = talks or inner_talks, size + inner_size
        return talks, size

    @cached_property
    def call_sites(self) -> Counter[str]:
        """Number of calls of each function in the whole module."""
        return Counter(op.callee.string_value() for op in self.module.walk() if isinstance(op, CallOp))


def _listed(names: dict[str, FuncOp]) -> str:
    return ", ".join(f"@{name}" for name in sorted(names)) or "none"


def single_block(function: FuncOp) -> Block:
    """The block of a function. Raises EvaluationError for a declaration or several blocks."""
    blocks = list(function.body.blocks)
    if len(blocks) != 1:
        raise EvaluationError(f"expected @{function.sym_name.data} to have one block, found {len(blocks)}", function)
    return blocks[0]


def name_of(block: Block) -> str:
    """The name of the computation that a block is."""
    op = block.parent_op()
    if isinstance(op, FuncOp):
        return op.sym_name.data
    if op is None or (region := block.parent_region()) is None:
        return "computation"
    index = op.regions.index(region)
    names = cast("ArrayAttr[ComputationAttr] | None", op.properties.get("computations"))
    if names is not None and index < len(names.data):
        return names.data[index].computation_name.data
    return f"{instruction(op)}.{index}"
