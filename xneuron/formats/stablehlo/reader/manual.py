"""Programs per device: `sdy.manual_computation`, which is what `shard_map` and `pmap` print.

A module with such computations becomes what one device of the mesh runs, the devices being the module's partitions.
Outside of them a value is global, and a device holds a part of it: which one, the computations that use or make it say.
Ops outside stay what they are where every device has all of their values (then all compute the same), or all that its
part needs (`parts.py`); loops, branches and calls may be around them. All else is an error that names the op.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from xneuron.formats.stablehlo.reader.errors import Untranslatable, blamed
from xneuron.formats.stablehlo.reader.parts import RULES, Axes, Parts
from xneuron.formats.stablehlo.reader.shardings import Mesh, Meshes, axes_of, mesh_of, per_value
from xneuron.formats.stablehlo.reader.table import numbers
from xneuron.formats.stablehlo.tree import Block, Dense, Op, Struct, Type, Value, list_of, of_kind

MANUAL = "sdy.manual_computation"
MESHES, IN_SHARDING, OUT_SHARDING = "xneuron.meshes", "xneuron.in_sharding", "xneuron.out_sharding"
"""Attributes of the module, its parameters and results: the mesh, and which part of the global value each is."""

_ANNOTATIONS = frozenset({"sdy.sharding_constraint", "sdy.reshard", "sdy.propagation_barrier", "sdy.data_flow_edge"})
_ONCE = frozenset(
    f"stablehlo.{name}"
    for name in (
        "rng infeed outfeed send recv all_reduce all_gather all_to_all reduce_scatter collective_permute "
        "collective_broadcast partition_id replica_id"
    ).split()
)
"""Ops that would mean something else if every device of the mesh did them."""


def is_manual(root: Op) -> bool:
    """True if the module has a manual computation anywhere."""
    return any(op.name == MANUAL for op in walk([root]))


def walk(ops: Iterable[Op]) -> Iterator[Op]:
    """All ops, those in regions after the one that has them."""
    for op in ops:
        yield op
        for block in (block for region in op.regions for block in region):
            yield from walk(block.ops)


def per_device(root: Op, entry: Op) -> Op:
    """The module that one device runs. Raises Untranslatable where there is none."""
    ops = root.regions[0][0].ops
    meshes = {
        str(op.attributes["sym_name"]): mesh_of(mesh)
        for op in ops
        if isinstance(mesh := op.attributes.get("mesh"), Struct)
    }
    functions = {str(op.attributes["sym_name"]): op for op in ops if op.name == "func.func"}
    found = _Walk(meshes, functions)
    found.function(entry)
    device = _Device(found.parts, found.mesh)
    called = [op for name, op in functions.items() if name in found.called]
    block = root.regions[0][0]
    kept = [device.function(op, op is entry) for op in called]
    texts = ", ".join(f"{name} = {mesh.text}" for name, mesh in meshes.items())
    attributes: dict[str, Value] = {"mhlo.num_partitions": found.devices, **root.attributes, MESHES: f"{{{texts}}}"}
    return root._replace(attributes=attributes, regions=((block._replace(ops=tuple(kept)),),))


class _Walk:
    """Goes through the program, and says to `parts` what each operation needs."""

    def __init__(self, meshes: Meshes, functions: dict[str, Op]) -> None:
        self.parts = Parts()
        self.meshes = meshes
        self.functions = functions
        self.devices = 0
        self.mesh = ""
        self.called: set[str] = set()

    def function(self, op: Op, whole: bool = False) -> None:
        """Looks at a function, as it is called from outside (or inside, `whole`) of manual computations."""
        name = str(op.attributes["sym_name"])
        if name in self.called and not whole:
            return
        self.called.add(name)
        self._block(op.regions[0][0], whole)

    def _block(self, block: Block, whole: bool) -> None:
        self.parts.define(block.arguments, block.types)
        for op in block.ops:
            with blamed(op):
                self._op(op, whole)

    def _op(self, op: Op, whole: bool) -> None:
        self.parts.define(op.results, op.types)
        if whole:
            self._inside(op)
        elif op.name == MANUAL:
            self._manual(op)
        elif op.name == "func.call":
            self._call(op)
        elif op.name in ("stablehlo.while", "stablehlo.case", "stablehlo.if"):
            self._control(op)
        elif op.name in _ANNOTATIONS or op.name == "stablehlo.optimization_barrier":
            self.parts.all_alike(op, op.operands, op.results)
        elif (rule := RULES.get(op.name)) is not None:
            rule(self.parts, op)
            self._regions(op)
        elif op.name not in ("func.return", "stablehlo.return"):
            self._everywhere(op)

    def _regions(self, op: Op) -> None:
        for block in (block for region in op.regions for block in region):
            self._block(block, True)

    def _everywhere(self, op: Op) -> None:
        """An op that every device does on all of its operands."""
        if op.name in _ONCE or op.attributes.get("has_side_effect"):
            raise Untranslatable(op, f"expected it inside of {MANUAL}, where a device does it, found it outside")
        self.parts.whole(op, (*op.operands, *op.results))
        self._regions(op)

    def _inside(self, op: Op) -> None:
        if op.name == MANUAL:
            raise Untranslatable(op, "expected no manual computation inside of another, or of what it calls")
        self.parts.whole(op, (*op.operands, *op.results))
        self._regions(op)
        if op.name == "func.call":
            self._called(op, True)

    def _manual(self, op: Op) -> None:
        axes = manual_axes(op)
        for values, key in ((op.operands, "in_shardings"), (op.results, "out_shardings")):
            for value, sharding in zip(values, per_value(op.attributes[key]), strict=True):
                for at, split in enumerate(self._axes_of(op, sharding, axes)):
                    self.parts.split(op, (value, at), split)
        self._block(op.regions[0][0], True)

    def _axes_of(self, op: Op, sharding: Struct, axes: set[str]) -> list[Axes]:
        mesh, sizes = self._mesh(op, sharding), self.parts.sizes
        if self.devices and dict(mesh.axes) != sizes:
            raise Untranslatable(op, f"expected one mesh for all, found {mesh.text} beside {sizes}")
        self.devices, self.parts.sizes = mesh.size, dict(mesh.axes)
        dimensions = list_of(sharding.fields["dimension_shardings"], "shardings of dimensions")
        return [tuple(axis for axis in axes_of(dimension) if axis in axes) for dimension in dimensions]

    def _mesh(self, op: Op, sharding: Struct) -> Mesh:
        reference = sharding.fields["mesh_or_ref"]
        mesh = mesh_of(reference) if isinstance(reference, Struct) else self.meshes.get(str(reference))
        if mesh is None:
            raise Untranslatable(op, f"expected a mesh of the module, found {reference}")
        self.mesh = mesh.text.removeprefix("#sdy.") if isinstance(reference, Struct) else f"@{reference}"
        return mesh

    def _call(self, op: Op) -> None:
        block = self._called(op, False)
        self.parts.all_alike(op, op.operands, block.arguments)
        self.parts.all_alike(op, op.results, block.ops[-1].operands)

    def _called(self, op: Op, whole: bool) -> Block:
        callee = str(op.attributes["callee"])
        if callee not in self.functions:
            raise Untranslatable(op, f"expected a function of the module, found @{callee}")
        self.function(self.functions[callee], whole)
        return self.functions[callee].regions[0][0]

    def _control(self, op: Op) -> None:
        is_loop = op.name == "stablehlo.while"
        for number, (block,) in enumerate(op.regions):
            self._block(block, False)
            if is_loop:
                self.parts.all_alike(op, op.operands, block.arguments)
            if not is_loop or number == 1:
                self.parts.all_alike(op, block.ops[-1].operands, op.results)
        if is_loop:
            self.parts.all_alike(op, op.operands, op.results)


def manual_axes(op: Op) -> set[str]:
    """The axes over which a computation is manual."""
    axes = of_kind(Struct, op.attributes["manual_axes"], "axes")
    return set(re.findall(r'"([^"]*)"', axes.text))


class _Device:
    """Makes the program of one device: types become those of the parts, manual computations their bodies."""

    def __init__(self, parts: Parts, mesh: str) -> None:
        self.parts = parts
        self.mesh = mesh
        self.same: dict[int, int] = {}
        """Values that are others: arguments and results of manual computations, and of annotations."""

    def function(self, op: Op, is_entry: bool) -> Op:
        block = self.block(op.regions[0][0])
        if not is_entry:
            return op._replace(regions=((block,),))
        arguments = [self._part_of(value, IN_SHARDING) for value in op.regions[0][0].arguments]
        results = [self._part_of(value, OUT_SHARDING) for value in op.regions[0][0].ops[-1].operands]
        said = {
            **op.attributes,
            "arg_attrs": _with(op, "arg_attrs", arguments),
            "res_attrs": _with(op, "res_attrs", results),
        }
        return op._replace(regions=((block,),), attributes=said)

    def _part_of(self, value: int, key: str) -> dict[str, Value]:
        dimensions = ("{" + ", ".join(f'"{axis}"' for axis in axes) + "}" for axes in self.parts.of(value))
        return {key: f"#sdy.sharding<{self.mesh}, [{', '.join(dimensions)}]>"}

    def block(self, block: Block) -> Block:
        types = tuple(self.parts.local(value) for value in block.arguments)
        return block._replace(types=types, ops=tuple(self.ops(block.ops)))

    def ops(self, ops: Sequence[Op]) -> Iterator[Op]:
        for op in ops:
            operands = tuple(self.same.get(value, value) for value in op.operands)
            if op.name == MANUAL:
                (body,) = op.regions[0]
                self.same.update(zip(body.arguments, operands, strict=True))
                yield from self.ops(body.ops[:-1])
                returned = [self.same.get(value, value) for value in body.ops[-1].operands]
                self.same.update(zip(op.results, returned, strict=True))
            elif op.name in _ANNOTATIONS:
                self.same.update(zip(op.results, operands, strict=True))
            else:
                types = tuple(self.parts.local(value) for value in op.results)
                regions = tuple(tuple(self.block(block) for block in region) for region in op.regions)
                sized = self._sized(op, types)
                yield op._replace(operands=operands, types=types, regions=regions, attributes=sized)

    def _sized(self, op: Op, types: tuple[Type, ...]) -> dict[str, Value]:
        """The op's attributes, those that say extents for those of the part."""
        value = op.attributes.get("value")
        if op.name == "stablehlo.constant" and isinstance(value, Dense) and value.splat:
            return {**op.attributes, "value": value._replace(type=types[0])}
        if op.name == "stablehlo.dynamic_slice":
            return {**op.attributes, "slice_sizes": list(types[0].shape)}
        if op.name == "stablehlo.slice":
            whole, part = self.parts.types[op.operands[0]].shape, self.parts.local(op.operands[0]).shape
            limits = zip(numbers(op.attributes["limit_indices"]), whole, part, strict=True)
            return {**op.attributes, "limit_indices": [to if a == b else b for to, a, b in limits]}
        return op.attributes


def _with(op: Op, key: str, more: Sequence[dict[str, Value]]) -> list[Value]:
    given = op.attributes.get(key)
    said = [item for item in given if isinstance(item, dict)] if isinstance(given, list) else []
    said = said or [dict[str, Value]() for _ in more]
    return [
        {**{name: value for name, value in old.items() if name != "sdy.sharding"}, **new}
        for old, new in zip(said, more, strict=True)
    ]
