"""Every op of the dialect has a meaning, or is known to have none."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.ir import Operation

from xneuron.dialects.hlo import HLO, collectives, control_flow, custom
from xneuron.execution.errors import EvaluationError
from xneuron.formats.hlo_text import parse_hlo
from xneuron.interpreters import forwarding
from xneuron.interpreters.evaluator import Program
from xneuron.interpreters.kernels import registry

BY_ENGINE = {
    control_flow.ReturnOp,
    control_flow.WhileOp,
    control_flow.ConditionalOp,
    control_flow.FusionOp,
    control_flow.AsyncStartOp,
    control_flow.ControlDependencyOp,
    collectives.ReplicaIdOp,
    collectives.PartitionIdOp,
    collectives.SendOp,
    collectives.SendDoneOp,
    collectives.RecvOp,
    collectives.RecvDoneOp,
}
"""Control flow and what depends on who runs it: the engine's, not a kernel's."""

WITHOUT = {
    custom.OpaqueOp: "its opcode is not known",
    collectives.InfeedOp: "there is no host to read from",
    collectives.OutfeedOp: "there is no host to write to",
}


def has_meaning(op: type[Operation]) -> bool:
    registry._load_chapter(op)
    return op in registry._factories or op in registry._group_factories or op in forwarding._FORWARDS


@pytest.mark.parametrize("op", list(HLO.operations), ids=lambda op: op.name)
def test_every_op_has_a_meaning_or_a_reason_to_have_none(op: type[Operation]):
    assert has_meaning(op) != (op in BY_ENGINE or op in WITHOUT)


def test_a_custom_call_into_a_library_is_an_error_that_names_it():
    text = """HloModule m
    ENTRY e { p = f32[2,2] parameter(0)
      ROOT chol = (f32[2,2], s32[]) custom-call(p), custom_call_target="lapack_spotrf_ffi" }"""
    with pytest.raises(EvaluationError, match=r"no meaning for instruction %chol.*lapack_spotrf_ffi"):
        Program(parse_hlo(text)).run(np.eye(2, dtype=np.float32))
