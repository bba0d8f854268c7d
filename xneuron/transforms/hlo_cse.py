"""Pass `hlo-cse`: one instruction where several compute the same."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.dialects.func import CallOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from xneuron.analysis.computations import computations
from xneuron.analysis.control_dependencies import ordered_values
from xneuron.analysis.effects import Effects
from xneuron.analysis.structure import Key, Structure
from xneuron.dialects.hlo.base import HloOp
from xneuron.dialects.hlo.collectives import PartitionIdOp, ReplicaIdOp
from xneuron.dialects.hlo.control_flow import DomainOp, WhileOp
from xneuron.dialects.hlo.data_movement import ConstantOp
from xneuron.dialects.hlo.shape_rules import is_scalar
from xneuron.remarks import declare, remark
from xneuron.transforms.replacement import erase

MERGED = declare("loop-merged", "The loop gave way to an equal one with the same operands.")


@dataclass(frozen=True)
class HloCse(ModulePass):
    """Merges instructions that are equal and have the same operands, in each computation.

        %a = hlo.add(%x, %y)                        uses of %b become uses of %a
        %b = hlo.add(%y, %x)

    Equal: opcode, type, sharding, result accuracy, backend_config, the opcode's attributes (channel id included,
    replica groups by meaning, not by spelling), called computations by structure. Metadata and frontend attributes do
    not count. Loops with equal operands, conditions and bodies merge too.

    Leaves alone: side effects (collectives with a channel id outside an SPMD module among them), ends of control
    dependencies, `MUST_FUSE`, elided constants, ops without operands other than constants and ids (unless
    `_xla_cse_safe_zero_operand`).

    `layout_sensitive`: types must agree in layout. `only_scalars`: nothing but scalar results. Rules:
    xla-semantics.md c.3.
    """

    name = "hlo-cse"
    layout_sensitive: bool = True
    only_scalars: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        merge_equal_instructions(op, self.layout_sensitive, self.only_scalars)


def merge_equal_instructions(module: ModuleOp, layout_sensitive: bool = True, only_scalars: bool = False) -> bool:
    """Merges in all computations, inner ones first; true if anything changed."""
    structure, effects = Structure(module, layout_sensitive), Effects(module)
    changed = False
    for block in computations(module):
        changed |= _merge_in(block, structure, effects, only_scalars)
    return changed


def _merge_in(block: Block, structure: Structure, effects: Effects, only_scalars: bool) -> bool:
    ops = list(block.ops)
    excluded = ordered_values(ops)
    across_domains = any(type(op) is DomainOp for op in ops)
    first: dict[Key, Operation] = {}
    changed = False
    for op in ops:
        if not _may_merge(op, across_domains, only_scalars) or op.results[0] in excluded or effects.has_side_effect(op):
            continue
        kept = _representative(op, structure, first)
        if kept is not op and _fits(op, kept):
            _merge(op, kept)
            changed = True
    return changed


def _representative(op: Operation, structure: Structure, first: dict[Key, Operation]) -> Operation:
    """The first op equal to `op`. Computations are compared only where all else is equal."""
    alike = first.setdefault(structure.signature(op), op)
    if alike is op:
        return op
    first.setdefault(structure.key(alike), alike)
    return first.setdefault(structure.key(op), op)


def _may_merge(op: Operation, across_domains: bool, only_scalars: bool) -> bool:
    if not (_is_instruction(type(op)) and op.results):
        return False
    if only_scalars and not all(is_scalar(result.type) for result in op.results):
        return False
    if type(op) is ConstantOp:
        return not across_domains
    if _asks(op, "MUST_FUSE"):
        return False
    return bool(op.operands) or type(op) in (PartitionIdOp, ReplicaIdOp) or _asks(op, "_xla_cse_safe_zero_operand")


@lru_cache(maxsize=1024)
def _is_instruction(cls: type[Operation]) -> bool:
    return issubclass(cls, HloOp | CallOp)


def _asks(op: Operation, what: str) -> bool:
    if (frontend := op.attributes.get("frontend_attributes")) is None:
        return False
    return isinstance(frontend, DictionaryAttr) and what in frontend.data


def _fits(op: Operation, kept: Operation) -> bool:
    """Types that differ in layout fit for `hlo` users; calls and returns of functions want the very type."""
    return all(
        old.type == new.type or all(isinstance(use.operation, HloOp) for use in old.uses)
        for old, new in zip(op.results, kept.results, strict=True)
    )


def _merge(op: Operation, kept: Operation) -> None:
    if isinstance(op, WhileOp):
        remark("passed", HloCse.name, MERGED, op, "merged with an equal loop")
    for old, new in zip(op.results, kept.results, strict=True):
        old.replace_all_uses_with(new)
    erase(op)
