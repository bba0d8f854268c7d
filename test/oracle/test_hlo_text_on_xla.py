"""The grammar of HLO text, line by line, against XLA's own reader: it takes what we take, and means the same.

`hlo_lines/accepted.txt`: an instruction a line (`;;` is a line end), read by XLA from the text itself and from what we
print of it; both must come out alike, up to the order of computations. `hlo_lines/refused.txt`: refused by both.
"""

from functools import cache
from pathlib import Path

import pytest
from oracle.xla_text import reprinted
from xdsl.utils.exceptions import ParseError

from xneuron.formats.hlo_text import parse_hlo, print_hlo

HERE = Path(__file__).parent
PRELUDE = """HloModule m
add { add.p = f32[] parameter(0)
add.q = f32[] parameter(1)
ROOT add.r = f32[] add(add.p, add.q) }
lt { lt.p = f32[] parameter(0)
lt.q = f32[] parameter(1)
ROOT lt.r = pred[] compare(lt.p, lt.q), direction=LT }
scn { scn.p = f32[] parameter(0)
scn.q = f32[] parameter(1)
ROOT scn.r = (f32[], f32[]) tuple(scn.p, scn.q) }
c1 { ROOT c1.p = f32[8] parameter(0) }
ENTRY e { a = f32[8] parameter(0)
 p0 = f32[] parameter(1)
 m2 = f32[4,4] parameter(2)
 v = f32[4] parameter(3)
 st = u64[2] parameter(4)
 pr = pred[] parameter(5)
 ix = s32[] parameter(6)
 i1 = s32[1] parameter(7)
 t = (f32[8], (f32[8], s32[])) parameter(8)
 tok = token[] after-all()
"""

# XLA's reader takes `-0` for the integer zero and loses the sign that its printer wrote.
SIGN_LOST = {"k = f32[] constant(-0)"}


def programs(name: str) -> dict[str, str]:
    """A program for each line of a file."""
    lines = (HERE / "hlo_lines" / name).read_text().splitlines()
    return {line: f"{PRELUDE}{line.replace(';;', chr(10))}\n}}\n" for line in lines if line.strip()}


ACCEPTED, REFUSED = programs("accepted.txt"), programs("refused.txt")


@cache
def on_xla() -> dict[str, tuple[str, str]]:
    """What XLA makes of each accepted program, and of what we print of it; one process for all."""
    ours = [print_hlo(parse_hlo(text)) for text in ACCEPTED.values()]
    found = reprinted([*ACCEPTED.values(), *ours])
    return dict(zip(ACCEPTED, zip(found[: len(ours)], found[len(ours) :], strict=True), strict=True))


@pytest.mark.xdist_group("hlo_lines")
@pytest.mark.parametrize("line", ACCEPTED)
def test_what_we_print_is_what_was_read(line: str) -> None:
    theirs, ours = on_xla()[line]
    assert not theirs.startswith("error")
    if line not in SIGN_LOST:
        assert sorted(ours.splitlines()) == sorted(theirs.splitlines())


@pytest.mark.parametrize("line", REFUSED)
def test_refused(line: str) -> None:
    with pytest.raises(ParseError):
        parse_hlo(REFUSED[line])


@pytest.mark.xdist_group("hlo_lines")
def test_refused_by_xla() -> None:
    found = dict(zip(REFUSED, reprinted(list(REFUSED.values())), strict=True))
    assert [line for line, text in found.items() if not text.startswith("error")] == []
