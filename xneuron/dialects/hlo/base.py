"""What all `hlo` ops share: one result, one shape rule, one textual form, and what effects mean here."""

from __future__ import annotations

from abc import ABC
from collections.abc import Generator, Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar, Self

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute, Block, ErasedSSAValue, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, OptPropertyDef, VarIRConstruct, VerificationContext, result_def
from xdsl.irdl.operations import irdl_op_verify_regions, verify_variadic_size
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    EffectInstance,
    HasCanonicalizationPatternsTrait,
    MemoryEffect,
    MemoryEffectKind,
    Pure,
    get_effects,
)
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.types import compatible, spelled

if TYPE_CHECKING:
    from xdsl.pattern_rewriter import RewritePattern


@contextmanager
def prefixed(opcode: str) -> Generator[None]:
    """Puts the opcode in front of messages that rise from the block."""
    try:
        yield
    except VerifyException as error:
        raise VerifyException(f"{opcode}: {error}") from None


class HloOp(IRDLOperation, ABC):
    """Base of every op of the dialect.

    Textual form, the same for all: `hlo.name(%a, %b) {attributes} region_name {…} : (types) -> type`.
    """

    CONTEXTUAL: ClassVar = False
    """True where the rule looks at more than types and properties of this op: at what made an operand."""

    @property
    def opcode(self) -> str:
        """The opcode as HLO text spells it."""
        return opcode_of(self.name)

    def infer(self) -> Attribute | None:
        """The result type that operands and attributes imply, None where the program must say it.

        Looks at operands, properties and regions only, so it also works on an op that has no result yet. Raises
        VerifyException, and nothing else, where these do not fit together. Rules: XLA's shape_inference.cc, as
        summarised in xla-semantics.md d.3, d.6.
        """
        with prefixed(self.opcode):
            _verify_declared(self)
            return self.shape_rule()

    def shape_rule(self) -> Attribute | None:
        """The op's own rule behind `infer`; number of operands and kinds of properties are already right."""
        return None

    def result_rule(self, expected: Attribute | None, actual: Attribute) -> None:
        """Compares the result with what `shape_rule` said; overridden where a result may differ or says more."""
        if expected is not None and not compatible(expected, actual):
            raise VerifyException(f"expected result {spelled(expected)}, found {spelled(actual)}")

    def verify(self, verify_nested_ops: bool = True) -> None:
        """Verifies like any op, but not again what is like an op verified before (10 x faster on unrolled loops).

        Alike: same class, same objects as types and properties. These are immutable, so what held for them holds
        again. The last op of a block is verified in full, for its place.
        """
        likeness = None if self.regions or self.CONTEXTUAL or self.next_op is None else _likeness(self)
        if likeness is not None and likeness in _VERIFIED:
            return
        super().verify(verify_nested_ops)
        if likeness is not None:
            _remember(likeness, self)

    def verify_(self) -> None:
        """Applies both rules. IRDL has checked the declaration before."""
        with prefixed(self.opcode):
            self.result_rule(self.shape_rule(), self.results[0].type)

    def print(self, printer: Printer) -> None:
        with printer.in_parens():
            printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes({**self.properties, **self.attributes}, print_keyword=False)
        for (name, _), region in zip(self.get_irdl_definition().regions, self._named_regions(), strict=False):
            if region:
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


_VERIFIED: dict[Hashable, object] = {}
"""Likenesses of verified ops, and the objects whose ids they hold, so that no id is used again."""


def _likeness(op: HloOp) -> Hashable:
    """Ids of all that the op's rules look at; None for an op that uses an erased value."""
    seen: list[Hashable] = [op.__class__]
    for value in op.operands:
        if value.__class__ is ErasedSSAValue:
            return None
        seen.append(id(value.type))
    seen.append("->")
    for result in op.results:
        seen.append(id(result.type))
    for name, value in op.properties.items():
        seen.append(name)
        seen.append(id(value))
    return tuple(seen)


def _remember(likeness: Hashable, op: HloOp) -> None:
    if len(_VERIFIED) > 1 << 14:
        _VERIFIED.clear()
    _VERIFIED[likeness] = ([value.type for value in op.operands], op.result_types, list(op.properties.values()))


def _verify_declared(op: HloOp) -> None:
    definition = op.get_irdl_definition()
    verify_variadic_size(op, definition, VarIRConstruct.OPERAND)
    irdl_op_verify_regions(op, definition, VerificationContext())
    for name, declared in definition.properties.items():
        if name in op.properties:
            declared.constr.verify(op.properties[name], VerificationContext())
        elif not isinstance(declared, OptPropertyDef):
            raise VerifyException(f"property '{name}' is expected but not seen")


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
    known = cls.get_irdl_definition().properties
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
    returned = returned_of(region)
    if len(returned) != 1:
        raise VerifyException(f"expected a computation that returns one value, found {len(returned)}")
    return returned[0]


def returned_of(region: Region) -> Sequence[SSAValue]:
    """The values that `hlo.return` at the end of a computation gives back: one in normal form."""
    last = region.block.last_op
    if last is None or last.name != "hlo.return":
        raise VerifyException(f"expected a computation that ends in hlo.return, found {last.name if last else 'none'}")
    return last.operands


def waits(op: Operation) -> bool:
    """True if a control dependency makes the op wait for another."""
    uses = (use for result in op.results for use in result.uses)
    return any(use.index == 1 and use.operation.name == "hlo.control_dependency" for use in uses)


class PureUnlessWaiting(Pure):
    """No effects; but an op that waits for another is not merged into one that does not.

    The other may need that one: merged, each would wait for the other. So a waiting op reports an allocation of its
    own result, which keeps xDSL's `cse` away.
    """

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        return {EffectInstance(MemoryEffectKind.ALLOC, op.results[0])} if waits(op) else frozenset()


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


class SimplifiesToValue(HasCanonicalizationPatternsTrait):
    """The op may be found to equal a value that exists already: see `canonicalization.py`."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from xneuron.dialects.hlo.canonicalization import ReplaceByKnownValue

        return (ReplaceByKnownValue(),)


class DropsSelfDependency(HasCanonicalizationPatternsTrait):
    """A control dependency of a value on itself says nothing."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from xneuron.dialects.hlo.canonicalization import EraseSelfDependency

        return (EraseSelfDependency(),)
