"""Loops whose counter moves by a constant: how often they run, without running them.

The condition is turned inside out: which counter values make it false? Each comparison with a constant holds for a set
of residues (`Residues`), taken back through shifts and conversions to the counter; and, or, not combine sets. The
answer is the first t at which `init + t*step mod 2^w` fails. Wrap-around is no special case; the answer has any size.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from xneuron.analysis.residues import Residues
from xneuron.analysis.simulation import number_of
from xneuron.analysis.slices import Apply, Constant, Node, Slot, postorder
from xneuron.dialects.hlo.attributes import text_of
from xneuron.dialects.hlo.data_movement import BitcastOp, BroadcastOp, ReshapeOp
from xneuron.dialects.hlo.elementwise import (
    AddOp,
    AndOp,
    BitcastConvertOp,
    CompareOp,
    ConvertOp,
    NegateOp,
    NotOp,
    OrOp,
    SubtractOp,
    XorOp,
)
from xneuron.dialects.hlo.types import BY_TYPE, Element, Tensor, element_count

SAME_VALUE = (ReshapeOp, BitcastOp, BroadcastOp, BitcastConvertOp)
"""Ops that keep the bits of a single element."""

FLIPPED = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE", "EQ": "EQ", "NE": "NE"}


class Integers(NamedTuple):
    """The machine integers of one type (pred counts as unsigned, one bit wide)."""

    bits: int
    signed: bool

    @property
    def modulus(self) -> int:
        """Number of values."""
        return 1 << self.bits

    @property
    def lowest(self) -> int:
        """The smallest value."""
        return -(self.modulus >> 1) if self.signed else 0

    @property
    def highest(self) -> int:
        """The largest value."""
        return self.lowest + self.modulus - 1

    def shortest(self, step: int) -> int:
        """A step as it is best read: of signed integers within their range, of unsigned ones with the sign it has."""
        if self.signed:
            return (step - self.lowest) % self.modulus + self.lowest
        return step % self.modulus if step >= 0 else -(-step % self.modulus)


def integers_of(type: Attribute) -> Integers | None:
    """The machine integers of a single integer or pred; None for any other type."""
    element = _element(type)
    if element is None or element.kind not in ("int", "uint", "pred") or element_count(type) != 1:
        return None
    return Integers(element.bits, element.kind == "int")


def _element(type: Attribute) -> Element | None:
    return BY_TYPE.get(cast(Tensor, type).element_type) if isinstance(type, TensorType) else None


def step_of(update: Node, counter: Slot) -> int | None:
    """The constant that an update adds to the counter, None for any other update.

    Adds may be done in a wider type: what is cut off at the end is the same.
    """
    bits = cast(Integers, integers_of(counter.type)).bits
    total, node = 0, update
    while isinstance(node, Apply):
        numbers = integers_of(node.type)
        if numbers is None or numbers.bits < bits or is_pred(node.type):
            return None
        match node.op, node.args:
            case AddOp(), (Constant() as constant, rest) | (rest, Constant() as constant):
                total += number_of(constant)
            case SubtractOp(), (rest, Constant() as constant):
                total -= number_of(constant)
            case op, (rest,) if isinstance(op, (ConvertOp, *SAME_VALUE)):
                pass
            case _:
                return None
        node = rest
    return total if isinstance(node, Slot) and node.path == counter.path else None


def leaving(condition: Node, counter: Slot) -> Residues | None:
    """Counter values for which the condition is false, None if it is not made of comparisons with constants."""
    truths: dict[Node, Residues | None] = {}
    for node in postorder(condition):
        if is_pred(node.type):
            truths[node] = _truth(node, truths, counter)
    true = truths.get(condition)
    return None if true is None else ~true


def is_pred(type: Attribute) -> bool:
    """True for arrays of truth values."""
    return (element := _element(type)) is not None and element.kind == "pred"


def _truth(node: Node, truths: Truths, counter: Slot) -> Residues | None:
    """Counter values for which a pred is true, from those of its arguments."""
    if element_count(node.type) != 1:
        return None
    if isinstance(node, Constant):
        return _where(bool(number_of(node)), counter)
    if not isinstance(node, Apply):
        return None
    if isinstance(node.op, CompareOp):
        return _compared(node, node.op, truths, counter)
    args = [truths.get(arg) for arg in node.args]
    match node.op, args:
        case AndOp(), [Residues() as a, Residues() as b]:
            return a & b
        case OrOp(), [Residues() as a, Residues() as b]:
            return a | b
        case XorOp(), [Residues() as a, Residues() as b]:
            return (a & ~b) | (~a & b)
        case NotOp(), [Residues() as a]:
            return ~a
        case ConvertOp(), [None]:
            return _entering(node.args[0], _other_than_zero(node.args[0]), truths, counter)
        case op, [Residues() as a] if isinstance(op, (ConvertOp, *SAME_VALUE)):
            return a
        case _:
            return None


Truths: TypeAlias = dict[Node, Residues | None]


def _where(truth: bool, counter: Slot) -> Residues:
    everything = Residues.all(cast(Integers, integers_of(counter.type)).modulus)
    return everything if truth else ~everything


def _other_than_zero(node: Node) -> Residues | None:
    numbers = integers_of(node.type)
    return None if numbers is None else ~Residues.of(numbers.modulus, [(0, 0)])


def _compared(node: Apply, op: CompareOp, truths: Truths, counter: Slot) -> Residues | None:
    numbers = integers_of(node.args[0].type)
    if numbers is None or (direction := direction_of(op, numbers)) is None:
        return None
    match node.args:
        case (rest, Constant() as constant):
            return _entering(rest, _satisfying(direction, number_of(constant), numbers), truths, counter)
        case (Constant() as constant, rest):
            return _entering(rest, _satisfying(FLIPPED[direction], number_of(constant), numbers), truths, counter)
        case _:
            return None


def _entering(node: Node, wanted: Residues | None, truths: Truths, counter: Slot) -> Residues | None:
    """Counter values for which an integer expression of the counter is in `wanted`."""
    while wanted is not None:
        if isinstance(node, Slot):
            return wanted if node.path == counter.path else None
        if is_pred(node.type):
            return _as_number(truths.get(node), wanted)
        variable = [arg for arg in node.args if not isinstance(arg, Constant)] if isinstance(node, Apply) else []
        if len(variable) != 1:
            return None
        node, wanted = variable[0], _before(cast(Apply, node), variable[0], wanted)
    return None


def _as_number(true: Residues | None, wanted: Residues) -> Residues | None:
    """Counter values for which a condition, as 0 or 1, is in `wanted`."""
    if true is None:
        return None
    nothing = Residues.none(true.modulus)
    return (true if 1 in wanted else nothing) | (~true if 0 in wanted else nothing)


def _before(node: Apply, operand: Node, wanted: Residues) -> Residues | None:
    """Values of the one operand that is not constant for which the op's value is in `wanted`."""
    numbers = integers_of(operand.type)
    if numbers is None or element_count(node.type) != 1:
        return None
    match node.op, node.args:
        case ConvertOp(), _:
            return _before_convert(numbers, wanted)
        case NegateOp(), _:
            return wanted.reflected(0)
        case NotOp(), _:
            return wanted.reflected(-1)
        case AddOp(), (Constant() as constant, _) | (_, Constant() as constant):
            return wanted.shifted(-number_of(constant))
        case SubtractOp(), (_, Constant() as constant):
            return wanted.shifted(number_of(constant))
        case SubtractOp(), (Constant() as constant, _):
            return wanted.reflected(number_of(constant))
        case op, _ if isinstance(op, SAME_VALUE) and wanted.modulus == numbers.modulus:
            return wanted
        case _:
            return None


def _satisfying(direction: str, bound: int, numbers: Integers) -> Residues:
    """All v with `v direction bound`."""
    low, high = numbers.lowest, numbers.highest
    ranges = {
        "LT": [(low, bound - 1)],
        "LE": [(low, bound)],
        "GT": [(bound + 1, high)],
        "GE": [(bound, high)],
        "EQ": [(bound, bound)],
        "NE": [(low, bound - 1), (bound + 1, high)],
    }
    return Residues.of(numbers.modulus, ranges[direction])


def _before_convert(numbers: Integers, wanted: Residues) -> Residues | None:
    """Preimage of a conversion to an integer type at least as wide: the value is kept, modulo its range."""
    if wanted.modulus < numbers.modulus:
        return None
    if wanted.modulus == numbers.modulus:
        return wanted
    kept = wanted & Residues.of(wanted.modulus, [(numbers.lowest, numbers.highest)])
    # A negative value is one of the largest residues of the wider type: bring it back among the narrow ones.
    return Residues.of(numbers.modulus, kept.intervals)


def direction_of(op: CompareOp, numbers: Integers) -> str | None:
    """The comparison's direction; None if it compares as a type of another sign than the operands have."""
    kind = text_of(op.compare_type, "SIGNED" if numbers.signed else "UNSIGNED")
    return text_of(op.direction) if kind == ("SIGNED" if numbers.signed else "UNSIGNED") else None


class Bound(NamedTuple):
    """`counter compare bound`, where the condition is one comparison of the counter with a constant."""

    compare: str
    bound: bool | int | float | complex


def bound_of(condition: Node, counter: Slot) -> Bound | None:
    """The condition as one comparison with the counter on the left, None if it is not that simple."""
    if not isinstance(condition, Apply) or not isinstance(condition.op, CompareOp):
        return None
    direction = text_of(condition.op.direction)
    match condition.args:
        case (Slot(path=path), Constant() as constant) if path == counter.path:
            return Bound(direction, number_of(constant))
        case (Constant() as constant, Slot(path=path)) if path == counter.path:
            return Bound(FLIPPED[direction], number_of(constant))
        case _:
            return None
