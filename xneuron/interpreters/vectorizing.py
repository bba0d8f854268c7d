"""Scalar computations as functions on whole arrays: one numpy call per instruction instead of one per element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xdsl.ir import Block, Operation, SSAValue

from xneuron.execution.source import Source
from xneuron.interpreters.forwarding import forwarded, resolve
from xneuron.interpreters.kernels.registry import Elementwise, Kernel

if TYPE_CHECKING:
    from xneuron.interpreters.engine import Engine


class _NotElementwise(Exception):
    pass


def vectorized(engine: Engine, block: Block) -> Kernel | None:
    """The computation as a function on arrays that broadcast, None if an instruction is not elementwise."""
    writer = _Vectorizer(engine)
    parameters = [writer.source.fresh("x") for _ in block.args]
    try:
        roots = writer.block(block, parameters)
    except _NotElementwise:
        return None
    writer.source.line(f"return {', '.join(map(_spelled, roots))}")
    return writer.source.function("vectorized", parameters, engine.listings)


class _Vectorizer:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.source: Source[Operation] = Source()
        self._env: dict[SSAValue, Any] = {}

    def block(self, block: Block, arguments: list[Any]) -> list[Any]:
        self._env.update(zip(block.args, arguments, strict=True))
        for op in block.ops:
            if op is not block.last_op:
                self._instruction(op)
        last = block.last_op
        return [self._env[value] for value in last.operands] if last is not None else []

    def _instruction(self, op: Operation) -> None:
        self.source.origin = op
        operands = [self._env[operand] for operand in op.operands]
        if (forward := forwarded(op)) is not None:
            results = [resolve(forward, operands, _element, self.source.constant)]
        elif inner := self._engine.linker.inner(op):
            results = self._inlined(inner, operands)
        else:
            results = [self._computed(op, operands)]
        self._env.update(zip(op.results, results, strict=True))

    def _inlined(self, inner: list[Block], operands: list[Any]) -> list[Any]:
        if len(inner) != 1 or len(inner[0].args) != len(operands):
            raise _NotElementwise
        return self.block(inner[0], operands)

    def _computed(self, op: Operation, operands: list[Any]) -> str:
        meaning = self._engine.meaning(op)
        if not isinstance(meaning, Elementwise):
            raise _NotElementwise
        name = self.source.fresh("v")
        self.source.line(f"{name} = {self.source.constant(meaning.array)}({', '.join(map(_spelled, operands))})")
        return name


def _element(sym: Any, index: int) -> Any:
    if isinstance(sym, tuple):
        return sym[index]  # pyright: ignore[reportUnknownVariableType]
    raise _NotElementwise


def _spelled(sym: Any) -> str:
    """An expression for the value."""
    return sym if isinstance(sym, str) else f"({''.join(f'{_spelled(inner)}, ' for inner in sym)})"
