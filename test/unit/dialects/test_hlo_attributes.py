"""What the notations inside types and attributes say."""

from __future__ import annotations

import pytest

from xneuron.dialects.hlo.attributes import ShardingAttr, sharding_entries
from xneuron.dialects.hlo.types import BY_NAME, LayoutAttr, memory_order, tensor


@pytest.mark.parametrize(
    ("layout", "order", "is_order_only"),
    [
        ("{0,2,1}", (1, 2, 0), True),
        ("{0,2,1:T(8,128)(2,1)}", (1, 2, 0), False),
        ("bounds=[2,-1,-1] {1,0,2}", (2, 0, 1), True),
        ("bounds=[2,-1,-1]", (0, 1, 2), True),
        ("{:S(1)}", (0, 1, 2), False),
    ],
)
def test_order_in_memory(layout: str, order: tuple[int, ...], is_order_only: bool) -> None:
    encoding = LayoutAttr(layout)
    assert memory_order(tensor(BY_NAME["f32"].type, (2, 3, 4), encoding)) == order
    assert encoding.is_order_only == is_order_only


def test_order_in_memory_without_a_layout() -> None:
    assert memory_order(tensor(BY_NAME["f32"].type, (2, 3))) == (0, 1)
    assert memory_order(tensor(BY_NAME["f32"].type)) == ()


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("{replicated}", ["{replicated}"]),
        ("{{replicated}, {maximal device=1}}", ["{replicated}", "{maximal device=1}"]),
        (
            "{{devices=[2,1,2]<=[4] last_tile_dims={manual}}, {manual}}",
            ["{devices=[2,1,2]<=[4] last_tile_dims={manual}}", "{manual}"],
        ),
    ],
)
def test_entries_of_a_sharding(text: str, entries: list[str]) -> None:
    assert sharding_entries(ShardingAttr(text)) == entries


def test_no_sharding_has_no_entries() -> None:
    assert sharding_entries(None) == []
