"""lit's set-up: `.venv/bin/lit test/filecheck` runs everything; pytest runs the same by test/test_filecheck.py."""
# ruff: noqa: F821 (`config` and `lit_config` are names that lit defines before it runs this file)

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import lit.formats

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TOOLS = Path(sys.executable).parent

config.name = "xneuron"
config.test_format = lit.formats.ShTest()
config.suffixes = [".mlir", ".hlo", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = str(HERE)
config.test_exec_root = str(ROOT / "build" / "lit")

config.environment["PATH"] = os.pathsep.join([str(TOOLS), os.environ.get("PATH", "")])

# A text that passes through xDSL's printer and parser once more must say the same.
roundtrip = "xneuron-opt %s --print-op-generic --split-input-file | xneuron-opt --split-input-file | filecheck %s"
config.substitutions.append(("XNEURON_ROUNDTRIP", roundtrip))
config.substitutions.append(("%corpus", str(ROOT / "test" / "corpus")))
config.substitutions.append(("%examples", str(ROOT / "examples")))

# Tests of StableHLO say `REQUIRES: jaxlib`.
if find_spec("jaxlib"):
    config.available_features.add("jaxlib")

# A test that hangs says so (seconds); the limit needs psutil, which lit looks for itself.
if lit_config.maxIndividualTestTimeIsSupported[0]:
    lit_config.maxIndividualTestTime = 60
