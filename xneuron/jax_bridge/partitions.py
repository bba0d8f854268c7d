"""Programs of several partitions on as many of JAX's devices.

What came from `shard_map` remembers its mesh and which part of each value a device holds: such a program takes and
returns whole values. So does one whose partitions all do the same: it runs once. Any other takes for each array one
that all partitions share, or one with an axis more in front, an entry for each partition; its results have that axis.
"""

# Most of what JAX gives has no types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from xneuron.dialects.hlo.attributes import text_of
from xneuron.dialects.hlo.channels import ChannelOp
from xneuron.dialects.hlo.collectives import PartitionIdOp, ReplicaIdOp
from xneuron.dialects.hlo.types import shape_of
from xneuron.jax_bridge.primitive import Program, run

AXIS = "partition"
Run = Callable[..., list[Any]]
Shapes = list[tuple[tuple[int, ...], ...]]
"""The shapes that each argument may have."""
Spec = tuple[tuple[str, ...], ...]
"""Axes of the mesh that each dimension is split by."""

_MESH = re.compile(r'"([^"]+)"=(\d+)')
_IDS = re.compile(r"device_ids=\[([\d, ]*)\]")
_DIMENSIONS = re.compile(r"\[((?:\{[^}]*\}(?:p\d+)?,? ?)*)\]")


@dataclass(frozen=True)
class Layout:
    """A mesh, and how the whole values of parameters and results lie on it."""

    axes: tuple[tuple[str, int], ...]
    devices: tuple[int, ...]
    inputs: tuple[Spec, ...]
    outputs: tuple[Spec, ...]

    def whole(self, type: Attribute, spec: Spec) -> tuple[int, ...]:
        """The extents of a whole value, of which a device holds a part of this type."""
        sizes, shape = dict(self.axes), shape_of(type)
        split = [*spec, *[()] * (len(shape) - len(spec))]
        return tuple(extent * prod(sizes[axis] for axis in axes) for extent, axes in zip(shape, split, strict=True))


def tells_apart(module: ModuleOp) -> bool:
    """True if participants meet in the program, or ask which they are."""
    return any(isinstance(op, ChannelOp | PartitionIdOp | ReplicaIdOp) for op in module.walk())


def layout_of(module: ModuleOp, entry: FuncOp) -> Layout | None:
    """What the program remembers of `shard_map`; None if nothing."""
    meshes = text_of(module.attributes.get("xneuron.meshes"))
    axes = tuple((name, int(size)) for name, size in _MESH.findall(meshes))
    own = entry.arg_attrs.data if entry.arg_attrs else ()
    inputs = [_spec(argument.data.get("xneuron.in_sharding")) for argument in own]
    told = cast("ArrayAttr[Attribute] | None", entry.attributes.get("xneuron.out_sharding"))
    outputs = [_spec(result) for result in told.data] if told is not None else []
    if not axes or None in inputs or None in outputs or not outputs:
        return None
    ids = _IDS.search(meshes)
    devices = tuple(map(int, ids[1].split(","))) if ids else tuple(range(prod(size for _, size in axes)))
    return Layout(axes, devices, cast("tuple[Spec, ...]", tuple(inputs)), cast("tuple[Spec, ...]", tuple(outputs)))


def _spec(sharding: Attribute | None) -> Spec | None:
    if sharding is None or isinstance(sharding, DictionaryAttr) or not (found := _DIMENSIONS.search(text_of(sharding))):
        return None
    return tuple(tuple(re.findall(r'"([^"]+)"', dimension)) for dimension in re.findall(r"\{([^}]*)\}", found[1]))


def on_mesh(program: Program, layout: Layout) -> tuple[Run, Shapes]:
    """A function of whole values, and their shapes."""
    import jax
    from jax.sharding import Mesh, PartitionSpec

    devices = _devices(len(layout.devices))
    names, sizes = zip(*layout.axes, strict=True)
    mesh = Mesh(_shaped([devices[id] for id in layout.devices], sizes), names)
    ins, outs = ([PartitionSpec(*spec) for spec in specs] for specs in (layout.inputs, layout.outputs))

    def per_device(*parts: Any) -> list[Any]:
        return run(program, parts)

    shapes = [(layout.whole(type, spec),) for type, spec in zip(program.inputs, layout.inputs, strict=True)]
    return jax.shard_map(per_device, mesh=mesh, in_specs=tuple(ins), out_specs=outs, check_vma=False), shapes


def stacked(program: Program, partitions: int) -> tuple[Run, Shapes]:
    """A function of arrays with an axis of partitions in front, or without where all share them, and both shapes."""
    import jax
    from jax.sharding import Mesh, PartitionSpec

    mesh = Mesh(_shaped(_devices(partitions), (partitions,)), (AXIS,))

    def call(*arrays: Any) -> list[Any]:
        shared = [array.ndim == len(shape_of(type)) for array, type in zip(arrays, program.inputs, strict=True)]

        def per_device(*parts: Any) -> list[Any]:
            own = [part if all else part[0] for part, all in zip(parts, shared, strict=True)]
            return [result[None] for result in run(program, own)]

        specs = tuple(PartitionSpec() if all else PartitionSpec(AXIS) for all in shared)
        out = [PartitionSpec(AXIS)] * len(program.outputs)
        return jax.shard_map(per_device, mesh=mesh, in_specs=specs, out_specs=out, check_vma=False)(*arrays)

    shapes = [(shape_of(type), (partitions, *shape_of(type))) for type in program.inputs]
    return call, shapes


def _devices(count: int) -> list[Any]:
    import jax

    if len(found := jax.devices()) < count:
        raise ValueError(
            f"expected {count} devices for the program's partitions, found {len(found)}; on CPU, "
            f"XLA_FLAGS=--xla_force_host_platform_device_count={count} before JAX is imported makes them"
        )
    return list(found[:count])


def _shaped(devices: Sequence[Any], sizes: Sequence[int]) -> Any:
    import numpy as np

    return np.array(devices).reshape(tuple(sizes))
