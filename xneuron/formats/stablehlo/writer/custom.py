"""Chapter: custom calls, and what cannot be written."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.attributes import flag, text_of
from xneuron.dialects.hlo.custom import API_VERSIONS, CustomCallOp, OpaqueOp
from xneuron.dialects.hlo.literal import LiteralAttr
from xneuron.dialects.hlo.marker_targets import COMPOSITE, MARKERS
from xneuron.dialects.hlo.types import LayoutAttr, TokenType, elements_of, is_tensor, memory_order, spelled, tuple_of
from xneuron.formats.stablehlo.writer.control_flow import computation_name
from xneuron.formats.stablehlo.writer.emitter import Inexpressible, Leaf, Tree, string_attribute
from xneuron.formats.stablehlo.writer.module import Rule, Writer, single
from xneuron.formats.stablehlo.writer.text import boolean, dense, dictionary, leaf_types, quoted

_NOT_HERE = (
    "window",
    "dim_labels",
    "feature_group_count",
    "batch_group_count",
    "operand_precision",
    "padding_type",
    "schedule",
)
_ALIAS = re.compile(r"\{([\d, ]*)\}: \((\d+), \{([\d, ]*)\}\)")
_TYPED = "API_VERSION_TYPED_FFI"


def _custom_call(writer: Writer, op: CustomCallOp) -> Tree:
    """Results are variadic. Tuples that this cannot say (nested, of one element) and operands that are tuples stay."""
    if op.custom_call_target.data in MARKERS and not writer.native_markers:
        return _marker(writer, op)
    if unknown := [name for name in _NOT_HERE if name in op.properties]:
        raise Inexpressible(op, f"its custom calls have no {unknown[0]}")
    writer.attributes.pop("mhlo.backend_config", None)
    if isinstance(op.literal, LiteralAttr):
        writer.attributes["mhlo.literal"] = dense(op.literal)
    properties = _properties(op) | _layouts(op)
    if op.called_computations:
        properties["called_computations"] = f"[{', '.join(_callees(writer, op))}]"
    operands = [_packed(writer, writer.trees[value], value.type) for value in op.inputs]
    result = op.results[0].type
    if _is_variadic(result):
        return writer.packed(op, writer.emit("stablehlo.custom_call", operands, writer.flat(op), properties))
    return _unpacked(writer, single(writer.emit("stablehlo.custom_call", operands, [result], properties)))


def _marker(writer: Writer, op: CustomCallOp) -> Tree:
    """A composite that does nothing, so that every back end runs it; `reader/custom.py` makes a marker of it again."""
    writer.attributes.pop("mhlo.backend_config", None)
    operands = writer.leaves(op.inputs)
    texts = {
        "target": op.custom_call_target,
        "backend_config": op.attributes.get("backend_config"),
        "api_version": op.api_version,
    }
    said = {key: string_attribute(value) for key, value in texts.items() if value is not None}
    said |= {"has_side_effect": "true"} if flag(op.custom_call_has_side_effect) else {}
    properties = {
        "name": quoted(COMPOSITE),
        "composite_attributes": dictionary(said),
        "decomposition": f"@{quoted(writer.identity([leaf.type for leaf in operands]))}",
        "version": "0 : i32",
    }
    return writer.packed(op, writer.emit("stablehlo.composite", operands, writer.flat(op), properties))


def _is_variadic(type: Attribute) -> bool:
    if not isinstance(type, TupleType):
        return True
    parts = elements_of(type)
    return len(parts) != 1 and not any(isinstance(part, TupleType) for part in parts)


def _properties(op: CustomCallOp) -> dict[str, str]:
    version = text_of(op.api_version, API_VERSIONS[0])
    config = text_of(op.attributes.get("backend_config"))
    properties = {
        "call_target_name": quoted(op.custom_call_target.data),
        "has_side_effect": boolean(flag(op.custom_call_has_side_effect)),
        "backend_config": (config or "{}") if version == _TYPED else quoted(config),
        "api_version": f"{API_VERSIONS.index(version) + 1} : i32",
    }
    if aliases := _ALIAS.findall(text_of(op.output_to_operand_aliasing)):
        properties["output_operand_aliases"] = f"[{', '.join(_alias(*alias) for alias in aliases)}]"
    return properties


def _alias(output: str, operand: str, index: str) -> str:
    fields = f"output_tuple_indices = [{output}], operand_index = {operand}, operand_tuple_indices = [{index}]"
    return f"#stablehlo.output_operand_alias<{fields}>"


def _layouts(op: CustomCallOp) -> dict[str, str]:
    if op.operand_layout_constraints is None:
        return {}
    results = leaf_types(op.results[0].type)
    return {"operand_layouts": _listed(op.operand_layout_constraints.data), "result_layouts": _listed(results)}


def _listed(types: Sequence[Attribute]) -> str:
    return f"[{', '.join(map(_layout, types))}]"


def _layout(type: Attribute) -> str:
    """`dense<[1, 0]> : tensor<2xindex>`, dimensions from the fastest on."""
    if isinstance(type, TokenType):
        return "dense<> : tensor<0xindex>"
    if not is_tensor(type):
        raise VerifyException(f"it has no layout of {spelled(type)}")
    if isinstance(type.encoding, LayoutAttr) and not type.encoding.is_order_only:
        raise VerifyException(f"it has no layout {type.encoding.braces}")
    order = [str(dimension) for dimension in reversed(memory_order(type))]
    listed = f"[{', '.join(order)}]" if order else ""
    return f"dense<{listed}> : tensor<{len(order)}xindex>"


def _callees(writer: Writer, op: CustomCallOp) -> list[str]:
    return [
        f"@{quoted(writer.outlined(computation_name(op, index, 'called_computation'), region))}"
        for index, region in enumerate(op.called_computations)
    ]


def _packed(writer: Writer, tree: Tree, type: Attribute) -> Leaf:
    """The value, a tuple where it is one."""
    if isinstance(tree, Leaf):
        return tree
    parts = [_packed(writer, part, own) for part, own in zip(tree, elements_of(type), strict=True)]
    return single(writer.help("stablehlo.tuple", parts, [tuple_of(tuple([part.type for part in parts]))]))


def _unpacked(writer: Writer, leaf: Leaf) -> Tree:
    if not isinstance(leaf.type, TupleType):
        return leaf
    found: list[Tree] = []
    for index, type in enumerate(elements_of(leaf.type)):
        part = writer.help("stablehlo.get_tuple_element", [leaf], [type], {"index": f"{index} : i32"})
        found.append(_unpacked(writer, single(part)))
    return tuple(found)


def _opaque(writer: Writer, op: OpaqueOp) -> Tree:
    raise Inexpressible(op, f"its opcode {op.opcode_name.data} has no counterpart")


RULES: dict[type[Operation], Rule] = {CustomCallOp: _custom_call, OpaqueOp: _opaque}
