"""The README shows real output: its commands run again here, and its Python."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
TOURS = [ROOT / "README.md", ROOT / "docs" / "one-loop.md"]
PYTHON = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[tuple[str, str]]:
    """Commands on a page, each with what is shown below it."""
    blocks = re.findall(r"^```console\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    parts = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in parts)]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the reader stands; commands leave files that later ones read."""
    directory = tmp_path_factory.mktemp("reader")
    (directory / "examples").symlink_to(ROOT / "examples")
    return directory


def output(command: list[str], directory: Path) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        command,
        cwd=directory,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


@pytest.mark.parametrize("page", TOURS, ids=lambda page: page.name)
def test_the_tour(page: Path, directory: Path) -> None:
    """One test per page, since later commands read what earlier ones wrote."""
    found = commands(page)
    assert len(found) >= 5
    for command, shown in found:
        assert output(["bash", "-c", command], directory) == shown, command


@pytest.mark.parametrize("page", TOURS, ids=lambda page: page.name)
def test_the_picture_is_real(page: Path, directory: Path) -> None:
    (picture,) = re.findall(r"^```mermaid\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    (drawing,) = (command for command, _ in commands(ROOT / "README.md") if "-t mermaid" in command)
    assert output(["bash", "-c", drawing.partition(" -o ")[0]], directory).rstrip() == picture.rstrip()


@pytest.mark.parametrize(("code", "shown"), PYTHON)
def test_the_python(code: str, shown: str, directory: Path) -> None:
    assert output([sys.executable, "-c", code], directory) == shown


def test_the_demo(directory: Path) -> None:
    shown = output([sys.executable, str(ROOT / "examples" / "demo.py")], directory)
    assert "agree bit for bit" in shown, shown


@pytest.mark.parametrize("page", sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")]), ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!http)([^)#]+)", page.read_text())
    assert not [target for target in targets if not (page.parent / target).exists()]


def test_every_deviation_names_its_test() -> None:
    rows = [line for line in (ROOT / "docs" / "deviations.md").read_text().splitlines() if line.startswith("|")][2:]
    assert rows
    for row in rows:
        named = re.findall(r"[\w/.-]+\.(?:py|mlir|hlo|test|md)\b", row.rstrip(" |").rpartition(" | ")[2])
        assert named, row
        assert all((ROOT / "test" / name).exists() or (ROOT / name).exists() for name in named), row
