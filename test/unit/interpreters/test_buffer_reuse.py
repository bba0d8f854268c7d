"""Loops over arrays: results go into dead buffers, never into one that somebody still looks at."""

import numpy as np
import pytest

from xneuron.formats.hlo_text import parse_hlo
from xneuron.interpreters.evaluator import Program

SHAPE = "f32[2,3]"


def loop(slots: int, body: str, roots: str, trips: int = 7) -> str:
    """A loop over a counter and `slots` arrays x0, x1, …; the body defines what `roots` names."""
    state = f"(s32[], {', '.join([SHAPE] * slots)})"
    arrays = [f"x{n}" for n in range(slots)]
    return f"""
HloModule arrays
body {{
  p = {state} parameter(0)
  i = s32[] get-tuple-element(p), index=0
  {"  ".join(f"{x} = {SHAPE} get-tuple-element(p), index={n + 1}" for n, x in enumerate(arrays))}
  one = s32[] constant(1)
  half = f32[] constant(0.5)
  h = {SHAPE} broadcast(half), dimensions={{}}
  next = s32[] add(i, one)
  {body}
  ROOT t = {state} tuple(next, {roots})
}}
cond {{
  p = {state} parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant({trips})
  ROOT lt = pred[] compare(i, n), direction=LT
}}
ENTRY main {{
  zero = s32[] constant(0)
  {"  ".join(f"{x} = {SHAPE} parameter({n})" for n, x in enumerate(arrays))}
  init = {state} tuple(zero, {", ".join(arrays)})
  ROOT w = {state} while(init), condition=cond, body=body
}}"""


CASES = {
    "chain": (
        1,
        f"a = {SHAPE} add(x0, h) b = {SHAPE} multiply(a, a) c = {SHAPE} multiply(b, h)",
        "c",
        lambda x: [((x + 0.5) * (x + 0.5)) * np.float32(0.5)],
    ),
    "old value used last": (
        1,
        f"a = {SHAPE} add(x0, h) b = {SHAPE} multiply(a, h) c = {SHAPE} subtract(b, x0)",
        "c",
        lambda x: [(x + 0.5) * np.float32(0.5) - x],
    ),
    "history": (2, f"a = {SHAPE} add(x0, x1)", "a, x0", lambda x, y: [x + y, x]),
    "twice the same": (2, f"a = {SHAPE} add(x0, x1)", "a, a", lambda x, y: [x + y, x + y]),
    "swap": (2, f"a = {SHAPE} add(x1, h)", "a, x0", lambda x, y: [y + np.float32(0.5), x]),
    "rotation": (3, "", "x1, x2, x0", lambda x, y, z: [y, z, x]),
    "unchanged": (2, f"a = {SHAPE} add(x0, x1)", "a, x1", lambda x, y: [x + y, y]),
    "view of a dead value": (
        2,
        f"""a = {SHAPE} add(x0, h) v = f32[3,2] reshape(a) b = {SHAPE} multiply(x1, h)
            u = {SHAPE} reshape(v) c = {SHAPE} add(u, b)""",
        "c, b",
        lambda x, y: [(x + np.float32(0.5)) + y * np.float32(0.5), y * np.float32(0.5)],
    ),
    "view kept": (
        2,
        f"a = {SHAPE} add(x0, h) v = {SHAPE} reverse(a), dimensions={{0}} b = {SHAPE} add(a, a)",
        "b, v",
        lambda x, y: [(x + np.float32(0.5)) * 2, (x + np.float32(0.5))[::-1]],
    ),
    "spares": (
        2,
        f"""a = {SHAPE} add(x0, x1) b = {SHAPE} subtract(x0, x1) c = {SHAPE} multiply(a, b)
            d = {SHAPE} add(c, a) e = {SHAPE} multiply(d, h) f = {SHAPE} subtract(b, e)""",
        "e, f",
        lambda x, y: [
            ((x + y) * (x - y) + (x + y)) * np.float32(0.5),
            (x - y) - ((x + y) * (x - y) + (x + y)) * np.float32(0.5),
        ],
    ),
    "update in place": (
        1,
        f"r = f32[1,3] slice(x0), slice={{[0:1], [0:3]}} s = f32[1,3] add(r, r) z = s32[] constant(0) "
        f"u = {SHAPE} dynamic-update-slice(x0, s, one, z)",
        "u",
        lambda x: [np.stack([x[0], x[0] + x[0]])],
    ),
    "update of a value still used": (
        2,
        f"r = f32[1,3] slice(x0), slice={{[0:1], [0:3]}} z = s32[] constant(0) a = {SHAPE} add(x0, h) "
        f"u = {SHAPE} dynamic-update-slice(a, r, one, z) b = {SHAPE} subtract(u, a)",
        "u, b",
        lambda x, y: [np.stack([x[0] + np.float32(0.5), x[0]]), np.stack([x[0] * 0, x[0] - (x[1] + np.float32(0.5))])],
    ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("options", [{"warm_up": None}, {"warm_up": 0}, {"warm_up": 3}], ids=["plans", "code", "both"])
def test_reuse(case, options):
    slots, body, roots, step = CASES[case]
    arrays = [np.arange(6, dtype=np.float32).reshape(2, 3) / np.float32(n + 2) - n for n in range(slots)]
    before = [array.copy() for array in arrays]
    program = Program(parse_hlo(loop(slots, body, roots)), **options)
    expected = arrays
    for _ in range(7):
        expected = [np.asarray(array, np.float32) for array in step(*expected)]
    for _ in range(2):
        _, *found = program.run(*arrays)
        for left, right in zip(found, expected, strict=True):
            np.testing.assert_array_equal(left, right)
    for array, old in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, old)


def test_steady_state_allocates_nothing():
    """The chain of `spares` runs in the buffers it starts with: every ufunc call has an `out`."""
    slots, body, roots, _ = CASES["spares"]
    program = Program(parse_hlo(loop(slots, body, roots)), warm_up=0)
    program.run(*[np.ones((2, 3), np.float32)] * slots)
    (text,) = [listing.text for listing in program.engine.listings if "while True" in listing.text]
    inside = text[text.index("while True") :]
    assert inside.count("out=") == 6
    assert ".copy()" not in inside


def test_results_do_not_change_later():
    """What a run returned stays as it was when the program runs again."""
    slots, body, roots, _ = CASES["chain"]
    program = Program(parse_hlo(loop(slots, body, roots)), warm_up=0)
    _, first = program.run(np.ones((2, 3), np.float32))
    kept = first.copy()
    program.run(np.zeros((2, 3), np.float32))
    np.testing.assert_array_equal(first, kept)
