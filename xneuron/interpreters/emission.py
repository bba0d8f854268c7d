"""From computations to straight-line Python: one line per instruction that computes, everything called written inline.

Values are Python variables; a tuple is the names of its elements and is only made where somebody needs a whole one, so
that get-tuple-element, tuple, and passing the state of a loop around cost nothing. Array results are written
into buffers that are dead (`execution/buffers.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import Pure

from xneuron.dialects.hlo.attributes import int_of
from xneuron.dialects.hlo.control_flow import GetTupleElementOp
from xneuron.dialects.hlo.data_movement import DynamicReshapeOp, SetDimensionSizeOp
from xneuron.dialects.hlo.types import DYNAMIC, TokenType, elements_of, shape_of
from xneuron.execution.buffers import Buffers
from xneuron.execution.errors import EvaluationError
from xneuron.execution.source import Mark, Source
from xneuron.interpreters.forwarding import Forward, forwarded, resolve
from xneuron.interpreters.kernels.registry import Elementwise, Meaning, Updating, is_fresh
from xneuron.interpreters.linking import is_request
from xneuron.interpreters.meanings import applied, raising
from xneuron.interpreters.replicas import Request
from xneuron.interpreters.values import dtype_of, is_scalar

if TYPE_CHECKING:
    from xneuron.interpreters.engine import Engine

Sym: TypeAlias = "str | tuple[Sym, ...]"
"""What a value is in the text: a variable (or constant) name, or a tuple of what its elements are."""

_MAY_FAIL = (DynamicReshapeOp, SetDimensionSizeOp)
"""Their kernels reject some values: they must not run where the program does not run them."""


class Scope:
    """What is known, at one point of the code, about the values of one isolated region and what is inlined in it."""

    def __init__(self, buffers: Buffers, outer: Scope | None = None) -> None:
        self.outer = outer
        self.env: dict[SSAValue, Sym] = {}
        self.uses: dict[str, int] = {}
        """Uses of each variable that are still to come."""
        self.buffers = buffers

    def share(self, names: Sequence[str]) -> None:
        """Others may hold these values now; what a loop does not change may belong to the scopes around."""
        scope: Scope | None = self
        while scope is not None:
            for name in names:
                scope.buffers.share(name)
            scope = scope.outer

    def borrow(self, name: str, lenders: Sequence[str]) -> None:
        """`name` may hold a view of these values; in scopes around, they are shared."""
        self.buffers.borrow(name, lenders)
        if self.outer is not None:
            self.outer.share(lenders)

    def names(self, op: Operation) -> list[str]:
        """The variables of all operands."""
        return [name for operand in op.operands for name in flat(self.env[operand])]


@dataclass
class LoopFrame:
    """A loop that is being written: its iteration variable, where what does not change goes, and what went there."""

    index: str
    top: Mark
    hoisted: dict[tuple[Operation, tuple[str, ...]], str] = field(
        default_factory=dict[tuple[Operation, tuple[str, ...]], str]
    )


class Emitter:
    """Writes computations into one function. `profiled`: the function counts how often each computation runs."""

    def __init__(self, engine: Engine, profiled: bool) -> None:
        self.engine = engine
        self.source: Source[Operation] = Source()
        self.scope = Scope(Buffers())
        self.profiled = profiled
        self.loops: list[LoopFrame] = []
        """The loops around, outermost first."""
        self.kept: dict[Operation, Sequence[int]] = {}
        """Of loops written before: which slots of the state keep buffers of their own."""
        self.branching = 0
        """Number of branches around."""
        self._large: set[str] = set()
        self._levels: dict[str, int] = {}
        """Number of loops around the definition of a variable; 0 for constants and parameters."""

    # Blocks and instructions

    def block(self, block: Block, arguments: Sequence[Sym], caller: Operation | None = None) -> list[Sym]:
        """Writes a computation; what it returns. `caller`: an op that hands over its operands and is done with them."""
        self.enter(block, arguments)
        if caller is not None:
            self.release(self.consume(caller))
        return self.instructions(block)

    def enter(self, block: Block, arguments: Sequence[Sym]) -> None:
        """The parameters of a computation are what is handed over."""
        for parameter, sym in zip(block.args, arguments, strict=True):
            self.bind(parameter, sym)

    def instructions(self, block: Block) -> list[Sym]:
        """Writes the instructions of a computation whose parameters are bound; what it returns."""
        for op in block.ops:
            if op is not block.last_op:
                self._instruction(op)
        if (last := block.last_op) is None:
            raise EvaluationError("expected a computation that ends by returning a value", block.parent_op())
        return [self.scope.env[value] for value in last.operands]

    def count(self, block: Block, times: str = "1") -> None:
        """In a profile, adds to the number of runs of a computation."""
        if self.profiled:
            self.source.line(f"{self.constant(self.engine.runs)}[{self.engine.index(block)}] += {times}")

    def _instruction(self, op: Operation) -> None:
        from xneuron.interpreters.emission_control import EMIT

        self.source.origin = op
        try:
            if (forward := forwarded(op)) is not None:
                self._forward(op, forward)
            elif emit := EMIT.get(type(op)):
                emit(self, op)
            elif is_request(type(op)):
                self._request(op)
            elif op.results:
                self._kernel(op)
            else:
                self.consume(op)
        except EvaluationError as error:
            self._raise(op, error)

    def _raise(self, op: Operation, error: EvaluationError) -> None:
        """The instruction raises when it is reached, not now."""
        self.source.line(f"{self.constant(raising(error.message, error.op or op))}()")
        for result in op.results:
            self.bind(result, self.variable())

    def _forward(self, op: Operation, forward: Forward) -> None:
        operands = [self.scope.env[operand] for operand in op.operands]
        self.bind(op.results[0], resolve(forward, operands, self._element, self._known))
        self.release(self.consume(op))

    def _element(self, sym: Sym, index: int) -> Sym:
        if isinstance(sym, tuple):
            return sym[index]
        name = self.variable()
        self.source.line(f"{name} = {sym}[{index}]")
        self.scope.borrow(name, [sym])
        return name

    def _known(self, value: Any) -> Sym:
        if isinstance(value, tuple):
            return tuple(self._known(inner) for inner in value)  # pyright: ignore[reportUnknownVariableType]
        return "None" if value is None else self.constant(value)

    def _request(self, op: Operation) -> None:
        operands = "".join(f"{self.whole(self.scope.env[operand])}, " for operand in op.operands)
        if not is_fresh(op):
            self.scope.share(self.scope.names(op))
        dying = self.consume(op)
        name = self.variable()
        request = f"{self.constant(Request)}({self.constant(op)}, ({operands}), {self.at})"
        self.source.line(f"{name} = yield {request}")
        self.bind(op.results[0], name)
        self.release(dying)

    @property
    def at(self) -> str:
        """The iteration vector, as an expression."""
        return f"(*at, {', '.join(loop.index for loop in self.loops)})" if self.loops else "at"

    # Kernels

    def _kernel(self, op: Operation) -> None:
        meaning = self.engine.meaning(op)
        operands = [self.whole(self.scope.env[operand]) for operand in op.operands]
        type = op.results[0].type
        if (level := self._level(op)) < len(self.loops):
            self._hoist(op, meaning, operands, self.loops[level])
        elif is_scalar(type):
            self._scalar_kernel(op, meaning, operands)
        elif isinstance(meaning, Elementwise) and meaning.out and (key := buffer_key(type)):
            self._ufunc(op, meaning, operands, key)
        elif isinstance(meaning, Updating):
            self._update(op, meaning, operands, buffer_key(type))
        else:
            self._plain(op, meaning, operands, buffer_key(type) if is_fresh(op) else None)

    def _plain(self, op: Operation, meaning: Meaning, operands: list[str], key: Hashable | None) -> None:
        name = self._called(op, applied(meaning, op), operands)
        if key is None:
            self.scope.borrow(name, self.scope.names(op))
        self._define(op, name, key)
        self.release(self.consume(op))

    def _level(self, op: Operation) -> int:
        """How many of the loops around the instruction depends on; all of them if it must stay where it is."""
        here = len(self.loops)
        if not here or self.branching or op.regions or isinstance(op, _MAY_FAIL) or not op.has_trait(Pure):
            return here
        return max((self._levels.get(name, 0) for o in op.operands for name in flat(self.scope.env[o])), default=0)

    def _hoist(self, op: Operation, meaning: Meaning, operands: list[str], loop: LoopFrame) -> None:
        """Writes the instruction in front of the loop in which nothing changes it."""
        key = (op, tuple(operands))
        if (name := loop.hoisted.get(key)) is None:
            name = loop.hoisted[key] = self.source.fresh("h")
            call = f"{name} = {self.constant(applied(meaning, op))}({', '.join(operands)})"
            self.source.insert(loop.top, [call])
            self._levels[name] = self.loops.index(loop)
        self.scope.share(self.scope.names(op))
        self.bind(op.results[0], name)
        self.release(self.consume(op))

    def _scalar_kernel(self, op: Operation, meaning: Meaning, operands: list[str]) -> None:
        if isinstance(meaning, Elementwise) and meaning.inline is not None:
            names = {word: self.constant(value) for word, value in meaning.names.items()}
            name = self.variable(large=False)
            self.source.line(f"{name} = {meaning.inline.format(*operands, **names)}")
        else:
            name = self._called(op, applied(meaning, op), operands, large=False)
        self.bind(op.results[0], name)
        self.release(self.consume(op))

    def _ufunc(self, op: Operation, meaning: Elementwise, operands: list[str], key: Hashable) -> None:
        dying = self.consume(op)
        buffers = self.scope.buffers
        target = next((name for name in dying if buffers.key(name) == key), None)
        if target is not None:
            buffers.give(target)
        else:
            target = buffers.take(key)
        operands = [*operands, f"out={target}"] if target else operands
        self._define(op, self._called(op, meaning.array, operands), key)
        self.release(name for name in dying if name != target)

    def _update(self, op: Operation, meaning: Updating, operands: list[str], key: Hashable | None) -> None:
        dying = self.consume(op)
        changed = operands[0]
        in_place = changed in dying and self.scope.buffers.key(changed) is not None
        if in_place:
            self.scope.buffers.give(changed)
        self._define(op, self._called(op, meaning.in_place if in_place else meaning.function, operands), key)
        self.release(name for name in dying if not (in_place and name == changed))

    def _called(self, op: Operation, function: Callable[..., Any], operands: list[str], large: bool = True) -> str:
        name = self.variable(large)
        self.source.line(f"{name} = {self.constant(function)}({', '.join(operands)})")
        return name

    def _define(self, op: Operation, name: str, owned: Hashable | None) -> None:
        if owned is not None:
            self.scope.buffers.own(name, owned)
        self.bind(op.results[0], name)

    # Names and lifetimes

    def constant(self, value: Any) -> str:
        """The name of a Python object."""
        return self.source.constant(value)

    def variable(self, large: bool = True, prefix: str = "v") -> str:
        """A fresh variable, assigned in the loops around; `large` if it may hold more than a scalar."""
        name = self.source.fresh(prefix)
        self._levels[name] = len(self.loops)
        if large:
            self._large.add(name)
        return name

    def leaves(self, type: Attribute, prefix: str = "s") -> Sym:
        """Fresh variables for a value of that type, one per element that is no tuple."""
        if isinstance(type, TupleType):
            return tuple(self.leaves(inner, prefix) for inner in elements_of(type))
        if isinstance(type, TokenType):
            return "None"
        return self.variable(not is_scalar(type), prefix)

    def looping(self, names: Iterable[str]) -> None:
        """The variables change with each iteration of the loop that comes next."""
        self._levels.update(dict.fromkeys(names, len(self.loops) + 1))

    def whole(self, sym: Sym) -> str:
        """An expression for the value, tuples put together."""
        return sym if isinstance(sym, str) else f"({''.join(f'{self.whole(inner)}, ' for inner in sym)})"

    def unpacked(self, sym: Sym, type: Attribute) -> Sym:
        """The value with all tuples taken apart."""
        if not isinstance(type, TupleType) or sym == ():
            return sym
        if isinstance(sym, tuple):
            return tuple(self.unpacked(s, t) for s, t in zip(sym, elements_of(type), strict=True))
        parts = self.leaves(type, "v")
        self.source.line(f"{_target(parts)} = {sym}")
        for part in flat(parts):
            self.scope.borrow(part, [sym])
        return parts

    def bind(self, value: SSAValue, sym: Sym) -> None:
        """From now on `value` is `sym`; its uses are still to come. Releases what has none."""
        self.scope.env[value] = sym
        uses = self.scope.uses
        names = flat(sym)
        for name in names:
            uses.setdefault(name, 0)
        for use in value.uses:
            for name in _used(use.operation, sym, names):
                uses[name] += 1
        if isinstance(sym, str) and not uses[sym]:
            self.release([sym])

    def consume(self, op: Operation) -> list[str]:
        """The op's uses are over; the variables that are now dead."""
        dying: list[str] = []
        for operand in op.operands:
            sym = self.scope.env[operand]
            for name in _used(op, sym, flat(sym)):
                self.scope.uses[name] -= 1
                if not self.scope.uses[name]:
                    dying.append(name)
        return dying

    def release(self, names: Iterable[str]) -> None:
        """Variables are dead: their buffers are free, or their memory is given back."""
        for name in names:
            if not self.scope.buffers.release(name) and name in self._large:
                self.source.line(f"del {name}")


def _target(sym: Sym) -> str:
    """An assignment target that takes a tuple apart; `None` elements go to `_`."""
    if isinstance(sym, str):
        return "_" if sym == "None" else sym
    return f"({''.join(f'{_target(inner)}, ' for inner in sym)})"


def _used(op: Operation, sym: Sym, names: list[str]) -> list[str]:
    """The variables of an operand that the op uses: get-tuple-element uses one element only."""
    if isinstance(op, GetTupleElementOp) and isinstance(sym, tuple):
        return flat(sym[int_of(op.index)])
    return names


def flat(sym: Sym) -> list[str]:
    """All names in order."""
    if isinstance(sym, str):
        return [sym]
    if all(isinstance(inner, str) for inner in sym):
        return list(sym)  # pyright: ignore[reportReturnType]
    return [name for inner in sym for name in flat(inner)]


def buffer_key(type: Attribute) -> Hashable | None:
    """What makes buffers of arrays interchangeable; None for what has no buffer of its own."""
    if not isinstance(type, TensorType):
        return None
    array = cast(Attribute, type)
    shape = shape_of(array)
    return (dtype_of(array), shape) if shape and DYNAMIC not in shape else None
