"""What all translations use: where ops go, what values became, what an op carries beside its meaning."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from xdsl.dialects.builtin import DictionaryAttr, StringAttr, UnknownLoc
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xneuron.dialects.hlo.attributes import integer, ints
from xneuron.dialects.hlo.control_flow import GetTupleElementOp, ReturnOp, TupleOp
from xneuron.dialects.hlo.data_movement import BroadcastOp, ConstantOp
from xneuron.dialects.hlo.literal import LiteralAttr
from xneuron.dialects.hlo.types import elements_of, shape_of, tensor, tuple_of
from xneuron.fastir import append, build, file_location, rename
from xneuron.formats.stablehlo import tree
from xneuron.formats.stablehlo.reader.errors import Untranslatable
from xneuron.formats.stablehlo.reader.shardings import Meshes, common_attributes
from xneuron.formats.stablehlo.reader.values import literal_of, packed, type_of
from xneuron.formats.stablehlo.tree import Op, Place

# Some ops, in their own syntax, are said to stand behind their name.
_NAMES = re.compile(r"((?:%[\w$.-]+(?::\d+)?,?\s*)+)=\s*[\w.]*\s*$")
_UNKNOWN = UnknownLoc()
_NAME = re.compile(r"%([A-Za-z_][\w.$-]*)(?::(\d+))?")


@dataclass
class Source:
    """Where a module came from. `lines` are those of its text, none where it was bytecode."""

    name: str
    lines: list[str] = field(default_factory=list[str])

    def names(self, place: Place, count: int) -> list[str | None]:
        """The names that the text gives to results of an op; none for those that are numbers only."""
        unnamed: list[str | None] = [None] * count
        if not 0 < place.line <= len(self.lines):
            return unnamed
        found = _NAMES.search(self.lines[place.line - 1], 0, place.column - 1)
        names = [match[1] for match in _NAME.finditer(found[1])] if found else []
        return [*names] if len(names) == count else unnamed

    def argument(self, place: Place) -> str | None:
        """The name that the text gives to a block argument."""
        if not 0 < place.line <= len(self.lines):
            return None
        found = _NAME.match(self.lines[place.line - 1], place.column - 1)
        return found[1] if found else None


@dataclass(eq=False)
class Scope:
    """A computation that is being built: its block and what values became in it."""

    block: Block = field(default_factory=Block)
    values: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])


class Builder:
    """Puts `hlo` ops into the innermost open computation, for the StableHLO op `op`."""

    def __init__(self, source: Source, meshes: Meshes, functions: dict[str, Op]) -> None:
        self.source = source
        self.meshes = meshes
        self.functions = functions
        self.scope = Scope()
        self.op = Op("", (), (), (), {}, (), Place(), tree.Origin())
        self.constants: dict[int, Op] = {}
        self._file = StringAttr(source.name)
        self._metadata: dict[tree.Origin, DictionaryAttr | None] = {}

    # Values

    def value(self, number: int) -> SSAValue:
        """What a value became here. Constants from around are made again inside."""
        if (found := self.scope.values.get(number)) is not None:
            return found
        if (constant := self.constants.get(number)) is None:
            raise self.untranslatable("expected a region that uses only its own values, and constants from around")
        found = self.scope.values[number] = self._constant(constant)
        return found

    def _constant(self, op: Op) -> SSAValue:
        outer, self.op = self.op, op
        made = self.constant()
        self.op = outer
        return made

    def constant(self) -> SSAValue:
        """The constant that the op is; a splat as the broadcast of a scalar, which is how HLO text stays short."""
        value = tree.of_kind(tree.Dense, self.op.attributes["value"], "elements")
        literal = literal_of(value)
        if not (literal.is_splat and shape_of(literal.type)):
            return self.emit(ConstantOp, (), literal.type, {"value": literal})
        scalar = LiteralAttr.from_bytes(tensor(literal.type.element_type), literal.stored)
        repeated = self.helper(ConstantOp, (), scalar.type, {"value": scalar})
        return self.emit(BroadcastOp, [repeated], literal.type, {"dimensions": ints(())})

    @property
    def operands(self) -> list[SSAValue]:
        """What the op's operands became."""
        return [self.value(number) for number in self.op.operands]

    @property
    def types(self) -> list[Attribute]:
        """The op's result types."""
        return [type_of(type) for type in self.op.types]

    # Ops

    def emit(
        self,
        cls: type[Operation],
        operands: Sequence[SSAValue],
        type: Attribute | None = None,
        properties: dict[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
        attributes: dict[str, Attribute] | None = None,
    ) -> SSAValue:
        """The op that stands for the StableHLO op: of its result type, with all it says beside its meaning."""
        own = merged(self.attributes(), attributes) if attributes else self.attributes()
        result = packed(self.types) if type is None else type
        name = self.source.names(self.op.place, 1)[0] if len(self.op.results) == 1 else None
        return self._appended(cls, operands, result, properties or {}, own, name, regions)

    def helper(
        self,
        cls: type[Operation],
        operands: Sequence[SSAValue],
        type: Attribute,
        properties: dict[str, Attribute] | None = None,
        name: str | None = None,
    ) -> SSAValue:
        """An op that HLO needs beside the one that stands for the StableHLO op."""
        return self._appended(cls, operands, type, properties or {}, self.helper_attributes(self.op), name, ())

    def _appended(
        self,
        cls: type[Operation],
        operands: Sequence[SSAValue],
        type: Attribute,
        properties: dict[str, Attribute],
        attributes: dict[str, Attribute],
        name: str | None,
        regions: Sequence[Region],
    ) -> SSAValue:
        made = build(cls, operands, type, properties, attributes, name, self.location(self.op), regions)
        append(self.scope.block, made)
        return made.results[0]

    def attributes(self) -> dict[str, Attribute]:
        """Metadata, shardings and what else any op may carry."""
        return {**common_attributes(self.op, self.meshes), **self.helper_attributes(self.op)}

    def helper_attributes(self, op: Op) -> dict[str, Attribute]:
        """Metadata."""
        if op.origin not in self._metadata:
            self._metadata[op.origin] = metadata_of(op.origin)
        metadata = self._metadata[op.origin]
        return {} if metadata is None else {"metadata": metadata}

    def location(self, op: Op) -> Attribute:
        """The op's place in the text; in bytecode, in the user's Python."""
        place, origin = op.place, op.origin
        if place.line:
            return file_location(self._file, place.line, place.column)
        if origin.line:
            return file_location(StringAttr(origin.file), origin.line, origin.column)
        return _UNKNOWN

    # Tuples

    def tuple(self, values: Sequence[SSAValue]) -> SSAValue:
        """A tuple of the values, even of one."""
        return self.helper(TupleOp, values, tuple_of(tuple(value.type for value in values)))

    def single(self, values: Sequence[SSAValue]) -> SSAValue:
        """The only value, else a tuple."""
        return values[0] if len(values) == 1 else self.tuple(values)

    def elements(self, value: SSAValue, names: Sequence[str | None] = ()) -> list[SSAValue]:
        """All elements of a tuple."""
        return [
            self.helper(GetTupleElementOp, (value,), type, {"index": integer(index)}, name)
            for index, (type, name) in enumerate(_named(elements_of(value.type), names))
        ]

    def finish(self, value: SSAValue) -> None:
        """Says what the op's results are: the value, or the elements of the tuple if they are several."""
        results = self.op.results
        if len(results) == 1:
            self.scope.values[results[0]] = value
            return
        names = self.source.names(self.op.place, len(results))
        self.scope.values.update(zip(results, self.elements(value, names) if results else (), strict=True))

    # Computations

    @contextmanager
    def computation(self) -> Generator[Scope]:
        """Inside, ops go into a new computation."""
        outer, op = self.scope, self.op
        self.scope = Scope()
        try:
            yield self.scope
        finally:
            self.scope, self.op = outer, op

    def parameter(self, type: Attribute, name: str | None = None) -> SSAValue:
        """Another parameter of the open computation."""
        argument = self.scope.block.insert_arg(type, len(self.scope.block.args))
        rename(argument, name)
        return argument

    def returned(self, value: SSAValue) -> Region:
        """The open computation as a region that returns the value."""
        append(self.scope.block, build(ReturnOp, (value,), None, {}, {}, None, self.location(self.op)))
        return Region(self.scope.block)

    # Functions and errors

    def function(self, name: str) -> Sequence[tree.Block]:
        """The body of a function of the module."""
        if name not in self.functions:
            raise self.untranslatable(f"expected a function of the module, found @{name}")
        return self.functions[name].regions[0]

    def untranslatable(self, message: str) -> Untranslatable:
        """The error of an op that cannot be translated."""
        return Untranslatable(self.op, message)


def _named(types: Sequence[Attribute], names: Sequence[str | None]) -> Iterator[tuple[Attribute, str | None]]:
    return zip(types, names or [None] * len(types), strict=True)


def merged(own: dict[str, Attribute], more: dict[str, Attribute]) -> dict[str, Attribute]:
    """Attributes of an op from two sources; frontend attributes of both."""
    both = (own.get("frontend_attributes"), more.get("frontend_attributes"))
    if all(isinstance(one, DictionaryAttr) for one in both):
        fields = {key: value for one in both if isinstance(one, DictionaryAttr) for key, value in one.data.items()}
        more = {**more, "frontend_attributes": DictionaryAttr(fields)}
    return {**own, **more}


def metadata_of(origin: tree.Origin) -> DictionaryAttr | None:
    """The origin as HLO text has it; None where nothing is known."""
    fields: dict[str, Attribute] = {}
    if origin.name:
        fields["op_name"] = StringAttr(origin.name)
    if origin.line:
        fields |= {
            "source_file": StringAttr(origin.file),
            "source_line": integer(origin.line),
            "source_end_line": integer(origin.end_line),
            "source_column": integer(origin.column),
            "source_end_column": integer(origin.end_column),
        }
    return DictionaryAttr(fields) if fields else None
