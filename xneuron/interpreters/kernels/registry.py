"""What a kernel is, and which kernel an op has.

A *kernel* is a Python callable: operand values in, result value out (`interpreters/values.py` says what values
are). A *factory*, registered with `@kernel(AddOp, …)`, takes the op once, resolves dtypes, axes and shapes, and
returns its kernel; engines call the kernel as often as the program runs the op.

    @kernel(AddOp)
    def add(op: AddOp, context: Context) -> Meaning:
        return Elementwise(np.add, inline="{0} + {1}", out=True)

    @kernel(TransposeOp)
    def transpose(op: TransposeOp, context: Context) -> Meaning:
        order = int_list(op.dimensions)
        return lambda x: x.transpose(order)

Rules for kernels:

* Never write to an operand. A result may be an operand or a view of one, unless `fresh` or `out` says otherwise.
* A result of rank 0 is a numpy scalar of the exact dtype; of higher rank an array of the exact dtype and shape.
* No `np.errstate`: the run turns numpy's floating-point warnings off once.
* Raise `EvaluationError(message, op)`, nothing else.

A chapter of kernels lives in the module named as the dialect's chapter (`kernels/elementwise.py` for the ops of
`dialects/hlo/elementwise.py`) and is imported when the first op of that chapter is met.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol, TypeAlias, TypeVar

from xdsl.ir import Operation, Region

from xneuron.dialects.hlo.attributes import text_of
from xneuron.dialects.hlo.base import opcode_of
from xneuron.execution.errors import EvaluationError, instruction

Kernel: TypeAlias = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Elementwise:
    """A kernel that works element by element, which lets engines do more than call it.

    * `array` takes arrays of any shapes that broadcast (like a ufunc), whatever the op's own shapes are; it also takes
      numpy scalars, and then returns one, unless `scalar` or `inline` is given for them.
    * `scalar` is faster for numpy scalars: `operator.add`.
    * `inline` is fastest: the same as Python source, `"{0} + {1}"`: `{i}` stands for operand i and `{word}` for the
      entry of `names`. Each becomes a variable, so no parentheses are needed around it.
    * `out`: `array(*operands, out=buffer)` is allowed and writes the result there; `buffer` has the result's dtype and
      shape and may be one of the operands. Without `out=` the result is a new array. (True of ufuncs whose result dtype
      is exact.)
    """

    array: Kernel
    scalar: Kernel | None = None
    inline: str | None = None
    names: Mapping[str, Any] = field(default_factory=dict[str, Any])
    out: bool = False


@dataclass(frozen=True, slots=True)
class Updating:
    """A kernel that changes part of operand 0: `function` changes a copy, `in_place` operand 0 itself.

    Both return the result. Engines use `in_place` where nobody will look at operand 0 again.
    """

    function: Kernel
    in_place: Kernel


Meaning: TypeAlias = Kernel | Elementwise | Updating
"""What a factory returns."""


class Context(Protocol):
    """What a factory may ask of the engine."""

    participant: int
    """Who runs now: kernels with a hidden state keep one per participant."""

    def callable(self, region: Region) -> Kernel:
        """The computation as a Python function on values, compiled now (about 10 µs an op).

        For regions applied to each element: first look whether a known reducer or comparator will do.
        """
        ...

    def vectorized(self, region: Region) -> Kernel | None:
        """A computation on scalars as a function on arrays (any shapes that broadcast); None if not elementwise.

        Costs one call for many elements. Results may be less broadcast than the operands (a constant is a scalar).
        """
        ...


Factory: TypeAlias = Callable[[Any, Context], Meaning]
GroupFactory: TypeAlias = Callable[[Any, Context], Callable[[Sequence[Sequence[Any]]], Sequence[Any]]]
_F = TypeVar("_F", bound=Callable[..., Any])

_factories: dict[type[Operation], Factory] = {}
_group_factories: dict[type[Operation], GroupFactory] = {}
_fresh: set[type[Operation]] = set()
_loaded: set[str] = set()


def kernel(*ops: type[Operation], fresh: bool = False) -> Callable[[_F], _F]:
    """Registers the decorated factory for the given op classes.

    `fresh`: the kernel's result is always new memory, that no operand, constant or later call shares (implied by
    `Elementwise(out=True)` and `Updating`). Lets loops reuse the result's buffer.
    """

    def register(factory: _F) -> _F:
        for op in ops:
            _factories[op] = factory
            if fresh:
                _fresh.add(op)
        return factory

    return register


def collective(*ops: type[Operation], fresh: bool = False) -> Callable[[_F], _F]:
    """Registers a factory whose function computes an exchange for a whole group at once.

    The function takes the operand values of each member, in the order of the group, and returns the result of each
    member in that order. Results may share memory. `fresh`: not with operands, so that members may reuse theirs.
    """

    def register(factory: _F) -> _F:
        for op in ops:
            _group_factories[op] = factory
            if fresh:
                _fresh.add(op)
        return factory

    return register


def meaning_of(op: Operation, context: Context) -> Meaning:
    """The op's meaning, made by its factory. Raises EvaluationError for an op without one."""
    if type(op) not in _factories:
        _load_chapter(type(op))
    if (factory := _factories.get(type(op))) is None:
        raise EvaluationError(no_meaning(op), op)
    return factory(op, context)


def exchange_of(op: Operation, context: Context) -> Callable[[Sequence[Sequence[Any]]], Sequence[Any]]:
    """The op's exchange over one group, made by its factory. Raises EvaluationError for an op without one."""
    _load_chapter(type(op))
    if (factory := _group_factories.get(type(op))) is None:
        raise EvaluationError(no_meaning(op), op)
    return factory(op, context)


def is_fresh(op: Operation) -> bool:
    """True if the op's kernel, or exchange, was registered as always returning new memory."""
    _load_chapter(type(op))
    return type(op) in _fresh


def no_meaning(op: Operation) -> str:
    """The message for an op that cannot be run."""
    opcode = op.properties.get("opcode_name")
    said = f"opcode {text_of(opcode) or opcode_of(op.name)}"
    if target := text_of(op.properties.get("custom_call_target")):
        said += f", target {target}"
    return f"no meaning for instruction {instruction(op)} ({said})"


def _load_chapter(op: type[Operation]) -> None:
    """Imports the kernels of the op's chapter, if it has a module of that name."""
    chapter = op.__module__.rpartition(".")[2]
    if chapter in _loaded:
        return
    _loaded.add(chapter)
    module = f"xneuron.interpreters.kernels.{chapter}"
    if find_spec(module) is not None:
        import_module(module)
