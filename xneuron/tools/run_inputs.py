"""Values for a program's parameters: from an `.npz` file, or random."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Attribute

from xneuron.tools.diagnostics import UsageError, did_you_mean

if TYPE_CHECKING:
    import numpy as np
    from xdsl.dialects.func import FuncOp

INTEGERS = 10
"""Random integers are in [0, INTEGERS): they are often loop bounds and indices."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of the function that runs, or an element of one that is a tuple: the `1` of parameter `0.1`."""

    name: str
    position: str
    type: Attribute

    def __str__(self) -> str:
        from xneuron.dialects.hlo.types import spelled

        return f"{self.name}: {spelled(self.type)}"

    def elements(self) -> list[Parameter]:
        """The elements of a tuple parameter."""
        from xneuron.dialects.hlo.types import elements_of

        types = elements_of(self.type)
        return [Parameter(f"{self.name}.{i}", f"{self.position}.{i}", type) for i, type in enumerate(types)]

    def leaves(self) -> Iterator[Parameter]:
        """The arrays that make it up."""
        if isinstance(self.type, TupleType):
            for element in self.elements():
                yield from element.leaves()
        elif isinstance(self.type, TensorType):
            yield self

    def value(self, array_of: Callable[[Parameter], Any]) -> Any:
        """The parameter's value: a tuple, an array by `array_of`, or None for a token."""
        if isinstance(self.type, TupleType):
            return tuple(element.value(array_of) for element in self.elements())
        return array_of(self) if isinstance(self.type, TensorType) else None


def parameters_of(function: FuncOp) -> list[Parameter]:
    """The parameters of a function, in order."""
    return [
        Parameter(argument.name_hint or str(index), str(index), argument.type)
        for index, argument in enumerate(function.body.block.args)
    ]


def inputs_from_file(parameters: Sequence[Parameter], path: str) -> list[Any]:
    """Values from an `.npz` file whose keys are names or positions. Raises UsageError for what is missing or extra."""
    from xneuron.formats.arrays import ArrayFileError, load_arrays

    try:
        arrays = load_arrays(path)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from error
    except ArrayFileError as error:
        raise UsageError(str(error)) from error
    leaves = [leaf for parameter in parameters for leaf in parameter.leaves()]
    _check_keys(leaves, arrays, path)
    return [p.value(lambda leaf: _checked(leaf, _stored(leaf, arrays), path)) for p in parameters]


def _stored(leaf: Parameter, arrays: Mapping[str, Any]) -> Any:
    return arrays[leaf.name] if leaf.name in arrays else arrays[leaf.position]


def _check_keys(leaves: Sequence[Parameter], arrays: Mapping[str, Any], path: str) -> None:
    names = {name for leaf in leaves for name in (leaf.name, leaf.position)}
    for leaf in leaves:
        if leaf.name not in arrays and leaf.position not in arrays:
            raise UsageError(f"{path} has no array '{leaf.name}' or '{leaf.position}' for {leaf}")
    for key in arrays:
        if key not in names:
            raise UsageError(f"{path} has an array '{key}', which is no parameter{did_you_mean(key, names)}")


def _checked(leaf: Parameter, array: Any, path: str) -> Any:
    from xneuron.interpreters.values import described, dtype_of, static_shape

    if array.shape != static_shape(leaf.type) or array.dtype != dtype_of(leaf.type):
        raise UsageError(f"{path}: expected {leaf}, found {described(array)}")
    return array


def random_inputs(parameters: Sequence[Parameter], seed: int) -> list[Any]:
    """Normally distributed floats, integers in [0, 10), coin tosses; the same values for the same seed."""
    import numpy as np

    rng = np.random.default_rng(seed)
    return [parameter.value(lambda leaf: _random(leaf, rng)) for parameter in parameters]


def _random(leaf: Parameter, rng: np.random.Generator) -> Any:
    from xneuron.dialects.hlo.types import element_of
    from xneuron.interpreters.values import dtype_of, static_shape

    shape, dtype, kind = static_shape(leaf.type), dtype_of(leaf.type), element_of(leaf.type).kind
    if kind in ("pred", "int", "uint"):
        high = min(INTEGERS, 2 ** (element_of(leaf.type).bits - (kind == "int")))
        return rng.integers(0, high, shape).astype(dtype)
    real = rng.standard_normal(shape)
    return (real + 1j * rng.standard_normal(shape) if kind == "complex" else real).astype(dtype)
