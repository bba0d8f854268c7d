"""Rules of collectives: replica groups, source-target pairs, extents that grow and shrink with the group.

Rules: XLA's CheckReplicaGroups, CheckDuplicatedSourceOrTarget, CheckCommonAllGatherInvariants in hlo_verifier.cc.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.replica_groups import Groups
from xneuron.dialects.hlo.shape_rules import array, expect_dimension, listed
from xneuron.dialects.hlo.types import DYNAMIC, Tensor, shape_of, spelled, with_shape


def expect_groups(groups: Groups, uniform: bool) -> None:
    """Fails unless no group is empty and the ids are 0, 1, … once each; `uniform` groups have one size."""
    if any(not group for group in groups):
        raise VerifyException("expected replica groups that are not empty")
    ids = [id for group in groups for id in group]
    if repeated := sorted(id for id, times in Counter(ids).items() if times > 1):
        raise VerifyException(f"expected each replica in one group, found {repeated[0]} repeated")
    if missing := sorted(set(range(len(ids))) - set(ids)):
        raise VerifyException(f"expected replica groups to name all of [0, {len(ids)}), {missing[0]} is not named")
    if uniform and len({len(group) for group in groups}) > 1:
        raise VerifyException(f"expected replica groups of one size, found {listed([len(group) for group in groups])}")


def expect_pairs(pairs: Sequence[Sequence[int]], times: int) -> None:
    """Fails unless these are pairs of ids, each at most so many times a source and so many times a target."""
    for pair in pairs:
        if len(pair) != 2 or min(pair) < 0:
            raise VerifyException(f"expected source-target pairs of two ids of at least 0, found {listed(pair)}")
    for at, what in enumerate(("source", "target")):
        counts = Counter(pair[at] for pair in pairs)
        if repeated := [id for id, count in counts.items() if count > times]:
            raise VerifyException(f"expected each {what} at most {times} times in pairs, found {repeated[0]} again")


def scaled(type: Tensor, dimension: int, factor: int, divisor: int) -> Tensor:
    """The type with one extent times `factor` by `divisor`, which must divide it."""
    shape = list(shape_of(type))
    if shape[dimension] == DYNAMIC:
        return type
    if shape[dimension] % divisor:
        raise VerifyException(f"expected extent {dimension} to be a multiple of {divisor}, found {spelled(type)}")
    shape[dimension] = shape[dimension] * factor // divisor
    return with_shape(type, shape)


def expect_multiples(wholes: Sequence[Attribute], parts: Sequence[Attribute], dimension: int) -> None:
    """Fails unless each whole is so and so many of its part along the dimension, the same number for all."""
    counts: set[int] = set()
    for whole, part in zip(wholes, parts, strict=True):
        large, small = array(whole), array(part)
        extent = shape_of(small)[expect_dimension(dimension, len(shape_of(small)), "dimension")]
        total = shape_of(large)[expect_dimension(dimension, len(shape_of(large)), "dimension")]
        rest = with_shape(large, (*shape_of(large)[:dimension], extent, *shape_of(large)[dimension + 1 :]))
        if rest != with_shape(small, shape_of(small)) or (extent > 0 and total % extent):
            raise VerifyException(f"expected a multiple of {spelled(small)} along {dimension}, found {spelled(large)}")
        counts |= {total // extent} if extent > 0 and total != DYNAMIC else set()
    if len(counts) > 1:
        raise VerifyException(f"expected one number of participants, found {listed(sorted(counts))}")
