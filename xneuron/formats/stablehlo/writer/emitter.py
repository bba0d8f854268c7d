"""What the chapters write with: values as trees of SSA names, one operation after the other, regions in between."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias, cast

from xdsl.dialects.builtin import DictionaryAttr, TupleType
from xdsl.dialects.func import CallOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.attributes import int_of, text_of
from xneuron.dialects.hlo.base import opcode_of
from xneuron.dialects.hlo.types import elements_of
from xneuron.formats.stablehlo.writer.locations import UNKNOWN, Locations
from xneuron.formats.stablehlo.writer.text import FutureType, dictionary, leaf_types, quoted, type_text


class Leaf(NamedTuple):
    """A value that is no tuple: its SSA name and its type."""

    name: str
    type: Attribute


Tree: TypeAlias = "Leaf | tuple[Tree, ...]"
"""A value: tuples of HLO are trees of leaves, that StableHLO never sees."""


class Inexpressible(VerifyException):
    """StableHLO lacks what an instruction says. `op` is the instruction."""

    def __init__(self, op: Operation, reason: str) -> None:
        super().__init__(f"StableHLO cannot express {described(op)}: {reason}")
        self.op = op


def described(op: Operation) -> str:
    """`domain 'd.3' (jit(f)/add, f.py:3)`: opcode, name, and what the program says of where it comes from."""
    hint = op.results[0].name_hint if op.results else None
    opcode = "call" if isinstance(op, CallOp) else opcode_of(op.name)
    name = f"{opcode} '{hint}'" if hint else opcode
    origin = _origin(op.attributes.get("metadata"))
    return f"{name} ({origin})" if origin else name


def _origin(metadata: Attribute | None) -> str:
    if not isinstance(metadata, DictionaryAttr):
        return ""
    fields = metadata.data
    file, line = text_of(fields.get("source_file")), int_of(fields.get("source_line"))
    return ", ".join(part for part in (text_of(fields.get("op_name")), f"{file}:{line}" if file else "") if part)


def leaves_of(tree: Tree) -> Iterator[Leaf]:
    """The leaves of a value, in order."""
    if isinstance(tree, Leaf):
        yield tree
        return
    for part in tree:
        yield from leaves_of(part)


def tree_of(type: Attribute, leaves: Iterator[Leaf]) -> Tree:
    """The value of a type, made of the next leaves."""
    if not isinstance(type, TupleType):
        return next(leaves)
    return tuple([tree_of(element, leaves) for element in elements_of(type)])


BlockWriter: TypeAlias = Callable[[], None]


class Emitter:
    """Writes operations in MLIR's generic form. `trees`: the values of the program written so far."""

    def __init__(self, locations: Locations) -> None:
        self.lines: list[str] = []
        self.trees: dict[SSAValue, Tree] = {}
        self.locations = locations
        self.location = UNKNOWN
        self.attributes: dict[str, str] = {}
        """Of the instruction that is being written; what it becomes in the end carries them."""
        self.of_arguments: dict[SSAValue, Mapping[str, Attribute]] = {}
        """Attributes of the entry computation's parameters."""
        self._types: dict[int, tuple[Attribute, str]] = {}
        self._count = 0
        self._margin = "  "

    def type_text(self, type: Attribute) -> str:
        """The type as MLIR spells it, remembered by identity: to hash a type takes longer than to write it."""
        known = self._types.get(id(type))
        if known is None:
            known = self._types[id(type)] = type, type_text(type)
        return known[1]

    def leaves(self, values: Sequence[SSAValue]) -> list[Leaf]:
        """The leaves of all these values, in order. Raises VerifyException where one is an operation under way."""
        found: list[Leaf] = []
        for value in values:
            tree = self.trees[value]
            if isinstance(tree, Leaf):
                found.append(tree)
                continue
            own = list(leaves_of(tree))
            if any(type(leaf.type) is FutureType for leaf in own) or len(own) != len(leaf_types(value.type)):
                raise VerifyException("an operation that is under way cannot be handed on")
            found += own
        return found

    def leaf(self, value: SSAValue) -> Leaf:
        """The value, which is no tuple."""
        return cast(Leaf, self.trees[value])

    def emit(
        self,
        name: str,
        operands: Sequence[Leaf],
        results: Sequence[Attribute],
        properties: Mapping[str, str] | None = None,
        regions: Sequence[BlockWriter] = (),
    ) -> list[Leaf]:
        """Writes the operation that the current instruction becomes; its results."""
        return self._write(name, operands, results, properties, regions, self.attributes)

    def help(
        self,
        name: str,
        operands: Sequence[Leaf],
        results: Sequence[Attribute],
        properties: Mapping[str, str] | None = None,
        regions: Sequence[BlockWriter] = (),
    ) -> list[Leaf]:
        """Writes an operation that the current instruction needs besides."""
        return self._write(name, operands, results, properties, regions, {})

    def _write(
        self,
        name: str,
        operands: Sequence[Leaf],
        results: Sequence[Attribute],
        properties: Mapping[str, str] | None,
        regions: Sequence[BlockWriter],
        attributes: Mapping[str, str],
    ) -> list[Leaf]:
        made = self._named(results)
        location = self.location
        inputs = ", ".join([leaf.name for leaf in operands])
        inherent = f" <{dictionary(properties)}>" if properties else ""
        self.lines.append(f'{self._margin}{self._results(made)}"{name}"({inputs}){inherent}')
        if regions:
            self.lines[-1] += " ({"
            self._regions(regions)
            self.lines.append(f"{self._margin}}})")
        types = ", ".join([self.type_text(leaf.type) for leaf in operands])
        outputs = ", ".join([self.type_text(type) for type in results])
        discardable = f" {dictionary(attributes)}" if attributes else ""
        self.lines[-1] += f"{discardable} : ({types}) -> ({outputs}) {location}"
        return made

    def _named(self, types: Sequence[Attribute]) -> list[Leaf]:
        name = f"%{self._count}"
        self._count += 1
        if len(types) == 1:
            return [Leaf(name, types[0])]
        return [Leaf(f"{name}#{index}", type) for index, type in enumerate(types)]

    def _results(self, made: Sequence[Leaf]) -> str:
        if len(made) == 1:
            return f"{made[0].name} = "
        return f"{made[0].name.partition('#')[0]}:{len(made)} = " if made else ""

    def _regions(self, regions: Sequence[BlockWriter]) -> None:
        margin, location, attributes = self._margin, self.location, self.attributes
        for index, region in enumerate(regions):
            if index:
                self.lines.append(f"{margin}}}, {{")
            self._margin = f"{margin}  "
            region()
        self._margin, self.location, self.attributes = margin, location, attributes

    def parameters(self, arguments: Sequence[tuple[Attribute, str]]) -> list[Leaf]:
        """Begins a block with arguments of these types and locations; nothing to write where there are none."""
        made = [self._named([type])[0] for type, _ in arguments]
        shown = [
            f"{leaf.name}: {self.type_text(leaf.type)} {at}" for leaf, (_, at) in zip(made, arguments, strict=True)
        ]
        if shown:
            self.lines.append(f"{self._margin[:-2]}^bb0({', '.join(shown)}):")
        return made

    def region(self, region: Region, write: Callable[[Block], None]) -> BlockWriter:
        """A region with arguments of its own, tuples flattened."""

        def written() -> None:
            block = region.block
            self.bind(block, self.parameters(self._flattened(block)))
            write(block)

        return written

    def bind(self, block: Block, leaves: Sequence[Leaf]) -> None:
        """Gives the arguments of a block their values."""
        rest = iter(leaves)
        for argument in block.args:
            self.trees[argument] = tree_of(argument.type, rest)

    def _flattened(self, block: Block) -> list[tuple[Attribute, str]]:
        found: list[tuple[Attribute, str]] = []
        for argument in block.args:
            at = self.locations.of(self.of_arguments.get(argument, {}), argument.name_hint)
            found += [(type, at) for type in leaf_types(argument.type)]
        return found

    def flat(self, op: Operation) -> list[Attribute]:
        """The types of an op's results, tuples flattened."""
        return [type for result in op.results for type in leaf_types(result.type)]

    def packed(self, op: Operation, leaves: Sequence[Leaf]) -> Tree:
        """The result of an op, made of these leaves; a tuple of all results where it has several."""
        rest = iter(leaves)
        trees = [tree_of(result.type, rest) for result in op.results]
        return trees[0] if len(trees) == 1 else tuple(trees)

    def result(self, value: SSAValue, leaves: Sequence[Leaf]) -> Tree:
        """The leaves, packed as the type of the value says."""
        return tree_of(value.type, iter(leaves))


def string_attribute(attribute: Attribute | None) -> str:
    """A string attribute of the program as a string literal."""
    return quoted(text_of(attribute))
