"""Corpus texts with tokens deleted, doubled, swapped: one error, or a program that XLA accepts too; no traceback."""

import random
import re
from pathlib import Path

import pytest
from oracle.xla_text import reprinted

from xneuron.tools.guard import OK, WRONG_PROGRAM
from xneuron.tools.xneuron_opt import run

CORPUS = Path(__file__).parents[2] / "corpus"
SMALL = 9000
"""Bytes: a mutation hits something worth hitting more often in a short text."""

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\w.\-]+|\s+|.', re.DOTALL)
ERROR = re.compile(r"[^\n]*: error: [^\n]+\n( [^\n]*\n){0,2}")
FILES = sorted(path for path in CORPUS.glob("*.hlo") if path.stat().st_size < SMALL)


def mutated(text: str, rng: random.Random) -> str:
    """The text after one to three mutations of tokens."""
    tokens = TOKEN.findall(text)
    words = [index for index, token in enumerate(tokens) if not token.isspace()]
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        at, other = rng.choice(words), rng.choice(words)
        match rng.choice(["delete", "double", "swap"]):
            case "delete":
                tokens[at] = ""
            case "double":
                tokens[at] = f"{tokens[at]} {tokens[at]}"
            case _:
                tokens[at], tokens[other] = tokens[other], tokens[at]
    return "".join(tokens)


def check(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], count: int) -> None:
    rng = random.Random(seed)
    accepted: list[str] = []
    for _ in range(count):
        path = tmp_path / "mutated.hlo"
        path.write_text(text := mutated(rng.choice(FILES).read_text(), rng))
        code = run([str(path), "-p", "annotate-while-trip-count,unroll-while-loop,call-inliner", "-t", "hlo"])
        shown = capsys.readouterr()
        if code == OK:
            accepted += [text, shown.out]
            continue
        assert code == WRONG_PROGRAM, text
        assert shown.out == "", text
        assert ERROR.fullmatch(shown.err), (shown.err, text)
    refused = [text for text, read in zip(accepted, reprinted(accepted), strict=True) if read.startswith("error: ")]
    assert not refused


@pytest.mark.parametrize("seed", range(4))
def test_mutated(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(seed, tmp_path, capsys, 25)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(100, 120))
def test_mutated_often(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(seed, tmp_path, capsys, 500)
