"""The `op_name` in an instruction's metadata: where in the user's program it comes from."""

from __future__ import annotations

from xdsl.dialects.builtin import DictionaryAttr, StringAttr
from xdsl.ir import Attribute, Operation

from xneuron.dialects.hlo.attributes import text_of


def op_name(op: Operation) -> str:
    """The op_name, empty where there is none."""
    metadata = op.attributes.get("metadata")
    return text_of(metadata.data.get("op_name")) if isinstance(metadata, DictionaryAttr) else ""


def set_op_name(op: Operation, name: str) -> None:
    """Changes the op_name and keeps the rest of the metadata."""
    changed: dict[str, Attribute] = {}
    if isinstance(metadata := op.attributes.get("metadata"), DictionaryAttr):
        changed |= metadata.data
    op.attributes["metadata"] = DictionaryAttr(changed | {"op_name": StringAttr(name)})
