"""Every lit test under test/filecheck is one pytest case, so that `pytest -n` spreads them; `-k` takes a file name."""

from pathlib import Path

import lit.LitTestCase
import pytest

FILECHECK = Path(__file__).parent / "filecheck"
CASES = {case.id().removeprefix("xneuron :: "): case for case in lit.LitTestCase.load_test_suite([str(FILECHECK)])}

# lit leaves the pipes between commands to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.mark.parametrize("name", sorted(CASES))
def test_filecheck(name: str) -> None:
    """Runs the file's RUN lines; a failure shows what lit saw."""
    CASES[name].runTest()


def test_lit_sees_every_file() -> None:
    """A test with a suffix that lit does not know would pass unseen."""
    files = {str(p.relative_to(FILECHECK)) for p in FILECHECK.rglob("*") if p.is_file() and "Inputs" not in p.parts}
    unseen = {name for name in files - set(CASES) if not name.endswith((".py", ".pyc"))}
    assert not unseen
