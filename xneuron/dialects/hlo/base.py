"""What all `hlo` ops share: one result, one shape rule, one textual form, and what effects mean here."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Self

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind, get_effects
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.types import compatible, spelled


class HloOp(IRDLOperation, ABC):
    """Base of every op of the dialect.

    Textual form, the same for all: `hlo.name(%a, %b) {attributes} region_name {…} : (types) -> type`.
    """

    @property
    def opcode(self) -> str:
        """The opcode as HLO text spells it."""
        return opcode_of(self.name)

    def infer(self) -> Attribute | None:
        """The result type that operands and attributes imply, None where the program must say it.

        Raises VerifyException for operands or attributes that do not fit together. Rules: XLA's
        shape_inference.cc, as summarised in xla-semantics.md d.3, d.6.
        """
        return None

    def verify_(self) -> None:
        """Compares the result with `infer`. Subclasses check first what `infer` takes for granted."""
        expected = self.infer()
        if expected is None or compatible(expected, actual := self.results[0].type):
            return
        raise VerifyException(f"{self.opcode}: expected result {spelled(expected)}, found {spelled(actual)}")

    def print(self, printer: Printer) -> None:
        with printer.in_parens():
            printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes({**self.properties, **self.attributes}, print_keyword=False)
        for (name, _), region in zip(self.get_irdl_definition().regions, self._named_regions(), strict=False):
            printer.print_string(f" {name} ")
            _print_regions(printer, region)
        printer.print_string(" : ")
        printer.print_operation_type(self)

    def _named_regions(self) -> Sequence[Sequence[Region]]:
        fields = self.get_irdl_definition().regions
        if len(fields) == 1:
            return [self.regions]
        return [[region] for region in self.regions]

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        unresolved = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        attributes = parser.parse_optional_attr_dict()
        regions = _parse_regions(parser, [name for name, _ in cls.get_irdl_definition().regions])
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_attribute()
        if not isinstance(type, FunctionType):
            parser.raise_error("expected a function type", position)
        operands = parser.resolve_operands(unresolved, type.inputs.data, position)
        properties, attributes = _split(cls, attributes)
        return cls.create(
            operands=operands,
            result_types=type.outputs.data,
            properties=properties,
            attributes=attributes,
            regions=regions,
        )


def _print_regions(printer: Printer, regions: Sequence[Region]) -> None:
    printer.print_list(regions, lambda region: printer.print_region(region, print_empty_block=False))


def _parse_regions(parser: Parser, names: list[str]) -> list[Region]:
    regions: list[Region] = []
    for name in names:
        if parser.parse_optional_keyword(name) is None:
            continue
        regions.append(parser.parse_region())
        while parser.parse_optional_punctuation(",") is not None:
            regions.append(parser.parse_region())
    return regions


def _split(cls: type[HloOp], attributes: Mapping[str, Attribute]) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
    own = cls.get_irdl_definition().accessor_names
    known = {own.get(name, (name, ""))[0] for name in ()} | set(cls.get_irdl_definition().properties)
    properties = {name: value for name, value in attributes.items() if name in known}
    return properties, {name: value for name, value in attributes.items() if name not in known}


class ValueOp(HloOp, ABC):
    """An op with exactly one result, as every HLO instruction has."""

    result = result_def()


def opcode_of(op_name: str) -> str:
    """`hlo.log_plus_one` -> `log-plus-one`. No opcode has an underscore, so this can be undone."""
    return op_name.removeprefix("hlo.").replace("_", "-")


def body_of(region: Region) -> Block:
    """The single block of a region that is a computation."""
    return region.block


def root_of(region: Region) -> SSAValue:
    """The value a computation returns (its terminator's only operand)."""
    last = region.block.last_op
    if last is None or len(last.operands) != 1:
        raise VerifyException("expected a computation that ends by returning one value")
    return last.operands[0]


class ComputationEffects(MemoryEffect):
    """Effects of an op that owns computations: those of what is inside.

    A pure one reports an allocation of its own result: xDSL's `dce` may then drop it when unused, while its
    `cse`, whose comparison of regions ignores inner result types, leaves it alone.
    """

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance] | None:
        found = {EffectInstance(MemoryEffectKind.ALLOC, result) for result in op.results[:1]}
        for region in op.regions:
            for inner in region.block.ops:
                if (effects := get_effects(inner)) is None:
                    return None
                found |= effects
        return found
