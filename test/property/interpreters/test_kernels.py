"""Parts of kernels against their definitions, on random shapes."""

from __future__ import annotations

from functools import cmp_to_key

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from xneuron.dialects.hlo.attributes import WindowDimension
from xneuron.formats.hlo_text import parse_hlo
from xneuron.interpreters.evaluator import Program
from xneuron.interpreters.kernels.sorting import merge_order
from xneuron.interpreters.kernels.windows import positions

small = st.integers(1, 4)
windows = st.builds(WindowDimension, small, small, st.integers(-3, 4), st.just(0), small, small)


@given(windows, st.integers(0, 9), st.integers(0, 9))
def test_windows_meet_exactly_the_elements_of_the_definition(window: WindowDimension, extent: int, places: int):
    expected = set()
    for index in range(window.size):
        for place in range(places):
            at = place * window.stride + index * window.window_dilation - window.padding_low
            if at % window.base_dilation == 0 and 0 <= at // window.base_dilation < extent:
                expected.add((index, place, at // window.base_dilation))
    found = [
        (index, place, element)
        for (index,), (at,), (of,) in positions([window], [extent], [places])
        for place, element in zip(range(places)[at], range(extent)[of], strict=True)
    ]
    assert len(found) == len(expected)
    assert set(found) == expected


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=40))
def test_merge_sort_is_stable_for_any_strict_weak_order(pairs: list[tuple[int, int]]):
    first, second = (np.array([pair[k] for pair in pairs], np.int64) for k in (0, 1))
    order = merge_order([first, second], lambda x, y: (x[0] + x[1]) % 3 < (y[0] + y[1]) % 3)
    rank = [(a + b) % 3 for a, b in pairs]
    compare = cmp_to_key(lambda i, j: rank[i] - rank[j])
    assert order.tolist() == sorted(range(len(pairs)), key=compare)


@st.composite
def gathers(draw: st.DrawFn) -> tuple[list[int], list[int], list[int], list[int], int]:
    """(operand extents, slice sizes, mapped dimensions, collapsed ones, number of indices)."""
    extents = draw(st.lists(small, min_size=1, max_size=3))
    sizes = [draw(st.integers(1, extent)) for extent in extents]
    dimensions = list(range(len(extents)))
    mapped = draw(st.lists(st.sampled_from(dimensions), unique=True))
    collapsed = [d for d in dimensions if sizes[d] == 1 and draw(st.booleans())]
    return extents, sizes, mapped, collapsed, draw(small)


@settings(max_examples=60, deadline=None)
@given(gathers(), st.randoms(use_true_random=False))
def test_gathers_take_the_clamped_windows(case: tuple, random):
    extents, sizes, mapped, collapsed, count = case
    x = np.arange(np.prod(extents), dtype=np.int32).reshape(extents)
    indices = np.array([[random.randint(-2, 5) for _ in mapped] for _ in range(count)], np.int32).reshape(count, -1)
    windows = []
    for row in indices:
        starts = [0] * len(extents)
        for component, d in enumerate(mapped):
            starts[d] = min(max(int(row[component]), 0), extents[d] - sizes[d])
        window = x[tuple(slice(start, start + size) for start, size in zip(starts, sizes, strict=True))]
        windows.append(window.reshape([size for d, size in enumerate(sizes) if d not in collapsed]))
    expected = np.stack(windows)

    def listed(numbers: list[int] | range) -> str:
        return "{" + ",".join(map(str, numbers)) + "}"

    text = f"""HloModule m
    ENTRY e {{ x = s32[{listed(extents)[1:-1]}] parameter(0) i = s32[{count},{len(mapped)}] parameter(1)
      ROOT r = s32[{listed(list(expected.shape))[1:-1]}] gather(x, i), offset_dims={listed(range(1, expected.ndim))},
      collapsed_slice_dims={listed(collapsed)}, start_index_map={listed(mapped)}, index_vector_dim=1,
      slice_sizes={listed(sizes)} }}"""
    module = parse_hlo(text)
    module.verify()
    assert Program(module).run(x, indices)[0].tolist() == expected.tolist()
