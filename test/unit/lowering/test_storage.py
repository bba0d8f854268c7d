"""Rooms in memory: first fit, and nothing that is held at the same time overlaps."""

from random import Random

import pytest

from xneuron.dialects.bir.enums import DType, MemorySpace
from xneuron.dialects.bir.storage import MemoryLocationOp
from xneuron.lowering.hlo_to_bir.builder import Builder
from xneuron.lowering.hlo_to_bir.storage import VALUES, OutOfMemory, Storage
from xneuron.lowering.hlo_to_bir.values import Buffer


def place(buffer: Buffer) -> range:
    """The bytes of each partition that a buffer takes."""
    location = buffer.handle.owner
    assert isinstance(location, MemoryLocationOp)
    start = location.addr.data
    return range(start, start + location.geometry.bytes_per_partition)


def overlap(a: Buffer, b: Buffer) -> bool:
    return max(place(a).start, place(b).start) < min(place(a).stop, place(b).stop)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_held_at_one_time_never_overlaps(seed: int) -> None:
    random, storage = Random(seed), Storage(Builder("f"))
    held: list[Buffer] = []
    for _ in range(300):
        if held and random.random() < 0.45:
            storage.drop(iter([held.pop(random.randrange(len(held)))]))
            continue
        dtype = random.choice((DType.uint8, DType.bfloat16, DType.float32, DType.int64))
        new = storage.value("v", dtype, 128 * random.randint(1, 2048), in_dram=False)
        storage.hold(iter([new]))
        if new.in_dram:  # no room: what is held must really leave none of this size
            continue
        assert place(new).stop <= VALUES
        assert not any(overlap(new, other) for other in held)
        held.append(new)


def test_a_free_place_of_the_same_kind_is_the_same_location() -> None:
    storage = Storage(Builder("f"))
    first = storage.value("a", DType.float32, 256, in_dram=False)
    storage.hold(iter([first]))
    storage.drop(iter([first]))
    assert storage.value("b", DType.float32, 256, in_dram=False).handle is first.handle


def test_values_that_do_not_fit_go_to_dram_and_come_back_when_there_is_room() -> None:
    storage = Storage(Builder("f"))
    held = [storage.value("v", DType.float32, 128 * 2048, in_dram=False) for _ in range(VALUES // (4 * 2048) + 1)]
    assert [buffer.space for buffer in held] == [MemorySpace.SB] * 14 + [MemorySpace.DRAM]
    storage.hold(iter(held))
    storage.drop(iter(held[3:4]))
    again = storage.value("v", DType.float32, 128 * 2048, in_dram=False)
    assert (again.space, place(again)) == (MemorySpace.SB, place(held[3]))


def test_a_prime_number_of_elements_is_one_partition_or_dram() -> None:
    storage = Storage(Builder("f"))
    small, large = (storage.value("v", DType.float32, count, in_dram=False) for count in (131, 10007))
    assert small.handle.owner.geometry.shape == (1, 131)
    assert large.in_dram


def test_tiles_stay_clear_of_values_and_of_each_other() -> None:
    storage = Storage(Builder("f"))
    with storage.tile(DType.float32, (128, 2048)) as one, storage.tile(DType.int64, (128, 2048)) as other:
        places = [
            range(h.owner.addr.data, h.owner.addr.data + h.owner.geometry.bytes_per_partition) for h in (one, other)
        ]
    assert places == [range(VALUES, VALUES + 8192), range(VALUES + 8192, VALUES + 24576)]
    with storage.tile(DType.float32, (128, 2048)) as again:
        assert again is one


def test_tiles_that_do_not_fit_are_an_error() -> None:
    storage = Storage(Builder("f"))
    with pytest.raises(OutOfMemory, match="its tiles do not fit in PSUM"):
        with (
            storage.tile(DType.float32, (128, 4096), MemorySpace.PSUM),
            storage.tile(DType.float32, (1, 1), MemorySpace.PSUM),
        ):
            pass
