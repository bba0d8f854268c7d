"""What an instruction does beside its result: XLA's rules, through regions and calls (xla-semantics.md c.3).

xDSL's traits answer for one op and are deliberately cautious; merging needs to know more: a collective without a
channel may be merged, one on a channel only in an SPMD module.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, ReturnOp
from xdsl.ir import Operation, Region
from xdsl.traits import Pure, is_side_effect_free

from xneuron.analysis.call_graph import CallGraph
from xneuron.dialects.hlo.attributes import int_of
from xneuron.dialects.hlo.base import HloOp
from xneuron.dialects.hlo.collectives import (
    AllGatherOp,
    AllReduceOp,
    AllReduceStartOp,
    AllToAllOp,
    CollectivePermuteOp,
    ReduceScatterOp,
)
from xneuron.dialects.hlo.control_flow import (
    AddDependencyOp,
    AsyncStartOp,
    ControlDependencyOp,
    DomainOp,
    OptBarrierOp,
    WhileOp,
)
from xneuron.dialects.hlo.custom import CustomCallOp

_COLLECTIVES = (AllGatherOp, AllReduceOp, AllToAllOp, CollectivePermuteOp, ReduceScatterOp)
_ORDERING = (AddDependencyOp, ControlDependencyOp, DomainOp, OptBarrierOp, ReturnOp)
"""Ops without an effect that xDSL's traits do not call pure."""

Question: TypeAlias = Callable[[Operation], bool]


class Effects:
    """Answers about the ops of one module; each region and each function is looked into once."""

    def __init__(self, module: ModuleOp, calls: CallGraph | None = None) -> None:
        self._calls = calls or CallGraph(module)
        self._spmd = int_of(module.attributes.get("hlo.num_partitions"), 1) > 1
        self._acting: dict[Region, bool] = {}
        self._staying: dict[Region, bool] = {}

    def has_side_effect(self, op: Operation) -> bool:
        """XLA's HasSideEffect: running `op` once more or once less may be noticed, with its result left aside."""
        if _is_pure(type(op)):
            return False
        return self._acts(op) or self._inside(op, self.has_side_effect, self._acting)

    def must_stay(self, op: Operation) -> bool:
        """True if `op` may not be dropped, even if its result has no use.

        Stricter than a side effect: a loop may not end, and every participant must reach a collective.
        """
        if _is_pure(type(op)):
            return False
        own = isinstance(op, (*_COLLECTIVES, WhileOp)) or self._acts(op)
        return own or self._inside(op, self.must_stay, self._staying)

    def _acts(self, op: Operation) -> bool:
        if isinstance(op, _COLLECTIVES):
            return "constrain_layout" in op.properties or ("channel_id" in op.properties and not self._spmd)
        if isinstance(op, CustomCallOp):
            return op.custom_call_has_side_effect is not None
        if isinstance(op, CallOp):
            return self._calls.callee(op) is None
        if isinstance(op, _ORDERING):
            return False
        if isinstance(op, HloOp) and op.regions:
            return isinstance(op, (AllReduceStartOp, AsyncStartOp))
        return not is_side_effect_free(op)

    def _inside(self, op: Operation, question: Question, known: dict[Region, bool]) -> bool:
        callee = self._calls.callee(op) if isinstance(op, CallOp) else None
        return any(self._in_region(region, question, known) for region in (callee.regions if callee else op.regions))

    def _in_region(self, region: Region, question: Question, known: dict[Region, bool]) -> bool:
        if region not in known:
            known[region] = True  # A function that calls itself may not end.
            known[region] = any(question(op) for block in region.blocks for op in block.ops)
        return known[region]


@lru_cache(maxsize=1024)
def _is_pure(cls: type[Operation]) -> bool:
    return cls.has_trait(Pure)
