"""A meaning as a plain function of operand values, for engines that only call."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from xdsl.ir import Operation

from xneuron.execution.errors import EvaluationError
from xneuron.interpreters.kernels.registry import Elementwise, Kernel, Meaning, Updating
from xneuron.interpreters.values import is_scalar


def applied(meaning: Meaning, op: Operation) -> Kernel:
    """The function on values of the op's own types."""
    if isinstance(meaning, Updating):
        return meaning.function
    if not isinstance(meaning, Elementwise):
        return meaning
    if not is_scalar(op.results[0].type):
        return meaning.array
    if meaning.scalar is not None:
        return meaning.scalar
    return meaning.array if meaning.inline is None else _from_inline(meaning, len(op.operands))


def _from_inline(meaning: Elementwise, arity: int) -> Kernel:
    make = _maker(meaning.inline or "", arity, tuple(meaning.names))
    return make(*meaning.names.values())


@lru_cache(maxsize=1024)
def _maker(template: str, arity: int, words: tuple[str, ...]) -> Callable[..., Kernel]:
    """A function of the template's names that makes a function of its operands."""
    names = {word: f"k_{word}" for word in words}
    operands = [f"x{index}" for index in range(arity)]
    body = template.format(*operands, **names)
    return eval(f"lambda {', '.join(names.values())}: lambda {', '.join(operands)}: {body}")


def raising(message: str, op: Operation) -> Callable[..., Any]:
    """A function that raises the error when it is reached."""

    def reached(*_: Any) -> Any:
        raise EvaluationError(message, op)

    return reached
