"""Regions that combine values: which ufunc they are, or how they run on whole arrays.

Used by reduce, reduce-window, scatter, select-and-scatter, and by collectives that reduce.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.ir import Block, Operation, Region, SSAValue

from xneuron.dialects.hlo import elementwise as hlo
from xneuron.dialects.hlo.base import body_of, root_of
from xneuron.dialects.hlo.control_flow import TupleOp
from xneuron.dialects.hlo.types import element_of, elements_of, is_tensor
from xneuron.interpreters.kernels import floats
from xneuron.interpreters.kernels.arithmetic import meaning_on
from xneuron.interpreters.kernels.integers import choose
from xneuron.interpreters.kernels.registry import Context, Kernel
from xneuron.interpreters.values import Array, dtype_of

KNOWN: tuple[type[Operation], ...] = (
    hlo.AddOp,
    hlo.MultiplyOp,
    hlo.MaximumOp,
    hlo.MinimumOp,
    hlo.AndOp,
    hlo.OrOp,
    hlo.XorOp,
)
"""Commutative operations whose region, if it is nothing else, is run as the operation's own function."""


@dataclass(frozen=True)
class Fold:
    """A computation of n accumulators and n elements on whole arrays: `fold(*accumulators, *elements)` -> n arrays.

    `ufunc`: a ufunc that does the same, bit for bit, for one accumulator. `reduce(x, axes, initial)`: folds axes
    away, for one accumulator. `replaces`: it returns the elements.
    """

    function: Callable[..., tuple[Any, ...]]
    ufunc: np.ufunc | None = None
    reduce: Callable[[Any, tuple[int, ...], Any], Any] | None = None
    replaces: bool = False

    def __call__(self, *operands: Any) -> tuple[Any, ...]:
        return self.function(*operands)


def fold_of(region: Region, context: Context) -> Fold:
    """The fold that a region of 2n scalar parameters is."""
    block = body_of(region)
    half = len(block.args) // 2
    roots = _roots(block, root_of(region))
    if roots == list(block.args[half:]):
        return Fold(lambda *operands: operands[half:], replaces=True)
    if (known := _known(block, roots)) is not None:
        array = meaning_on(type(known), element_of(known.results[0].type)).array
        ufunc = array if isinstance(array, np.ufunc) else None
        return Fold(lambda a, b: (array(a, b),), ufunc, _reducer(array))
    return Fold(_general(region, context))


def _roots(block: Block, root: SSAValue) -> list[SSAValue]:
    owner = root.owner
    return list(owner.operands) if isinstance(owner, TupleOp) else [root]


def _known(block: Block, roots: list[SSAValue]) -> Operation | None:
    """The operation of KNOWN that is all the block does, on its two parameters in either order."""
    owner = roots[0].owner
    if len(block.args) != 2 or not isinstance(owner, KNOWN) or not is_tensor(roots[0].type):
        return None
    return owner if set(owner.operands) == set(block.args) else None


def _general(region: Region, context: Context) -> Kernel:
    root = root_of(region).type
    several = not is_tensor(root)
    whole = context.vectorized(region)
    if whole is not None:
        return whole if several else lambda *operands: (whole(*operands),)
    one = context.callable(region)
    dtypes = [dtype_of(t) for t in (elements_of(root) if several else [root])]

    def each(*operands: Any) -> tuple[Array, ...]:
        arrays = np.broadcast_arrays(*operands)
        results = [one(*scalars) for scalars in zip(*[a.reshape(-1) for a in arrays], strict=True)]
        columns = list(zip(*results, strict=True)) if several else [results]
        return tuple(np.array(c, d).reshape(arrays[0].shape) for c, d in zip(columns, dtypes, strict=True))

    return each


def _reducer(array: Kernel) -> Callable[[Any, tuple[int, ...], Any], Any] | None:
    if isinstance(array, np.ufunc):
        return lambda x, axes, initial: array.reduce(x, axes, x.dtype, initial=initial)
    if array is floats.maximum:
        return lambda x, axes, initial: _extreme(np.maximum, x, axes, initial, positive_zero=True)
    if array is floats.minimum:
        return lambda x, axes, initial: _extreme(np.minimum, x, axes, initial, positive_zero=False)
    return None


def _extreme(ufunc: np.ufunc, x: Any, axes: tuple[int, ...], initial: Any, *, positive_zero: bool) -> Any:
    """Maximum or minimum of floats; where it is zero, a zero of the winning sign wins."""
    result = ufunc.reduce(x, axes, x.dtype, initial=initial)
    if result.all():
        return result
    wins = (x == 0) & (np.signbit(x) != positive_zero)
    won = wins.any(axes) | ((initial == 0) & (np.signbit(initial) != positive_zero))
    zero = x.dtype.type(0)
    return choose(result == 0, choose(won == positive_zero, zero, -zero), result)
