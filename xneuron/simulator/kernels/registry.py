"""What an instruction does to memory: windows on its operands, and calls of functions on them.

A *factory*, registered with `@kernel(TensorTensorOp)`, takes the instruction once, resolves dtypes and shapes, and
returns its `Meaning`. The emitter turns each call into one line of Python, so that a plain numpy function is called as
if the program had been written by hand:

    @kernel(TensorTensorOp)
    def tensor_tensor(op: TensorTensorOp, host: Host) -> Meaning:
        views = align([*op.inputs, *op.outputs])
        return Meaning(views, (Call(np.add, (Slot(0), Slot(1)), out=Slot(2)),))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np

from xneuron.dialects.bir.instruction import DataInstruction
from xneuron.dialects.bir.operands import MemoryAccess, Operand, Pattern
from xneuron.execution.errors import EvaluationError
from xneuron.simulator.dtypes import Array, Numpy, numpy_of
from xneuron.simulator.patterns import aligned

SEED = 42
"""Where random numbers start at each run (the reference's seed; its generator, MT19937-64, is another)."""


CHAPTERS = ("activation", "elementwise", "matmult", "movement", "reduction")
"""Modules whose kernels register themselves when they are imported."""


class Host:
    """What instructions share beside memory: the random numbers."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(SEED)

    def reset(self) -> None:
        """Starts the random numbers again."""
        self.random = np.random.default_rng(SEED)


class Slot(int):
    """As an argument of a call: the window of that number."""


class View(NamedTuple):
    """An access, and the pattern that gives its window the shape that a function wants."""

    access: MemoryAccess
    pattern: Pattern

    @property
    def dtype(self) -> Numpy:
        """The type of the window's elements."""
        return numpy_of(self.access.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(num for _, num in self.pattern)


class Call(NamedTuple):
    """`function(*arguments)`, with `out=` where there is one; an argument is a slot or a constant."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    out: Slot | None = None


@dataclass(frozen=True)
class Meaning:
    """Windows, inputs first and the output last, and what is done with them in order."""

    views: tuple[View, ...]
    calls: tuple[Call, ...]


Factory: TypeAlias = Callable[[Any, Host], Meaning]
_F = TypeVar("_F", bound=Callable[..., Meaning])

_factories: dict[type[DataInstruction], Factory] = {}


def kernel(*ops: type[DataInstruction]) -> Callable[[_F], _F]:
    """Registers the decorated factory for the given instruction classes."""

    def register(factory: _F) -> _F:
        for op in ops:
            _factories[op] = factory
        return factory

    return register


def meaning_of(op: DataInstruction, host: Host) -> Meaning:
    """The instruction's meaning. Raises EvaluationError for one that has none."""
    for chapter in CHAPTERS:
        import_module(f"xneuron.simulator.kernels.{chapter}")
    if (factory := _factories.get(type(op))) is None:
        raise unsupported(op.name)
    return factory(op, host)


def unsupported(what: str) -> EvaluationError:
    """The error of something that has no meaning here (the reference's words)."""
    return EvaluationError(f"{what} is not supported yet.")


def accesses(operands: Sequence[Operand]) -> list[MemoryAccess]:
    """The operands in memory; where an instruction takes tensors only, all of them."""
    return [operand for operand in operands if isinstance(operand, MemoryAccess)]


def align(operands: Sequence[Operand], patterns: Sequence[Pattern] | None = None) -> tuple[View, ...]:
    """Views of equally many elements, of equal shape where that can be; `patterns` stand in for the operands' own."""
    found = accesses(operands)
    own = [access.pattern for access in found] if patterns is None else list(patterns)
    return tuple(map(View, found, aligned(own) or own))


def same_shape(views: Sequence[View]) -> bool:
    """True if functions can take the windows as they are."""
    return len({view.shape for view in views}) == 1


def reshaping(function: Callable[..., Any], shape: tuple[int, ...]) -> Callable[..., Any]:
    """`function(*arrays)` with all arrays but the last in the shape of that one."""

    def run(*arrays: Any) -> Any:
        return function(*[cast("Array", array).reshape(shape) for array in arrays[:-1]], arrays[-1])

    return run


def slots(count: int) -> tuple[Slot, ...]:
    """The first windows."""
    return tuple(map(Slot, range(count)))
