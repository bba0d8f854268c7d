"""Whole values from one place to another: one at a time, or many at once as if at the same time."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from typing import TYPE_CHECKING

from xneuron.dialects.bir.compute import MemsetOp
from xneuron.dialects.bir.enums import Engine
from xneuron.dialects.bir.movement import DMACopyOp, LoadOp, SaveOp, TensorCopyOp
from xneuron.dialects.bir.operands import MemoryAccess, access
from xneuron.dialects.bir.verifier.accesses import MAX_PAIRS

from .values import Buffer, Splat

if TYPE_CHECKING:
    from .computations import Lowering


def whole(buffer: Buffer) -> MemoryAccess:
    """All elements, row-major."""
    found = access(buffer.handle)
    return found if len(found.pattern) <= MAX_PAIRS else access(buffer.handle, 0, [(1, buffer.count)])


def move(low: Lowering, target: MemoryAccess, source: MemoryAccess, target_in_dram: bool, source_in_dram: bool) -> None:
    """The elements of `source` to `target`, in pattern order."""
    if target_in_dram and not source_in_dram:
        low.builder.emit(SaveOp([target], [source], engine=Engine.DMA))
    elif source_in_dram and not target_in_dram:
        low.builder.emit(LoadOp([target], [source], engine=Engine.DMA))
    elif not target_in_dram and target.pattern == source.pattern:
        low.builder.emit(TensorCopyOp([target], [source], engine=Engine.DVE))
    else:
        low.builder.emit(DMACopyOp([target], [source], engine=Engine.DMA))


def copy(low: Lowering, target: Buffer, source: Buffer | Splat) -> None:
    """All elements of `source` to `target`, which has as many of the same dtype."""
    if isinstance(source, Splat):
        fill(low, target, source)
    elif source is not target:
        move(low, whole(target), whole(source), target.in_dram, source.in_dram)


def fill(low: Lowering, target: Buffer, splat: Splat) -> None:
    """The same number everywhere."""
    if not target.in_dram:
        low.builder.emit(MemsetOp([target.handle], [], constant=splat.value, engine=Engine.DVE))
        return
    with low.storage.tile(splat.dtype, (1, 1)) as one:
        low.builder.emit(MemsetOp([one], [], constant=splat.value, engine=Engine.DVE))
        # A step of 0 reads the one element again and again.
        low.builder.emit(DMACopyOp([whole(target)], [access(one, 0, [(1, 1), (0, target.count)])], engine=Engine.DMA))


def assign(low: Lowering, pairs: Iterable[tuple[Buffer, Buffer | Splat]]) -> None:
    """Each target gets its source's old contents, as if all at the same time.

    A target that no other pair still has to read goes first. When all are still to be read they form cycles, and the
    contents of one are put aside.
    """
    waiting = {target: source for target, source in pairs if target is not source}
    reads = Counter(source for source in waiting.values() if isinstance(source, Buffer))
    ready = deque(target for target in waiting if not reads[target])
    while waiting:
        if not ready:
            ready.append(_put_aside(low, waiting, reads))
        target = ready.popleft()
        source = waiting.pop(target)
        copy(low, target, source)
        if isinstance(source, Buffer):
            reads[source] -= 1
            if not reads[source] and source in waiting:
                ready.append(source)


def _put_aside(low: Lowering, waiting: dict[Buffer, Buffer | Splat], reads: Counter[Buffer]) -> Buffer:
    """Breaks a cycle: what its first target holds is read from a buffer of its own. Returns the target, now ready."""
    first = next(iter(waiting))
    # All wait for each other, so that each is read once: the last of the cycle reads the first.
    last = first
    while (source := waiting[last]) is not first:
        assert isinstance(source, Buffer)
        last = source
    aside = low.keep_for_now(low.storage.value("aside", first.dtype, first.count, first.in_dram))
    copy(low, aside, first)
    waiting[last] = aside
    reads[first] = 0
    return first
