"""The switch in the environment; the pass itself is in test/filecheck/transforms."""

import pytest

from xneuron.transforms.neuron_add_boundary_marker import markers_enabled


@pytest.mark.parametrize(("value", "enabled"), [(None, True), ("", True), ("0", True), ("true", True), ("1", False)])
def test_only_one_disables(monkeypatch: pytest.MonkeyPatch, value: str | None, enabled: bool):
    monkeypatch.delenv("NEURON_DISABLE_BOUNDARY_MARKER", raising=False)
    if value is not None:
        monkeypatch.setenv("NEURON_DISABLE_BOUNDARY_MARKER", value)
    assert markers_enabled() is enabled
