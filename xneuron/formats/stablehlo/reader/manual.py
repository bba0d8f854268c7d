"""Programs per device: `sdy.manual_computation`, which is what `shard_map` and `pmap` print.

A module with such computations becomes what one device of the mesh runs, the devices being the module's partitions.
Outside of them a value is global, and a device holds a part of it: which one, the computations that use or make it say.
Ops outside stay what they are where every device has all of their values (then all compute the same), or where each
element stands for itself; loops, branches and calls may be around them. All else is an error that names the op.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from math import prod

from xneuron.formats.stablehlo.reader.errors import Untranslatable
from xneuron.formats.stablehlo.reader.shardings import Mesh, Meshes, axes_of, mesh_of, per_value
from xneuron.formats.stablehlo.tree import Block, Dense, Op, Struct, Type, Value

MANUAL = "sdy.manual_computation"
MESHES, IN_SHARDING, OUT_SHARDING = "sdy.meshes", "sdy.in_sharding", "sdy.out_sharding"
"""Attributes of the module, its parameters and results: the mesh, and which part of the global value each is."""

_ELEMENTWISE = frozenset(
    f"stablehlo.{name}"
    for name in (
        "abs add and atan2 cbrt ceil clamp compare complex convert cosine count_leading_zeros divide exponential "
        "exponential_minus_one floor imag is_finite log log_plus_one logistic maximum minimum multiply negate not or "
        "popcnt power real remainder reduce_precision round_nearest_afz round_nearest_even rsqrt select shift_left "
        "shift_right_arithmetic shift_right_logical sign sine sqrt subtract tan tanh xor"
    ).split()
)
_ANNOTATIONS = frozenset({"sdy.sharding_constraint", "sdy.reshard", "sdy.propagation_barrier", "sdy.data_flow_edge"})
_ONCE = frozenset(
    f"stablehlo.{name}"
    for name in (
        "rng infeed outfeed send recv all_reduce all_gather all_to_all reduce_scatter collective_permute "
        "collective_broadcast partition_id replica_id"
    ).split()
)
"""Ops that would mean something else if every device of the mesh did them."""

Parts = tuple[tuple[str, ...], ...]
"""Which part of a value a device holds: for each dimension, the axes of the mesh that it is split by."""


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
    parts = _Parts(meshes, functions)
    parts.function(entry)
    device = _Device(parts)
    block = root.regions[0][0]
    kept = [device.function(op, op is entry) for op in ops if op.name == "func.func"]
    texts = ", ".join(f"{name} = {mesh.text}" for name, mesh in meshes.items())
    attributes: dict[str, Value] = {"mhlo.num_partitions": parts.devices, **root.attributes, MESHES: f"{{{texts}}}"}
    return root._replace(attributes=attributes, regions=((block._replace(ops=tuple(kept)),),))


class _Parts:
    """Finds which part of each value a device holds: values that must be held alike are one class (union-find)."""

    def __init__(self, meshes: Meshes, functions: dict[str, Op]) -> None:
        self.meshes = meshes
        self.functions = functions
        self.devices = 0
        self.mesh = ""
        self.sizes: dict[str, int] = {}
        self.types: dict[int, Type] = {}
        self._parent: dict[int, int] = {}
        self._parts: dict[int, Parts] = {}
        self._seen: set[str] = set()
        self._whole: list[tuple[Op, int]] = []

    def of(self, value: int) -> Parts:
        """The part that a device holds; what nothing says anything about, it holds whole."""
        return self._parts.get(self._root(value), ())

    def local(self, value: int) -> Type:
        """The type of the part."""
        type, parts = self.types[value], self.of(value)
        if not parts:
            return type
        divisors = [prod(self.sizes[axis] for axis in axes) for axes in parts]
        return type._replace(shape=tuple(extent // by for extent, by in zip(type.shape, divisors, strict=True)))

    def _root(self, value: int) -> int:
        while (parent := self._parent.get(value, value)) != value:
            self._parent[value] = self._parent.get(parent, parent)
            value = parent
        return value

    def _alike(self, op: Op, left: int, right: int) -> None:
        a, b = self._root(left), self._root(right)
        if a == b:
            return
        known = [self._parts[root] for root in (a, b) if root in self._parts]
        if len(known) == 2 and known[0] != known[1]:
            raise _conflict(op, known[0], known[1])
        self._parent[a] = b
        if known:
            self._parts[b] = known[0]

    def _held(self, op: Op, value: int, parts: Parts) -> None:
        root = self._root(value)
        if not any(parts):
            parts = ()
        if (known := self._parts.setdefault(root, parts)) != parts:
            raise _conflict(op, known, parts)

    # Walking

    def function(self, op: Op, whole: bool = False) -> None:
        """Looks at a function, as it is called from outside (or inside, `whole`) of manual computations."""
        name = str(op.attributes["sym_name"])
        if name in self._seen and not whole:
            return
        self._seen.add(name)
        block = op.regions[0][0]
        self._define(block.arguments, block.types)
        for inner in block.ops:
            self._op(inner, whole)

    def _define(self, values: Sequence[int], types: Sequence[Type]) -> None:
        self.types.update(zip(values, types, strict=True))

    def _op(self, op: Op, whole: bool) -> None:
        self._define(op.results, op.types)
        if whole:
            self._inside(op)
        elif op.name == MANUAL:
            self._manual(op)
        elif op.name == "func.call":
            self._call(op)
        elif op.name in ("stablehlo.while", "stablehlo.case", "stablehlo.if"):
            self._control(op)
        elif op.name in _ANNOTATIONS or op.name == "stablehlo.optimization_barrier":
            self._all_alike(op, op.operands, op.results)
        elif op.name in _ELEMENTWISE:
            shape = op.types[0].shape
            self._all_alike(op, [v for v in op.operands if self.types[v].shape == shape], [op.results[0]] * 3)
        elif op.name not in ("func.return", "stablehlo.return") and not _is_anywhere(op, self.types):
            self._everywhere(op)

    def _all_alike(self, op: Op, left: Sequence[int], right: Sequence[int]) -> None:
        for a, b in zip(left, right, strict=False):
            self._alike(op, a, b)

    def _everywhere(self, op: Op) -> None:
        """An op that every device does on all of its operands."""
        if op.name in _ONCE or op.attributes.get("has_side_effect"):
            raise Untranslatable(op, f"expected it inside of {MANUAL}, where a device does it, found it outside")
        for inner in walk([op]):
            for value in (*inner.operands, *inner.results):
                self._held(op, value, ())

    def _inside(self, op: Op) -> None:
        if op.name == MANUAL:
            raise Untranslatable(op, "expected no manual computation inside of another, or of what it calls")
        for value in (*op.operands, *op.results):
            self._held(op, value, ())
        for block in (block for region in op.regions for block in region):
            self._define(block.arguments, block.types)
            for inner in block.ops:
                self._op(inner, True)
        if op.name == "func.call":
            self._called(op, True)

    def _manual(self, op: Op) -> None:
        axes = manual_axes(op)
        for value, sharding in zip(op.operands, per_value(op.attributes["in_shardings"]), strict=True):
            self._held(op, value, self._parts_of(op, sharding, axes))
        for value, sharding in zip(op.results, per_value(op.attributes["out_shardings"]), strict=True):
            self._held(op, value, self._parts_of(op, sharding, axes))
        block = op.regions[0][0]
        self._define(block.arguments, block.types)
        for inner in block.ops:
            self._op(inner, True)

    def _parts_of(self, op: Op, sharding: Struct, axes: set[str]) -> Parts:
        mesh = self._mesh(op, sharding)
        if self.devices and dict(mesh.axes) != self.sizes:
            raise Untranslatable(op, f"expected one mesh for all, found {mesh.text} beside {self.sizes}")
        self.devices, self.sizes = mesh.size, dict(mesh.axes)
        dimensions = sharding.fields["dimension_shardings"]
        assert isinstance(dimensions, list)
        return tuple(tuple(axis for axis in axes_of(dimension) if axis in axes) for dimension in dimensions)

    def _mesh(self, op: Op, sharding: Struct) -> Mesh:
        reference = sharding.fields["mesh_or_ref"]
        mesh = mesh_of(reference) if isinstance(reference, Struct) else self.meshes.get(str(reference))
        if mesh is None:
            raise Untranslatable(op, f"expected a mesh of the module, found {reference}")
        self.mesh = mesh.text.removeprefix("#sdy.") if isinstance(reference, Struct) else f"@{reference}"
        return mesh

    def _call(self, op: Op) -> None:
        block = self._called(op, False)
        self._all_alike(op, op.operands, block.arguments)
        self._all_alike(op, op.results, block.ops[-1].operands)

    def _called(self, op: Op, whole: bool) -> Block:
        callee = str(op.attributes["callee"])
        if callee not in self.functions:
            raise Untranslatable(op, f"expected a function of the module, found @{callee}")
        self.function(self.functions[callee], whole)
        return self.functions[callee].regions[0][0]

    def _control(self, op: Op) -> None:
        is_loop = op.name == "stablehlo.while"
        if not is_loop:
            self._held(op, op.operands[0], ())
        for number, (block,) in enumerate(op.regions):
            self._define(block.arguments, block.types)
            if is_loop:
                self._all_alike(op, op.operands, block.arguments)
            for inner in block.ops:
                self._op(inner, False)
            if not is_loop or number == 1:
                self._all_alike(op, block.ops[-1].operands, op.results)
        if is_loop:
            self._all_alike(op, op.operands, op.results)


def _is_anywhere(op: Op, types: dict[int, Type]) -> bool:
    """True for values that are alike in each part: of splats and of scalars broadcast."""
    if op.name == "stablehlo.constant":
        value = op.attributes["value"]
        return isinstance(value, Dense) and value.splat
    return op.name == "stablehlo.broadcast_in_dim" and not types[op.operands[0]].shape


def _conflict(op: Op, left: Parts, right: Parts) -> Untranslatable:
    what = " and ".join(_spelled(parts) for parts in (left, right))
    return Untranslatable(
        op,
        f"expected a value of which a device always holds the same part, found one {what}; {MANUAL} cannot be "
        "expressed otherwise",
    )


def _spelled(parts: Parts) -> str:
    if not any(parts):
        return "whole"
    return f"split by [{', '.join('{' + ', '.join(axes) + '}' for axes in parts)}]"


def manual_axes(op: Op) -> set[str]:
    """The axes over which a computation is manual."""
    axes = op.attributes["manual_axes"]
    assert isinstance(axes, Struct)
    return set(re.findall(r'"([^"]*)"', axes.text))


class _Device:
    """Makes the program of one device: types become those of the parts, manual computations their bodies."""

    def __init__(self, parts: _Parts) -> None:
        self.parts = parts
        self.same: dict[int, int] = {}
        """Values that are others: arguments and results of manual computations, and of annotations."""

    def function(self, op: Op, is_entry: bool) -> Op:
        if not all(value in self.parts.types for value in op.regions[0][0].arguments):
            return op  # nothing calls it
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
        rank = len(self.parts.types[value].shape)
        parts = self.parts.of(value) or ((),) * rank
        dimensions = ", ".join("{" + ", ".join(f'"{axis}"' for axis in axes) + "}" for axes in parts)
        return {key: f"#sdy.sharding<{self.parts.mesh}, [{dimensions}]>"}

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
                types = tuple(self._type(op, value) for value in op.results)
                regions = tuple(tuple(self.block(block) for block in region) for region in op.regions)
                yield self._sized(op._replace(operands=operands, types=types, regions=regions))

    def _type(self, op: Op, value: int) -> Type:
        return self.parts.local(value)

    def _sized(self, op: Op) -> Op:
        value = op.attributes.get("value")
        if op.name != "stablehlo.constant" or not isinstance(value, Dense) or not value.splat:
            return op
        return op._replace(attributes={**op.attributes, "value": value._replace(type=op.types[0])})


def _with(op: Op, key: str, more: Sequence[dict[str, Value]]) -> list[Value]:
    given = op.attributes.get(key)
    said = [item for item in given if isinstance(item, dict)] if isinstance(given, list) else []
    said = said or [dict[str, Value]() for _ in more]
    return [
        {**{name: value for name, value in old.items() if name != "sdy.sharding"}, **new}
        for old, new in zip(said, more, strict=True)
    ]
