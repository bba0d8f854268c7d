"""`make test` runs in several processes; tests that share what took long to make have to meet in one of them."""

from __future__ import annotations

import pytest


@pytest.mark.xdist_group("shared")
def test_groups_reach_the_scheduler(request: pytest.FixtureRequest) -> None:
    """xdist schedules by the suffix that a worker puts behind the names of the tests of a group."""
    assert request.node.nodeid.endswith("@shared") == bool(request.config.getoption("loadgroup", False))
