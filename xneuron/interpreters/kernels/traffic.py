"""How many bytes a collective moves: what each member gets from each other one, sent directly and uncombined.

| | from each other member |
|---|---|
| all-gather, all-reduce | its operands |
| reduce-scatter, all-to-all | its operands by the size of the group |
| collective-broadcast | the root's operands |
| collective-permute | its source's operands |
| ragged-all-to-all | the rows that are sent |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation

from xneuron.dialects.hlo import collectives as hlo
from xneuron.dialects.hlo.attributes import pair_list
from xneuron.dialects.hlo.channels import PermuteOp


def size_of(value: Any) -> int:
    """The bytes of a value: all arrays of a tuple, nothing for a token."""
    if isinstance(value, tuple | list):
        return sum(map(size_of, value))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return 0 if value is None else int(value.nbytes)


def moved_bytes(op: Operation, members: Sequence[Sequence[Any]]) -> int:
    """Bytes that pass between different members of a group when `op` runs once on their operands."""
    count = len(members)
    if isinstance(op, PermuteOp):
        moves = [source for source, target in pair_list(op.source_target_pairs) if source != target]
        return sum(size_of(members[source]) for source in moves)
    if isinstance(op, hlo.CollectiveBroadcastOp):
        sent = members[0] if op.has_dynamic_root is None else members[0][:-1]
        return (count - 1) * size_of(sent)
    if isinstance(op, hlo.RaggedAllToAllOp):
        return _ragged(members)
    everything = sum(map(size_of, members)) * (count - 1)
    return everything // count if isinstance(op, hlo.ReduceScatterOp | hlo.AllToAllOp) else everything


def _ragged(members: Sequence[Sequence[Any]]) -> int:
    moved = 0
    for me, (input, _, _, send_sizes, *_) in enumerate(members):
        rows = np.asarray(send_sizes).reshape(len(members), -1).sum(1)
        moved += int(rows.sum() - rows[me]) * (size_of(input) // max(len(input), 1))
    return moved
