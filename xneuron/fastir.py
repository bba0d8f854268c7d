"""Building and cloning operations in bulk, by filling xDSL's fields directly.

xDSL's `Operation.create` costs 8 µs an op, `clone` 13 µs; readers and unrollers make hundreds of thousands. This is
the one module that touches private fields of xDSL 0.75; its tests compare the result with the public way.
"""

# pyright: reportPrivateUsage=false
from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias, TypeVar

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr, SymbolRefAttr, UnknownLoc
from xdsl.ir import Attribute, Block, Data, Operation, OpResult, Region, SSAValue, Use
from xdsl.ir.core import SSAValues
from xdsl.traits import SymbolOpInterface, SymbolTable

DataT = TypeVar("DataT", bound=Data[Any])
_UNKNOWN = UnknownLoc()
_NO_VALUES: SSAValues[SSAValue] = SSAValues()


def build(
    cls: type[Operation],
    operands: Sequence[SSAValue],
    result_type: Attribute | None,
    properties: dict[str, Attribute],
    attributes: dict[str, Attribute],
    name: str | None = None,
    location: Attribute = _UNKNOWN,
    regions: Sequence[Region] = (),
) -> Operation:
    """An op like `cls.create` makes it, not verified, with one result (none if `result_type` is None).

    Takes over both dictionaries. `name` becomes the result's name hint as it is, also where xDSL's setter would
    cut a numeric suffix.
    """
    op = cls.__new__(cls)
    op._operands = SSAValues(operands) if operands else _NO_VALUES
    op._operand_uses = _link(op, operands)
    op._successors = op._successor_uses = ()
    op.properties = properties
    op.attributes = attributes
    op.location = location  # pyright: ignore[reportAttributeAccessIssue]
    op.regions = ()
    op.parent = op._next_op = op._prev_op = None
    op.results = _NO_VALUES if result_type is None else SSAValues((_result(op, result_type, name),))  # pyright: ignore
    for region in regions:
        op.add_region(region)
    return op


def _link(op: Operation, operands: Sequence[SSAValue]) -> tuple[Use, ...]:
    uses: list[Use] = []
    for index, value in enumerate(operands):
        use = Use(op, index)
        if (first := value.first_use) is not None:
            use._next_use = first
            first._prev_use = use
        value.first_use = use
        uses.append(use)
    return tuple(uses)


def _result(op: Operation, type: Attribute, name: str | None, index: int = 0) -> OpResult:
    result = OpResult.__new__(OpResult)
    result._name = name
    result.first_use = None
    result._type = type
    result.op = op
    result.index = index
    return result


def append(block: Block, op: Operation) -> None:
    """Puts a detached op at the end of a block."""
    op.parent = block
    if (last := block._last_op) is None:
        block._first_op = block._last_op = op
        return
    last._next_op = op
    op._prev_op = last
    block._last_op = op


def splice(source: Block, before: Operation) -> None:
    """Moves all ops of `source` in front of `before`, which stands in another block; their order stays."""
    first, last, target = source._first_op, source._last_op, before.parent
    if first is None or last is None or target is None:
        return
    for op in source.ops:
        op.parent = target
    source._first_op = source._last_op = None
    first._prev_op, last._next_op = before._prev_op, before
    if before._prev_op is None:
        target._first_op = first
    else:
        before._prev_op._next_op = first
    before._prev_op = last


class _Row(NamedTuple):
    """An op as a template remembers it: operands are numbers of values, in the order in which a copy makes them."""

    cls: type[Operation]
    operands: tuple[int, ...]
    results: tuple[tuple[Attribute, str | None, int], ...]
    properties: dict[str, Attribute]
    attributes: dict[str, Attribute]
    location: Attribute
    special: Operation | None
    regions: tuple[_Plan, ...]


class _Plan(NamedTuple):
    arguments: tuple[tuple[Attribute, str | None, Attribute], ...]
    rows: tuple[_Row, ...]


Dictionaries: TypeAlias = tuple[dict[str, Attribute], dict[str, Attribute]]
"""Properties and attributes of an op that is to be made."""

Special: TypeAlias = Callable[[Operation], Dictionaries]


def _copied(op: Operation) -> Dictionaries:
    return dict(op.properties), dict(op.attributes)


class Template:
    """A computation, looked at once, of which copies are stamped out at a third of the cost of `clone`.

    Copies equal xDSL's clones, name hints and use lists included; each op gets dictionaries of its own, since passes
    write to them. Ops for which `special` is true get the dictionaries that the caller of a copy gives them.
    `terminator`: what the last op becomes in a copy, if not what it is.
    Raises ValueError for a computation that is not one block, or uses values from outside.
    """

    def __init__(
        self,
        block: Block,
        special: Callable[[Operation], bool] = lambda op: False,
        terminator: type[Operation] | None = None,
    ) -> None:
        self.size = 0
        self.specials: list[Operation] = []
        self._special = special
        self._numbers: dict[SSAValue, int] = {}
        self._plan = self._planned(block)
        if terminator is not None:
            *rows, last = self._plan.rows
            self._plan = self._plan._replace(rows=(*rows, last._replace(cls=terminator)))

    def stamp(self, special: Special = _copied) -> Block:
        """A new block with a copy of everything. `special` is asked for the dictionaries of each special op."""
        return _copy(self._plan, [], special)

    def stamp_into(
        self,
        block: Block,
        arguments: Sequence[SSAValue],
        special: Special = _copied,
        prefix: str = "",
    ) -> tuple[SSAValue, ...]:
        """Appends copies of all ops but the terminator to `block`; the values that the terminator would return.

        `prefix` goes in front of the copies' names, not of those inside them.
        """
        values = list(arguments)
        *rows, last = self._plan.rows
        _fill(block, rows, values, special, prefix)
        return tuple([values[number] for number in last.operands])

    def _planned(self, block: Block) -> _Plan:
        arguments = tuple([(arg.type, arg._name, arg.location) for arg in block.args])
        for arg in block.args:
            self._numbers[arg] = len(self._numbers)
        return _Plan(arguments, tuple([self._row(op) for op in block.ops]))

    def _row(self, op: Operation) -> _Row:
        if op._successors or any(value not in self._numbers for value in op._operands):
            raise ValueError(f"expected a computation that is one block and uses nothing from outside: {op.name}")
        operands = tuple([self._numbers[value] for value in op._operands])
        for result in op.results:
            self._numbers[result] = len(self._numbers)
        self.size += 1
        if special := self._special(op):
            self.specials.append(op)
        return _Row(
            type(op),
            operands,
            tuple([(result.type, result._name, result.index) for result in op.results]),
            op.properties,
            op.attributes,
            op.location,
            op if special else None,
            tuple([self._planned(region.block) for region in op.regions]),
        )


def _copy(plan: _Plan, values: list[SSAValue], special: Special) -> Block:
    block = Block(arg_types=[type for type, _, _ in plan.arguments])
    for arg, (_, name, location) in zip(block._args, plan.arguments, strict=True):
        arg._name = name
        arg.location = location  # pyright: ignore[reportAttributeAccessIssue]
    values.extend(block._args)
    _fill(block, plan.rows, values, special)
    return block


def _fill(block: Block, rows: Sequence[_Row], values: list[SSAValue], special: Special, prefix: str = "") -> None:
    """The inner loop of unrolling: 3 µs an op."""
    for cls, operands, results, properties, attributes, location, original, regions in rows:
        op = cls.__new__(cls)
        inputs = [values[number] for number in operands]
        op._operands = SSAValues(inputs)
        op._operand_uses = _link(op, inputs)
        op._successors = op._successor_uses = ()
        if original is None:
            op.properties, op.attributes = properties.copy(), attributes.copy()
        else:
            op.properties, op.attributes = special(original)
        op.location = location  # pyright: ignore[reportAttributeAccessIssue]
        op.regions = ()
        op._next_op = op._prev_op = op.parent = None
        made = [_result(op, type, name and prefix + name, index) for type, name, index in results]
        op.results = SSAValues(made)  # pyright: ignore[reportAttributeAccessIssue]
        values += made
        append(block, op)
        if regions:
            for region in regions:
                op.add_region(Region(_copy(region, values, special)))


def operands_of(op: Operation) -> tuple[SSAValue, ...]:
    """The operands as a tuple, without the sequence around them that `op.operands` makes each time."""
    return op._operands


def rename(value: SSAValue, name: str | None) -> None:
    """Sets a name hint as it is (xDSL's setter cuts a numeric suffix)."""
    value._name = name


def retype(value: SSAValue, type: Attribute) -> None:
    """Sets the type of a value; the caller sees to it that its users fit."""
    value._type = type


def file_location(file: StringAttr, line: int, column: int) -> FileLineColLoc:
    """What `FileLineColLoc(file, IntAttr(line), IntAttr(column))` gives, at a tenth of the cost."""
    location = FileLineColLoc.__new__(FileLineColLoc)
    fields: dict[str, Attribute] = location.__dict__  # pyright: ignore[reportAssignmentType]
    fields["filename"], fields["line"], fields["column"] = file, _number(line), _number(column)
    return location


def data_attribute(cls: type[DataT], data: object) -> DataT:
    """What `cls(data)` gives for an attribute around one value that needs no check (strings, dictionaries)."""
    attribute = cls.__new__(cls)
    fields: dict[str, object] = attribute.__dict__  # pyright: ignore[reportAssignmentType]
    fields["data"] = data
    return attribute


@lru_cache(maxsize=65536)
def _number(value: int) -> IntAttr:
    return IntAttr(value)


@contextmanager
def symbols_indexed() -> Generator[None]:
    """Inside, xDSL finds a symbol in an index, made when its table is first asked; no symbol may come, go or change.

    xDSL's own look-up goes through all functions for each call: verifying an unrolled loop would cost its square.
    """
    original = SymbolTable.lookup_symbol
    tables: dict[Operation, dict[str, Operation]] = {}

    def look_up(op: Operation, name: str | StringAttr | SymbolRefAttr) -> Operation | None:
        table: Operation | None = op
        while table is not None and table not in tables and not table.has_trait(SymbolTable):
            table = table.parent_op()
        if table is None or (isinstance(name, SymbolRefAttr) and name.nested_references.data):
            return original(op, name)
        if table not in tables:
            tables[table] = _symbols(table)
        key = name.root_reference if isinstance(name, SymbolRefAttr) else name
        return tables[table].get(key if isinstance(key, str) else key.data)

    holder: Any = SymbolTable
    holder.lookup_symbol = staticmethod(look_up)
    try:
        yield
    finally:
        holder.lookup_symbol = staticmethod(original)


def _symbols(table: Operation) -> dict[str, Operation]:
    found: dict[str, Operation] = {}
    for op in table.regions[0].block.ops:
        trait = op.get_trait(SymbolOpInterface)
        if trait is not None and (name := trait.get_sym_attr_name(op)) is not None:
            found.setdefault(name.data, op)
    return found


@contextmanager
def collector_off() -> Generator[None]:
    """Stops the cyclic garbage collector for the block: IR is all cycles, none of them garbage yet (2-3 x faster).

    What was made goes to the oldest generation unseen (freeze and unfreeze do that): else switching the collector
    on again would at once walk through all of it. Once enough has gone there unseen, it looks at everything.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            _age()
            gc.enable()


_MOST_UNSEEN = 4_000_000
_unseen = 0


def _age() -> None:
    global _unseen
    _unseen += gc.get_count()[0]
    if gc.get_freeze_count():
        return
    gc.freeze()
    gc.unfreeze()
    if _unseen > _MOST_UNSEEN:
        _unseen = 0
        gc.collect()
