"""Keys that the dialect does not model: kept as JSON text in the attribute `bir.json` and written back.

Real files have more keys than anyone outside knows (debug information, semaphores, schedules); reading and
writing a program must not lose them. What is kept mirrors the object it came from: `{"ins": [{}, {"x": 1}]}` is the
key `x` of the second input.
"""

from __future__ import annotations

import json

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from xneuron.formats.bir_json.document import JSON, Fields, Object

ATTRIBUTE = "bir.json"
SET_ATTRIBUTE = "bir.json_set"
"""The same for a memory location set, on its first location."""

NOT_MODELLED = frozenset(
    (
        # Any instruction: they decide whether it runs, and what it reads.
        "predicates",
        "indirection_ins",
        # Blocks with arguments.
        "arguments",
        "incoming_values",
        # Variants of an opcode that compute something else.
        "is_tensor_scalar_addr",
        "is_scalar_tensor_tensor",
        "is_tensor_tensor_scan",
        "is_activate2",
        "reduce_op",
        "transpose_op",
        "constants",
        "cce_op",
        "accumulation_flag",
        "replication_resolution",
        "replication_shift_amnt",
        "replication_num_rows",
        "is_fmap_onezero",
        "is_weight_onezero",
        "ifmap_quant_offset",
        "weights_quant_offset",
        # Operands whose address is made in another way.
        "dynamic_ap_info",
        "const_ap_offset",
        "const_sub_tensor_id",
        "reg_sub_tensor_id",
        "tensor_indirect_arg_id",
        "num_tensor_indirect_indices",
    )
)
"""Keys that change what a program does: to keep them without meaning would run another program."""

_NOTHING: tuple[JSON, ...] = (None, False, 0, "", "None", [], {})


def refuse_unmodelled(fields: Fields) -> None:
    """Raises BirJsonError for a key that changes what the program does, unless its value says "not used"."""
    for name, value in fields.rest.items():
        if name in NOT_MODELLED and value not in _NOTHING:
            fields.need(name).error(f"'{name}' cannot be represented in the bir dialect")


def keep(op: Operation, rest: Object, attribute: str = ATTRIBUTE) -> None:
    """Remembers keys on an operation."""
    if rest:
        op.attributes[attribute] = StringAttr(json.dumps(rest, sort_keys=True))


def with_kept(own: Object, op: Operation, attribute: str = ATTRIBUTE) -> Object:
    """What is written for an operation: its own keys, and those that were kept."""
    if (attr := op.attributes.get(attribute)) is None:
        return own
    merged = _merge(own, _kept(attr.data if isinstance(attr, StringAttr) else ""))
    if not isinstance(merged, dict):
        raise VerifyException(f"expected the attribute {attribute} of {op.name} to be a JSON object in a string")
    return merged


def _kept(text: str) -> JSON:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _merge(own: JSON, kept: JSON) -> JSON:
    if isinstance(own, dict) and isinstance(kept, dict):
        return own | {key: _merge(own[key], value) if key in own else value for key, value in kept.items()}
    if isinstance(own, list) and isinstance(kept, list) and all(isinstance(item, dict) for item in (*own, *kept)):
        # Kept by position: a list that has changed its length has changed its meaning.
        return [_merge(*pair) for pair in zip(own, kept, strict=True)] if len(own) == len(kept) else own
    return kept


def positional(rests: list[Object]) -> JSON:
    """What to keep of a list of objects: nothing if no object has anything left."""
    return [*rests] if any(rests) else None


def nested(**parts: JSON) -> Object:
    """Kept parts of an object by key, without those that have nothing to keep."""
    return {key: value for key, value in parts.items() if value}
