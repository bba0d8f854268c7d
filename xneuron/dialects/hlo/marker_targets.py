"""Targets of the custom calls that are boundary markers (neuron-hlo-passes.md §5)."""

LOOP_START = "NeuronBoundaryMarker-Start"
LOOP_END = "NeuronBoundaryMarker-End"
LOOP_MARKERS = frozenset({LOOP_START, LOOP_END})
"""What the unroller emits, in pairs that share a boundary count."""

STARTS = frozenset({LOOP_START, "AwsNeuronModuleMarkerStart-Forward", "AwsNeuronModuleMarkerStart-Backward"})
ENDS = frozenset({LOOP_END, "AwsNeuronModuleMarkerEnd-Forward", "AwsNeuronModuleMarkerEnd-Backward"})
MARKERS = STARTS | ENDS
"""All targets. Those of modules come from the framework, and only their suffix tells their direction."""

COMPOSITE = "neuron.boundary_marker"
"""What a marker is in StableHLO: a composite of nothing, which every back end runs."""
