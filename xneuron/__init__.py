"""An open compiler for loops: exact trip counts, unrolling and runtime-bounded loops for HLO, on xDSL."""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"

_LAZY = {"from_jax": "xneuron.jax_bridge.from_jax", "to_jax": "xneuron.jax_bridge.to_jax"}
"""Functions of the package that need more than it imports at start-up, with the modules they are in."""


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)
