"""What a program says about the unrolling of one loop: requests to leave it alone.

| where | key | asks to skip |
|---|---|---|
| `frontend_attributes` | `skip-while_loop_unroller` (spelled as XLA spells `skip-simplify-while-loops_…`) | `"true"` |
| | `_xla_loop_unroll_strategy` (XLA's GPU unroller, manual mode) | all but `"full"`, `"double-buffer"` |
| | `llvm.loop.unroll.disable` (LLVM's loop metadata) | `"true"` |
| `backend_config`, as JSON | the same keys | the same, `true` too |
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from xdsl.dialects.builtin import DictionaryAttr

from xneuron.dialects.hlo.attributes import text_of
from xneuron.dialects.hlo.control_flow import WhileOp

SKIPPING = ("skip-while_loop_unroller", "llvm.loop.unroll.disable")
STRATEGY = "_xla_loop_unroll_strategy"
UNROLLING = ("full", "double-buffer")


def skip_request(loop: WhileOp) -> str:
    """The request to leave the loop alone as `key=value`, empty where there is none."""
    for said in (_frontend(loop), _config(loop)):
        for key in SKIPPING:
            if said.get(key) in ("true", True):
                return f"{key}=true"
        if (strategy := said.get(STRATEGY)) is not None and strategy not in UNROLLING:
            return f"{STRATEGY}={strategy}"
    return ""


def _frontend(loop: WhileOp) -> Mapping[str, object]:
    attributes = loop.attributes.get("frontend_attributes")
    if not isinstance(attributes, DictionaryAttr):
        return {}
    return {key: text_of(value) for key, value in attributes.data.items()}


def _config(loop: WhileOp) -> Mapping[str, object]:
    try:
        config: object = json.loads(text_of(loop.attributes.get("backend_config"), "{}"))
    except ValueError:
        return {}
    return cast("Mapping[str, object]", config) if isinstance(config, dict) else {}
