"""What an HLO value is on the register machine: buffers, numbers not yet written anywhere, and tuples of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, SSAValue

from xneuron.dialects.bir.enums import DType, MemorySpace


@dataclass(eq=False)
class Buffer:
    """`count` elements in a memory location, flattened row-major. `holders`: how many values it is still needed for."""

    handle: SSAValue
    space: MemorySpace
    dtype: DType
    count: int
    owned: bool = True
    """Whether it may be overwritten and used again once nobody needs it: not an input, an output, a constant."""
    holders: int = 0

    @property
    def in_dram(self) -> bool:
        """Off chip: any access pattern reaches it, but no engine does."""
        return self.space is MemorySpace.DRAM


@dataclass(frozen=True)
class Splat:
    """`count` times the same number, which nobody has written to memory yet."""

    value: int | float
    dtype: DType
    count: int


Leaf: TypeAlias = Buffer | Splat | None
"""An array; None for a token, and for what nobody needs (`demand.py`), which are nothing at all."""
Tree: TypeAlias = "Leaf | tuple[Tree, ...]"
Path: TypeAlias = tuple[int, ...]
"""Which leaf of a tuple: element numbers from the outside in."""


def leaves(tree: Tree, path: Path = ()) -> Iterator[tuple[Path, Leaf]]:
    """All leaves with their paths, in order."""
    if isinstance(tree, tuple):
        for number, element in enumerate(tree):
            yield from leaves(element, (*path, number))
    else:
        yield path, tree


def buffers(tree: Tree) -> Iterator[Buffer]:
    """All buffers, in order; one that stands twice in the tree comes twice."""
    return (leaf for _, leaf in leaves(tree) if isinstance(leaf, Buffer))


def map_leaves(tree: Tree, function: Callable[[Path, Leaf], Leaf], path: Path = ()) -> Tree:
    """The tree with each leaf replaced."""
    if isinstance(tree, tuple):
        return tuple(map_leaves(element, function, (*path, number)) for number, element in enumerate(tree))
    return function(path, tree)


def at(tree: Tree, path: Path) -> Tree:
    """The part of a tree at a path; None if it is part of nothing."""
    for number in path:
        if tree is None:
            return None
        assert isinstance(tree, tuple)
        tree = tree[number]
    return tree


@lru_cache(maxsize=4096)
def leaf_paths(type: Attribute) -> tuple[Path, ...]:
    """The paths of all leaves of a type, in order."""
    if not isinstance(type, TupleType):
        return ((),)
    return tuple((number, *path) for number, element in enumerate(type.types.data) for path in leaf_paths(element))


def type_at(type: Attribute, path: Path) -> Attribute:
    """The type of the part at a path."""
    for number in path:
        assert isinstance(type, TupleType)
        type = type.types.data[number]
    return type


def tree_of(type: Attribute, function: Callable[[Path, Attribute], Leaf], path: Path = ()) -> Tree:
    """A tree of the shape of a type; `function` gets each leaf's path and type."""
    if not isinstance(type, TupleType):
        return function(path, type)
    return tuple(tree_of(inner, function, (*path, number)) for number, inner in enumerate(type.types.data))
