"""Index expressions: what loop bounds and access offsets are made of.

An expression is a tree of frozen nodes. Two kinds of leaf name something of the program: `AffineIV` (the
induction variable of a loop axis) and `RuntimeValue` (a register). A leaf holds an SSA value where the
tree is used, and the position of that value among the operation's operands where the tree is stored in an
attribute (see `operands.py`); `map_leaves` goes from one to the other.

Kinds, their numbers and the well-formedness rule of affine terms: reference `bir.md`, section c.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, TypeAlias

from xdsl.ir import SSAValue


class ExprKind(IntEnum):
    """Kinds by their wire name; the three without `Kind` exist in memory only."""

    CCGetRankKind = 2
    IndirectArgId = 3
    AffIVKind = 6
    IntRuntimeValueKind = 7
    APIndex = 9
    TiledAPIndex = 10
    SymbolicIdx = 12
    ShardIDKind = 13
    AffExprKind = 17
    SumKind = 18
    MultKind = 23
    FloorDivKind = 25
    ModuloKind = 26
    CCDivKind = 27

    @property
    def is_index(self) -> bool:
        """Whether it may be the index of an affine term (kinds 6..13)."""
        return 6 <= self <= 13


Ref: TypeAlias = SSAValue | int | None
"""What a leaf names: a value, the position of an operand, or (in an ill-formed program) nothing."""


@dataclass(frozen=True)
class AffineIV:
    """The current value of a loop axis."""

    kind: ClassVar[ExprKind] = ExprKind.AffIVKind
    value: Ref


@dataclass(frozen=True)
class RuntimeValue:
    """The value of a register of the enclosing function, as a signed 32-bit integer."""

    kind: ClassVar[ExprKind] = ExprKind.IntRuntimeValueKind
    value: Ref


@dataclass(frozen=True)
class ShardID:
    """The shard this program runs as, in [0, ub)."""

    kind: ClassVar[ExprKind] = ExprKind.ShardIDKind
    ub: int


@dataclass(frozen=True)
class NamedIndex:
    """An index that exists in memory only (kinds 9, 10, 12): it has no wire form."""

    kind: ExprKind
    label: str


@dataclass(frozen=True)
class Affine:
    """`c + sum(coeff * idx)`; every idx is of an index kind."""

    kind: ClassVar[ExprKind] = ExprKind.AffExprKind
    terms: tuple[tuple[Expr, int], ...] = ()
    c: int = 0

    def __post_init__(self) -> None:
        for idx, _ in self.terms:
            if not idx.kind.is_index:
                raise ValueError(f"expected an index (kinds 6 to 13) in an affine term but got {idx.kind.name}")


@dataclass(frozen=True)
class Sum:
    kind: ClassVar[ExprKind] = ExprKind.SumKind
    terms: tuple[Expr, ...]


@dataclass(frozen=True)
class Mult:
    kind: ClassVar[ExprKind] = ExprKind.MultKind
    var: Expr
    scale: int


@dataclass(frozen=True)
class FloorDiv:
    """Quotient rounded towards minus infinity."""

    kind: ClassVar[ExprKind] = ExprKind.FloorDivKind
    numer: Expr
    denom: int


@dataclass(frozen=True)
class Modulo:
    """Remainder of the floor division: it has the sign of `denom`."""

    kind: ClassVar[ExprKind] = ExprKind.ModuloKind
    numer: Expr
    denom: int


@dataclass(frozen=True)
class CCDiv:
    kind: ClassVar[ExprKind] = ExprKind.CCDivKind
    numer: Expr
    denom: int
    replica_groups_id: int


@dataclass(frozen=True)
class CCGetRank:
    kind: ClassVar[ExprKind] = ExprKind.CCGetRankKind
    iteration_id: int
    channel_id: int


@dataclass(frozen=True)
class IndirectArg:
    kind: ClassVar[ExprKind] = ExprKind.IndirectArgId
    arg_id: int


Leaf: TypeAlias = AffineIV | RuntimeValue
Expr: TypeAlias = (
    AffineIV
    | RuntimeValue
    | ShardID
    | NamedIndex
    | Affine
    | Sum
    | Mult
    | FloorDiv
    | Modulo
    | CCDiv
    | CCGetRank
    | IndirectArg
)


def constant(c: int) -> Affine:
    """The affine expression without terms."""
    return Affine((), c)


def affine(value: SSAValue, coeff: int = 1, c: int = 0) -> Affine:
    """`c + coeff * value`, for an induction variable or a register."""
    return Affine(((leaf_of(value), coeff),), c)


def leaf_of(value: SSAValue) -> Leaf:
    """The leaf that reads `value`: a register at run time, anything else as an induction variable."""
    from .types import RegisterType

    return RuntimeValue(value) if isinstance(value.type, RegisterType) else AffineIV(value)


def map_leaves(expr: Expr, change: Callable[[Leaf], Expr]) -> Expr:
    """The same tree with every leaf replaced; in affine terms a leaf must become an index again."""
    match expr:
        case AffineIV() | RuntimeValue():
            return change(expr)
        case Affine(()):
            return expr
        case Affine(terms, c):
            return Affine(tuple((map_leaves(idx, change), k) for idx, k in terms), c)
        case Sum(terms):
            return Sum(tuple(map_leaves(term, change) for term in terms))
        case Mult(var, scale):
            return Mult(map_leaves(var, change), scale)
        case FloorDiv(numer, denom):
            return FloorDiv(map_leaves(numer, change), denom)
        case Modulo(numer, denom):
            return Modulo(map_leaves(numer, change), denom)
        case CCDiv(numer, denom, groups):
            return CCDiv(map_leaves(numer, change), denom, groups)
        case _:
            return expr


def leaves(expr: Expr) -> Iterator[Leaf]:
    """Every leaf, left to right, with repetitions."""
    match expr:
        case AffineIV() | RuntimeValue():
            yield expr
        case Affine(terms):
            for idx, _ in terms:
                yield from leaves(idx)
        case Sum(terms):
            for term in terms:
                yield from leaves(term)
        case Mult(inner) | FloorDiv(inner) | Modulo(inner) | CCDiv(inner):
            yield from leaves(inner)
        case _:
            return


def has_runtime_value(expr: Expr) -> bool:
    """Whether its value depends on a register."""
    return any(isinstance(leaf, RuntimeValue) for leaf in leaves(expr))


def num_terms(expr: Expr) -> int:
    """Non-constant terms of an affine expression."""
    return len(expr.terms) if isinstance(expr, Affine) else 1


def constant_value(expr: Expr) -> int | None:
    """The value of an expression that reads nothing, else None."""
    folded = fold(expr)
    return folded.c if isinstance(folded, Affine) and not folded.terms else None


class EvaluationError(Exception):
    """An expression that has no value here: what was asked for, and what was missing."""


@dataclass(frozen=True)
class Environment:
    """What leaves read: the induction map, and the register file as 32-bit patterns or signed values."""

    induction: Mapping[SSAValue, int]
    registers: Mapping[SSAValue, int]
    shard_id: int = 0

    def read(self, leaf: Leaf) -> int:
        """The current value of a leaf (registers read as signed 32-bit)."""
        if not isinstance(leaf.value, SSAValue):
            raise EvaluationError(f"expected a resolved value but got {leaf.value!r}")
        where = self.induction if isinstance(leaf, AffineIV) else self.registers
        if (found := where.get(leaf.value)) is None:
            what = "an induction variable outside its loop" if isinstance(leaf, AffineIV) else "an unknown register"
            raise EvaluationError(f"{what} was read")
        return found if isinstance(leaf, AffineIV) else signed32(found)


def signed32(pattern: int) -> int:
    """The signed value of the low 32 bits of `pattern`."""
    return ((pattern + 0x8000_0000) & 0xFFFF_FFFF) - 0x8000_0000


def evaluate(expr: Expr, env: Environment) -> int:
    """The exact value of `expr`: unbounded integers, floor division (reference: 64-bit signed)."""
    match expr:
        case AffineIV() | RuntimeValue():
            return env.read(expr)
        case ShardID():
            return env.shard_id
        case Affine(terms, c):
            return c + sum(coeff * evaluate(idx, env) for idx, coeff in terms)
        case Sum(terms):
            return sum(evaluate(term, env) for term in terms)
        case Mult(var, scale):
            return evaluate(var, env) * scale
        case FloorDiv(numer, denom):
            return evaluate(numer, env) // _nonzero(denom)
        case Modulo(numer, denom):
            return evaluate(numer, env) % _nonzero(denom)
        case _:
            raise EvaluationError(f"an expression of kind {expr.kind.name} has no value here")


def _nonzero(denom: int) -> int:
    if denom == 0:
        raise EvaluationError("Division by zero")
    return denom


def fold(expr: Expr) -> Expr:
    """An equal expression with constants folded, equal terms merged and zero terms dropped."""
    match expr:
        case Affine(terms, c):
            return _merged(terms, c)
        case Sum(terms):
            return _fold_sum([fold(term) for term in terms])
        case Mult(var, scale):
            return _fold_mult(fold(var), scale)
        case FloorDiv(numer, denom):
            return _fold_floordiv(fold(numer), denom)
        case Modulo(numer, denom):
            return _fold_modulo(fold(numer), denom)
        case CCDiv(numer, denom, groups):
            return CCDiv(fold(numer), denom, groups)
        case _:
            return expr


def _merged(terms: tuple[tuple[Expr, int], ...], c: int) -> Affine:
    totals: dict[Expr, int] = {}
    for idx, coeff in terms:
        totals[idx] = totals.get(idx, 0) + coeff
    return Affine(tuple((idx, coeff) for idx, coeff in totals.items() if coeff), c)


def as_affine(expr: Expr) -> Affine | None:
    """The affine form of an affine expression or of a bare index, else None."""
    if isinstance(expr, Affine):
        return expr
    return Affine(((expr, 1),)) if expr.kind.is_index else None


def _fold_sum(terms: list[Expr]) -> Expr:
    parts = [part for term in terms if (part := as_affine(term))]
    rest = tuple(term for term in terms if as_affine(term) is None)
    total = _merged(tuple(t for part in parts for t in part.terms), sum(part.c for part in parts))
    if not rest:
        return total
    return Sum((*rest, total)) if total != constant(0) else rest[0] if len(rest) == 1 else Sum(rest)


def _fold_mult(var: Expr, scale: int) -> Expr:
    if scale == 1:
        return var
    if scale == 0:
        return constant(0)
    if part := as_affine(var):
        return Affine(tuple((idx, coeff * scale) for idx, coeff in part.terms), part.c * scale)
    return Mult(var, scale)


def _fold_floordiv(numer: Expr, denom: int) -> Expr:
    if denom == 1:
        return numer
    part = as_affine(numer)
    if denom and part and all(coeff % denom == 0 for _, coeff in part.terms):
        return Affine(tuple((idx, coeff // denom) for idx, coeff in part.terms), part.c // denom)
    return FloorDiv(numer, denom)


def _fold_modulo(numer: Expr, denom: int) -> Expr:
    part = as_affine(numer)
    if denom and part and all(coeff % denom == 0 for _, coeff in part.terms):
        return constant(part.c % denom)
    return Modulo(numer, denom)
