"""Registers and memory locations: geometry and capacity.

128 partitions; 192 KiB of SB and 16 KiB of PSUM per partition (NeuronCore-v2, reference section i).
"""

from __future__ import annotations

from string import hexdigits
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from ..enums import DATA_PATH_ENGINES, Engine, MemorySpace, TensorKind
from .diagnostics import BirError

if TYPE_CHECKING:
    from ..storage import MemoryLocationOp, RegisterOp

PARTITIONS = 128
CAPACITY = {MemorySpace.SB: 192 * 1024, MemorySpace.PSUM: 16 * 1024}
"""Bytes per partition."""
SPACES = (MemorySpace.DRAM, MemorySpace.SB, MemorySpace.PSUM)


def verify_register(op: RegisterOp) -> None:
    """Raises BirError on a register that no engine has."""
    from ..storage import MAX_REGISTERS_PER_ENGINE

    check_top_of_function(op)
    if op.engine.data not in (*DATA_PATH_ENGINES, Engine.ALL):
        raise BirError("400", f"engine {op.engine.data} has no registers")
    if (width := op.num_physical_regs.data) not in (1, 2):
        raise BirError("register-width", f"expected 1 or 2 physical registers but got {width}")
    last = MAX_REGISTERS_PER_ENGINE - width
    if (found := op.key("physical_id")) is not None and not 0 <= found <= last:
        raise BirError("capacity", f"expected a physical register from 0 to {last} but got {found}")


def verify_memory_location(op: MemoryLocationOp) -> None:
    """Raises BirError on a location that does not fit in its memory."""
    check_top_of_function(op)
    geometry = op.geometry
    if geometry.space not in SPACES:
        raise BirError("310", f"expected a location in {', '.join(SPACES)} but got {geometry.space}")
    if not geometry.shape or any(extent <= 0 for extent in geometry.shape):
        raise BirError("capacity", f"expected positive extents but got {list(geometry.shape)}")
    if op.partition_dim.data != 0:
        raise BirError("capacity", f"expected the partition to be dimension 0 but got {op.partition_dim.data}")
    if op.data is not None:
        _check_data(op, op.data.data)
    if geometry.on_chip:
        _check_on_chip(op)


def _check_data(op: MemoryLocationOp, digits: str) -> None:
    if op.kind.data is not TensorKind.Const:
        raise BirError("operand", f"expected data in a location of kind Const but got kind {op.kind.data}")
    wanted = 2 * op.geometry.elements * op.geometry.dtype.nbytes
    if len(digits) != wanted or not all(digit in hexdigits for digit in digits):
        raise BirError("operand", f"expected {wanted} hexadecimal digits of data but got {len(digits)} characters")


def _check_on_chip(op: MemoryLocationOp) -> None:
    geometry = op.geometry
    base = op.base.data
    if base < 0 or base + geometry.partitions > PARTITIONS:
        found = f"{geometry.partitions} from partition {base}"
        raise BirError("capacity", f"expected at most {PARTITIONS} partitions but got {found}")
    room = CAPACITY[geometry.space]
    addr = op.addr.data
    if addr < 0 or addr + geometry.bytes_per_partition > room:
        found = f"{geometry.bytes_per_partition} from byte {addr}"
        raise BirError("capacity", f"expected at most {room} bytes per partition of {geometry.space} but got {found}")


def check_top_of_function(op: Operation) -> None:
    from ..functions import FuncOp

    parent = op.parent_op()
    if not isinstance(parent, FuncOp) or op.parent_block() is not parent.entry:
        raise BirError("placement", f"expected {op.name} in the first block of a function")
