"""Registers and memory locations as the `allocations` of a function (reference `bir.md`, sections b and i).

`{"Skind": "register", …}`, or a memory location set, which has the dtype and the shape of its `memorylocations`.
The keys of the register object are not public; ours are those of the dialect.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.bir.enums import DType, MemorySpace
from xneuron.dialects.bir.functions import FuncOp
from xneuron.dialects.bir.storage import MemoryLocationOp, RegisterOp
from xneuron.dialects.bir.types import Geometry
from xneuron.formats.bir_json.document import JSON, Fields, Node, Object
from xneuron.formats.bir_json.kept import SET_ATTRIBUTE, keep, with_kept
from xneuron.formats.bir_json.keys import read_keys, write_keys
from xneuron.formats.bir_json.operands import SetSizes
from xneuron.formats.bir_json.scope import Placed, Storage

_REGISTER_KEYS = tuple(RegisterOp.key_definitions())
_SET_KEYS = MemoryLocationOp.SET_KEYS
_LOCATION_KEYS = ("addr", "bank", "base", "allocated", "pinned", "tensor_id", "data")
_WRITTEN_SET_KEYS = ("kind", "tensor_class", "addr_space", "partition_dim")
"""Keys that are written at their defaults as well; so are all keys of a location."""


def read_allocations(nodes: Iterable[Node], placed: Placed) -> Storage:
    """The storage of a function, by name; what was read where is added to `placed`."""
    storage = Storage(placed)
    for node in nodes:
        fields = node.fields()
        kind = fields.need("Skind")
        match kind.text():
            case "register":
                _read_register(fields, storage)
            case "memory_location_set":
                _read_set(fields, storage)
            case _:
                kind.wrong("Skind register or memory_location_set")
    return storage


def _new_name(fields: Fields, storage: Storage) -> str:
    name = (place := fields.need("name")).text()
    if name in storage.named:
        place.error(f"the name '{name}' is taken in this function")
    return name


def _read_register(fields: Fields, storage: Storage) -> None:
    name = _new_name(fields, storage)
    op = RegisterOp(name)
    op.properties |= read_keys(fields, RegisterOp, _REGISTER_KEYS)
    keep(op, fields.rest)
    storage.add(op, fields.node)


def _read_set(fields: Fields, storage: Storage) -> None:
    place = fields.need("name")
    if (name := place.text()) in storage.sets:
        place.error(f"the name '{name}' is taken in this function")
    shared = read_keys(fields, MemoryLocationOp, _SET_KEYS)
    dtype = fields.need("dtype").word(DType)
    shape = tuple(extent.integer() for extent in fields.need("tensor_shape").items())
    locations = fields.need("memorylocations")
    ops = [_read_location(node, storage, name, shared, dtype, shape) for node in locations.items()]
    if not ops:
        locations.error("a memory location set without locations cannot be represented in the bir dialect")
    storage.sets[name] = ops
    if fields.rest.get("tensorId2MemLocSize") == _tensor_ids(ops):
        del fields.rest["tensorId2MemLocSize"]
    keep(ops[0], fields.rest, SET_ATTRIBUTE)


def _read_location(
    node: Node, storage: Storage, set_name: str, shared: dict[str, Attribute], dtype: DType, shape: tuple[int, ...]
) -> MemoryLocationOp:
    fields = node.fields()
    if (kind := fields.take("Skind")) and kind.text() != "memory_location":
        kind.wrong("Skind memory_location")
    name = _new_name(fields, storage)
    op = MemoryLocationOp(name, fields.need("type").word(MemorySpace), dtype, shape)
    if op.set_name != set_name:
        op.properties["set"] = StringAttr(set_name)
    op.properties |= shared | read_keys(fields, MemoryLocationOp, _LOCATION_KEYS)
    _check_dims(fields, op.geometry)
    keep(op, fields.rest)
    storage.add(op, fields.node)
    return op


def _check_dims(fields: Fields, geometry: Geometry) -> None:
    """`dims` follow from shape and dtype; off chip, where nobody says how, others are kept."""
    if (expected := _dims(geometry)) == fields.rest.get("dims", expected):
        fields.take("dims")
    elif geometry.on_chip:
        fields.need("dims").wrong(f"dims {expected}, the partitions and the bytes of one,")


def _dims(geometry: Geometry) -> JSON:
    return [geometry.partitions, geometry.bytes_per_partition]


def place_storage(func: FuncOp, storage: Storage) -> None:
    """Puts the handles at the top of a function."""
    ops = list(storage.named.values())
    if first := func.entry.first_op:
        func.entry.insert_ops_before(ops, first)
    else:
        func.entry.add_ops(ops)


def _tensor_ids(ops: list[MemoryLocationOp]) -> int:
    return len({op.tensor_id.data for op in ops})


def sets_of(func: FuncOp) -> dict[str, list[MemoryLocationOp]]:
    """The memory location sets of a function, in order of their first location."""
    found: dict[str, list[MemoryLocationOp]] = {}
    for op in func.memory_locations:
        found.setdefault(op.set_name, []).append(op)
    return found


def set_sizes(func: FuncOp) -> SetSizes:
    """How many locations each set has."""
    return {name: len(ops) for name, ops in sets_of(func).items()}


def write_allocations(func: FuncOp) -> list[JSON]:
    """Registers and sets, in order of definition."""
    sets = sets_of(func)
    found: list[JSON] = []
    for op in func.entry.ops:
        if isinstance(op, RegisterOp):
            found.append(_write_register(op))
        elif isinstance(op, MemoryLocationOp) and sets[op.set_name][0] is op:
            found.append(_write_set(op.set_name, sets[op.set_name]))
    return found


def _write_register(op: RegisterOp) -> JSON:
    own: Object = {"Skind": "register", "name": op.label, **write_keys(op, _REGISTER_KEYS, always=True)}
    return with_kept(own, op)


def _write_set(name: str, ops: list[MemoryLocationOp]) -> JSON:
    first = ops[0]
    for other in ops:
        if (other.geometry.dtype, other.geometry.shape) != (first.geometry.dtype, first.geometry.shape):
            labels = f"'{first.label}' and '{other.label}' of the set '{name}'"
            raise VerifyException(f"expected {labels} to have the same dtype and shape; BIR-JSON cannot express others")
    own: Object = {
        "Skind": "memory_location_set",
        "name": name,
        "dtype": first.geometry.dtype.value,
        "tensor_shape": [*first.geometry.shape],
        "tensorId2MemLocSize": _tensor_ids(ops),
        "memorylocations": [_write_location(op) for op in ops],
        **write_keys(first, _WRITTEN_SET_KEYS, always=True),
        **write_keys(first, (key for key in _SET_KEYS if key not in _WRITTEN_SET_KEYS), always=False),
    }
    return with_kept(own, first, SET_ATTRIBUTE)


def _write_location(op: MemoryLocationOp) -> JSON:
    own: dict[str, Any] = {
        "Skind": "memory_location",
        "name": op.label,
        "type": op.geometry.space.value,
        "dims": _dims(op.geometry),
        **write_keys(op, _LOCATION_KEYS, always=True),
    }
    return with_kept(own, op)
