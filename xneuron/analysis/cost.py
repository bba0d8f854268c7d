"""What collectives move in one run of a program, as a function of how often its loops run.

Bytes of a collective are those of the larger of what a participant gives and gets: the gathered tensor, the tensor
before it is reduced. A loop repeats its body (and, once more, its condition); known counts are multiplied out, unknown
ones stay as `trips(name)`. Of a conditional the most of each term counts: an upper bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, Protocol, Self, TypeAlias, TypeVar

from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.dialects.func import CallOp
from xdsl.ir import Attribute, Block, Operation

from xneuron.analysis.call_graph import CallGraph
from xneuron.analysis.slices import Slicer
from xneuron.analysis.trip_count import TripCount, trip_count
from xneuron.dialects.hlo.base import opcode_of
from xneuron.dialects.hlo.channels import GroupedOp, PermuteOp
from xneuron.dialects.hlo.control_flow import ConditionalOp, WhileOp
from xneuron.dialects.hlo.functions import public_functions
from xneuron.dialects.hlo.types import DYNAMIC, element_count, element_of, elements_of, is_tensor, shape_of
from xneuron.remarks import name_of

Term: TypeAlias = tuple[str, ...]


@dataclass(frozen=True)
class Amount:
    """A polynomial: for each product of unknown trip counts (loops by name, sorted) its coefficient."""

    terms: Mapping[Term, int] = field(default_factory=dict[Term, int])

    @staticmethod
    def of(number: int) -> Amount:
        """A constant."""
        return Amount({(): number} if number else {})

    def __add__(self, other: Amount) -> Amount:
        return self._joined(other, lambda a, b: a + b)

    def most(self, other: Amount) -> Amount:
        """At least as much as either: the larger coefficient of each term."""
        return self._joined(other, max)

    def times(self, count: int | str) -> Amount:
        """Repeated a known number of times, or as often as a loop of that name runs."""
        if isinstance(count, str):
            return Amount({tuple(sorted((*term, count))): number for term, number in self.terms.items()})
        return Amount({term: count * number for term, number in self.terms.items() if count})

    def at(self, trips: Mapping[str, int]) -> int:
        """The number for given trip counts by loop name. Raises KeyError for a loop that is missing."""
        total = 0
        for term, number in self.terms.items():
            for loop in term:
                number *= trips[loop]
            total += number
        return total

    def __str__(self) -> str:
        """`3 * trips(outer) * trips(w) + 12`."""
        terms = sorted(self.terms.items(), key=lambda item: (-len(item[0]), item[0]))
        return " + ".join(" * ".join([str(n), *(f"trips({loop})" for loop in term)]) for term, n in terms) or "0"

    def _joined(self, other: Amount, join: Callable[[int, int], int]) -> Amount:
        terms = {**self.terms, **other.terms}
        return Amount({term: join(self.terms.get(term, 0), other.terms.get(term, 0)) for term in terms})


@dataclass(frozen=True)
class Traffic:
    """How many collectives of one opcode run, and how many bytes they move for one participant."""

    runs: Amount
    bytes: Amount

    def joined(self, other: Traffic, join: Join) -> Traffic:
        """Both amounts joined in the same way."""
        return Traffic(join(self.runs, other.runs), join(self.bytes, other.bytes))

    def times(self, count: int | str) -> Traffic:
        """Repeated: see `Amount.times`."""
        return Traffic(self.runs.times(count), self.bytes.times(count))

    def __str__(self) -> str:
        return f"{self.runs} of {self.bytes} bytes in all"


Communication: TypeAlias = dict[str, Traffic]
"""Traffic by opcode, a start counting as its collective."""

Join: TypeAlias = Callable[[Amount, Amount], Amount]


class Part(Protocol):
    """Amounts of one kind of thing that runs cost."""

    def joined(self, other: Self, join: Join, /) -> Self:
        """All amounts joined in the same way."""
        ...

    def times(self, count: int | str, /) -> Self:
        """Repeated: see `Amount.times`."""
        ...


T = TypeVar("T", bound=Part)


class RunCost(Generic[T]):
    """What runs of computations cost, in parts of type T by name; each computation is looked into once.

    Answers about one module as it is now. Subclasses say what one instruction costs.
    """

    def __init__(self, module: ModuleOp, slicer: Slicer | None = None) -> None:
        self._module = module
        self._slicer = slicer or Slicer(CallGraph(module))
        self._known: dict[Block, dict[str, T]] = {}

    def of_instruction(self, op: Operation) -> dict[str, T]:
        """What an instruction costs, without the computations that `entered` gives."""
        raise NotImplementedError

    def entered(self, op: Operation) -> list[Block]:
        """Computations that the instruction runs once, or one of."""
        return [region.block for region in op.regions]

    def of_program(self) -> dict[str, T]:
        """One run of the public functions."""
        entries = [function for function in public_functions(self._module) if function.body.blocks]
        return _joined([self.of(entry.body.block) for entry in entries], _sum)

    def of(self, block: Block) -> dict[str, T]:
        """One run of a computation."""
        if block not in self._known:
            self._known[block] = {}  # while the question is open, for functions that call themselves
            self._known[block] = _joined([self._of_op(op) for op in block.ops], _sum)
        return self._known[block]

    def of_iteration(self, loop: WhileOp) -> dict[str, T]:
        """One run of a loop's body, and of the condition before it."""
        return _joined([self.of(loop.body.block), self.of(loop.cond.block)], _sum)

    def of_loop(self, loop: WhileOp) -> dict[str, T]:
        """All iterations of a loop, and the condition that ends it."""
        again = self.of_iteration(loop)
        if not again:
            return {}
        count = trip_count(loop, slicer=self._slicer)
        trips = count.count if isinstance(count, TripCount) else name_of(loop)
        repeated = {name: part.times(trips) for name, part in again.items()}
        return _joined([repeated, self.of(loop.cond.block)], _sum)

    def _of_op(self, op: Operation) -> dict[str, T]:
        if isinstance(op, CallOp):
            callee = self._slicer.calls.callee(op)
            return self.of(callee.body.block) if callee else {}
        if isinstance(op, WhileOp):
            return self.of_loop(op)
        inside = [self.of(block) for block in self.entered(op)]
        entered = _joined(inside, Amount.most if isinstance(op, ConditionalOp) else _sum)
        return _joined([self.of_instruction(op), entered], _sum)


class CommunicationCost(RunCost[Traffic]):
    """What collectives move, by opcode."""

    def of_instruction(self, op: Operation) -> Communication:
        if not isinstance(op, GroupedOp | PermuteOp):
            return {}
        opcode = opcode_of(op.name).removesuffix("-start")
        return {opcode: Traffic(Amount.of(1), Amount.of(moved_bytes(op)))}


def _sum(one: Amount, other: Amount) -> Amount:
    return one + other


def _joined(parts: list[dict[str, T]], join: Join) -> dict[str, T]:
    found: dict[str, T] = {}
    for part in parts:
        for name, more in part.items():
            found[name] = found[name].joined(more, join) if name in found else more
    return found


def moved_bytes(op: GroupedOp | PermuteOp) -> int:
    """Bytes of the larger of operands and result; a start's result holds both. Dynamic extents count as 0."""
    given = sum(map(bytes_of, (value.type for value in op.inputs)))
    result = op.results[0].type
    if opcode_of(op.name) in ("all-gather-start", "collective-permute-start"):
        result = elements_of(result)[1]
    return max(given, bytes_of(result))


def bytes_of(type: Attribute) -> int:
    """Bytes of a value in memory, those of all elements of a tuple; dynamic arrays and tokens count as 0."""
    if isinstance(type, TupleType):
        return sum(map(bytes_of, elements_of(type)))
    if not is_tensor(type) or DYNAMIC in shape_of(type):
        return 0
    return element_count(type) * element_of(type).bytes


def spelled_bytes(number: int) -> str:
    """`64.0 MiB`; exact bytes below 1 KiB."""
    if number < 1024:
        return f"{number} B"
    exponent = min((number.bit_length() - 1) // 10, 4)
    return f"{number / (1 << 10 * exponent):.1f} {('KiB', 'MiB', 'GiB', 'TiB')[exponent - 1]}"
