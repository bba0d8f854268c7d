"""Shardings: three generations of one notation, checked and brought to one spelling (xla-semantics.md d.5)."""

from __future__ import annotations

import re
from math import prod

from xneuron.formats.hlo_text.lexer import Scanner

_WORDS = ("replicated", "manual", "unknown", "unreduced")
_TILES = re.compile(r"\[([\d,\s]+)\]")
_TRANSPOSE = re.compile(r"T\(([\d,\s]+)\)")
_AXIS = re.compile(r"'[^'\]{}]*'")
_SUB_AXIS = re.compile(r":\((\d+)\)(\d+)")
_AXES_KEYS = ("replicated", "unreduced", "manual")


def parse_sharding(scanner: Scanner) -> str:
    """Takes a sharding with its braces; its canonical text."""
    scanner.expect("{", " and a sharding")
    if scanner.at("{") or scanner.at("}"):
        return f"{{{', '.join(_elements(scanner))}}}"
    if scanner.at("mesh[") or scanner.at("maximal_mesh["):
        text = _mesh(scanner)
    else:
        text = _single(scanner)
    scanner.expect("}", " to end the sharding")
    return f"{{{text}}}"


def _elements(scanner: Scanner) -> list[str]:
    elements: list[str] = []
    while not scanner.accept("}"):
        if elements:
            scanner.expect(",", " or '}' in the tuple sharding")
        if not scanner.at("{"):
            scanner.wrong("'{' and a sharding")
        elements.append(parse_sharding(scanner))
    return elements


def _single(scanner: Scanner) -> str:
    parts: list[str] = []
    word = scanner.word()
    if word in _WORDS:
        scanner.pos += len(word)
        parts.append(word)
    elif scanner.accept_word("maximal"):
        scanner.expect("device=", " of a maximal sharding")
        parts.append(f"maximal device={scanner.integer('device', low=0)}")
    elif scanner.accept("devices="):
        parts.append(_devices(scanner))
    else:
        scanner.wrong("replicated, manual, unknown, unreduced, maximal, devices= or mesh[")
    return " ".join([*parts, *_suffixes(scanner)])


def _suffixes(scanner: Scanner) -> list[str]:
    parts: list[str] = []
    while not scanner.at("}"):
        if scanner.accept_word("last_tile_dim_replicate"):
            parts.append("last_tile_dim_replicate")
        elif scanner.accept("last_tile_dims="):
            scanner.expect("{")
            parts.append(f"last_tile_dims={{{', '.join(_words(scanner))}}}")
        elif (word := scanner.word()) in ("shard_as", "shard_like"):
            scanner.pos += len(word)
            parts.append(f"{word} {scanner.integer('group id', low=0)}")
        elif scanner.accept("metadata="):
            parts.append(f"metadata={scanner.braces()}")
        else:
            scanner.wrong("'}' or another part of the sharding")
    return parts


def _words(scanner: Scanner) -> list[str]:
    words: list[str] = []
    while not scanner.accept("}"):
        if words:
            scanner.expect(",")
        word = scanner.word()
        if word not in _WORDS:
            scanner.wrong("manual, replicated, unknown or unreduced")
        scanner.pos += len(word)
        words.append(word)
    return words


def _devices(scanner: Scanner) -> str:
    start = scanner.skip()
    tiles = _numbers(scanner, _TILES, "tile dimensions like [2,2]")
    if scanner.accept("<="):
        text, count = _iota(scanner)
    else:
        devices = _device_list(scanner)
        text, count = ",".join(map(str, devices)), len(devices)
    if prod(tiles) != count:
        scanner.error(f"expected {prod(tiles)} devices for tile dimensions {list(tiles)}, found {count}", start)
    return f"devices=[{','.join(map(str, tiles))}]{text}"


def _iota(scanner: Scanner) -> tuple[str, int]:
    reshape = _numbers(scanner, _TILES, "iota dimensions like [4]")
    text = f"<=[{','.join(map(str, reshape))}]"
    if len(reshape) > 1:
        start = scanner.skip()
        permutation = _numbers(scanner, _TRANSPOSE, "transposition like T(1,0)")
        if sorted(permutation) != list(range(len(reshape))):
            scanner.error(f"expected a permutation of {len(reshape)} dimensions, found {list(permutation)}", start)
        text += f"T({','.join(map(str, permutation))})"
    return text, prod(reshape)


def _numbers(scanner: Scanner, pattern: re.Pattern[str], what: str) -> tuple[int, ...]:
    start = scanner.skip()
    try:
        return tuple(int(number) for number in scanner.need(pattern, what)[1].split(","))
    except ValueError:
        scanner.wrong(what, start)


def _device_list(scanner: Scanner) -> list[int]:
    devices = [scanner.integer("device", low=0)]
    while scanner.accept(","):
        devices.append(scanner.integer("device", low=0))
    return devices


def _mesh(scanner: Scanner) -> str:
    """`mesh['x'=2,'y'=4], [{'x'}, {?}], replicated={'y'}` or `maximal_mesh[device_id=3]`."""
    if scanner.accept("maximal_mesh["):
        scanner.expect("device_id=")
        device = scanner.integer("device", low=0)
        scanner.expect("]")
        return f"maximal_mesh[device_id={device}]"
    sizes = _mesh_axes(scanner)
    text = "mesh[" + ",".join(f"{name}={size}" for name, size in sizes.items()) + "]"
    scanner.expect(",", " and the sharding of each dimension")
    if scanner.accept("device_ids=("):
        text += f", device_ids=({','.join(_ids(scanner, prod(sizes.values())))})"
        scanner.expect(",", " and the sharding of each dimension")
    if (word := scanner.word()) in _WORDS:
        scanner.pos += len(word)
        text += f", {word}"
    else:
        scanner.expect("[", " and the sharding of each dimension")
        text += f", [{', '.join(_dimension_list(scanner, sizes))}]"
    while scanner.accept(","):
        text += _axes_part(scanner, sizes)
    return text


def _axes_part(scanner: Scanner, sizes: dict[str, int]) -> str:
    if scanner.accept("metadata="):
        return f", metadata={scanner.braces()}"
    word = scanner.word()
    if word not in _AXES_KEYS:
        scanner.wrong("replicated=, unreduced= or manual=")
    scanner.pos += len(word)
    scanner.expect("=")
    return f", {word}={_axes(scanner, sizes)}"


def _mesh_axes(scanner: Scanner) -> dict[str, int]:
    scanner.expect("mesh[")
    sizes: dict[str, int] = {}
    while not scanner.accept("]"):
        if sizes:
            scanner.expect(",", " or ']' in the mesh")
        start = scanner.skip()
        name = scanner.need(_AXIS, "name of a mesh axis like 'x'")[0]
        scanner.expect("=")
        if name in sizes:
            scanner.error(f"expected different mesh axes, found {name} twice", start)
        sizes[name] = scanner.integer("size of the mesh axis", low=1)
    return sizes


def _ids(scanner: Scanner, count: int) -> list[str]:
    start = scanner.pos
    ids: list[str] = []
    while not scanner.accept(")"):
        if ids:
            scanner.expect(",")
        ids.append(str(scanner.integer("device", low=0)))
    if len(ids) != count:
        scanner.error(f"expected {count} device ids for the mesh, found {len(ids)}", start)
    return ids


def _dimension_list(scanner: Scanner, sizes: dict[str, int]) -> list[str]:
    dimensions: list[str] = []
    while not scanner.accept("]"):
        if dimensions:
            scanner.expect(",", " or ']' after the sharding of a dimension")
        dimensions.append(_axes(scanner, sizes))
    return dimensions


def _axes(scanner: Scanner, sizes: dict[str, int]) -> str:
    scanner.expect("{", " and mesh axes")
    axes: list[str] = []
    while not scanner.accept("}"):
        if axes:
            scanner.expect(",", " or '}' after a mesh axis")
        axes.append("?" if scanner.accept("?") else _axis(scanner, sizes))
    return f"{{{', '.join(axes)}}}"


def _axis(scanner: Scanner, sizes: dict[str, int]) -> str:
    start = scanner.skip()
    name = scanner.need(_AXIS, "mesh axis or ?")[0]
    if name not in sizes:
        scanner.error(f"expected an axis of the mesh ({', '.join(sizes)}), found {name}", start)
    if sub := scanner.take(_SUB_AXIS):
        pre, size = int(sub[1]), int(sub[2])
        if size < 1 or pre < 1 or sizes[name] % (pre * size) or size == sizes[name]:
            scanner.error(f"expected a proper part of {name} (size {sizes[name]}), found {name}{sub[0]}", start)
        return f"{name}{sub[0]}"
    return name
