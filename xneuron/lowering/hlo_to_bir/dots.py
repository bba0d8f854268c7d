"""Which dimensions of a dot are batch, rows, columns and terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xneuron.dialects.bir.verifier.storage import PARTITIONS
from xneuron.dialects.hlo.contractions import DotOp
from xneuron.dialects.hlo.types import shape_of

BANK = 512
"""Elements of one partition of a bank of PSUM: 2 KiB of float32, what one matmult can write (NKI)."""


@dataclass(frozen=True)
class Dot:
    """A dot as a batched product of two matrices."""

    lhs: tuple[list[int], list[int], list[int]]
    """Dimensions of the lhs: batch, rows, terms."""
    rhs: tuple[list[int], list[int], list[int]]
    """Dimensions of the rhs: batch, columns, terms."""
    grid: tuple[int, int, int]
    """Extents of the result: batch, rows, columns."""
    terms: int

    @staticmethod
    def of(op: DotOp) -> Dot:
        """The dimensions of one instruction."""
        left, right, dims = shape_of(op.lhs.type), shape_of(op.rhs.type), op.dims
        lhs = _groups(len(left), dims.lhs_batch, dims.lhs_contracting)
        rhs = _groups(len(right), dims.rhs_batch, dims.rhs_contracting)
        batch, rows, terms = (prod(left[d] for d in group) for group in lhs)
        return Dot(lhs, rhs, (batch, rows, prod(right[d] for d in rhs[1])), terms)

    @property
    def is_one_block(self) -> bool:
        """True if the result is made in one go."""
        batch, rows, columns = self.grid
        return batch == 1 and rows <= PARTITIONS and columns <= BANK


def _groups(rank: int, batch: Sequence[int], terms: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
    return list(batch), [d for d in range(rank) if d not in (*batch, *terms)], list(terms)
