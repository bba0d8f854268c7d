"""The bits of floats as integers, and back: through registers, which are the only memory without a type.

One element at a time, so that this is for scalars and small arrays.
"""

from __future__ import annotations

from xneuron.dialects.bir.enums import AluOpType, DType
from xneuron.dialects.bir.expressions import Expr, affine, constant
from xneuron.dialects.bir.operands import MemoryAccess, access
from xneuron.dialects.bir.registers import RegisterAluOp, TensorLoadOp, TensorSaveOp
from xneuron.dialects.hlo.data_movement import BitcastOp
from xneuron.dialects.hlo.elementwise import BitcastConvertOp
from xneuron.dialects.hlo.numbers import pack, unpack
from xneuron.dialects.hlo.types import element_of

from .aliases import keeps_type
from .computations import Lowering
from .elementwise import apply, cast
from .layout import DTYPES, on_chip
from .rules import lowers
from .values import Buffer, Splat, Tree

_THROUGH_REGISTERS = (frozenset({"f32", "s32", "u32"}), frozenset({"bf16", "s16", "u16"}))
"""Types whose bits a register can have: a bf16 is the upper half of a float32."""


def unreadable(op: BitcastConvertOp | BitcastOp) -> str | None:
    """What keeps the bits of one type from being read as those of the other, None if nothing does."""
    source, target = element_of(op.operand.type), element_of(op.result.type)
    if source.bits != target.bits:
        return f"BIR does not take elements apart, from {source.name} to {target.name}"
    if "float" not in (source.kind, target.kind) or any({source.name, target.name} <= s for s in _THROUGH_REGISTERS):
        return None
    return f"no instruction of BIR reads the bits of {source.name} as {target.name}"


@lowers(BitcastConvertOp, check=unreadable, in_place=None)
def bitcast_convert(low: Lowering, op: BitcastConvertOp | BitcastOp) -> Tree:
    """Integers: a copy. Floats: through a register, one by one, since only registers are without a type."""
    source, target, leaf = element_of(op.operand.type), element_of(op.result.type), low.leaf(op.operand)
    if keeps_type(op):
        return leaf
    if isinstance(leaf, Splat):
        return Splat(unpack(target, pack(source, leaf.value)), DTYPES[target.name], leaf.count)
    if "float" not in (source.kind, target.kind):
        return apply(low, op, cast)
    shifts = {source.name: AluOpType.logical_shift_right, target.name: AluOpType.logical_shift_left}
    return _through_registers(low, low.result(op.results[0]), leaf, shifts.get("bf16"))


def single_bits(low: Lowering, leaf: Buffer | Splat) -> Buffer:
    """Floats as float32, read as integers; until the instruction is done."""
    found = low.keep_for_now(low.storage.value("bits", DType.int32, leaf.count, in_dram=False))
    return _through_registers(low, found, low.written(leaf))


def _through_registers(low: Lowering, out: Buffer, x: Buffer, shift: AluOpType | None = None) -> Buffer:
    """Each element of `x` loaded as its dtype says, maybe shifted by half a word, and saved as that of `out` says."""
    register = low.builder.register("bits")

    def move(number: Expr) -> None:
        low.builder.emit(TensorLoadOp([register], [_element(x, number)]))
        if shift is not None:
            low.builder.emit(RegisterAluOp([register], [register, 16], op=shift))
        low.builder.emit(TensorSaveOp([_element(out, number)], [register]))

    if x.count == 1:
        move(constant(0))
    else:
        with low.builder.loop("element", x.count) as iv:
            move(affine(iv))
    return out


def _element(buffer: Buffer, number: Expr) -> MemoryAccess:
    """One element of an array."""
    if buffer.in_dram:
        return access(buffer.handle, number, [(1, 1)])
    shape = on_chip(buffer.count)
    assert shape is not None
    return access(buffer.handle, number, [(shape[1], 1), (1, 1)])
