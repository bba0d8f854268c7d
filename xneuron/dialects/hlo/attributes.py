"""Attributes of HLO instructions that are more than numbers and strings.

Lists of dimensions are `array<i64: …>`; lists of pairs are arrays of those; enumerations are strings checked by
the op. What stays has a notation of its own: windows, dimension labels, replica groups, shardings.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.literal import ElidedAttr, LiteralAttr, TupleLiteralAttr
from xneuron.dialects.hlo.replica_groups import ReplicaGroupsAttr
from xneuron.dialects.hlo.text_attribute import TextAttribute

Ints: TypeAlias = DenseArrayBase[IntegerType]
Int: TypeAlias = IntegerAttr[IntegerType]


@lru_cache(maxsize=65536)
def _ints(values: tuple[int, ...]) -> Ints:
    return DenseArrayBase.from_list(i64, values)


def ints(values: Sequence[int]) -> Ints:
    """`array<i64: …>`, the same object each time."""
    return _ints(tuple(values))


@lru_cache(maxsize=65536)
def int_list(attribute: Attribute | None) -> tuple[int, ...]:
    """Numbers of an `array<i64: …>`; none for an absent attribute."""
    if attribute is None:
        return ()
    return tuple(cast(Ints, attribute).get_values())


def pairs(values: Sequence[Sequence[int]]) -> ArrayAttr[Ints]:
    """`[array<i64: 0, 1>, …]`: source-target pairs and their like."""
    return ArrayAttr([ints(value) for value in values])


def pair_list(attribute: Attribute | None) -> tuple[tuple[int, ...], ...]:
    """Numbers of an array of `array<i64: …>`."""
    if attribute is None:
        return ()
    return tuple(int_list(inner) for inner in cast("ArrayAttr[Attribute]", attribute).data)


@lru_cache(maxsize=4096)
def integer(value: int) -> Int:
    """`value : i64`, the same object each time."""
    return IntegerAttr(value, i64)


def int_of(attribute: Attribute | None, default: int = 0) -> int:
    """The number of an integer attribute, `default` where it is absent."""
    return default if attribute is None else cast("Int", attribute).value.data


def flag(attribute: Attribute | None) -> bool:
    """True for a present boolean attribute that is true; flags that are false are left out."""
    return attribute is not None and (
        not isinstance(attribute, IntegerAttr) or bool(cast(BoolAttr, attribute).value.data)
    )


def text_of(attribute: Attribute | None, default: str = "") -> str:
    """The characters of a string attribute or of a `TextAttribute`."""
    if attribute is None:
        return default
    return cast(StringAttr | TextAttribute, attribute).data


_INT = r"-?[0-9]{1,18}"
_INTS, _PADS = rf"{_INT}(x{_INT})*", rf"{_INT}_{_INT}(x{_INT}_{_INT})*"
_WINDOW = re.compile(
    rf"(size={_INTS}( stride={_INTS})?( pad={_PADS})?( lhs_dilate={_INTS})?( rhs_dilate={_INTS})?"
    r"( rhs_reversal=[01](x[01])*)?)?"
)
_DIM_LABELS = re.compile(r"[0-9bf?]+_[0-9io?]+->[0-9bf?]+")


def _expect_notation(pattern: re.Pattern[str], text: str, like: str) -> None:
    if not pattern.fullmatch(text):
        raise VerifyException(f"expected {like}, found {text}")


class WindowDimension(NamedTuple):
    """One dimension of a window: XLA's WindowDimension, with the identity as default."""

    size: int
    stride: int = 1
    padding_low: int = 0
    padding_high: int = 0
    base_dilation: int = 1
    window_dilation: int = 1
    reversal: bool = False


@irdl_attr_definition
class WindowAttr(TextAttribute):
    """`#hlo.window<"size=3x3 stride=2x2 pad=0_0x1_1">`: the braces' content in HLO text (d.6).

    Canonical: size, stride, pad, lhs_dilate, rhs_dilate, rhs_reversal in this order, the identity left out.
    """

    name = "hlo.window"

    @property
    def dimensions(self) -> tuple[WindowDimension, ...]:
        """The decoded window, outermost dimension first."""
        return _decode_window(self.data)

    def verify(self) -> None:
        _expect_notation(_WINDOW, self.data, "a window like size=3x3 pad=0_0x1_1")
        if len({part.count("x") for part in self.data.split()}) > 1:
            raise VerifyException(f"expected as many entries in each part of a window, found {self.data}")

    @staticmethod
    def of(dimensions: Sequence[WindowDimension]) -> WindowAttr:
        """The window attribute with the given dimensions."""
        return WindowAttr(_encode_window(tuple(dimensions)))


@lru_cache(maxsize=4096)
def _decode_window(text: str) -> tuple[WindowDimension, ...]:
    parts = dict(part.split("=", 1) for part in text.split())
    sizes = parts.get("size", "")
    if not sizes:
        return ()
    rank = sizes.count("x") + 1

    def column(key: str, default: str) -> list[str]:
        return parts[key].split("x") if key in parts else [default] * rank

    low_high = [pad.split("_") for pad in column("pad", "0_0")]
    return tuple(
        WindowDimension(int(size), int(stride), int(low), int(high), int(base), int(window), rev == "1")
        for size, stride, (low, high), base, window, rev in zip(
            sizes.split("x"),
            column("stride", "1"),
            low_high,
            column("lhs_dilate", "1"),
            column("rhs_dilate", "1"),
            column("rhs_reversal", "0"),
            strict=True,
        )
    )


def _encode_window(dimensions: tuple[WindowDimension, ...]) -> str:
    columns = {
        "size": [str(d.size) for d in dimensions],
        "stride": [str(d.stride) for d in dimensions],
        "pad": [f"{d.padding_low}_{d.padding_high}" for d in dimensions],
        "lhs_dilate": [str(d.base_dilation) for d in dimensions],
        "rhs_dilate": [str(d.window_dilation) for d in dimensions],
        "rhs_reversal": [str(int(d.reversal)) for d in dimensions],
    }
    identity = {"stride": "1", "pad": "0_0", "lhs_dilate": "1", "rhs_dilate": "1", "rhs_reversal": "0"}
    return " ".join(
        f"{key}={'x'.join(column)}"
        for key, column in columns.items()
        if column and any(entry != identity.get(key) for entry in column)
    )


class ConvolutionDimensions(NamedTuple):
    """Roles of the dimensions of a convolution's lhs, rhs (kernel) and output."""

    input_batch: int
    input_feature: int
    input_spatial: tuple[int, ...]
    kernel_input_feature: int
    kernel_output_feature: int
    kernel_spatial: tuple[int, ...]
    output_batch: int
    output_feature: int
    output_spatial: tuple[int, ...]


@irdl_attr_definition
class DimLabelsAttr(TextAttribute):
    """`#hlo.dim_labels<"b01f_01io->b01f">`."""

    name = "hlo.dim_labels"

    @property
    def dimensions(self) -> ConvolutionDimensions:
        """The decoded labels."""
        return _decode_dim_labels(self.data)

    def verify(self) -> None:
        """Each group names each role once; a `?` is a dimension without one."""
        _expect_notation(_DIM_LABELS, self.data, "dimension labels like b01f_01io->b01f")
        groups = [sorted(part.replace("?", "")) for part in re.split("_|->", self.data)]
        spatial = sorted(str(number) for number in range(len(groups[0]) - 2))
        if groups != [[*spatial, *roles] for roles in ("bf", "io", "bf")]:
            raise VerifyException(f"expected dimension labels that name each dimension once, found {self.data}")


@lru_cache(maxsize=4096)
def _decode_dim_labels(text: str) -> ConvolutionDimensions:
    lhs, rest = text.split("_")
    kernel, output = rest.split("->")

    def spatial(labels: str) -> tuple[int, ...]:
        return tuple(labels.index(str(i)) for i in range(sum(label.isdigit() for label in labels)))

    return ConvolutionDimensions(
        lhs.index("b"),
        lhs.index("f"),
        spatial(lhs),
        kernel.index("i"),
        kernel.index("o"),
        spatial(kernel),
        output.index("b"),
        output.index("f"),
        spatial(output),
    )


@irdl_attr_definition
class ShardingAttr(TextAttribute):
    """`#hlo.sharding<"{devices=[2,2]<=[4]}">`: checked against the grammar by the reader, kept verbatim."""

    name = "hlo.sharding"


def sharding_entries(sharding: Attribute | None) -> list[str]:
    """The shardings of a tuple's leaves, `{{a}, {b}}` -> `{a}`, `{b}`; a plain one is its own only entry."""
    text = text_of(sharding)
    if not text.startswith("{{"):
        return [text] if text else []
    entries, depth, start = list[str](), 0, 0
    for at, character in enumerate(text):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "{" and depth == 2:
            start = at
        if character == "}" and depth == 1:
            entries.append(text[start : at + 1])
    return entries


@irdl_attr_definition
class ComputationAttr(ParametrizedAttribute):
    """What a computation says beside its instructions, kept by the op that owns its region.

    `info` may hold `execution_thread` (string) and `parameters` (array, one dictionary of instruction attributes
    per parameter).
    """

    name = "hlo.computation"
    computation_name: StringAttr
    info: DictionaryAttr


ATTRIBUTES = [
    WindowAttr,
    DimLabelsAttr,
    ReplicaGroupsAttr,
    ShardingAttr,
    ComputationAttr,
    LiteralAttr,
    TupleLiteralAttr,
    ElidedAttr,
]
