"""From a document to a module, in two passes.

The first builds functions, their storage, blocks and instructions; operands, axes and branch targets are looked up at
once. The second looks up what may name something further down: dependencies and queues (reference `bir.md`, section a).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp

from xneuron.dialects.bir.functions import FuncOp
from xneuron.formats.bir_json.document import JSON, Fields, Node, Object
from xneuron.formats.bir_json.instructions import check_names, read_function_body
from xneuron.formats.bir_json.kept import keep, nested, refuse_unmodelled
from xneuron.formats.bir_json.scope import Pending, Placed, Scope
from xneuron.formats.bir_json.storage import place_storage, read_allocations

DEFAULTS: Object = {"arch": "gen3", "attributes": {"neuron_core_id": 0}}
"""Keys of a module that are written where nothing else is known, and not kept where they say just that."""


def read_module(document: JSON) -> tuple[ModuleOp, Placed]:
    """The module in a document, and where its operations were read. Raises BirJsonError."""
    fields = Node(document).fields()
    # The documents of the compiler's round-trip tool have the module one level down.
    if "version" not in fields.rest and (inner := fields.take("module")):
        fields = inner.fields()
    version = _read_version(fields)
    nodes = fields.need("functions").items()
    check_names(nodes, "function")
    queues, placed = list[Node](), Placed()
    module = ModuleOp([_read_function(node, version, Pending(queues=queues, placed=placed)) for node in nodes])
    _resolve_queues(fields, queues)
    keep(module, {key: value for key, value in fields.rest.items() if value != DEFAULTS.get(key)})
    return module, placed


def _read_version(fields: Fields) -> int:
    version = fields.take("version")
    if version is None or version.value not in (1, 2) or isinstance(version.value, bool):
        (version or fields.node).error("Check the version of bir json file - should be 1 (old) or 2 (new)")
    return version.integer()


def _read_function(node: Node, version: int, pending: Pending) -> FuncOp:
    fields = node.fields()
    name = fields.need("name").text()
    storage = read_allocations(fields.items("allocations", "storages"), pending.placed)
    blocks = fields.items("blocks", "basic_blocks")
    region, rest = read_function_body(blocks, Scope(version, storage, pending))
    refuse_unmodelled(fields)
    _resolve_dependencies(pending)
    func = FuncOp(name, region)
    pending.placed.append((func, node))
    place_storage(func, storage)
    if fields.rest.get("attributes") == []:
        del fields.rest["attributes"]
    keep(func, fields.rest | nested(blocks=rest))
    return func


def _resolve_dependencies(pending: Pending) -> None:
    for node, unknown in pending.dependencies:
        if node.text() not in pending.names:
            node.error(f"{unknown}: '{node.text()}'")


def _resolve_queues(fields: Fields, used: Sequence[Node]) -> None:
    """A queue must be declared; a list of just the queues in use, in order of use, need not be kept."""
    if (queues := fields.take("queues")) is None:
        declared: list[str] = []
    else:
        declared = [item.fields().need("name").text() for item in queues.items()]
        if queues.value != [{"name": name} for name in dict.fromkeys(node.text() for node in used)]:
            fields.rest["queues"] = queues.value
    for node in used:
        if node.text() not in declared:
            node.error(f"Queue does not exist! '{node.text()}'")
