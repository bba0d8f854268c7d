"""Computing slices with the kernels that run whole programs: one meaning per op."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, Region

from xneuron.analysis.slices import Apply, Constant, Node, Opaque, Path, Slot, postorder
from xneuron.dialects.hlo.types import element_of

if TYPE_CHECKING:
    from xneuron.interpreters.engine import Engine


class CannotEvaluate(Exception):
    """A slice that the kernels could not compute; the message says which instruction and why."""


def array_of(constant: Constant) -> Any:
    """A constant's value as a numpy array, or numpy scalar for rank 0."""
    if constant.literal is None:
        return constant.value
    from xneuron.interpreters.values import literal_value

    return literal_value(constant.literal)


def number_of(constant: Constant) -> Any:
    """The Python number of a constant with one element."""
    if constant.literal is not None:
        return constant.literal.scalar
    value = cast(Any, constant.value)
    return _PYTHON[element_of(constant.type).kind](value.reshape(-1)[0] if value.ndim else value)


_PYTHON: dict[str, Callable[[Any], Any]] = {"pred": bool, "int": int, "uint": int, "float": float, "complex": complex}


def fold(root: Node, known: Mapping[Path, Constant], folded: dict[Node, Node] | None = None) -> Node:
    """The slice with known slots put in and everything that is then constant computed.

    `folded`: what was found before with the same known slots, and is not computed again; what is found now comes to it.
    Raises CannotEvaluate.
    """
    folded = {} if folded is None else folded
    for node in postorder(root, known=folded):
        folded[node] = _fold_one(node, folded, known)
    return folded[root]


def _fold_one(node: Node, folded: Mapping[Node, Node], known: Mapping[Path, Constant]) -> Node:
    if isinstance(node, Slot):
        return known.get(node.path, node)
    if not isinstance(node, Apply):
        return node
    args = tuple(folded[arg] for arg in node.args)
    if not all(isinstance(arg, Constant) for arg in args):
        return Apply(node.op, args, node.type)
    kernel = kernel_of(node.op)
    with quiet():
        value = _call(node.op, kernel, [array_of(cast(Constant, arg)) for arg in args])
    return Constant(node.type, None, value)


class Plan:
    """Slices of several roots as one list of kernel calls, made once and run for each iteration."""

    def __init__(self, roots: Sequence[Node]) -> None:
        self.memory: list[Any] = []
        self.slots: list[tuple[Path, int]] = []
        self.steps: list[tuple[Operation, Callable[..., Any], tuple[int, ...], int]] = []
        places: dict[Node, int] = {}
        by_path: dict[Path, int] = {}
        for node in postorder(*roots):
            places[node] = self._place(node, places, by_path)
        self.slots = list(by_path.items())
        self.roots = [places[root] for root in roots]

    def _place(self, node: Node, places: dict[Node, int], by_path: dict[Path, int]) -> int:
        if isinstance(node, Slot) and node.path in by_path:
            return by_path[node.path]
        place = len(self.memory)
        self.memory.append(array_of(node) if isinstance(node, Constant) else None)
        if isinstance(node, Slot):
            by_path[node.path] = place
        elif isinstance(node, Apply):
            self.steps.append((node.op, kernel_of(node.op), tuple(places[arg] for arg in node.args), place))
        elif isinstance(node, Opaque):
            raise CannotEvaluate(f"it depends on {node.why}")
        return place

    def run(self, state: Mapping[Path, Any]) -> list[Any]:
        """Values of the roots for values of the slots. Raises CannotEvaluate."""
        memory = self.memory
        for path, place in self.slots:
            memory[place] = state[path]
        for op, kernel, sources, target in self.steps:
            memory[target] = _call(op, kernel, [memory[source] for source in sources])
        return [memory[root] for root in self.roots]


def kernel_of(op: Operation) -> Callable[..., Any]:
    """The op's meaning as a plain function of its operands' values. Raises CannotEvaluate for an op without one."""
    from xneuron.execution.errors import EvaluationError
    from xneuron.interpreters.kernels.registry import meaning_of
    from xneuron.interpreters.meanings import applied

    try:
        return applied(meaning_of(op, _Regions()), op)
    except EvaluationError as error:
        raise CannotEvaluate(error.message) from None


class _Regions:
    """The context for kernels of slices: one that has a computation of its own (reduce, map) gets an engine for it."""

    participant = 0

    @cached_property
    def engine(self) -> Engine:
        from xneuron.interpreters.engine import Engine, Options

        return Engine(ModuleOp([]), Options())

    def callable(self, region: Region) -> Callable[..., Any]:
        return self.engine.callable(region)

    def vectorized(self, region: Region) -> Callable[..., Any] | None:
        return self.engine.vectorized(region)


def _call(op: Operation, kernel: Callable[..., Any], args: list[Any]) -> Any:
    from xneuron.execution.errors import EvaluationError

    try:
        return kernel(*args)
    except EvaluationError as error:
        raise CannotEvaluate(error.message) from None


@contextmanager
def quiet() -> Generator[None]:
    """Floating-point warnings of numpy off: HLO's arithmetic has none."""
    import numpy as np

    with np.errstate(all="ignore"):
        yield
