"""Index expressions as Python text."""

from __future__ import annotations

from collections.abc import Callable

from xneuron.dialects.bir.expressions import (
    Affine,
    AffineIV,
    Expr,
    FloorDiv,
    Leaf,
    Modulo,
    Mult,
    RuntimeValue,
    ShardID,
    Sum,
    constant_value,
    fold,
)
from xneuron.execution.errors import EvaluationError


def text_of(expr: Expr, name: Callable[[Leaf], str]) -> str:
    """The exact value of an expression; `name` is the variable of an induction variable or of a register.

    Raises EvaluationError for an expression that has no value on one core, or divides by zero.
    """
    if (value := constant_value(expr)) is not None:
        return str(value)
    return _text(fold(expr), name)


def _text(expr: Expr, name: Callable[[Leaf], str]) -> str:
    match expr:
        case AffineIV() | RuntimeValue():
            return name(expr)
        case ShardID():
            return "0"
        case Affine(terms, c):
            parts = [_scaled(_text(idx, name), coeff) for idx, coeff in terms]
            return " + ".join([*parts, *([str(c)] if c or not parts else [])])
        case Sum(terms):
            return " + ".join(f"({_text(term, name)})" for term in terms)
        case Mult(var, scale):
            return f"({_text(var, name)}) * {scale}"
        case FloorDiv(numer, denom):
            return f"({_text(numer, name)}) // {_nonzero(denom)}"
        case Modulo(numer, denom):
            return f"({_text(numer, name)}) % {_nonzero(denom)}"
        case _:
            raise EvaluationError(f"an expression of kind {expr.kind.name} has no value here")


def _scaled(text: str, coeff: int) -> str:
    return text if coeff == 1 else f"{coeff} * {text}"


def _nonzero(denom: int) -> int:
    if denom == 0:
        raise EvaluationError("Division by zero")
    return denom
