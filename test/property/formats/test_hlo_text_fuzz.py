"""Damaged HLO text: an error with a place, or a program that can be verified and printed; never anything else."""

import random
import re
from pathlib import Path

import pytest
from xdsl.utils.exceptions import ParseError, VerifyException

from xneuron.formats.hlo_text import parse_hlo, print_hlo

TEST = Path(__file__).parents[2]
FILES = sorted([*TEST.glob("corpus/*.hlo"), *TEST.glob("filecheck/formats/hlo_text/*.hlo")])
TEXTS = [text for text in (file.read_text() for file in FILES) if len(text) < 12_000]
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|%?[A-Za-z_][\w.-]*|-?\d+|\s+|.', re.DOTALL)
ALIENS = [
    "{",
    "}",
    "(",
    ")",
    ",",
    "=",
    "%",
    '"',
    "#0",
    "->",
    "...",
    "-1",
    "nan",
    "f32[2]{0}",
    "ROOT",
    "/*",
    "\x00",
    "é",
]


def damaged(text: str, rng: random.Random) -> str:
    """The text with a few tokens deleted, doubled, swapped or replaced."""
    tokens = TOKEN.findall(text)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        at, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        match rng.randrange(5):
            case 0:
                tokens[at] = ""
            case 1:
                tokens[at] *= 2
            case 2:
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case 3:
                tokens[at] = tokens[other]
            case _:
                tokens[at] = rng.choice(ALIENS)
    return "".join(tokens)


def check(text: str) -> None:
    try:
        module = parse_hlo(text)
        module.verify()
        first = print_hlo(module)
    except (ParseError, VerifyException) as error:
        print(error)  # the excerpt must not fail either
        return
    assert print_hlo(parse_hlo(first)) == first


def run(seed: int, count: int) -> None:
    rng = random.Random(seed)
    for at in range(count):
        text = damaged(rng.choice(TEXTS), rng)
        try:
            check(text)
        except Exception as error:
            error.add_note(f"seed {seed}, text {at}:\n{text}")
            raise


@pytest.mark.parametrize("seed", range(4))
def test_damaged_texts(seed: int) -> None:
    run(seed, 50)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(1000, 1040))
def test_many_damaged_texts(seed: int) -> None:
    run(seed, 500)
