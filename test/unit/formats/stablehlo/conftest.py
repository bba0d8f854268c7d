"""Tests of StableHLO need jaxlib (extra `jax`)."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("jaxlib") else ["test_*.py"]
