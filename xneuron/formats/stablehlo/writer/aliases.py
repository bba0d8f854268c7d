"""Buffers that results share with parameters, and parameters that are donated, as JAX says it of arguments."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from xneuron.dialects.hlo.attributes import text_of
from xneuron.dialects.hlo.types import elements_of
from xneuron.formats.stablehlo.writer.text import leaf_types

_ALIAS = re.compile(r"\{([\d, ]*)\}: \((\d+), \{([\d, ]*)\}")
_DONOR = re.compile(r"\((\d+), \{([\d, ]*)\}\)")


def aliases(module: ModuleOp, entry: FuncOp, arguments: Sequence[Sequence[dict[str, str]]]) -> None:
    """Adds `tf.aliasing_output` to the attributes of the leaves of parameters that results share their buffer with."""
    results = entry.function_type.outputs.data
    for output, parameter, index in _ALIAS.findall(text_of(module.attributes.get("hlo.input_output_alias"))):
        own = _leaf(arguments, entry, int(parameter), index)
        position = _position(results[0], output)
        if own is not None and position is not None:
            own["tf.aliasing_output"] = f"{position} : i32"


def donors(module: ModuleOp, entry: FuncOp, arguments: Sequence[Sequence[dict[str, str]]]) -> None:
    """Adds `jax.buffer_donor` to the attributes of the leaves of parameters that are donated."""
    for parameter, index in _DONOR.findall(text_of(module.attributes.get("hlo.buffer_donor"))):
        own = _leaf(arguments, entry, int(parameter), index)
        if own is not None:
            own["jax.buffer_donor"] = "true"


def _leaf(
    arguments: Sequence[Sequence[dict[str, str]]], entry: FuncOp, parameter: int, index: str
) -> dict[str, str] | None:
    types = entry.function_type.inputs.data
    position = _position(types[parameter], index) if parameter < len(types) else None
    return None if position is None else arguments[parameter][position]


def _position(type: Attribute, index: str) -> int | None:
    """Where the leaf at an index such as `1, 0` stands among the leaves of a type; None for a whole tuple."""
    position = 0
    for number in map(int, re.findall(r"\d+", index)):
        parts = elements_of(type)
        position += sum(len(leaf_types(part)) for part in parts[:number])
        type = parts[number]
    return position if leaf_types(type) == (type,) else None
