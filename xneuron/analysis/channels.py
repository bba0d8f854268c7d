"""Channel ids: what names the meeting point of collectives and transfers (neuron-hlo-passes.md §9)."""

from __future__ import annotations

from xdsl.ir import Operation

from xneuron.dialects.hlo.attributes import int_of


def channel_of(op: Operation) -> int | None:
    """The channel id of an op, None if it has none."""
    attribute = op.properties.get("channel_id")
    return None if attribute is None else int_of(attribute)


def next_channel_id(module: Operation) -> int:
    """One more than the largest channel id in the module, at least 1; looks at every op."""
    return 1 + max((channel_of(op) or 0 for op in module.walk()), default=0)
