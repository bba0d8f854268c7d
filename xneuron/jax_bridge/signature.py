"""What JAX knows of a function and its program does not say: the pytrees that it takes and gives.

Kept beside the module that `from_jax` made, as long as there is that module: passes change it, and it stays the same.
"""

# Most of what JAX gives has no types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class Signature:
    """`arguments` is the pytree of ((positional), {by keyword}), of whose leaves those in `used` are parameters.

    `keys` says of each leaf of the results which generator it is a typed key of, None for arrays.
    """

    arguments: Any
    used: tuple[int, ...]
    results: Any
    keys: tuple[Any, ...]

    def parameters(self, positional: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """The leaves that are parameters. Raises TypeError where there are others than the function was traced with."""
        import jax

        leaves, given = jax.tree.flatten((tuple(positional), dict(named)))
        plain = not named and not self.arguments.children()[1].num_leaves
        if given != self.arguments and not (plain and len(leaves) == self.arguments.num_leaves):
            raise TypeError(f"expected arguments {_described(self.arguments)}, found {_described(given)}")
        return [leaves[number] for number in self.used]

    def value(self, leaves: Sequence[Any]) -> Any:
        """The results in their structure."""
        import jax

        wrapped = [
            leaf if kind is None else jax.random.wrap_key_data(leaf, impl=kind)
            for leaf, kind in zip(leaves, self.keys, strict=True)
        ]
        return jax.tree.unflatten(self.results, wrapped)


_known: WeakKeyDictionary[ModuleOp, Signature] = WeakKeyDictionary()


def remember(module: ModuleOp, stage: Any, parameters: int) -> None:
    """Keeps what a `Lowered` or `Exported` says of a module with so many parameters."""
    import jax

    arguments, results = stage.in_tree, stage.out_tree
    avals = stage.out_avals if hasattr(stage, "out_avals") else jax.tree.leaves(stage.out_info)
    used = _used(stage, arguments.num_leaves, parameters)
    if len(used) == parameters and len(avals) == results.num_leaves:
        _known[module] = Signature(arguments, used, results, tuple(map(_generator, avals)))


def signature_of(module: ModuleOp, inputs: int, outputs: int) -> Signature | None:
    """What is known of a module, if that still goes with what it takes and gives."""
    found = _known.get(module)
    fits = found is not None and (len(found.used), len(found.keys)) == (inputs, outputs)
    return found if fits else None


def _used(stage: Any, leaves: int, parameters: int) -> tuple[int, ...]:
    """The leaves that became parameters: JAX leaves out what a function does not use."""
    if leaves == parameters:
        return tuple(range(leaves))
    if hasattr(stage, "module_kept_var_idx"):
        return tuple(stage.module_kept_var_idx)
    # There is no public way to ask a Lowered.
    lowering = getattr(stage, "_lowering", None)
    return tuple(sorted(getattr(lowering, "compile_args", {}).get("kept_var_idx", ())))


def _generator(aval: Any) -> Any:
    import jax

    return aval.dtype._impl if jax.numpy.issubdtype(aval.dtype, jax.dtypes.prng_key) else None


def _described(arguments: Any) -> str:
    """`(*, {'a': *}), scale=*`: a star for each array."""
    import jax

    positional, named = jax.tree.unflatten(arguments, [_STAR] * arguments.num_leaves)
    parts = [*map(repr, positional), *(f"{name}={value!r}" for name, value in named.items())]
    return f"({', '.join(parts)})"


class _Star:
    def __repr__(self) -> str:
        return "*"


_STAR = _Star()
