"""`mhlo` ops, which XLA leaves where StableHLO has none, read like those of StableHLO with their name."""

from __future__ import annotations

import re

import pytest
from oracle.test_corpus import NAMES, module_of

from xneuron.formats.hlo_text import print_hlo
from xneuron.formats.stablehlo.parser import parse_stablehlo
from xneuron.formats.stablehlo.writer import print_stablehlo

ALWAYS = "attention bubble_sort conv_grad embedding_grad max_pool_grad scan_bf16 shapes sort_pairs".split()
ARRAY = re.compile(r"(?<!Sizes = )array<(i1|i64)(?:: ([^>]*))?>")


def as_mhlo(text: str) -> str:
    """The same program in `mhlo`, which has tensors for lists of numbers."""
    for mark, end in (("", "."), ("#", "<"), ("!", ".")):
        text = text.replace(f"{mark}stablehlo{end}", f"{mark}mhlo{end}")
    return ARRAY.sub(lambda found: _elements(found[1], found[2].split(", ") if found[2] else []), text)


def _elements(type: str, numbers: list[str]) -> str:
    listed = f"[{', '.join(numbers)}]" if numbers else ""
    return f"dense<{listed}> : tensor<{len(numbers)}x{type}>"


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n in ALWAYS else pytest.mark.fuzz) for n in NAMES])
def test_reads_the_same(name: str) -> None:
    text = print_stablehlo(module_of(f"{name}.before"))
    assert "mhlo.while" not in text
    assert print_hlo(parse_stablehlo(as_mhlo(text), name)) == print_hlo(parse_stablehlo(text, name))
