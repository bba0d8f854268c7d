"""The levels that a program can run at: HLO, BIR with its loops, BIR with branches instead.

A level is reached by the passes between it and the one above; inputs and results are the same at all of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from xneuron.dialects.hlo.types import element_count
from xneuron.tools.diagnostics import UsageError
from xneuron.tools.run_bir import BirProgram, is_bir
from xneuron.tools.run_inputs import Parameter, parameters_of
from xneuron.tools.run_outputs import flat

if TYPE_CHECKING:
    from xneuron.interpreters.evaluator import Program

LEVELS: Mapping[str, str] = {"hlo": "", "bir": "convert-hlo-to-bir", "bir-branches": "bir-lower-loops-to-branches"}
"""Levels from the top down, with the pass that leads to each from the one above it."""
TOLERANCE = 1e-5
"""How much the levels may differ (relative): sums on a matrix engine are in another order."""


def level_of(module: ModuleOp) -> str:
    """The level that a program is at."""
    return "bir" if is_bir(module) else "hlo"


def levels_below(module: ModuleOp) -> list[str]:
    """The levels that a program can run at."""
    names = list(LEVELS)
    return names[names.index(level_of(module)) :]


def lowered(module: ModuleOp, level: str, apply: Callable[[ModuleOp, str], None]) -> ModuleOp:
    """The program at a level, as a copy where it is not there yet. Raises UsageError if the level is above it."""
    names, here = list(LEVELS), level_of(module)
    if names.index(level) < names.index(here):
        raise UsageError(f"--through={level}: found a program at level {here}, which does not go up")
    passes = [LEVELS[name] for name in names[names.index(here) + 1 : names.index(level) + 1]]
    if not passes:
        return module
    copy = module.clone()
    apply(copy, ",".join(passes))
    return copy


class LoweredProgram(BirProgram):
    """The BIR of an HLO program, with the parameters and results of that program."""

    def __init__(self, source: Program, module: ModuleOp, args: argparse.Namespace, trace: Any = None) -> None:
        super().__init__(module, args, trace)
        self._arguments = parameters_of(source.entry)
        returned = source.entry.body.block.last_op
        assert returned is not None
        self._results = [value.type for value in returned.operands]

    @property
    def parameters(self) -> list[Parameter]:
        """Those of the HLO program."""
        return self._arguments

    @property
    def output_names(self) -> list[str]:
        """Numbers, as for the HLO program."""
        return list(map(str, range(sum(len(_arrays(type)) for type in self._results))))

    def run(self, *inputs: Any) -> list[Any]:
        """Runs on values for the parameters of the HLO program; its results, tuples flattened."""
        leaves = [leaf for value in inputs for leaf in flat(value) if _has_elements(leaf)]
        given = {
            location.label: _as_stored(leaf, location.geometry.shape)
            for location, leaf in zip(self.simulated.inputs, leaves, strict=True)
        }
        outputs = iter(self.simulate(given).values())
        types = [type for result in self._results for type in _arrays(result)]
        return [_as_hlo(next(outputs), type) if element_count(type) else _without_elements(type) for type in types]


def _arrays(type: Attribute) -> list[Attribute]:
    """The arrays that a result is made of."""
    from xdsl.dialects.builtin import TupleType

    from xneuron.dialects.hlo.types import elements_of, is_tensor

    if isinstance(type, TupleType):
        return [leaf for element in elements_of(type) for leaf in _arrays(element)]
    return [type] if is_tensor(type) else []


def _has_elements(leaf: Any) -> bool:
    """False for a token, and for an array that no location holds."""
    import numpy as np

    return leaf is not None and np.size(leaf) > 0


def _without_elements(type: Attribute) -> Any:
    import numpy as np

    from xneuron.interpreters.values import dtype_of, static_shape

    return np.empty(static_shape(type), dtype_of(type))


def _as_stored(array: Any, shape: Sequence[int]) -> Any:
    """An array as its location has it: a pred as bytes, a scalar as one element."""
    import numpy as np

    array = np.asarray(array)
    return (array.view(np.uint8) if array.dtype == np.bool_ else array).reshape(shape)


def _as_hlo(array: Any, type: Attribute) -> Any:
    """The contents of a location as an HLO value."""
    from xneuron.interpreters.values import dtype_of, static_shape

    return array.view(dtype_of(type)).reshape(static_shape(type))
