"""Shardy's shardings in HLO's notation. What is expected is what XLA (jaxlib 0.10.2) makes of the same program."""

from __future__ import annotations

import pytest

from xneuron.formats.hlo_text import print_hlo
from xneuron.formats.stablehlo.parser import parse_stablehlo

MESHES = {
    "two by two": '<["x"=2, "y"=2]>',
    "a row": '<["i"=4]>',
    "three axes": '<["a"=2, "b"=3, "c"=4]>',
    "unordered": '<["x"=2, "y"=2], device_ids=[3, 1, 2, 0]>',
    "with one of size 1": '<["x"=2, "o"=1, "y"=2]>',
}
CASES = [
    ("two by two", '[{"x"}, {}]', "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"),
    ("two by two", '[{"y"}, {"x"}]', "{devices=[2,2]<=[2,2]T(1,0)}"),
    ("two by two", '[{"x"}, {"y"}]', "{devices=[2,2]<=[4]}"),
    ("two by two", '[{}, {"y"}]', "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}"),
    ("two by two", '[{"x", "y"}, {}]', "{devices=[4,1]<=[4]}"),
    ("two by two", '[{"y", "x"}, {}]', "{devices=[4,1]<=[2,2]T(1,0)}"),
    ("two by two", "[{}, {}]", "{replicated}"),
    ("two by two", "[{?}, {?}]", "{replicated}"),
    ("a row", '[{"i"}, {}]', "{devices=[4,1]<=[4]}"),
    ("a row", '[{"i":(1)2}, {}]', "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"),
    ("a row", '[{"i":(2)2}, {}]', "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}"),
    ("three axes", '[{"b"}, {"a"}]', "{devices=[3,2,4]<=[2,3,4]T(1,0,2) last_tile_dim_replicate}"),
    ("three axes", '[{"c"}, {}]', "{devices=[4,1,6]<=[6,4]T(1,0) last_tile_dim_replicate}"),
    ("unordered", '[{"x"}, {"y"}]', "{devices=[2,2]3,1,2,0}"),
    ("with one of size 1", '[{"x"}, {"y"}]', "{devices=[2,2]<=[4]}"),
]


@pytest.mark.parametrize(("mesh", "sharding", "expected"), CASES, ids=[f"{mesh} {text}" for mesh, text, _ in CASES])
def test_as_xla_says_it(mesh: str, sharding: str, expected: str) -> None:
    text = (
        f"module {{ sdy.mesh @mesh = {MESHES[mesh]}\n"
        f"func.func @main(%x: tensor<12x12xf32> {{sdy.sharding = #sdy.sharding<@mesh, {sharding}>}}) "
        "-> tensor<12x12xf32> { return %x : tensor<12x12xf32> } }"
    )
    line = next(line for line in print_hlo(parse_stablehlo(text)).splitlines() if "parameter(0)" in line)
    kept = sharding.replace('"', '\\"')
    assert f'sharding={expected}, frontend_attributes={{xla.sdy.sharding="#sdy.sharding<@mesh, {kept}>"}}' in line


def test_of_results() -> None:
    """On the way of one result through a tuple, as XLA puts it."""
    text = (
        'module { sdy.mesh @mesh = <["x"=2]>\nfunc.func @main(%x: tensor<4xf32>) -> '
        '(tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) { return %x : tensor<4xf32> } }'
    )
    *_, before, root, _ = print_hlo(parse_stablehlo(text)).splitlines()
    assert before.strip() == "%tuple = (f32[4]{0}) tuple(%x)"
    assert (
        root.strip()
        == "ROOT %get-tuple-element = f32[4]{0} get-tuple-element(%tuple), index=0, sharding={devices=[2]<=[2]}"
    )
