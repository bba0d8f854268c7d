"""A module: its functions, the attributes of parameters and header, and the ways into it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.func import ReturnOp as FuncReturnOp
from xdsl.ir import Attribute, Region, SSAValue

from xneuron.dialects.hlo.attributes import ShardingAttr, integer, text_of
from xneuron.dialects.hlo.control_flow import GetTupleElementOp, TupleOp
from xneuron.dialects.hlo.marker_targets import COMPOSITE
from xneuron.dialects.hlo.types import tuple_of
from xneuron.fastir import append, build, collector_off
from xneuron.formats.stablehlo.reader import (
    asynchronous,
    collectives,
    contractions,
    control_flow,
    custom,
    data_movement,
    manual,
    reductions,
    simple,
    transfers,
)
from xneuron.formats.stablehlo.reader.builder import Builder, Source
from xneuron.formats.stablehlo.reader.errors import Untranslatable, blamed
from xneuron.formats.stablehlo.reader.regions import argument_names, single, translate_block
from xneuron.formats.stablehlo.reader.shardings import XLA_MESHES, Meshes, carried, kept, mesh_of
from xneuron.formats.stablehlo.reader.values import type_of
from xneuron.formats.stablehlo.tree import Block, Op, Struct, Value

_CHAPTERS = (
    *(asynchronous, collectives, contractions, control_flow, custom, data_movement),
    *(reductions, simple, transfers),
)
"""They fill the table of translations when imported."""
ENTRY = "main"
_ALIAS, _DONOR = "tf.aliasing_output", "jax.buffer_donor"
_RESULT_INFO = "jax.result_info"
_HEADER = {"mhlo.num_partitions": "hlo.num_partitions", "mhlo.num_replicas": "hlo.replica_count"}


def module_of(root: Op, source: Source) -> ModuleOp:
    """The `hlo` module of a StableHLO module, not verified. Raises Untranslatable for what HLO cannot express."""
    with collector_off(), blamed(root):
        return _module_of(root, source)


def _module_of(root: Op, source: Source) -> ModuleOp:
    for function in functions_of(root).values():
        if not function.regions[0]:
            raise Untranslatable(function, "expected a function with a body")
    if manual.is_manual(root):
        root = manual.per_device(root, entry_of(root))
    return _Module(root, source).translated()


def functions_of(root: Op) -> dict[str, Op]:
    """The functions of a module, by name."""
    return {str(op.attributes["sym_name"]): op for op in root.regions[0][0].ops if op.name == "func.func"}


def entry_of(root: Op) -> Op:
    """The function called `main`; else the only public one."""
    functions = functions_of(root)
    if ENTRY in functions:
        return functions[ENTRY]
    public = [op for op in functions.values() if op.attributes.get("sym_visibility") != "private"]
    if len(public) != 1:
        names = ", ".join(f"@{op.attributes['sym_name']}" for op in public) or "none"
        raise Untranslatable(root, f"expected a function @{ENTRY}, or one public function, found {names}")
    return public[0]


class _Module:
    def __init__(self, root: Op, source: Source) -> None:
        self.root = root
        self.ops = root.regions[0][0].ops
        self.functions = functions_of(root)
        self.meshes: Meshes = {
            str(op.attributes["sym_name"]): mesh_of(mesh)
            for op in self.ops
            if op.name == "sdy.mesh" and isinstance(mesh := op.attributes["mesh"], Struct)
        }
        self.builder = Builder(source, self.meshes, self.functions)

    def translated(self) -> ModuleOp:
        if unknown := [op for op in self.ops if op.name not in ("func.func", "sdy.mesh")]:
            raise Untranslatable(unknown[0], "expected a module of functions and meshes")
        entry = entry_of(self.root)
        attributes = self.header(entry)
        if self.meshes:
            meshes = ", ".join(f"{name} = {mesh.text}" for name, mesh in self.meshes.items())
            frontend = DictionaryAttr({XLA_MESHES: StringAttr(f"{{{meshes}}}")})
            attributes["hlo.frontend_attributes"] = frontend
        nothing = _done_by_markers(self.root)
        functions = [
            self.checked_function(op, op is entry) for name, op in self.functions.items() if name not in nothing
        ]
        name = self.root.attributes.get("sym_name")
        return ModuleOp(functions, attributes, StringAttr(name) if isinstance(name, str) else None)

    def header(self, entry: Op) -> dict[str, Attribute]:
        said = {key: value for key, value in self.root.attributes.items() if key != "sym_name"}
        found = kept({key: value for key, value in said.items() if key not in _HEADER})
        for key, ours in _HEADER.items():
            if isinstance(count := said.get(key), int) and count != 1:
                found[ours] = integer(count)
        several = len(entry.regions[0][0].ops[-1].operands) != 1
        aliases, donors = list[str](), list[str]()
        for number, attributes in enumerate(_dictionaries(entry, "arg_attrs")):
            if isinstance(output := attributes.get(_ALIAS), int) and not isinstance(output, bool):
                aliases.append(f"{{{output if several else ''}}}: ({number}, {{}}, may-alias)")
            if attributes.get(_DONOR):
                donors.append(f"({number}, {{}})")
        for key, parts in (("hlo.input_output_alias", aliases), ("hlo.buffer_donor", donors)):
            if parts:
                found[key] = StringAttr(f"{{ {', '.join(parts)} }}")
        return found

    def checked_function(self, op: Op, is_entry: bool) -> FuncOp:
        with blamed(op):
            return self.function(op, is_entry)

    def function(self, op: Op, is_entry: bool) -> FuncOp:
        self.builder.op = op
        block = single(self.builder, op.regions[0])
        with self.builder.computation() as scope:
            for number, type, name in zip(
                block.arguments, block.types, argument_names(self.builder, block), strict=True
            ):
                scope.values[number] = self.builder.parameter(type_of(type), name)
            root = self.root_of(op, translate_block(self.builder, block))
            return finished_function(self.builder, op, block, root, is_entry)

    def root_of(self, op: Op, values: Sequence[SSAValue]) -> SSAValue:
        """The value to return, with the shardings of the results on it, as XLA puts them: on the tuple of several
        results; of one, on its way through a tuple."""
        said = [result.get("mhlo.sharding", result.get("sdy.sharding")) for result in _dictionaries(op, "res_attrs")]
        texts = [_sharding_text(value, self.meshes) for value in said]
        if not any(texts):
            return self.builder.single(values)
        builder = self.builder
        shardings = [text or "{replicated}" for text in texts]
        if len(values) > 1:
            types = tuple_of(tuple(value.type for value in values))
            sharding: dict[str, Attribute] = {"sharding": ShardingAttr(f"{{{', '.join(shardings)}}}")}
            return builder.emit(TupleOp, values, types, attributes=sharding)
        packed = builder.tuple(values)
        sharding = {"sharding": ShardingAttr(shardings[0])}
        return builder.emit(GetTupleElementOp, [packed], values[0].type, {"index": integer(0)}, attributes=sharding)


def _done_by_markers(root: Op) -> set[str]:
    """Functions that only boundary markers use, for what they do where nobody knows them: nothing."""
    markers, others = set[str](), set[str]()
    for op in manual.walk([root]):
        is_marker = op.name == "stablehlo.composite" and op.attributes["name"] == COMPOSITE
        used = [op.attributes.get(key) for key in ("decomposition", "callee")]
        (markers if is_marker else others).update(name for name in used if isinstance(name, str))
    return markers - others


def finished_function(
    builder: Builder, op: Op, block: Block, root: SSAValue, is_entry: bool, arguments: Sequence[DictionaryAttr] = ()
) -> FuncOp:
    """The function around the open computation, which returns `root`."""
    body = builder.scope.block
    append(body, build(FuncReturnOp, (root,), None, {}, {}, None, builder.location(block.ops[-1])))
    types = FunctionType.from_lists([argument.type for argument in body.args], [root.type])
    attributes = list(arguments) or parameters_of(builder, op, block)
    told = ArrayAttr(attributes) if any(each.data for each in attributes) else None
    name = str(op.attributes["sym_name"])
    function = FuncOp(name, types, Region(body), None if is_entry else "private", arg_attrs=told)
    function.location = builder.location(op)  # pyright: ignore[reportAttributeAccessIssue]
    results = _dictionaries(op, "res_attrs")
    for key in (_RESULT_INFO, manual.OUT_SHARDING):
        if any(key in result for result in results):
            function.attributes[key] = ArrayAttr([StringAttr(str(result.get(key, ""))) for result in results])
    return function


def parameters_of(builder: Builder, op: Op, block: Block) -> list[DictionaryAttr]:
    """Attributes of a function's parameters."""
    said = _dictionaries(op, "arg_attrs") or [dict[str, Value]() for _ in block.arguments]
    found: list[DictionaryAttr] = []
    for attributes, name in zip(said, block.names, strict=True):
        rest = {key: value for key, value in attributes.items() if key not in (_ALIAS, _DONOR)}
        metadata: dict[str, Attribute] = {"metadata": DictionaryAttr({"op_name": StringAttr(name)})} if name else {}
        found.append(DictionaryAttr({**carried(rest, builder.meshes), **metadata}))
    return found


def _dictionaries(op: Op, key: str) -> list[dict[str, Value]]:
    value = op.attributes.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _sharding_text(value: Value | None, meshes: Meshes) -> str:
    if value is None:
        return ""
    key = "sdy.sharding" if isinstance(value, Struct) else "mhlo.sharding"
    return text_of(carried({key: value}, meshes).get("sharding"))
