"""Scheduling groups: instructions to be scheduled together, by number (xla-semantics.md b.5)."""

from __future__ import annotations

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Operation

from xneuron.dialects.hlo.attributes import text_of

ATTRIBUTES, KEY = "frontend_attributes", "_scheduling_group_id"


def scheduling_group(op: Operation) -> tuple[int, str] | None:
    """The number of an op's group and what is said behind it (`:iteration`); None for an op of none (`noop`)."""
    attributes = op.attributes.get(ATTRIBUTES)
    said = text_of(attributes.data.get(KEY)) if isinstance(attributes, DictionaryAttr) else ""
    number, colon, iteration = said.partition(":")
    return (int(number), colon + iteration) if number.isascii() and number.isdigit() else None


def next_scheduling_group(module: Operation) -> int:
    """One more than the largest number of a group in the module, at least 1; looks at every op."""
    groups = (scheduling_group(op) for op in module.walk())
    return 1 + max((group[0] for group in groups if group is not None), default=0)
