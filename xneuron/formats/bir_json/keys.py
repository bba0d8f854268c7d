"""Key values as JSON: flags, numbers, words, texts, lists, by the attribute that holds them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.utils.enum_attribute import EnumAttribute
from xdsl.ir import Attribute, Data
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.bir.compute import MatmultOp, MemsetOp, TensorScalarOp
from xneuron.dialects.bir.keyed import KeyedOp
from xneuron.dialects.bir.types import FlagAttr, IntsAttr, LongAttr, NumberAttr
from xneuron.formats.bir_json.document import JSON, Fields, Node, Object, number_json

_SPELLINGS = {
    "is_parallel": ("isParallel", "is_parallel"),
    "no_spill": ("no_spill", "do_not_spill"),
}
"""Keys that are called otherwise on the wire: the spelling that is written, then others that are read."""

ALWAYS_WRITTEN: tuple[type[KeyedOp], ...] = (MatmultOp, TensorScalarOp, MemsetOp)
"""Instructions whose keys are written at their defaults as well (reference, section a; Memset as in KLR)."""


def read_keys(fields: Fields, cls: type[KeyedOp], names: Iterable[str]) -> dict[str, Attribute]:
    """The named keys of an operation; one that is left out or at its default is absent."""
    found: dict[str, Attribute] = {}
    for name in names:
        key = cls.key_definitions()[name]
        spellings = _SPELLINGS.get(name, (name,))
        place = fields.need(*spellings) if key.required else fields.take(*spellings)
        if place is None:
            continue
        attr = _read_value(place, key.attribute)
        if not key.is_default(attr):
            found[name] = attr
    return found


def write_keys(op: KeyedOp, names: Iterable[str], always: bool) -> Object:
    """The named keys that are not at their default, or all that have a value."""
    shown = [name for name in names if not op.is_default(name) or (always and op.key(name) is not None)]
    return {_SPELLINGS.get(name, (name,))[0]: _write_value(op, name) for name in shown}


def _read_value(node: Node, attribute: type[Data[Any]]) -> Data[Any]:
    if issubclass(attribute, EnumAttribute):
        return attribute.new(node.word(cast(Any, attribute).enum_type))
    return attribute.new(_READERS[attribute](node))


def _read_steps(node: Node) -> tuple[int, ...]:
    """`[{step, num}, …]`, `[[step, num], …]` or the plain numbers."""
    return tuple(number for item in node.items() for number in _read_step(item))


def _read_step(node: Node) -> list[int]:
    if isinstance(node.value, list):
        return [number.integer() for number in node.items()]
    if not isinstance(node.value, dict):
        return [node.integer()]
    fields = node.fields()
    pair = [fields.need("step").integer(), fields.need("num").integer()]
    fields.end()
    return pair


_READERS: dict[type[Attribute], Callable[[Node], object]] = {
    FlagAttr: Node.flag,
    LongAttr: Node.integer,
    NumberAttr: Node.number,
    IntsAttr: _read_steps,
    StringAttr: Node.text,
}


def _write_value(op: KeyedOp, name: str) -> JSON:
    attribute, value = op.key_definitions()[name].attribute, op.key(name)
    if issubclass(attribute, EnumAttribute):
        return str(value)
    if attribute is NumberAttr:
        return number_json(value)
    if attribute is not IntsAttr:
        return value
    if len(value) % 2:
        raise VerifyException(f"expected pairs of step and num but got {len(value)} numbers")
    return [{"step": step, "num": num} for step, num in zip(value[::2], value[1::2], strict=True)]
