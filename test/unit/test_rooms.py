"""Rooms have one-way doors (docs/architecture.md): reads every import of the package and checks its direction."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "xneuron"

# What each room may import of ours, besides itself. `INSIDE` may be imported inside functions only.
ALLOWED = {
    "fastir": set(),
    "dialects": {"fastir"},
    "formats": {"dialects", "fastir"},
    "execution": {"dialects", "interpreters"},
    "interpreters": {"dialects", "execution"},
    "simulator": {"dialects", "execution", "interpreters"},
    "analysis": {
        "dialects",
        "fastir",
        "remarks",
    },  # `remarks` for `declare`: an Unknown names its reason by a remark code
    "remarks": set(),
    "transforms": {"analysis", "dialects", "remarks", "fastir"},
    "lowering": {"analysis", "dialects", "remarks", "fastir", "transforms"},
    "universe": set(),
    "jax_bridge": {"dialects", "formats"},
    "tools": {"analysis", "dialects", "execution", "formats", "interpreters", "remarks", "simulator", "universe"},
}
INSIDE = {
    "analysis": {"execution", "interpreters"},
    "transforms": {"execution", "interpreters"},
    "lowering": {"execution", "interpreters"},
    "formats": {"analysis", "interpreters"},  # `analysis`: dot and mermaid draw what it found
    "universe": set(ALLOWED),
    "jax_bridge": set(ALLOWED),
    "tools": set(ALLOWED),
}
# Numbers cost start-up time (docs/architecture.md): these rooms import them inside functions.
LIGHT = {
    *{"fastir", "dialects", "formats", "analysis", "remarks", "transforms", "lowering", "universe", "tools"},
    "jax_bridge",
}
# These run where jaxlib is loaded: in the process that has MLIR in it, and in scripts that have JAX.
WITH_JAXLIB = {"formats/stablehlo/mlir.py", "formats/stablehlo/decode.py", "formats/stablehlo/worker.py"}
HEAVY = {"numpy", "ml_dtypes", "jax", "jaxlib"}


def imports(path: Path) -> Iterator[tuple[str, int, bool]]:
    """(module, line, is it inside a function) of each import that runs."""
    tree = ast.parse(path.read_text())
    inside = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(node)
    }
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno, id(node) in inside) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield absolute(path, node), node.lineno, id(node) in inside


def absolute(path: Path, node: ast.ImportFrom) -> str:
    """The module's full name; `from . import x` is resolved from the file's place."""
    if not node.level:
        return node.module or ""
    packages = ("xneuron", *path.relative_to(PACKAGE).parts[:-1])
    return ".".join([*packages[: len(packages) - node.level + 1], *filter(None, [node.module])])


def room_of(module: str) -> str:
    """`analysis` for `xneuron.analysis.trip_count`."""
    return module.split(".")[1] if "." in module else ""


def wrong_doors(path: Path) -> list[str]:
    """The imports of a file that the rules forbid."""
    room = path.relative_to(PACKAGE).with_suffix("").parts[0]
    wrong: list[str] = []
    for module, line, inside in imports(path):
        where = f"{path.relative_to(PACKAGE)}:{line}: imports {module}"
        light = room in LIGHT and str(path.relative_to(PACKAGE)) not in WITH_JAXLIB
        if module.split(".")[0] in HEAVY and light and not inside:
            wrong.append(f"{where} at start-up")
        if not module.startswith("xneuron.") or (to := room_of(module)) == room:
            continue
        if to not in ALLOWED[room] and not (inside and to in INSIDE.get(room, set())):
            wrong.append(where)
    return wrong


FILES = sorted(set(PACKAGE.rglob("*.py")) - {PACKAGE / "__init__.py"})


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_doors(path: Path) -> None:
    assert not wrong_doors(path)


def test_every_room_has_rules() -> None:
    rooms = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert rooms - {"__init__"} == set(ALLOWED)


def test_a_wrong_door_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check itself can fail."""
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    (tmp_path / "dialects").mkdir()
    bad = tmp_path / "dialects" / "bad.py"
    bad.write_text("import numpy\nfrom xneuron.transforms import x\ndef f():\n    from ..analysis import y\n")
    assert wrong_doors(bad) == [
        "dialects/bad.py:1: imports numpy at start-up",
        "dialects/bad.py:2: imports xneuron.transforms",
        "dialects/bad.py:4: imports xneuron.analysis",
    ]
