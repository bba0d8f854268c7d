"""Operands as JSON (reference `bir.md`, sections a and i).

| operand | kind |
|---|---|
| access at a constant offset | `physical_ap` |
| access at `register + constant` | `register_ap` |
| access at any other offset | `symbolic_ap`: the offset is the one expression of `addrs` |
| register | `register_access` |
| immediate | `imm_value` |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.bir.enums import DType
from xneuron.dialects.bir.expressions import Affine, Expr, Ref, RuntimeValue, constant
from xneuron.dialects.bir.operands import Immediate, MemoryAccess, Operand, Pattern, RegisterAccess
from xneuron.dialects.bir.storage import MemoryLocationOp
from xneuron.formats.bir_json.document import JSON, Fields, Node, Object, number_json
from xneuron.formats.bir_json.expressions import read_expr, register_name, write_expr
from xneuron.formats.bir_json.kept import refuse_unmodelled
from xneuron.formats.bir_json.scope import Scope

SetSizes: TypeAlias = dict[str, int]
"""How many locations a memory location set has, by its name."""

_UNHANDLED = ("imm_array", "symbolic_imm_value")


def read_operand(node: Node, scope: Scope) -> tuple[Operand, Object]:
    """An operand, and the keys that the dialect does not model."""
    fields = node.fields()
    kind = fields.need("kind")
    if kind.text() in _UNHANDLED:
        kind.error(f"Unhandled argument kind: '{kind.text()}' cannot be represented in the bir dialect")
    if (read := _READERS.get(kind.text())) is None:
        kind.error(f"Unsupported argument kind: '{kind.text()}'")
    operand = read(fields, scope)
    refuse_unmodelled(fields)
    return operand, fields.rest


def _read_immediate(fields: Fields, scope: Scope) -> Operand:
    dtype = fields.need("dtype").word(DType)
    return Immediate(fields.need("value").number(), dtype)


def _read_register(fields: Fields, scope: Scope) -> Operand:
    dtype = fields.need("dtype").word(DType)
    return RegisterAccess(scope.register(fields.need("regref")), dtype)


def _read_physical(fields: Fields, scope: Scope) -> Operand:
    return _access(fields, scope, constant(fields.need("offset").integer()))


def _read_register_ap(fields: Fields, scope: Scope) -> Operand:
    register = RuntimeValue(scope.register(fields.need("regref")))
    offset = fields.take("reg_ap_offset")
    return _access(fields, scope, Affine(((register, 1),), offset.integer() if offset else 0))


def _read_symbolic(fields: Fields, scope: Scope) -> Operand:
    addrs = fields.need("addrs")
    if len(items := addrs.items()) != 1:
        addrs.error(f"expected one address, the offset in elements, but got {len(items)}")
    return _access(fields, scope, read_expr(items[0], scope))


_READERS: dict[str, Callable[[Fields, Scope], Operand]] = {
    "imm_value": _read_immediate,
    "register_access": _read_register,
    "physical_ap": _read_physical,
    "register_ap": _read_register_ap,
    "symbolic_ap": _read_symbolic,
    "symbolic_pwap": _read_symbolic,
}


def _access(fields: Fields, scope: Scope, offset: Expr) -> MemoryAccess:
    dtype = fields.need("dtype").word(DType)
    location = _location(fields, scope)
    ap = fields.need("ap")
    pattern = tuple(_pair(item) for item in ap.items())
    return MemoryAccess(location.result, pattern, offset, dtype)


def _pair(node: Node) -> tuple[int, int]:
    numbers = [item.integer() for item in node.items()]
    if len(numbers) != 2:
        node.wrong("a pair [step, num]")
    return numbers[0], numbers[1]


def _location(fields: Fields, scope: Scope) -> MemoryLocationOp:
    """By its name; where only the set is named, the one location of the set."""
    memref, memsetref = fields.take("memref"), fields.take("memsetref")
    if memref is None:
        return _only_location(memsetref or fields.need("memref"), scope)
    location = scope.location(memref)
    if memsetref and memsetref.text() != location.set_name:
        memsetref.error(f"memory location '{location.label}' is in the set '{location.set_name}'")
    return location


def _only_location(memsetref: Node, scope: Scope) -> MemoryLocationOp:
    found = scope.storage.sets.get(memsetref.text(), [])
    if len(found) != 1:
        memsetref.error(f"expected a memory location set of one location but '{memsetref.text()}' has {len(found)}")
    return found[0]


def write_operand(operand: Operand, sizes: SetSizes) -> JSON:
    """The inverse of `read_operand`."""
    match operand:
        case Immediate(value, dtype):
            return {"kind": "imm_value", "dtype": dtype.value, "value": number_json(value)}
        case RegisterAccess(register, dtype):
            return {"kind": "register_access", "dtype": dtype.value, "regref": register_name(register)}
        case MemoryAccess(memory, pattern, offset, dtype):
            location = _owner(memory)
            own: Object = {"dtype": dtype.value, "memsetref": location.set_name, "ap": _write_pattern(pattern)}
            address = _write_address(offset)
            if address["kind"] == "physical_ap" or sizes[location.set_name] > 1:
                own["memref"] = location.label
            return own | address


def _write_pattern(pattern: Pattern) -> JSON:
    return [[step, num] for step, num in pattern]


def _write_address(offset: Expr) -> Object:
    match offset:
        case Affine((), c):
            return {"kind": "physical_ap", "offset": c}
        case Affine(((RuntimeValue(register), 1),), c):
            return {"kind": "register_ap", "regref": register_name(register), "reg_ap_offset": c}
        case _:
            return {"kind": "symbolic_ap", "addrs": [write_expr(offset)]}


def _owner(ref: Ref) -> MemoryLocationOp:
    if not isinstance(ref, SSAValue) or not isinstance(ref.owner, MemoryLocationOp):
        raise VerifyException("expected a memory location of this function")
    return ref.owner
