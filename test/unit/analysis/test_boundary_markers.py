"""The marker schema of neuron-hlo-passes.md §5."""

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, SSAValue

from xneuron.analysis import boundary_markers as markers
from xneuron.dialects.hlo.custom import CustomCallOp
from xneuron.dialects.hlo.types import BY_NAME, tensor, tuple_of

F32 = tensor(BY_NAME["f32"].type)


def call(target: str, *operands: SSAValue, type: Attribute = F32, config: str | None = None) -> CustomCallOp:
    return CustomCallOp.create(
        operands=operands,
        result_types=[type],
        properties={"custom_call_target": StringAttr(target)},
        attributes={} if config is None else {"backend_config": StringAttr(config)},
    )


def value(type: Attribute = F32) -> SSAValue:
    return test.TestOp(result_types=[type]).results[0]


@pytest.mark.parametrize(
    ("target", "start", "end", "loop"),
    [
        ("NeuronBoundaryMarker-Start", True, False, True),
        ("NeuronBoundaryMarker-End", False, True, True),
        ("AwsNeuronModuleMarkerStart-Forward", True, False, False),
        ("AwsNeuronModuleMarkerStart-Backward", True, False, False),
        ("AwsNeuronModuleMarkerEnd-Forward", False, True, False),
        ("AwsNeuronModuleMarkerEnd-Backward", False, True, False),
        ("NeuronBoundaryMarker", False, False, False),
        ("AwsNeuronTransferWithStaticRing", False, False, False),
    ],
)
def test_targets(target: str, start: bool, end: bool, loop: bool):
    op = call(target, value())
    found = (markers.is_marker(op), markers.is_start(op), markers.is_end(op), markers.is_loop_marker(op))
    assert found == (start or end, start, end, loop)


def test_no_other_op_is_a_marker():
    assert not markers.is_marker(test.TestOp(attributes={"custom_call_target": StringAttr(markers.LOOP_START)}))


def test_looks_through_a_pair_but_not_through_a_packing_marker():
    inner = value()
    pair = call(markers.LOOP_END, call(markers.LOOP_START, inner).results[0])
    packed = call(markers.LOOP_START, inner, inner, type=tuple_of((F32, F32))).results[0]
    loose = call(markers.LOOP_START, inner, type=tuple_of((F32,))).results[0]

    assert markers.behind_markers(pair.results[0]) is inner
    assert markers.behind_markers(inner) is inner
    assert markers.behind_markers(packed) is packed
    assert markers.behind_markers(loose) is loose


@pytest.mark.parametrize(
    ("config", "count"),
    [("boundaryCount=0", 0), ("boundaryCount=12", 12), ("boundaryCount=", None), ("count=3", None), (None, None)],
)
def test_boundary_count(config: str | None, count: int | None):
    assert markers.boundary_count(call(markers.LOOP_START, value(), config=config)) == count


def test_config_round_trips():
    config = markers.boundary_config(7).data
    assert config == "boundaryCount=7"
    assert markers.boundary_count(call(markers.LOOP_END, value(), config=config)) == 7
