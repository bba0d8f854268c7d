"""Larger programs of JAX, through `from_jax`, both unrollers and `to_jax`: as in JAX. See `jax_programs/larger.py`."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "jax_programs" / "larger.py"
ALWAYS = ("beam_search", "mixture_of_experts", "layers_in_parts")
"""Programs of every run. The others, which XLA compiles for seconds, come with `make fuzz`."""


def names() -> list[str]:
    functions = [node for node in ast.parse(SCRIPT.read_text()).body if isinstance(node, ast.FunctionDef)]
    return [f.name for f in functions if any("program(" in ast.unparse(each) for each in f.decorator_list)]


def check(*names: str) -> None:
    done = subprocess.run([sys.executable, SCRIPT, *names], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = {name: json.loads(stages) for name, _, stages in (line.partition(" ") for line in done.stdout.splitlines())}
    assert set(found) == set(names)
    for name, stages in found.items():
        assert len(stages) == 4
        assert {
            stage: apart for stage, apart in stages.items() if not isinstance(apart, float) or apart > 1e-5
        } == {}, name


def test_some() -> None:
    check(*ALWAYS)


@pytest.mark.fuzz
def test_all() -> None:
    assert len(names()) == 10
    check(*names())
