"""The remark record, its collector, and the promise that every code has a test."""

import importlib
import json
import pkgutil
import re
from pathlib import Path

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr, i32

from xneuron import analysis, lowering, remarks, transforms
from xneuron.remarks import Remark, collect, declare, location_of, name_of, remark

TESTS = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _codes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Codes of this file, forgotten afterwards."""
    monkeypatch.setattr(remarks, "CODES", dict(remarks.CODES))
    declare("happened", "the thing was done")


def loop() -> test.TestOp:
    op = test.TestOp(result_types=[i32])
    op.results[0].name_hint = "loop"
    op.location = FileLineColLoc(StringAttr("a.hlo"), IntAttr(7), IntAttr(3))
    return op


def test_text() -> None:
    with collect() as found:
        remark("passed", "some-pass", "happened", loop(), "done", trips=10, wraps=False, step=None)
    (record,) = found
    text = "a.hlo:7:3: remark[passed/happened]: some-pass: loop: done (trips=10, wraps=false, step=none)"
    assert record.as_text() == text


def test_json_is_one_typed_line() -> None:
    with collect() as found:
        remark("missed", "some-pass", "happened", loop(), 'said "no"\n', trips=10, wraps=False, step=None)
    line = found[0].as_json()
    assert "\n" not in line
    assert json.loads(line) == {
        "schema": 1,
        "kind": "missed",
        "pass": "some-pass",
        "code": "happened",
        "loop": "loop",
        "location": "a.hlo:7:3",
        "message": 'said "no"\n',
        "facts": {"trips": 10, "wraps": False, "step": None},
    }


def test_without_a_collector_nothing_is_made() -> None:
    remark("passed", "some-pass", "a code nobody declared", loop(), "done")


def test_collectors_nest_and_end() -> None:
    seen: list[Remark] = []
    with collect(seen.append) as outer:
        with collect() as inner:
            remark("passed", "p", "happened", loop(), "both")
        remark("passed", "p", "happened", loop(), "outer only")
    remark("passed", "p", "happened", loop(), "nobody")
    assert [r.message for r in inner] == ["both"]
    assert [r.message for r in outer] == [r.message for r in seen] == ["both", "outer only"]


def test_unknown_code_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown remark code 'what'"):
        Remark("passed", "p", "what", "loop", "", "done")


def test_a_code_has_one_meaning() -> None:
    declare("happened", "the thing was done")
    with pytest.raises(ValueError, match="'happened' is declared twice"):
        declare("happened", "something else")


def test_an_op_without_name_and_place() -> None:
    op = test.TestOp()
    assert (name_of(op), location_of(op)) == ("test.op", "")


def all_codes() -> set[str]:
    """Every code that a module declares."""
    for room in (analysis, transforms, lowering):
        for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            importlib.import_module(module.name)
    return set(remarks.CODES) - {"happened"}


def test_every_code_has_a_test() -> None:
    """A code counts as tested where a test file names it, other than this one."""
    files = [p for p in TESTS.rglob("*") if p.suffix in {".py", ".mlir", ".hlo", ".test"} and p != Path(__file__)]
    texts = "\n".join(path.read_text() for path in files if path.parent.name != "corpus")
    named = set(re.findall(r"[\w-]+", texts))
    untested = sorted(all_codes() - named)
    assert not untested
