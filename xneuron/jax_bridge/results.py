"""Results in the structure that they had in JAX, which says of each where it stood: `result[0]['w']`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, StringAttr, TupleType
from xdsl.dialects.func import FuncOp

INFO = "jax.result_info"
_STEP = re.compile(r"\[(\d+)\]|\['([^']*)'\]")
_PATH = re.compile(rf"result((?:{_STEP.pattern})*)")
Path = tuple[int | str, ...]


def rebuilt(entry: FuncOp) -> Callable[[Sequence[Any]], Any]:
    """What makes the value that a call returns of the leaves of the entry's result."""
    paths = _paths(entry)
    if paths is not None:
        return lambda leaves: _assembled(list(zip(paths, leaves, strict=True)))
    is_tuple = isinstance(entry.function_type.outputs.data[0], TupleType)
    return tuple if is_tuple else lambda leaves: leaves[0]


def _paths(entry: FuncOp) -> list[Path] | None:
    """The place of each leaf in tuples and dictionaries; None where JAX does not say, or something else is in it."""
    told = cast("ArrayAttr[StringAttr] | None", entry.attributes.get(INFO))
    found = [_PATH.fullmatch(name.data) for name in told] if told is not None else []
    if not found or None in found:
        return None
    return [_path(match[1]) for match in found if match is not None]


def _path(text: str) -> Path:
    return tuple(int(match[1]) if match[1] is not None else match[2] for match in _STEP.finditer(text))


def _assembled(leaves: Sequence[tuple[Path, Any]]) -> Any:
    if not leaves[0][0]:
        return leaves[0][1]
    groups: dict[int | str, list[tuple[Path, Any]]] = {}
    for path, leaf in leaves:
        groups.setdefault(path[0], []).append((path[1:], leaf))
    parts = {key: _assembled(group) for key, group in groups.items()}
    return tuple(parts.values()) if isinstance(leaves[0][0][0], int) else parts
