"""Values for a program's parameters, for each of its participants: from an `.npz` file, or random."""

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


def inputs_from_file(parameters: Sequence[Parameter], path: str, participants: int = 1) -> list[list[Any]]:
    """The inputs of each participant from an `.npz` file, whose keys are names or positions.

    An array is that of all participants, or has one more axis in front with an entry for each; `name@r` is that of
    participant r alone. Raises UsageError for what is missing or extra.
    """
    from xneuron.formats.arrays import ArrayFileError, load_arrays

    try:
        arrays = load_arrays(path)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from error
    except ArrayFileError as error:
        raise UsageError(str(error)) from error
    leaves = [leaf for parameter in parameters for leaf in parameter.leaves()]
    _check_keys(leaves, arrays, path, participants)
    file = _File(path, arrays, participants)
    return [[p.value(lambda leaf, r=r: file.array(leaf, r)) for p in parameters] for r in range(participants)]


@dataclass(frozen=True)
class _File:
    """Arrays of an `.npz` file, for so many participants."""

    path: str
    arrays: Mapping[str, Any]
    participants: int

    def array(self, leaf: Parameter, participant: int) -> Any:
        """The array of one participant for a parameter."""
        from xneuron.interpreters.values import described, dtype_of, static_shape

        key = next(key for key in _keys(leaf, participant) if key in self.arrays)
        array, shape = self.arrays[key], static_shape(leaf.type)
        if self.participants > 1 and array.shape == (self.participants, *shape):
            array = array[participant]
        if array.shape != shape or array.dtype != dtype_of(leaf.type):
            raise UsageError(f"{self.path}: expected {leaf}, found {described(array)}")
        return array


def _keys(leaf: Parameter, participant: int) -> list[str]:
    """Where the array of a participant is looked for, first one first."""
    own = [f"{leaf.name}@{participant}", f"{leaf.position}@{participant}"]
    return [*own, leaf.name, leaf.position]


def _check_keys(leaves: Sequence[Parameter], arrays: Mapping[str, Any], path: str, participants: int) -> None:
    names = {key for leaf in leaves for r in range(participants) for key in _keys(leaf, r)}
    for leaf in leaves:
        for r in range(participants):
            if not any(key in arrays for key in _keys(leaf, r)):
                whose = f" of participant {r}" if participants > 1 else ""
                raise UsageError(f"{path} has no array '{leaf.name}' or '{leaf.position}' for {leaf}{whose}")
    for key in arrays:
        if key not in names:
            raise UsageError(f"{path} has an array '{key}', which is no parameter{did_you_mean(key, names)}")


def random_inputs(parameters: Sequence[Parameter], seed: int, participants: int = 1) -> list[list[Any]]:
    """The inputs of each participant, the same for the same seed: normally distributed floats, integers in [0, 10).

    Integers and coin tosses are those of all participants, since they are often loop bounds; floats are not.
    """
    import numpy as np

    shared = _random_inputs(parameters, np.random.default_rng(seed), {})
    own = [
        _random_inputs(parameters, np.random.default_rng([seed, participant]), shared)
        for participant in range(1, participants)
    ]
    return [_values(parameters, leaves) for leaves in (shared, *own)]


_Leaves = dict[str, Any]


def _random_inputs(parameters: Sequence[Parameter], rng: np.random.Generator, shared: _Leaves) -> _Leaves:
    """Random arrays by position; those of `shared` that are not floats."""
    from xneuron.dialects.hlo.types import element_of

    leaves = [leaf for parameter in parameters for leaf in parameter.leaves()]
    return {
        leaf.position: shared[leaf.position]
        if shared and element_of(leaf.type).kind in ("pred", "int", "uint")
        else _random(leaf, rng)
        for leaf in leaves
    }


def _values(parameters: Sequence[Parameter], leaves: _Leaves) -> list[Any]:
    return [parameter.value(lambda leaf: leaves[leaf.position]) for parameter in parameters]


def _random(leaf: Parameter, rng: np.random.Generator) -> Any:
    from xneuron.dialects.hlo.types import element_of
    from xneuron.interpreters.values import dtype_of, static_shape

    shape, dtype, kind = static_shape(leaf.type), dtype_of(leaf.type), element_of(leaf.type).kind
    if kind in ("pred", "int", "uint"):
        high = min(INTEGERS, 2 ** (element_of(leaf.type).bits - (kind == "int")))
        return rng.integers(0, high, shape).astype(dtype)
    real = rng.standard_normal(shape)
    return (real + 1j * rng.standard_normal(shape) if kind == "complex" else real).astype(dtype)
