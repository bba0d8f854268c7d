"""What instructions read and write: memory through an access pattern, a register, or an immediate.

`MemoryAccess`, `RegisterAccess` and `Immediate` are what programs look at and build; `OperandAttr` and
`ExprAttr` are how an operation stores them, with values replaced by positions (`encode`, `decode`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from xdsl.ir import Data, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from .enums import DType
from .expressions import AffineIV, Expr, Leaf, Ref, RuntimeValue, affine, constant, leaves, map_leaves
from .syntax import Piece, Reader, expr_pieces, pattern_text, print_pieces, ref_pieces
from .types import Geometry, MemoryType, RegisterType, number_text

Pattern: TypeAlias = tuple[tuple[int, int], ...]
"""(step, num) pairs in elements, outermost first; on chip the first pair walks the partitions."""


@dataclass(frozen=True)
class MemoryAccess:
    """The elements `offset + sum(index * step)` of a location flattened row-major, in pattern order."""

    memory: Ref
    pattern: Pattern
    offset: Expr
    dtype: DType

    @property
    def nums(self) -> tuple[int, ...]:
        """The shape of the accessed block."""
        return tuple(num for _, num in self.pattern)


@dataclass(frozen=True)
class RegisterAccess:
    """A register, its bits read or written as `dtype`."""

    register: Ref
    dtype: DType = DType.int32


@dataclass(frozen=True)
class Immediate:
    """A constant in the instruction."""

    value: int | float
    dtype: DType


Operand: TypeAlias = MemoryAccess | RegisterAccess | Immediate
OperandLike: TypeAlias = Operand | SSAValue | int | float


def access(
    memory: SSAValue,
    offset: Expr | SSAValue | int = 0,
    pattern: Sequence[tuple[int, int]] | None = None,
    dtype: DType | None = None,
) -> MemoryAccess:
    """An access to `memory`, by default to all of it in row-major order."""
    if (geometry := geometry_of(memory)) is None:
        raise ValueError(f"expected a memory location but got a value of type {memory.type}")
    return MemoryAccess(
        memory,
        geometry.whole if pattern is None else tuple(pattern),
        as_expr(offset),
        dtype or geometry.dtype,
    )


def as_expr(value: Expr | SSAValue | int) -> Expr:
    """An integer, an induction variable or a register as an affine expression."""
    if isinstance(value, SSAValue):
        return affine(value)
    return constant(value) if isinstance(value, int) else value


def as_operand(value: OperandLike) -> Operand:
    """A memory handle is all of its memory, a register handle its int32 value, a number an immediate."""
    match value:
        case SSAValue():
            return RegisterAccess(value) if isinstance(value.type, RegisterType) else access(value)
        case int():
            return Immediate(value, DType.int32)
        case float():
            return Immediate(value, DType.float32)
        case _:
            return value


def handle(operand: Operand) -> Ref:
    """The memory or register an operand touches; None for an immediate."""
    match operand:
        case MemoryAccess(memory):
            return memory
        case RegisterAccess(register):
            return register
        case Immediate():
            return None


def operand_leaves(operand: Operand) -> Iterator[Leaf]:
    """The induction variables and registers its address depends on."""
    if isinstance(operand, MemoryAccess):
        yield from leaves(operand.offset)


class Encoder:
    """Numbers the values of an operation in order of first use."""

    def __init__(self) -> None:
        self.values: list[SSAValue] = []

    def ref(self, ref: Ref) -> Ref:
        if not isinstance(ref, SSAValue):
            return ref
        if ref not in self.values:
            self.values.append(ref)
        return self.values.index(ref)

    def leaf(self, leaf: Leaf) -> Leaf:
        return AffineIV(self.ref(leaf.value)) if isinstance(leaf, AffineIV) else RuntimeValue(self.ref(leaf.value))

    def expr(self, expr: Expr) -> ExprAttr:
        return ExprAttr(map_leaves(expr, self.leaf))

    def operand(self, operand: Operand) -> OperandAttr:
        match operand:
            case MemoryAccess(memory, pattern, offset, dtype):
                stored = self.ref(memory)
                return OperandAttr(MemoryAccess(stored, pattern, map_leaves(offset, self.leaf), dtype))
            case RegisterAccess(register):
                return OperandAttr(replace(operand, register=self.ref(register)))
            case Immediate():
                return OperandAttr(operand)


class Decoder:
    """Puts the values of an operation back; a position without a value becomes None."""

    def __init__(self, values: Sequence[SSAValue]):
        self.values = values

    def ref(self, ref: Ref) -> Ref:
        return self.values[ref] if isinstance(ref, int) and ref < len(self.values) else None

    def leaf(self, leaf: Leaf) -> Leaf:
        return AffineIV(self.ref(leaf.value)) if isinstance(leaf, AffineIV) else RuntimeValue(self.ref(leaf.value))

    def expr(self, attr: ExprAttr) -> Expr:
        return map_leaves(attr.data, self.leaf)

    def operand(self, attr: OperandAttr) -> Operand:
        match attr.data:
            case MemoryAccess(memory, _, offset) as found:
                return replace(found, memory=self.ref(memory), offset=map_leaves(offset, self.leaf))
            case RegisterAccess(register) as found:
                return replace(found, register=self.ref(register))
            case Immediate() as found:
                return found


def operand_pieces(operand: Operand) -> Iterator[Piece]:
    """`%x[offset][[step, num], …] : dtype` with all that the handle's type says left out."""
    match operand:
        case MemoryAccess(memory, pattern, offset, dtype):
            yield from ref_pieces("memory", memory, is_default=True)
            geometry = geometry_of(memory)
            if geometry is None or pattern != geometry.whole or offset != constant(0):
                yield "["
                yield from expr_pieces(offset)
                yield f"]{pattern_text(pattern)}"
            if geometry is None or dtype != geometry.dtype:
                yield f" : {dtype}"
        case RegisterAccess(register, dtype):
            is_register = isinstance(register, SSAValue) and isinstance(register.type, RegisterType)
            yield from ref_pieces("register", register, is_register)
            yield "" if dtype == DType.int32 else f" : {dtype}"
        case Immediate(value, dtype):
            yield number_text(value)
            yield "" if dtype == as_operand(value).dtype else f" : {dtype}"


def geometry_of(ref: Ref) -> Geometry | None:
    """The geometry of a memory location handle, None for anything else."""
    return ref.type.data if isinstance(ref, SSAValue) and isinstance(ref.type, MemoryType) else None


def parse_operand(reader: Reader) -> Operand:
    """The inverse of `operand_pieces`."""
    parser = reader.parser
    if (value := reader.optional_value()) is not None:
        return _parse_handle(reader, value)
    word = parser.parse_optional_keyword_in(("memory", "register"))
    if word == "register":
        return RegisterAccess(reader.ref(), reader.dtype(DType.int32))
    if word == "memory":
        return _parse_access(reader, reader.ref(), (), DType.float32)
    number = reader.number()
    return Immediate(number, reader.dtype(as_operand(number).dtype))


def _parse_handle(reader: Reader, value: SSAValue) -> Operand:
    if isinstance(value.type, RegisterType):
        return RegisterAccess(value, reader.dtype(DType.int32))
    if (geometry := geometry_of(value)) is None:
        reader.parser.raise_error(f"expected a memory location or a register but got type {value.type}")
    return _parse_access(reader, value, geometry.whole, geometry.dtype)


def _parse_access(reader: Reader, memory: Ref, pattern: Pattern, dtype: DType) -> MemoryAccess:
    offset: Expr = constant(0)
    if reader.parser.parse_optional_punctuation("["):
        offset = reader.expr()
        reader.parser.parse_punctuation("]")
        pattern = reader.pattern()
    return MemoryAccess(memory, pattern, offset, reader.dtype(dtype))


@irdl_attr_definition
class ExprAttr(Data[Expr], SpacedOpaqueSyntaxAttribute):
    """A stored expression: leaves are operand positions."""

    name = "bir.expr"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Expr:
        return Reader(parser, ssa=False).expr()

    def print_parameter(self, printer: Printer) -> None:
        print_pieces(printer, expr_pieces(self.data))


@irdl_attr_definition
class OperandAttr(Data[Operand], SpacedOpaqueSyntaxAttribute):
    """A stored operand: handles and leaves are operand positions."""

    name = "bir.operand"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Operand:
        return parse_operand(Reader(parser, ssa=False))

    def print_parameter(self, printer: Printer) -> None:
        print_pieces(printer, operand_pieces(self.data))
