"""Which operations of JAX's dialects have a translation, and which have none on purpose."""

from __future__ import annotations

import subprocess
import sys

from xneuron.formats.stablehlo.reader import module  # noqa: F401 (its import fills the table)
from xneuron.formats.stablehlo.reader.regions import RETURNS
from xneuron.formats.stablehlo.reader.table import TABLE

LIST = """
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy, stablehlo
for dialect in (stablehlo, sdy):
    for member in vars(dialect).values():
        if isinstance(member, type) and issubclass(member, ir.OpView) and member is not ir.OpView:
            print(member.OPERATION_NAME)
"""

WITHOUT = {
    "stablehlo.uniform_quantize": "HLO has no quantised types",
    "stablehlo.uniform_dequantize": "the way back",
    "stablehlo.unary_einsum": "deprecated",
    "stablehlo.cross-replica-sum": "deprecated",
    "sdy.mesh": "at the top of a module; see `reader/module.py`",
    "sdy.manual_computation": "see `reader/manual.py`",
    "sdy.named_computation": "made by XLA inside its partitioner, as all that follow",
    **dict.fromkeys((f"sdy.{name}" for name in ("all_gather", "all_reduce", "all_slice", "all_to_all")), ""),
    **dict.fromkeys((f"sdy.{name}" for name in ("collective_permute", "reduce_scatter", "func_data_flow_edge")), ""),
    **dict.fromkeys((f"sdy.{name}" for name in ("replicated_to_unreduced", "sharded_to_unreduced")), ""),
}


def test_every_operation_is_accounted_for() -> None:
    listed = subprocess.run([sys.executable, "-c", LIST], capture_output=True, text=True, check=True).stdout.split()
    assert len(listed) > 100
    assert {name for name in listed if name not in TABLE and name not in RETURNS} == set(WITHOUT)
