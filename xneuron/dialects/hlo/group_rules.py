"""Rules of collectives: replica groups, source-target pairs, extents that grow and shrink with the group.

Rules: XLA's CheckReplicaGroups, CheckDuplicatedSourceOrTarget, CheckCommonAllGatherInvariants in hlo_verifier.cc.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.replica_groups import Groups
from xneuron.dialects.hlo.shape_rules import array, listed
from xneuron.dialects.hlo.types import DYNAMIC, Tensor, same_extents, shape_of, spelled, with_shape


def expect_groups(groups: Groups, uniform: bool, complete: bool) -> None:
    """Fails where a group is empty or an id repeated. `uniform`: of one size; `complete`: the ids are 0, 1, …."""
    if any(not group for group in groups):
        raise VerifyException("expected no empty replica group, found one")
    ids = [id for group in groups for id in group]
    if repeated := sorted(id for id, times in Counter(ids).items() if times > 1):
        raise VerifyException(f"expected each replica in one group, found {repeated[0]} repeated")
    if complete and (missing := sorted(set(range(len(ids))) - set(ids))):
        raise VerifyException(f"expected replica groups to name all of [0, {len(ids)}), found no {missing[0]}")
    if uniform and len({len(group) for group in groups}) > 1:
        raise VerifyException(f"expected replica groups of one size, found {listed([len(group) for group in groups])}")


def expect_pairs(pairs: Sequence[Sequence[int]], times: int) -> None:
    """Fails unless these are pairs of ids, each at most so many times a source and so many times a target."""
    for pair in pairs:
        if len(pair) != 2 or min(pair) < 0:
            raise VerifyException(f"expected source-target pairs of two ids of at least 0, found {listed(pair)}")
    for at, what in enumerate(("source", "target")):
        id, count = max(Counter(pair[at] for pair in pairs).items(), key=lambda item: item[1], default=(0, 0))
        if count > times:
            raise VerifyException(f"expected each {what} in at most {times} source-target pairs, found {id} in {count}")


def scaled(type: Tensor, dimension: int, factor: int, divisor: int) -> Tensor:
    """The type with one extent times `factor` by `divisor`, which must divide it."""
    shape = list(shape_of(type))
    if shape[dimension] == DYNAMIC:
        return type
    if shape[dimension] % divisor:
        raise VerifyException(f"expected extent {dimension} to be a multiple of {divisor}, found {spelled(type)}")
    shape[dimension] = shape[dimension] * factor // divisor
    return with_shape(type, shape)


def expect_multiples(wholes: Sequence[Attribute], parts: Sequence[Attribute], dimension: int, group: int) -> None:
    """Fails unless each whole is n of its part along the dimension, n the same for all and a multiple of `group`."""
    counts = {_count(array(whole), array(part), dimension) for whole, part in zip(wholes, parts, strict=True)} - {0}
    if len(counts) > 1:
        raise VerifyException(f"expected one number of participants, found {listed(sorted(counts))}")
    if group and any(count % group for count in counts):
        raise VerifyException(f"expected a multiple of {group} participants, found {counts.pop()}")


def _count(whole: Tensor, part: Tensor, dimension: int) -> int:
    """How many parts make the whole; 0 where an extent is 0 or dynamic."""
    large, small = shape_of(whole), shape_of(part)
    if not same_extents(_without(large, dimension), _without(small, dimension)) or not _alike(whole, part):
        raise VerifyException(f"expected a multiple of {spelled(part)} along {dimension}, found {spelled(whole)}")
    if small[dimension] <= 0 or large[dimension] <= 0:
        return 0
    if large[dimension] % small[dimension]:
        raise VerifyException(f"expected a multiple of {spelled(part)} along {dimension}, found {spelled(whole)}")
    return large[dimension] // small[dimension]


def _without(shape: Sequence[int], dimension: int) -> tuple[int, ...]:
    return (*shape[:dimension], *shape[dimension + 1 :])


def _alike(whole: Tensor, part: Tensor) -> bool:
    return whole.element_type == part.element_type and len(shape_of(whole)) == len(shape_of(part))
