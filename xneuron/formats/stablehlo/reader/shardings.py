"""Shardings and what else any op may carry: `mhlo.*` and `sdy.*` attributes as XLA brings them to HLO.

Shardy's attributes are kept verbatim as frontend attributes `xla.sdy.*`, XLA's own form for the way through HLO (its
round-trip export), and beside them the sharding in HLO's notation.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import NamedTuple

from xdsl.dialects.builtin import ArrayAttr, BoolAttr, DictionaryAttr, FloatAttr, StringAttr, UnitAttr, f64
from xdsl.ir import Attribute
from xdsl.utils.exceptions import ParseError

from xneuron.dialects.hlo.attributes import ShardingAttr, integer
from xneuron.dialects.hlo.replica_groups import transposed_iota
from xneuron.formats.hlo_text.lexer import Scanner
from xneuron.formats.hlo_text.sharding import parse_sharding
from xneuron.formats.stablehlo.tree import Op, Raw, Struct, Value, list_of, of_kind

SHARDING = "sdy.sharding"
FRONTEND = "mhlo.frontend_attributes"
XLA_SHARDING = "xla.sdy.sharding"
XLA_MESHES = "xla.sdy.meshes"


class Mesh(NamedTuple):
    """A mesh of devices: names and sizes of its axes, device ids in row-major order, MLIR's spelling."""

    axes: tuple[tuple[str, int], ...]
    devices: tuple[int, ...]
    text: str

    @property
    def size(self) -> int:
        """Number of devices."""
        return prod(size for _, size in self.axes)


Meshes = dict[str, Mesh]
"""Meshes by symbol."""


def mesh_of(mesh: Struct) -> Mesh:
    """The mesh that a `sdy.mesh` attribute describes."""
    fields = [axis.fields for axis in _structs(mesh.fields["axes"])]
    axes = tuple((str(axis["name"]), _int(axis["size"])) for axis in fields)
    ids = mesh.fields["device_ids"]
    devices = tuple(_int(id) for id in ids) if isinstance(ids, list) else ()
    return Mesh(axes, devices or tuple(range(prod(size for _, size in axes))), mesh.text)


def axes_of(struct: Value) -> list[str]:
    """Names of the axes that one dimension is sharded by, sub-axes left aside."""
    fields = of_kind(Struct, struct, "axes").fields
    return [str(axis.fields["name"]) for axis in _structs(fields["axes"])]


def hlo_sharding(sharding: Struct, meshes: Meshes) -> str | None:
    """The sharding in HLO's notation, None where that has no word for it (unreduced axes, unknown mesh).

    Shardy's convertToHloSharding: tiles by the axes of each dimension, the rest replicated behind them.
    """
    mesh = _mesh(sharding.fields["mesh_or_ref"], meshes)
    if mesh is None or sharding.fields.get("unreduced_axes"):
        return None
    if not mesh.axes and len(mesh.devices) == 1:
        return f"{{maximal device={mesh.devices[0]}}}"
    used = [[_part(axis, mesh) for axis in _structs(d.fields["axes"])] for d in _dimensions(sharding)]
    factors = _factors(mesh, [part for axes in used for part in axes])
    order = [factors.index(part) for axes in used for part in axes]
    tiles = [prod(size for _, _, size in axes) for axes in used]
    if prod(tiles) == 1:
        return "{replicated}"
    order += [at for at in range(len(factors)) if at not in order]
    rest = mesh.size // prod(tiles)
    dims = ",".join(map(str, [*tiles, rest] if rest > 1 else tiles))
    devices = _device_order(mesh, [size for _, _, size in factors], order)
    return f"{{devices=[{dims}]{devices}{' last_tile_dim_replicate' if rest > 1 else ''}}}"


_Part = tuple[str, int, int]
"""Part of an axis: its name, the product of the sizes in front of it, its size."""


def _part(axis: Struct, mesh: Mesh) -> _Part:
    name, sub = str(axis.fields["name"]), axis.fields.get("sub_axis_info")
    if isinstance(sub, Struct):
        return name, _int(sub.fields["pre_size"]), _int(sub.fields["size"])
    return name, 1, dict(mesh.axes)[name]


def _factors(mesh: Mesh, used: Sequence[_Part]) -> list[_Part]:
    """All axes of the mesh, cut where parts of them are used."""
    factors: list[_Part] = []
    for name, size in mesh.axes:
        cuts = {1, size}
        for axis, before, extent in used:
            cuts |= {before, before * extent} if axis == name else set()
        ordered = sorted(cuts)
        factors += [(name, low, high // low) for low, high in pairwise(ordered)]
        factors += [(name, 1, 1)] if size == 1 else []
    return factors


def _device_order(mesh: Mesh, sizes: Sequence[int], order: Sequence[int]) -> str:
    """`<=[4]`, `<=[2,2]T(1,0)`, or the list of ids where the mesh is no iota."""
    if mesh.devices != tuple(range(mesh.size)):
        ids = transposed_iota(tuple(sizes), tuple(order))
        return ",".join(str(mesh.devices[id]) for id in ids)
    # Axes that stay neighbours are one, as XLA writes it.
    groups: list[list[int]] = []
    for at in (at for at in order if sizes[at] > 1):
        between = sizes[groups[-1][-1] + 1 : at] if groups and at > groups[-1][-1] else (0,)
        if groups and all(size == 1 for size in between):
            groups[-1].append(at)
        else:
            groups.append([at])
    ranked = sorted(groups)
    extents = [prod(sizes[at] for at in group) for group in ranked]
    permutation = [ranked.index(group) for group in groups]
    text = f"<=[{','.join(map(str, extents))}]"
    return text if len(groups) < 2 else f"{text}T({','.join(map(str, permutation))})"


def _mesh(reference: Value, meshes: Meshes) -> Mesh | None:
    return mesh_of(reference) if isinstance(reference, Struct) else meshes.get(str(reference).removeprefix("@"))


def _dimensions(sharding: Struct) -> list[Struct]:
    return _structs(sharding.fields["dimension_shardings"])


def per_value(value: Value) -> list[Struct]:
    """Shardings of a `sdy.sharding_per_value`, or the one sharding."""
    sharding = of_kind(Struct, value, "a sharding")
    return _structs(sharding.fields["shardings"]) if "shardings" in sharding.fields else [sharding]


def _structs(value: Value) -> list[Struct]:
    return [item for item in list_of(value, "shardings") if isinstance(item, Struct)]


def _int(value: Value) -> int:
    return of_kind(int, value, "an integer")


_ROUND_TRIP = ("sdy.sharding_rule",)
"""Attributes of Shardy that XLA keeps as frontend attributes too, and refuses under their own names."""
_TRANSLATED = frozenset({"mhlo.sharding", SHARDING, FRONTEND, "result_accuracy", "mhlo.backend_config", *_ROUND_TRIP})


def common_attributes(op: Op, meshes: Meshes) -> dict[str, Attribute]:
    """The discardable attributes of the `hlo` op that stands for this one."""
    said = {key: value for key, value in op.attributes.items() if _is_common(key)}
    return carried(said, meshes) if said else {}


def _is_common(key: str) -> bool:
    return "." in key or key == "result_accuracy"


def carried(said: dict[str, Value], meshes: Meshes) -> dict[str, Attribute]:
    """Attributes that an op or a parameter may carry, as HLO has them; what HLO does not know keeps its name."""
    found: dict[str, Attribute] = {}
    frontend: dict[str, Attribute] = {}
    if isinstance(given := said.get(FRONTEND), dict):
        frontend |= {key: StringAttr(str(value)) for key, value in given.items()}
    if isinstance(sharding := said.get(SHARDING), Struct):
        frontend[XLA_SHARDING] = StringAttr(sharding.text)
        found |= _sharding([hlo_sharding(each, meshes) for each in per_value(sharding)])
    others = {key: value.text for key, value in said.items() if key in _ROUND_TRIP and isinstance(value, Raw | Struct)}
    frontend |= {f"xla.{key}": StringAttr(text) for key, text in others.items()}
    if isinstance(text := said.get("mhlo.sharding"), str):
        found["sharding"] = sharding_attribute(text)
    if isinstance(config := said.get("mhlo.backend_config"), str | Raw):
        found["backend_config"] = StringAttr(config if isinstance(config, str) else config.text)
    if isinstance(accuracy := said.get("result_accuracy"), Struct) and (text := _accuracy(accuracy)):
        found["result_accuracy"] = StringAttr(text)
    if frontend:
        found["frontend_attributes"] = DictionaryAttr(frontend)
    return {**kept({key: value for key, value in said.items() if key not in _TRANSLATED}), **found}


def _sharding(texts: Sequence[str | None]) -> dict[str, Attribute]:
    if not texts or None in texts:
        return {}
    text = texts[0] if len(texts) == 1 else f"{{{', '.join(map(str, texts))}}}"
    return {"sharding": ShardingAttr(str(text))}


def sharding_attribute(text: str) -> ShardingAttr:
    """A sharding in HLO's notation, in canonical spelling where it is one, else as it is."""
    try:
        return ShardingAttr(parse_sharding(Scanner(text, "mhlo.sharding")))
    except ParseError:
        return ShardingAttr(text)


def _accuracy(accuracy: Struct) -> str:
    mode = str(accuracy.fields["mode"]).lower()
    if "highest" in mode:
        return "{mode=highest}"
    if "tolerance" not in mode:
        return ""
    numbers = ",".join(f"{key}={accuracy.fields[key]:g}" for key in ("atol", "rtol", "ulps"))
    return f"{{tolerance={{{numbers}}}}}"


def kept(said: dict[str, Value]) -> dict[str, Attribute]:
    """Attributes under their own names, as builtin attributes."""
    return {key: _plain(value) for key, value in said.items()}


def _plain(value: Value) -> Attribute:
    match value:
        case True:
            return UnitAttr()
        case bool():
            return BoolAttr.from_bool(value)
        case int():
            return integer(value)
        case float():
            return FloatAttr(value, f64)
        case str():
            return StringAttr(value)
        case dict():
            return DictionaryAttr({key: _plain(inner) for key, inner in value.items()})
        case Raw() | Struct():
            return StringAttr(value.text)
        case list():
            return ArrayAttr([_plain(inner) for inner in value])
        case _:
            return StringAttr(str(value))
