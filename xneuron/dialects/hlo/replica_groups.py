"""Replica groups of collectives: three spellings, one meaning (xla-semantics.md d.6)."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import product
from math import prod

from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.text_attribute import TextAttribute

Groups = tuple[tuple[int, ...], ...]

MOST_DEVICES = 1 << 20
"""Groups are expanded in memory; no machine comes near this."""


@irdl_attr_definition
class ReplicaGroupsAttr(TextAttribute):
    """`#hlo.replica_groups<"{{0,1},{2,3}}">`, `<"[2,2]<=[4]">` or `<"mesh['x'=2,'y'=2] {'y'}">`.

    The spelling is kept; `groups` is what two of them compare by.
    """

    name = "hlo.replica_groups"

    @property
    def groups(self) -> Groups:
        """Ids of each group, expanded; empty means one group of everyone."""
        return expand(self.data)

    def verify(self) -> None:
        expand(self.data)

    @staticmethod
    def of(groups: Groups) -> ReplicaGroupsAttr:
        """The plain spelling of the given groups."""
        return ReplicaGroupsAttr("{" + ",".join(f"{{{','.join(map(str, g))}}}" for g in groups) + "}")


@lru_cache(maxsize=4096)
def expand(text: str) -> Groups:
    """Expands any of the three spellings. Raises VerifyException where it is malformed."""
    if re.search(r"\d{19}", text):
        raise VerifyException(f"expected ids of at most 18 digits, found {text}")
    if text.startswith("{"):
        return _explicit(text)
    if text.startswith("mesh"):
        return _mesh(text)
    return _iota(text)


def _explicit(text: str) -> Groups:
    if not re.fullmatch(r"\{(\{[\d,]*\}(,\{[\d,]*\})*)?\}", text):
        raise VerifyException(f"expected replica groups like {{{{0,1}},{{2,3}}}}, found {text}")
    return tuple(_numbers(group) for group in re.findall(r"\{([\d,]*)\}", text[1:-1]))


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split(",") if number)


def _expect_sane(devices: int) -> None:
    if devices > MOST_DEVICES:
        raise VerifyException(f"expected at most {MOST_DEVICES} devices, found {devices}")


_IOTA = re.compile(r"\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?")


def _iota(text: str) -> Groups:
    if not (match := _IOTA.fullmatch(text)):
        raise VerifyException(f"expected replica groups like [2,4]<=[8], found {text}")
    dims, reshape, transpose = (_numbers(part or "") for part in match.groups())
    _expect_sane(prod(reshape))
    if len(dims) != 2 or prod(dims) != prod(reshape):
        raise VerifyException(f"expected [groups,size] with the product of {list(reshape)}, found {text}")
    flat = transposed_iota(reshape, transpose or tuple(range(len(reshape))))
    return tuple(tuple(flat[g * dims[1] : (g + 1) * dims[1]]) for g in range(dims[0]))


def transposed_iota(shape: tuple[int, ...], permutation: tuple[int, ...]) -> list[int]:
    """iota(product) reshaped to `shape`, transposed by `permutation`, flattened."""
    if sorted(permutation) != list(range(len(shape))):
        raise VerifyException(f"expected a permutation of {len(shape)} dimensions, found {list(permutation)}")
    strides = [prod(shape[i + 1 :]) for i in range(len(shape))]
    axes = [[index * strides[axis] for index in range(shape[axis])] for axis in permutation]
    return [sum(offsets) for offsets in product(*axes)]


_AXIS = re.compile(r"'([^']*)'=(\d+)")
_GROUP_AXIS = re.compile(r"'([^']*)'(?::\((\d+)\)(\d+))?")


def _mesh(text: str) -> Groups:
    match = re.fullmatch(r"mesh\[([^\]]*)\](?:,? ?device_ids=\(([\d,]*)\))? ?\{([^}]*)\}", text)
    if not match:
        raise VerifyException(f"expected replica groups like mesh['x'=2] {{'x'}}, found {text}")
    axes = [(name, int(size)) for name, size in _AXIS.findall(match[1])]
    _expect_sane(prod(size for _, size in axes))
    sizes, groups = _split_axes(axes, _GROUP_AXIS.findall(match[3]))
    within = [at for at, grouped in enumerate(groups) if grouped >= 0]
    order = [at for at, grouped in enumerate(groups) if grouped < 0]
    order += sorted(within, key=lambda at: groups[at])
    flat = transposed_iota(tuple(sizes), tuple(order))
    devices = _numbers(match[2]) if match[2] else tuple(range(prod(sizes)))
    size = prod(sizes[at] for at in within)
    ids = [devices[i] for i in flat]
    return tuple(tuple(ids[at : at + size]) for at in range(0, len(ids), size))


def _split_axes(axes: list[tuple[str, int]], wanted: list[tuple[str, str, str]]) -> tuple[list[int], list[int]]:
    """Mesh axes cut at sub-axis borders: sizes, and for each its position among the group axes or -1."""
    sizes: list[int] = []
    groups: list[int] = []
    for name, size in axes:
        parts = [(at, sub, n) for at, (axis, sub, n) in enumerate(wanted) if axis == name]
        if not parts:
            sizes, groups = [*sizes, size], [*groups, -1]
            continue
        cuts = sorted((int(pre or 1), int(n or size), at) for at, pre, n in parts)
        done = 1
        for pre, extent, at in cuts:
            if pre > done:
                sizes, groups = [*sizes, pre // done], [*groups, -1]
            sizes, groups, done = [*sizes, extent], [*groups, at], pre * extent
        if done < size:
            sizes, groups = [*sizes, size // done], [*groups, -1]
    if unknown := {axis for axis, _, _ in wanted} - {name for name, _ in axes}:
        raise VerifyException(f"expected axes of the mesh, found {sorted(unknown)}")
    return sizes, groups
