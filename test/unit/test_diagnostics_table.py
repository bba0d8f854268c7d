"""docs/diagnostics.md: each code it lists is triggered where it says, and each code of the unrollers is listed."""

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import xneuron.lowering
import xneuron.transforms
from xneuron.remarks import CODES

TESTS = Path(__file__).parents[1]
TABLE = (TESTS.parent / "docs" / "diagnostics.md").read_text()
ROWS = [
    (cells[2].split("`")[1], cells[3].strip(" `"))
    for line in TABLE.splitlines()
    if line.startswith("|") and "`" in (cells := re.split(r"(?<!\\)\|", line))[2]
]
for package in (xneuron.transforms, xneuron.lowering):
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(found.name)  # declares its codes
PASSES = ("unroll-while-loop", "while_loop_unroller")


@pytest.mark.parametrize(("code", "file"), [row for row in ROWS if row[0] != "strict"])
def test_the_file_triggers_the_code(code: str, file: str) -> None:
    """A lit file says the code in a CHECK line, so that it fails when the code no longer comes."""
    assert code in CODES
    checks = [line for line in (TESTS / "filecheck" / file).read_text().splitlines() if line.startswith("//")]
    assert any(re.search(rf": remark\[\w+/{code}\]: ", line) for line in checks), f"no line of {file} expects {code}"


@pytest.mark.parametrize("name", PASSES)
def test_each_code_of_a_pass_is_listed(name: str) -> None:
    """A pass's codes: those that its module and the analyses it asks declare or name."""
    modules = [f"transforms.{name.replace('-', '_')}", "analysis.unrollable", "analysis.trip_count"]
    named: set[str] = set()
    for module in modules:
        values = vars(importlib.import_module(f"xneuron.{module}")).values()
        named |= {value for value in values if isinstance(value, str) and value in CODES}
    assert named <= {code for code, _ in ROWS}


def test_texts_are_the_ones_we_use() -> None:
    """The reference's texts that belong to a refusal of the unroller stand in its code, word for word."""
    sources = "".join(
        (TESTS.parent / "xneuron" / path).read_text()
        for path in ("transforms/while_loop_unroller.py", "analysis/unrollable.py")
    )
    for line in TABLE.partition("## `unroll-while-loop`")[0].splitlines():
        for text in re.findall(r"^\| `([^`]+)` \| `(?!canonicalized)", line):
            for part in re.split(r"<name>|\. (?=While loop must)", text):
                assert part.strip(" :") in sources, part
