"""Translations of custom calls and of Shardy's annotations."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, SSAValue

from xneuron.dialects.hlo.attributes import ShardingAttr
from xneuron.dialects.hlo.custom import CustomCallOp
from xneuron.dialects.hlo.data_movement import CopyOp
from xneuron.dialects.hlo.marker_targets import COMPOSITE
from xneuron.dialects.hlo.types import LayoutAttr, elements_of, is_tensor, shape_of, tensor, tuple_of
from xneuron.formats.stablehlo.reader.builder import Builder
from xneuron.formats.stablehlo.reader.regions import region_of, translate
from xneuron.formats.stablehlo.reader.shardings import XLA_SHARDING, hlo_sharding
from xneuron.formats.stablehlo.reader.table import TABLE, number, numbers, translates
from xneuron.formats.stablehlo.reader.values import numbers_of, packed
from xneuron.formats.stablehlo.tree import Dense, Raw, Struct, Value, list_of, of_kind

_API_VERSIONS = {
    2: "API_VERSION_STATUS_RETURNING",
    3: "API_VERSION_STATUS_RETURNING_UNIFIED",
    4: "API_VERSION_TYPED_FFI",
}
"""StableHLO's numbers; 0 and 1 are what HLO leaves out."""


@translates("stablehlo.custom_call")
def custom_call(builder: Builder) -> None:
    """A custom call; one that stands for an operation of HLO (`mhlo.topk` with `mhlo.attributes`) is that one."""
    op = builder.op
    target = str(op.attributes["call_target_name"])
    exported = op.attributes.get("mhlo.attributes")
    if isinstance(exported, dict) and target in TABLE:
        translate(builder, op._replace(name=target, attributes=exported))
        return
    operands = builder.operands
    type = laid_out(packed(builder.types), op.attributes.get("result_layouts"))
    result = builder.emit(
        CustomCallOp,
        operands,
        type,
        _properties(builder, target, operands),
        [region_of(builder, builder.function(name)) for name in _names(op.attributes.get("called_computations"))],
        _config(op.attributes.get("backend_config")),
    )
    _finish(builder, result)


def _properties(builder: Builder, target: str, operands: Sequence[SSAValue]) -> dict[str, Attribute]:
    said = builder.op.attributes
    properties: dict[str, Attribute] = {"custom_call_target": StringAttr(target)}
    if said.get("has_side_effect"):
        properties["custom_call_has_side_effect"] = UnitAttr()
    # JAX leaves the version out, and gives a dictionary under this name instead.
    is_typed = isinstance(said.get("mhlo.backend_config"), Raw)
    if version := _API_VERSIONS.get(4 if is_typed else number(said.get("api_version", 1))):
        properties["api_version"] = StringAttr(version)
    if layouts := said.get("operand_layouts"):
        types = tuple_of(tuple(value.type for value in operands))
        properties["operand_layout_constraints"] = ArrayAttr(elements_of(_tuple_laid_out(types, layouts)))
    if aliases := _aliases(said.get("output_operand_aliases")):
        properties["output_to_operand_aliasing"] = StringAttr(aliases)
    return properties


def _names(value: Value | None) -> list[str]:
    return [str(name) for name in value] if isinstance(value, list) else []


def _config(config: Value | None) -> dict[str, Attribute]:
    """The configuration's text: of a dictionary, as MLIR spells it."""
    text = config.text if isinstance(config, Raw) else str(config or "")
    return {"backend_config": StringAttr(text)} if text else {}


def _aliases(aliases: Value | None) -> str:
    """`{{0}: (1, {})}`."""
    if not isinstance(aliases, list) or not aliases:
        return ""
    fields = [alias.fields for alias in aliases if isinstance(alias, Struct)]
    parts = [
        f"{_index(one['output_tuple_indices'])}: ({one['operand_index']}, {_index(one['operand_tuple_indices'])})"
        for one in fields
    ]
    return f"{{{', '.join(parts)}}}"


def _index(value: Value) -> str:
    return f"{{{','.join(map(str, numbers(value)))}}}"


def laid_out(type: Attribute, layouts: Value | None) -> Attribute:
    """The result type with the layouts that are asked for: one for each result."""
    if not isinstance(layouts, list) or not layouts:
        return type
    return _one_laid_out(type, layouts[0]) if is_tensor(type) else _tuple_laid_out(type, layouts)


def _tuple_laid_out(type: Attribute, layouts: Value) -> Attribute:
    pairs = zip(elements_of(type), list_of(layouts, "layouts"), strict=True)
    return tuple_of(tuple(_one_laid_out(part, layout) for part, layout in pairs))


def _one_laid_out(type: Attribute, layout: Value) -> Attribute:
    if not is_tensor(type) or not isinstance(layout, Dense):
        return type
    order = numbers_of(layout)[0]
    if list(order) == list(range(len(order)))[::-1]:
        return type
    return tensor(type.element_type, shape_of(type), LayoutAttr(f"{{{','.join(map(str, order))}}}"))


def _finish(builder: Builder, result: SSAValue) -> None:
    """The results, in the default layout: a copy away from another one."""
    op = builder.op
    values = [result] if len(op.results) == 1 else builder.elements(result)
    values = [
        value if value.type == type else builder.helper(CopyOp, [value], type)
        for value, type in zip(values, builder.types, strict=True)
    ]
    builder.scope.values.update(zip(op.results, values, strict=True))


@translates(COMPOSITE)
def boundary_marker(builder: Builder) -> None:
    """The custom call that this composite was written for (`writer/custom.py`); of several values, on their tuple."""
    said = builder.op.attributes.get("composite_attributes")
    fields = said if isinstance(said, dict) else {}
    properties: dict[str, Attribute] = {"custom_call_target": StringAttr(str(fields.get("target", COMPOSITE)))}
    if version := fields.get("api_version"):
        properties["api_version"] = StringAttr(str(version))
    if fields.get("has_side_effect"):
        properties["custom_call_has_side_effect"] = UnitAttr()
    operand = builder.single(builder.operands)
    config = _config(fields.get("backend_config"))
    builder.finish(builder.emit(CustomCallOp, [operand], operand.type, properties, attributes=config))


@translates("sdy.sharding_constraint", "sdy.reshard")
def sharding_constraint(builder: Builder) -> None:
    """XLA's custom call `Sharding`."""
    sharding = of_kind(Struct, builder.op.attributes["sharding"], "a sharding")
    text = hlo_sharding(sharding, builder.meshes)
    own: dict[str, Attribute] = {} if text is None else {"sharding": ShardingAttr(text)}
    kept = StringAttr(f"#sdy.sharding_per_value<[{_short(sharding)}]>")
    own["frontend_attributes"] = DictionaryAttr({XLA_SHARDING: kept})
    properties: dict[str, Attribute] = {"custom_call_target": StringAttr("Sharding")}
    builder.finish(builder.emit(CustomCallOp, builder.operands, properties=properties, attributes=own))


def _short(sharding: Struct) -> str:
    return sharding.text.removeprefix("#sdy.sharding")


@translates("sdy.propagation_barrier", "sdy.data_flow_edge")
def annotation(builder: Builder) -> None:
    """Says something to the partitioner only: the operand."""
    builder.finish(builder.operands[0])


@translates("sdy.sharding_group")
def sharding_group(builder: Builder) -> None:
    """Says something to the partitioner only, and has no result."""
