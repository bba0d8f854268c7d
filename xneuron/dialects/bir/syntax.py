"""The text of expressions and operands, both directions.

One grammar serves two places. In an operation's own assembly a leaf is an SSA value (`4 * %i + %n + 1`);
in an attribute it is the position of an operand (`4 * iv(0) + reg(1) + 1`). Only affine expressions are
infix; every other kind is spelled as a call, so that reading the text gives back the same tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from xdsl.ir import SSAValue
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer

from . import expressions as ex
from .enums import DType
from .expressions import Affine, Expr, ExprKind, Ref
from .types import RegisterType, parse_number

Piece: TypeAlias = str | SSAValue

_NAMED = {
    "ap_index": ExprKind.APIndex,
    "tiled_ap_index": ExprKind.TiledAPIndex,
    "symbolic_idx": ExprKind.SymbolicIdx,
}
_NAME_OF = {kind: word for word, kind in _NAMED.items()}


def print_pieces(printer: Printer, pieces: Iterable[Piece]) -> None:
    for piece in pieces:
        if isinstance(piece, SSAValue):
            printer.print_ssa_value(piece)
        else:
            printer.print_string(piece)


def render(pieces: Iterable[Piece], name: Callable[[SSAValue], str]) -> str:
    """The text with every value written as `name(value)`."""
    return "".join(name(piece) if isinstance(piece, SSAValue) else piece for piece in pieces)


def ref_pieces(word: str, ref: Ref, is_default: bool = False) -> Iterator[Piece]:
    """`%v` where the value's type says it all, else `word(%v)`, `word(3)` or `word(null)`."""
    if is_default and isinstance(ref, SSAValue):
        yield ref
        return
    yield f"{word}("
    yield ref if isinstance(ref, SSAValue) else "null" if ref is None else str(ref)
    yield ")"


def expr_pieces(expr: Expr) -> Iterator[Piece]:
    """The canonical text of an expression."""
    if isinstance(expr, Affine):
        yield from _affine_pieces(expr)
    elif expr.kind.is_index:
        yield "index("
        yield from index_pieces(expr)
        yield ")"
    else:
        yield from _call_pieces(expr)


def _affine_pieces(expr: Affine) -> Iterator[Piece]:
    started = False
    for idx, coeff in expr.terms:
        if started:
            yield " - " if coeff < 0 else " + "
        shown = abs(coeff) if started else coeff
        if shown != 1:
            yield f"{shown} * "
        yield from index_pieces(idx)
        started = True
    if not started:
        yield str(expr.c)
    elif expr.c:
        yield f" - {-expr.c}" if expr.c < 0 else f" + {expr.c}"


def index_pieces(idx: Expr) -> Iterator[Piece]:
    """What may stand in an affine term."""
    match idx:
        case ex.AffineIV(value):
            is_axis = isinstance(value, SSAValue) and not isinstance(value.type, RegisterType)
            yield from ref_pieces("iv", value, is_axis)
        case ex.RuntimeValue(value):
            is_register = isinstance(value, SSAValue) and isinstance(value.type, RegisterType)
            yield from ref_pieces("reg", value, is_register)
        case ex.ShardID(ub):
            yield f"shard({ub})"
        case ex.NamedIndex(kind, label):
            yield f'{_NAME_OF[kind]}("{label}")'
        case _:
            raise ValueError(f"expected an index but got {idx.kind.name}")


def _call_pieces(expr: Expr) -> Iterator[Piece]:
    match expr:
        case ex.Sum(terms):
            yield from _call("sum", *terms)
        case ex.Mult(var, scale):
            yield from _call("mult", var, scale)
        case ex.FloorDiv(numer, denom):
            yield from _call("floordiv", numer, denom)
        case ex.Modulo(numer, denom):
            yield from _call("mod", numer, denom)
        case ex.CCDiv(numer, denom, groups):
            yield from _call("ccdiv", numer, denom, groups)
        case ex.CCGetRank(iteration, channel):
            yield from _call("rank", iteration, channel)
        case ex.IndirectArg(arg_id):
            yield from _call("arg", arg_id)
        case _:
            raise ValueError(f"expected an expression but got {expr!r}")


def _call(word: str, *args: Expr | int) -> Iterator[Piece]:
    yield f"{word}("
    for number, arg in enumerate(args):
        if number:
            yield ", "
        if isinstance(arg, int):
            yield str(arg)
        else:
            yield from expr_pieces(arg)
    yield ")"


class Reader:
    """Reads expressions and references; with `ssa` leaves are values of the program, else positions."""

    def __init__(self, parser: AttrParser, ssa: bool):
        self.parser = parser
        self.ssa = ssa

    def value(self) -> SSAValue:
        """`%name`, which must be defined above (handles and induction variables always are)."""
        assert isinstance(self.parser, Parser)
        unresolved = self.parser.parse_unresolved_operand()
        found = self.parser.ssa_values.get(unresolved.operand_name, ())
        if unresolved.index >= len(found):
            self.parser.raise_error(f"unknown value %{unresolved.operand_name}", unresolved.span)
        return found[unresolved.index]

    def optional_value(self) -> SSAValue | None:
        return self.value() if self.ssa and self._at("%") else None

    def _at(self, start: str) -> bool:
        position = self.parser.pos
        return self.parser.lexer.input.content.startswith(start, position)

    def ref(self) -> Ref:
        """The inside of `iv(…)`, `reg(…)`, `memory(…)`, `register(…)`."""
        with self.parser.in_parens():
            if self.parser.parse_optional_keyword("null"):
                return None
            return self.value() if self.ssa else self.parser.parse_integer(allow_negative=False)

    def expr(self) -> Expr:
        """Any expression."""
        word = self.parser.parse_optional_keyword_in(tuple(self._calls()))
        return self._calls()[word]() if word else self.affine()

    def _calls(self) -> dict[str, Callable[[], Expr]]:
        return {
            "index": lambda: self._in_parens(self.index),
            "sum": self._sum,
            "mult": lambda: ex.Mult(*self._expr_and_ints(1)),
            "floordiv": lambda: ex.FloorDiv(*self._expr_and_ints(1)),
            "mod": lambda: ex.Modulo(*self._expr_and_ints(1)),
            "ccdiv": lambda: ex.CCDiv(*self._expr_and_ints(2)),
            "rank": lambda: ex.CCGetRank(*self._ints(2)),
            "arg": lambda: ex.IndirectArg(*self._ints(1)),
        }

    def _in_parens(self, parse: Callable[[], Expr]) -> Expr:
        with self.parser.in_parens():
            return parse()

    def _sum(self) -> Expr:
        return ex.Sum(tuple(self.parser.parse_comma_separated_list(self.parser.Delimiter.PAREN, self.expr)))

    def _expr_and_ints(self, count: int) -> tuple[Expr, *tuple[int, ...]]:
        with self.parser.in_parens():
            expr = self.expr()
            numbers: list[int] = []
            for _ in range(count):
                self.parser.parse_punctuation(",")
                numbers.append(self.parser.parse_integer())
        return expr, *numbers

    def _ints(self, count: int) -> list[int]:
        numbers = self.parser.parse_comma_separated_list(self.parser.Delimiter.PAREN, self.parser.parse_integer)
        if len(numbers) != count:
            self.parser.raise_error(f"expected {count} integers but got {len(numbers)}")
        return numbers

    def affine(self) -> Affine:
        """`coeff * idx + … + c`, terms kept in order and as written."""
        terms: list[tuple[Expr, int]] = []
        total = 0
        sign = -1 if self.parser.parse_optional_punctuation("-") else 1
        while True:
            number = self.parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
            if number is None:
                terms.append((self.index(), sign))
            elif self.parser.parse_optional_punctuation("*"):
                terms.append((self.index(), sign * number))
            else:
                total += sign * number
            if self.parser.parse_optional_punctuation("+"):
                sign = 1
            elif self.parser.parse_optional_punctuation("-"):
                sign = -1
            else:
                return Affine(tuple(terms), total)

    def index(self) -> Expr:
        """What may stand in an affine term."""
        if (value := self.optional_value()) is not None:
            return ex.leaf_of(value)
        word = self.parser.parse_keyword_in(("iv", "reg", "shard", *_NAMED), " in an index expression")
        if word == "iv":
            return ex.AffineIV(self.ref())
        if word == "reg":
            return ex.RuntimeValue(self.ref())
        if word == "shard":
            return ex.ShardID(*self._ints(1))
        with self.parser.in_parens():
            return ex.NamedIndex(_NAMED[word], self.parser.parse_str_literal())

    def dtype(self, default: DType) -> DType:
        """` : float32`, or the default."""
        return self.parser.parse_str_enum(DType) if self.parser.parse_optional_punctuation(":") else default

    def pattern(self) -> tuple[tuple[int, int], ...]:
        """`[[step, num], …]`."""
        return tuple(self.parser.parse_comma_separated_list(self.parser.Delimiter.SQUARE, self._pair))

    def _pair(self) -> tuple[int, int]:
        with self.parser.in_square_brackets():
            step = self.parser.parse_integer()
            self.parser.parse_punctuation(",")
            return step, self.parser.parse_integer()

    def number(self) -> int | float:
        return parse_number(self.parser)


def pattern_text(pattern: Iterable[tuple[int, int]]) -> str:
    return f"[{', '.join(f'[{step}, {num}]' for step, num in pattern)}]"
