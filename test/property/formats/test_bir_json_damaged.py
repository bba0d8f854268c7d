"""BIR-JSON with values replaced, dropped, doubled or swapped: one error with a place, or a program that verifies."""

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from xdsl.utils.exceptions import DiagnosticException, ParseError

from xneuron.formats.bir_json import parse_bir_json, print_bir_json

PROGRAMS = [json.loads(path.read_text()) for path in sorted((Path(__file__).parents[2] / "corpus").glob("*.bir.json"))]
VALUES = [None, True, 0, -1, 2**70, 1.5, "", "x", "main", "inf", [], [1], [[1, 2]], {}, {"kind": "AffExprKind"}, ["ld"]]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each object or array with each of its keys."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


def damage(document: Any, rng: random.Random) -> None:
    holder, key = rng.choice(list(places(document)))
    match rng.choice(["replace", "drop", "swap", "add"]):
        case "replace":
            holder[key] = copy.deepcopy(rng.choice(VALUES))
        case "drop":
            del holder[key]
        case "swap":
            other, at = rng.choice(list(places(document)))
            holder[key] = copy.deepcopy(other[at])
        case "add" if isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        case _:
            holder[f"{key}_"] = 1


def outcome(document: Any) -> str:
    """ "ok" for a program that comes through, else the message."""
    text = json.dumps(document)
    try:
        module = parse_bir_json(text)
        module.verify()
    except ParseError as error:
        return error.msg if 0 <= error.span.start < len(text) else "no place"
    except DiagnosticException as error:
        return str(error)
    written = print_bir_json(module)
    return "ok" if print_bir_json(parse_bir_json(written)) == written else "changed"


@pytest.mark.parametrize("seed", range(4))
def test_damaged(seed: int) -> None:
    rng = random.Random(seed)
    found: set[str] = set()
    for _ in range(150):
        document = copy.deepcopy(rng.choice(PROGRAMS))
        for _ in range(rng.choice([1, 1, 2])):
            damage(document, rng)
        found.add(outcome(document))
    assert "ok" in found
    assert not found & {"no place", "changed"}
