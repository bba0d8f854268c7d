"""From JAX's MLIR objects to plain data. See `tree.py`."""

# The bindings' stubs leave most things unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import chlo, mhlo, sdy, stablehlo

from xneuron.dialects.hlo.marker_targets import COMPOSITE
from xneuron.formats.stablehlo.mlir import PLACED, TEXT, Unreadable
from xneuron.formats.stablehlo.tree import Block, Dense, Op, Origin, Place, Raw, Struct, Type, Value

_NOWHERE, _UNKNOWN = Place(), Origin()
_AS_TEXT = frozenset({"backend_config", "mhlo.backend_config", "composite_attributes"})
"""Dictionaries that HLO keeps as MLIR spells them."""
_STRUCTS = [
    cls
    for dialect in (stablehlo, sdy, mhlo, chlo)
    for cls in vars(dialect).values()
    if isinstance(cls, type) and issubclass(cls, ir.Attribute)
]
"""Attribute classes of the dialects: what has fields or, with one field `value`, is an enumeration."""


def tree(module: ir.Module) -> Op:
    """The module as plain data."""
    return _Decoder(module).op(module.operation)


def _is_marker(op: ir.Operation) -> bool:
    return op.name == "stablehlo.composite" and op.attributes["name"].value == COMPOSITE


class _Decoder:
    """Decodes one module: each type, attribute and location once, so that equal ones are the same object."""

    def __init__(self, module: ir.Module) -> None:
        self._module = module
        self._values: dict[Any, int] = {}
        self._types: dict[ir.Type, Type] = {}
        self._attributes: dict[ir.Attribute, Value] = {}
        self._locations: dict[ir.Attribute, tuple[Place, Origin]] = {}
        self._resources: dict[str, bytes] = {}
        self._placed = ir.StringAttr.get(PLACED, module.context)

    def op(self, op: ir.Operation) -> Op:
        operands = tuple([self._values[value] for value in op.operands])
        results, types = self._define(op.results)
        place, origin = self._location(op.location)
        regions = tuple([tuple([self._block(block) for block in region.blocks]) for region in op.regions])
        return Op(op.name, operands, results, types, self._attributes_of(op), regions, place, origin)

    def _define(self, values: Any) -> tuple[tuple[int, ...], tuple[Type, ...]]:
        numbers: list[int] = []
        types: list[Type] = []
        for value in values:
            numbers.append(self._values.setdefault(value, len(self._values)))
            types.append(self.type(value.type))
        return tuple(numbers), tuple(types)

    def _block(self, block: ir.Block) -> Block:
        arguments, types = self._define(block.arguments)
        located = [self._location(argument.location) for argument in block.arguments]
        names, places = tuple([origin.name for _, origin in located]), tuple([place for place, _ in located])
        return Block(arguments, types, names, places, tuple([self.op(op.operation) for op in block.operations]))

    # Types

    def type(self, type: ir.Type) -> Type:
        """A type; one that nobody knows is `other`."""
        found = self._types.get(type)
        if found is None:
            found = self._types[type] = self._new_type(type)
        return found

    def _new_type(self, type: ir.Type) -> Type:
        if isinstance(type, ir.RankedTensorType):
            return self._tensor(type)
        if isinstance(type, ir.TupleType):
            parts = tuple(self.type(type.get_type(index)) for index in range(type.num_types))
            return Type("tuple", parts=parts)
        text = str(type)
        return Type("token") if text in ("!stablehlo.token", "!mhlo.token") else Type("other", text)

    def _tensor(self, type: ir.RankedTensorType) -> Type:
        shape = tuple(-1 if type.is_dynamic_dim(at) else type.get_dim_size(at) for at in range(type.rank))
        bounds: tuple[int, ...] = ()
        if type.encoding is not None and stablehlo.TypeExtensions.isinstance(type.encoding):
            found = stablehlo.TypeExtensions(type.encoding).bounds
            bounds = tuple(-1 if bound < 0 else bound for bound in found)
        return Type("tensor", str(type.element_type), shape, bounds)

    # Attributes

    def _attributes_of(self, op: ir.Operation) -> dict[str, Value]:
        found: dict[str, Value] = {}
        as_text = _AS_TEXT - {"composite_attributes"} if _is_marker(op) else _AS_TEXT
        for name in op.attributes:
            try:
                attribute = op.attributes[name]
            except TypeError:
                # Elements of complex numbers: the bindings have no class for them.
                found[name] = self._printed_elements(op)
            else:
                is_text = name in as_text and isinstance(attribute, ir.DictAttr)
                found[name] = Raw(str(attribute)) if is_text else self.attribute(attribute)
        return found

    def _printed_elements(self, op: ir.Operation) -> Dense:
        text = str(op.get_asm(print_generic_op_form=True))
        body = text[text.index("dense<") + len("dense<") : text.index("> : tensor<")]
        return Dense(self.type(op.results[0].type), "[" not in body and bool(body), None, body)

    def attribute(self, attribute: ir.Attribute) -> Value:
        """An attribute's plain data."""
        found = self._attributes.get(attribute)
        if found is None:
            found = self._attributes[attribute] = self._new_attribute(attribute)
        return found

    def _new_attribute(self, attribute: ir.Attribute) -> Value:
        if (decode := _SIMPLE.get(type(attribute))) is not None:
            return decode(attribute)
        if isinstance(attribute, ir.ArrayAttr):
            return [self.attribute(inner) for inner in attribute]
        if isinstance(attribute, ir.DictAttr):
            entries = (attribute[index] for index in range(len(attribute)))
            return {entry.name: self.attribute(entry.attr) for entry in entries}
        if isinstance(attribute, ir.TypeAttr):
            return self.type(attribute.value)
        if isinstance(attribute, (ir.DenseIntElementsAttr, ir.DenseFPElementsAttr)):
            return self._elements(attribute)
        return self._of_dialect(attribute)

    def _elements(self, attribute: Any) -> Dense:
        splat = attribute.is_splat
        type = self.type(attribute.type)
        try:
            data = memoryview(attribute).tobytes()
        except BufferError:
            text = str(attribute)
            return Dense(type, splat, None, text[len("dense<") : text.rindex("> : ")])
        return Dense(type, splat, _one_of(data, type) if splat else data)

    def _of_dialect(self, attribute: ir.Attribute) -> Value:
        text = str(attribute)
        for cls in _STRUCTS:
            if cls.isinstance(attribute):
                return self._struct(cls, cls(attribute), text)
        if match := _RESOURCE.fullmatch(text):
            return Dense(self.type(attribute.type), False, self._resource(match[1]))
        match = _ENUMERATION.fullmatch(text)
        return match[1] if match else Raw(text)

    def _struct(self, cls: type, attribute: Any, text: str) -> Value:
        fields = [name for name, member in vars(cls).items() if isinstance(member, property)]
        if fields == ["value"]:
            return attribute.value
        return Struct(cls.__name__, {name: self._field(getattr(attribute, name)) for name in fields}, text)

    def _field(self, value: Any) -> Value:
        if isinstance(value, ir.Attribute):
            return self.attribute(value)
        if isinstance(value, ir.Type):
            return self.type(value)
        if isinstance(value, list):
            return [self._field(inner) for inner in value]
        return "" if value is None else value

    def _resource(self, name: str) -> bytes:
        """The bytes of `dense_resource<name>`. Only the printed module has them."""
        if not self._resources:
            text = str(self._module.operation)
            # The first four bytes are the alignment.
            blobs = re.findall(r'([\w.$-]+): "0x([0-9A-Fa-f]*)"', text[text.rfind("{-#") :])
            self._resources = {key: bytes.fromhex(blob)[4:] for key, blob in blobs}
        if name not in self._resources:
            raise Unreadable(f"expected the elements of dense_resource<{name}>, found a module without them")
        return self._resources[name]

    # Locations

    def _location(self, location: ir.Location) -> tuple[Place, Origin]:
        key = location.attr
        found = self._locations.get(key)
        if found is None:
            found = self._locations[key] = self._located(location)
        return found

    def _located(self, location: Any) -> tuple[Place, Origin]:
        """Where an operation stands in the text, and what it comes from."""
        if isinstance(location, ir.FusedLoc) and location.metadata == self._placed:
            # MLIR drops what is unknown.
            placed, *said = location.locations
            return self._located(placed)[0], _origin(said[0]) if said else _UNKNOWN
        if isinstance(location, ir.FileLineColLoc) and location.filename == TEXT:
            return Place(location.start_line, location.start_col), _UNKNOWN
        return _NOWHERE, _origin(location)


_RESOURCE = re.compile(r"dense_resource<([^>]*)> : .*")
_ENUMERATION = re.compile(r"#\w+<\w+ (\w+)>")


def _one_of(data: bytes, type: Type) -> bytes:
    """The first element of a splat, of which the bindings give as many copies as the tensor has elements."""
    count = 1
    for extent in type.shape:
        count *= extent
    return data[: len(data) // count] if count else data


_SIMPLE: dict[type, Callable[[Any], Value]] = {
    ir.IntegerAttr: lambda a: int(a.value),
    ir.BoolAttr: lambda a: bool(a.value),
    ir.FloatAttr: lambda a: float(a.value),
    ir.StringAttr: lambda a: a.value_bytes.decode("utf-8", "surrogateescape"),
    ir.FlatSymbolRefAttr: lambda a: str(a.value),
    ir.SymbolRefAttr: lambda a: list(a.value),
    ir.UnitAttr: lambda a: True,
    ir.DenseBoolArrayAttr: lambda a: [bool(x) for x in a],
    ir.DenseI8ArrayAttr: list,
    ir.DenseI16ArrayAttr: list,
    ir.DenseI32ArrayAttr: list,
    ir.DenseI64ArrayAttr: list,
    ir.DenseF32ArrayAttr: list,
    ir.DenseF64ArrayAttr: list,
}


def _origin(location: Any) -> Origin:
    name = location.name_str if isinstance(location, ir.NameLoc) else ""
    frame = _innermost(location)
    if frame is None:
        return Origin(name) if name else _UNKNOWN
    return Origin(name, frame.filename, frame.start_line, frame.start_col, frame.end_line, frame.end_col)


def _innermost(location: Any) -> Any:
    """The frame that was executed last: callees come before callers."""
    if isinstance(location, ir.FileLineColLoc):
        return None if location.filename == TEXT else location
    if isinstance(location, ir.NameLoc):
        return _innermost(location.child_loc)
    if isinstance(location, ir.CallSiteLoc):
        return _innermost(location.callee) or _innermost(location.caller)
    if isinstance(location, ir.FusedLoc):
        return next(filter(None, map(_innermost, location.locations)), None)
    return None
