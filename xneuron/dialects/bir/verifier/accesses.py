"""Accesses: the pattern, the partitions it covers, and whether it stays inside its location.

What depends on an induction variable or a register is left to the simulator.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from ..enums import DType
from ..expressions import constant_value, leaves
from ..operands import Immediate, MemoryAccess
from ..storage import MemoryLocationOp
from .diagnostics import BirError
from .storage import PARTITIONS
from .values import check_leaf

MAX_PAIRS = 4
"""Most (step, num) pairs of an access pattern."""
STARTS = {0: 128, 32: 32, 64: 64, 96: 32}
"""Partitions that an engine access may start at, and how many it may cover from there (KLR and NKI)."""

_INTEGER_RANGES = {
    dtype: range(0, 2**bits) if dtype.value.startswith("u") else range(-(2 ** (bits - 1)), 2 ** (bits - 1))
    for dtype in DType
    if dtype.is_integer
    for bits in (8 * dtype.nbytes,)
}
_IMMEDIATE_FLOATS = (DType.bfloat16, DType.float16, DType.float32)


def check_access(op: Operation, access: MemoryAccess, through_engine: bool) -> MemoryLocationOp:
    """Raises BirError on a malformed access; `through_engine` adds the rule where it may start."""
    location = _location(access)
    if access.dtype != location.geometry.dtype:
        found = f"{access.dtype} and {location.geometry.dtype}"
        raise BirError("dtype", f"the dtype between AP and MemObj must be the same, but got {found}")
    if not 1 <= len(access.pattern) <= MAX_PAIRS or any(num <= 0 for num in access.nums):
        shown = [list(pair) for pair in access.pattern]
        raise BirError("pattern", f"expected one to {MAX_PAIRS} pairs of positive extent but got {shown}")
    for leaf in leaves(access.offset):
        check_leaf(op, leaf)
    if location.geometry.on_chip:
        _check_partitions(access, location, through_engine)
    else:
        _check_range(access, 0, location.geometry.elements, constant_value(access.offset))
    return location


def _location(access: MemoryAccess) -> MemoryLocationOp:
    if isinstance(access.memory, SSAValue) and isinstance(access.memory.owner, MemoryLocationOp):
        return access.memory.owner
    raise BirError("operand", "expected a memory location of this function")


def _check_partitions(access: MemoryAccess, location: MemoryLocationOp, through_engine: bool) -> None:
    """The first pair walks partitions; the others stay inside one."""
    free = location.geometry.free_elements
    step, count = access.pattern[0]
    if count > 1 and step != free:
        raise BirError("partitions", f"expected the first step to be {free} elements, one partition, but got {step}")
    if count > PARTITIONS:
        raise BirError("partitions", f"Pattern accesses > 128 partitions: {count}")
    if (offset := constant_value(access.offset)) is None:
        return
    start, within = divmod(offset, free)
    if start < 0 or start + count > location.geometry.partitions:
        found = f"partitions {start} to {start + count - 1} of {location.geometry.partitions}"
        raise BirError("out-of-bounds", f"the access covers {found}")
    if through_engine:
        _check_start(location.base.data + start, count)
    _check_range(access, 1, free, within)


def _check_start(start: int, count: int) -> None:
    if start not in STARTS:
        raise BirError(
            "partitions", f"Access pattern did not start at partition 0, 32, 64 or 96. Starts at partition {start}"
        )
    if count > STARTS[start]:
        raise BirError(
            "partitions",
            f"Access pattern crosses a partition boundary: {count} partitions from {start}, at most {STARTS[start]}",
        )


def _check_range(access: MemoryAccess, first_pair: int, room: int, offset: int | None) -> None:
    if offset is None:
        return
    reach = [step * (num - 1) for step, num in access.pattern[first_pair:]]
    low = offset + sum(distance for distance in reach if distance < 0)
    high = offset + sum(distance for distance in reach if distance > 0)
    if low < 0 or high >= room:
        raise BirError("out-of-bounds", f"the access covers elements {low} to {high} of {room}")


def check_immediate(immediate: Immediate) -> None:
    """Raises BirError when the value is none of the dtype, or no immediate can have the dtype."""
    value, dtype = immediate.value, immediate.dtype
    if dtype in _INTEGER_RANGES:
        if not isinstance(value, int) or value not in _INTEGER_RANGES[dtype]:
            raise BirError("immediate", f"expected a value of {dtype} but got {value}")
    elif dtype not in _IMMEDIATE_FLOATS:
        raise BirError("immediate", f"an immediate cannot be of {dtype}")
