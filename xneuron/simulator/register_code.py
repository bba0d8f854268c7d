"""Instructions on registers as Python expressions on integers, wrapped only where the result can leave the range.

The rules where the reference is silent are in `docs/bir.md`: `divide` and `mod` round towards minus infinity and give
0 for a zero divisor, shift counts are modulo the width, comparisons give 1 or 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from xneuron.dialects.bir.enums import AluOpType, BranchCompareOp, DType

PYTHON_COMPARISON = {"LT": "<", "LE": "<=", "EQ": "==", "NE": "!=", "GE": ">=", "GT": ">"}
_COMPARISONS = {
    AluOpType.is_equal: "==",
    AluOpType.not_equal: "!=",
    AluOpType.is_gt: ">",
    AluOpType.is_ge: ">=",
    AluOpType.is_lt: "<",
    AluOpType.is_le: "<=",
}


class Number(NamedTuple):
    """Python text of an integer that needs no parentheses, and the range it lies in."""

    text: str
    low: int
    high: int

    @property
    def size(self) -> int:
        """The largest magnitude."""
        return max(-self.low, self.high)


def literal(value: int) -> Number:
    """A constant."""
    return Number(str(value) if value >= 0 else f"({value})", value, value)


def register(name: str, bits: int = 32) -> Number:
    """A register variable, read as signed."""
    return Number(name, -(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def element(text: str, bits: int, is_signed: bool) -> Number:
    """An element of memory, of that many bits."""
    return register(text, bits) if is_signed else Number(text, 0, (1 << bits) - 1)


def low_bits(value: Number, bits: int, is_signed: bool) -> Number:
    """The low bits of an integer, read as signed or unsigned."""
    half, mask = 1 << (bits - 1), (1 << bits) - 1
    low, high = (-half, half - 1) if is_signed else (0, mask)
    if low <= value.low and value.high <= high:
        return value
    text = f"((({value.text} + {half}) & {mask}) - {half})" if is_signed else f"({value.text} & {mask})"
    return Number(text, low, high)


def wrapped(name: str, value: Number, bits: int) -> list[str]:
    """Lines that put the value into a register variable as the signed value of its low bits."""
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    span = 1 << bits
    lines = [f"{name} = {value.text}"]
    above, below = value.high > high, value.low < low
    if value.high > high + span or value.low < low - span:
        lines.append(f"if not {low} <= {name} <= {high}: {name} = (({name} + {span // 2}) & {span - 1}) - {span // 2}")
    elif above:
        lines.append(f"if {name} > {high}: {name} -= {span}")
        if below:
            lines.append(f"elif {name} < {low}: {name} += {span}")
    elif below:
        lines.append(f"if {name} < {low}: {name} += {span}")
    return lines


def alu(op: AluOpType, a: Number, b: Number, bits: int) -> Number:
    """`op(a, b)`, exact; `power` and `reciprocal_root` are functions of `numbers`, which the caller makes known."""
    if comparison := _COMPARISONS.get(op):
        return Number(f"(1 if {a.text} {comparison} {b.text} else 0)", 0, 1)
    return _RULES[op](a, b, bits)


def _shift_left(a: Number, b: Number, bits: int) -> Number:
    most = 1 << (bits - 1)
    return Number(f"{a.text} << {_count(b, bits)}", -most * most * 2, most * most * 2)


def _count(b: Number, bits: int) -> str:
    return str(b.low & (bits - 1)) if b.low == b.high else f"({b.text} & {bits - 1})"


def _shift_right(is_signed: bool) -> Callable[[Number, Number, int], Number]:
    def rule(a: Number, b: Number, bits: int) -> Number:
        value = low_bits(a, bits, is_signed)
        return value._replace(text=f"{value.text} >> {_count(b, bits)}")

    return rule


def _product(a: Number, b: Number, bits: int) -> Number:
    ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Number(f"{a.text} * {b.text}", min(ends), max(ends))


def _quotient(a: Number, b: Number, bits: int) -> Number:
    return _nonzero(Number(f"{a.text} // {b.text}", -a.size, a.size), b)


def _remainder(a: Number, b: Number, bits: int) -> Number:
    return _nonzero(Number(f"{a.text} % {b.text}", min(b.low, 0), max(b.high, 0)), b)


def _nonzero(value: Number, divisor: Number) -> Number:
    if not divisor.low <= 0 <= divisor.high:
        return value
    if divisor.low == divisor.high:
        return literal(0)
    return value._replace(text=f"({value.text} if {divisor.text} else 0)")


def _chosen(comparison: str) -> Callable[[Number, Number, int], Number]:
    pick = max if comparison == ">" else min

    def rule(a: Number, b: Number, bits: int) -> Number:
        text = f"({a.text} if {a.text} {comparison} {b.text} else {b.text})"
        return Number(text, pick(a.low, b.low), pick(a.high, b.high))

    return rule


def _bitwise(symbol: str) -> Callable[[Number, Number, int], Number]:
    """Of two signed (or two unsigned) numbers of some width, so is the result."""

    def rule(a: Number, b: Number, bits: int) -> Number:
        size = (1 << max(n.size for n in (a, b)).bit_length()) if a.low < 0 or b.low < 0 else 0
        most = (1 << max(a.high, b.high, 0).bit_length()) - 1
        return Number(f"{a.text} {symbol} {b.text}", -size, most)

    return rule


def _logical(text: str) -> Callable[[Number, Number, int], Number]:
    return lambda a, b, bits: Number(f"(1 if {text.format(a.text, b.text)} else 0)", 0, 1)


def _signed_full(text: str) -> Callable[[Number, Number, int], Number]:
    def rule(a: Number, b: Number, bits: int) -> Number:
        return Number(text.format(a.text, b.text, bits), -(1 << (bits - 1)), (1 << (bits - 1)) - 1)

    return rule


_RULES: dict[AluOpType, Callable[[Number, Number, int], Number]] = {
    AluOpType.bypass: lambda a, b, bits: a,
    AluOpType.bitwise_not: lambda a, b, bits: Number(f"~{a.text}", ~a.high, ~a.low),
    AluOpType.arith_shift_left: _shift_left,
    AluOpType.logical_shift_left: _shift_left,
    AluOpType.arith_shift_right: _shift_right(True),
    AluOpType.logical_shift_right: _shift_right(False),
    AluOpType.add: lambda a, b, bits: Number(f"{a.text} + {b.text}", a.low + b.low, a.high + b.high),
    AluOpType.subtract: lambda a, b, bits: Number(f"{a.text} - {b.text}", a.low - b.high, a.high - b.low),
    AluOpType.mult: _product,
    AluOpType.divide: _quotient,
    AluOpType.mod: _remainder,
    AluOpType.max: _chosen(">"),
    AluOpType.min: _chosen("<"),
    AluOpType.bitwise_and: _bitwise("&"),
    AluOpType.bitwise_or: _bitwise("|"),
    AluOpType.bitwise_xor: _bitwise("^"),
    AluOpType.logical_and: _logical("{0} and {1}"),
    AluOpType.logical_or: _logical("{0} or {1}"),
    AluOpType.logical_xor: _logical("(not {0}) != (not {1})"),
    AluOpType.pow: _signed_full("power({0}, {1}, {2})"),
    AluOpType.rsqrt: _signed_full("reciprocal_root({0}, {2})"),
    AluOpType.abs: lambda a, b, bits: Number(f"abs({a.text})", 0, a.size),
}


def condition(compare: BranchCompareOp, left: str, right: str) -> str:
    """A comparison of CompareAndBranch as a Python condition."""
    return f"{left} {PYTHON_COMPARISON[compare.relation]} {right}"


def integer_range(dtype: DType) -> tuple[int, bool]:
    """Width and signedness of an integer dtype."""
    return 8 * dtype.nbytes, not dtype.value.startswith("u")
