"""When two instructions say the same: keys that are equal for them, and for nothing else.

Every attribute, type, and computation gets a number by its value, once; a key is then a short tuple of numbers. A
computation's number stands for its structure as it was when first asked for: an edit that keeps the meaning keeps
the number right. Rules: xla-semantics.md c.3.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp
from xdsl.ir import Attribute, Operation, OpResult, Region, SSAValue

from xneuron.analysis.call_graph import CallGraph
from xneuron.dialects.hlo.attributes import text_of
from xneuron.dialects.hlo.data_movement import ConstantOp, IotaOp
from xneuron.dialects.hlo.elementwise import (
    COMPARE_TYPES,
    AddOp,
    AndOp,
    CompareOp,
    MaximumOp,
    MinimumOp,
    MultiplyOp,
    OrOp,
    XorOp,
)
from xneuron.dialects.hlo.literal import ElidedAttr, LiteralAttr, TupleLiteralAttr
from xneuron.dialects.hlo.replica_groups import ReplicaGroupsAttr
from xneuron.dialects.hlo.types import element_of, without_layout

Key: TypeAlias = tuple[Hashable, ...]

_COMMUTATIVE = frozenset({AddOp, AndOp, MaximumOp, MinimumOp, MultiplyOp, OrOp, XorOp})
_SEPARATE = frozenset({"computations", "callee", "replica_groups", "compare_type"})
"""Properties that are names, or are compared by more than their spelling."""
_SHARED = ("sharding", "result_accuracy", "backend_config")
"""What counts of the attributes that every instruction may have."""
_NONE: frozenset[tuple[str, int]] = frozenset()


class Structure:
    """Keys for the ops of one module. Ops with equal keys have equal results, as long as neither has side effects."""

    def __init__(self, module: ModuleOp, layout_sensitive: bool = True) -> None:
        self._calls = CallGraph(module)
        self._layout_sensitive = layout_sensitive
        self._by_value: dict[Hashable, int] = {}
        self._by_identity: dict[int, int] = {}
        self._numbered: list[Attribute] = []
        self._regions: dict[Region, int] = {}

    def key(self, op: Operation, names: Mapping[int, int] | None = None) -> Key:
        """What `op` computes, of which operands. `names` numbers the values (by id) of a computation by position."""
        return (*self.signature(op, names), *self._called(op))

    def signature(self, op: Operation, names: Mapping[int, int] | None = None) -> Key:
        """The key without the called computations: much cheaper, and enough to tell most ops apart."""
        operands = [self._operand(value, names) for value in op.operands]
        if type(op) in _COMMUTATIVE:
            operands.sort()
        types = [self._type(result.type) for result in op.results]
        return (type(op), *types, None, *operands, None, self._attributes(op))

    def _operand(self, value: SSAValue, names: Mapping[int, int] | None) -> int:
        if names and (position := names.get(id(value))) is not None:
            return position
        if type(value) is OpResult and type(value.op) is IotaOp:
            return ~self._number(self.key(value.op))
        return id(value)

    def _type(self, type: Attribute) -> int:
        return self._of(type if self._layout_sensitive else without_layout(type))

    def _attributes(self, op: Operation) -> frozenset[tuple[str, int]]:
        found = [(name, self._property(op, value)) for name, value in op.properties.items() if name not in _SEPARATE]
        if op.attributes:
            found += [(name, self._of(op.attributes[name])) for name in _SHARED if name in op.attributes]
        if (groups := op.properties.get("replica_groups")) is not None and (
            ids := cast(ReplicaGroupsAttr, groups).groups
        ):
            found.append(("replica_groups", self._number(ids)))
        if type(op) is CompareOp:
            found.append(("compare_type", self._number(comparison_of(op))))
        return frozenset(found) if found else _NONE

    def _property(self, op: Operation, value: Attribute) -> int:
        if type(op) is ConstantOp:
            return self._constant(op, value)
        return self._of(value)

    def _constant(self, op: ConstantOp, value: Attribute) -> int:
        if _is_elided(value):
            return self._number(("elided", id(op)))
        if isinstance(value, LiteralAttr) and not self._layout_sensitive:
            return self._number((self._type(value.type), value.stored))
        return self._of(value)

    def _called(self, op: Operation) -> list[int]:
        if type(op) is not CallOp:
            return [self._region(region) for region in op.regions]
        callee = self._calls.callee(op)
        return [self._region(callee.body) if callee else self._of(op.callee)]

    def _region(self, region: Region) -> int:
        if (known := self._regions.get(region)) is None:
            known = self._regions[region] = self._number(tuple(self._rows(region)))
        return known

    def _rows(self, region: Region) -> Iterator[Hashable]:
        """A computation with values named by their position: equal for computations that differ in names only."""
        names: dict[int, int] = {}
        for block in region.blocks:
            yield tuple(self._type(argument.type) for argument in block.args)
            for argument in block.args:
                names[id(argument)] = len(names)
            for op in block.ops:
                yield self.key(op, names)
                for result in op.results:
                    names[id(result)] = len(names)

    def _of(self, attribute: Attribute) -> int:
        """The number of an attribute. Most are one object seen again and again: only the first time is it hashed."""
        if (known := self._by_identity.get(id(attribute))) is None:
            known = self._by_identity[id(attribute)] = self._number(attribute)
            self._numbered.append(attribute)  # or its id might become another's
        return known

    def _number(self, value: Hashable) -> int:
        return self._by_value.setdefault(value, len(self._by_value))


def _is_elided(value: Attribute) -> bool:
    if isinstance(value, TupleLiteralAttr):
        return any(map(_is_elided, value.elements.data))
    return isinstance(value, ElidedAttr)


def comparison_of(op: CompareOp) -> str:
    """The type of comparison, where it is left out the one that the elements imply."""
    return text_of(op.compare_type, COMPARE_TYPES[element_of(op.lhs.type).kind][0])
