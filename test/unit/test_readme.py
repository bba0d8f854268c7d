"""The README shows real output: its commands run again here, and its Python."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```console\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
PYTHON = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
COMMANDS = [tuple(part.split("\n", 1)) for block in BLOCKS for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]


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


def test_the_tour(directory: Path) -> None:
    """One test, since later commands read what earlier ones wrote."""
    assert len(COMMANDS) >= 5
    for command, shown in COMMANDS:
        assert output(["bash", "-c", command], directory) == shown, command


def test_the_picture_is_what_the_tour_drew(directory: Path) -> None:
    (picture,) = re.findall(r"^```mermaid\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    (drawing,) = (command for command, _ in COMMANDS if "-t mermaid" in command)
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
