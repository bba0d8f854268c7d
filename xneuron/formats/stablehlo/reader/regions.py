"""Regions of StableHLO as computations of HLO: what they use from around, and how each op in them is translated."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from xdsl.ir import Region, SSAValue

from xneuron.formats.stablehlo.reader.builder import Builder
from xneuron.formats.stablehlo.reader.errors import Untranslatable, blamed
from xneuron.formats.stablehlo.reader.table import TABLE
from xneuron.formats.stablehlo.reader.values import type_of
from xneuron.formats.stablehlo.tree import Block, Op

_NOT_IN_NAMES = re.compile(r"[^\w.-]|^(?=\d)")
RETURNS = frozenset({"stablehlo.return", "mhlo.return", "func.return", "sdy.return"})


def region_of(builder: Builder, blocks: Sequence[Block]) -> Region:
    """A region with a parameter for each block argument, whose ops use nothing from around but constants."""
    block = single(builder, blocks)
    with builder.computation() as scope:
        for number, type, name in zip(block.arguments, block.types, argument_names(builder, block), strict=True):
            scope.values[number] = builder.parameter(type_of(type), name)
        return builder.returned(builder.single(translate_block(builder, block)))


def argument_names(builder: Builder, block: Block) -> list[str | None]:
    """What JAX calls the arguments (`flat_args[0]`; not `while:`, which is no name of one); else what the text does."""
    return [
        builder.source.argument(place) if not name or name.endswith(":") else _NOT_IN_NAMES.sub("_", name).strip("_")
        for name, place in zip(block.names, block.places, strict=True)
    ]


def single(builder: Builder, blocks: Sequence[Block]) -> Block:
    """The only block of a region."""
    if len(blocks) != 1:
        raise builder.untranslatable(f"expected a region of one block, found {len(blocks)}")
    return blocks[0]


def translate_block(builder: Builder, block: Block) -> list[SSAValue]:
    """Translates all ops of a block into the open computation; the values that it returns."""
    *ops, last = block.ops
    for op in ops:
        translate(builder, op)
    builder.op = last
    if last.name not in RETURNS:
        raise builder.untranslatable("expected a region that ends in a return")
    return builder.operands


def translate(builder: Builder, op: Op, by: Callable[[Builder], None] | None = None) -> None:
    """Translates one op into the open computation. Raises Untranslatable."""
    builder.op = op
    translation = by or TABLE.get(op.name) or TABLE.get(op.name.replace("mhlo.", "stablehlo."))
    if translation is None:
        raise Untranslatable(op, "expected an operation that HLO can express")
    with blamed(op):
        translation(builder)


def captured(builder: Builder, regions: Sequence[Sequence[Block]]) -> list[int]:
    """The values from around that regions use, in order of first use; constants are not among them."""
    defined: set[int] = set()
    used: dict[int, None] = {}
    for op in _walk(regions, defined):
        used.update(dict.fromkeys(op.operands))
    return [number for number in used if number not in defined and number not in builder.constants]


def _walk(regions: Sequence[Sequence[Block]], defined: set[int]) -> Iterator[Op]:
    for block in (block for blocks in regions for block in blocks):
        defined.update(block.arguments)
        for op in block.ops:
            defined.update(op.results)
            yield op
            yield from _walk(op.regions, defined)
