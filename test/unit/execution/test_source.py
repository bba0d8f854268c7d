"""Functions written line by line."""

import pytest

from xneuron.execution.source import Listings, Source


def _source() -> Source[str]:
    return Source()


def test_constants_lines_blocks():
    source = _source()
    big = object()
    name = source.constant(big)
    assert source.constant(big) == name
    with source.indented("if flag:"):
        source.line(f"return {name}")
    source.line("return None")
    function = source.function("choose", ["flag"], Listings())
    assert function(True) is big
    assert function(False) is None


def test_insert_and_rewind():
    source = _source()
    source.line("trail = []")
    outer = source.mark()
    with source.indented("for i in range(2):"):
        inner = source.mark()
        source.line("trail.append(i)")
        source.insert(outer, ["trail.append('first')"])
        source.insert(inner, ["trail.append('each')"])
        source.insert(outer, ["trail.append('second')"])
        again = source.mark()
        source.line("trail.append('wrong')")
        source.rewind(again)
        source.insert(inner, ["trail.append('too')"])
    source.line("return trail")
    assert source.function("f", [], Listings())() == ["first", "second", "each", "too", 0, "each", "too", 1]


def test_an_exception_tells_its_origin():
    listings: Listings[str] = Listings()
    inner, outer = _source(), _source()
    inner.origin = "division"
    inner.line("return 1 // x")
    divide = inner.function("divide", ["x"], listings)
    outer.origin = "call"
    outer.line(f"return {outer.constant(divide)}(x)")
    function = outer.function("outer", ["x"], listings)
    with pytest.raises(ZeroDivisionError) as caught:
        function(0)
    assert listings.origin(caught.value.__traceback__) == "division"
    assert len(list(listings)) == 2


def test_no_origin_elsewhere():
    listings: Listings[str] = Listings()
    with pytest.raises(ValueError, match="abc") as caught:
        raise ValueError("abc")
    assert listings.origin(caught.value.__traceback__) is None
