"""The one form of errors: place, message, excerpt, caret."""

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr, i32
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Input, Span

from xneuron.tools.diagnostics import WIDTH, Place, ProgramError, culprit, did_you_mean, render
from xneuron.tools.sources import Source


def placed_op(line: int, column: int) -> test.TestOp:
    op = test.TestOp(result_types=[i32])
    op.location = FileLineColLoc(StringAttr("a.hlo"), IntAttr(line), IntAttr(column))
    return op


SOURCES = {"a.hlo": Source("a.hlo", b"first\n\tsecond line\n", "hlo")}


def test_parse_error() -> None:
    text = "ENTRY e {\n  p = f32[2 parameter(0)\n}"
    at = text.index("parameter")
    error = ParseError(Span(at, at + 9, Input(text, "a.hlo")), "expected ']', found 'parameter'")
    assert render(error, {}) == (
        "a.hlo:2:13: error: expected ']', found 'parameter'\n    p = f32[2 parameter(0)\n              ^^^^^^^^^"
    )


def test_parse_error_in_bytes_and_at_the_end() -> None:
    error = ParseError(Span(4, 4, Input(b"abc\n", "b.mlir")), "expected '}'")
    assert render(error, {}) == "b.mlir:2:1: error: expected '}'\n  \n  ^"


def test_op_with_a_place_shows_its_line() -> None:
    error = ProgramError("expected f32[2], found f32[3]", placed_op(2, 9))
    assert render(error, SOURCES) == ("a.hlo:2:9: error: expected f32[2], found f32[3]\n  \tsecond line\n  \t       ^")


def test_op_without_a_place_is_quoted() -> None:
    rendered = render(ProgramError("wrong", test.TestOp(result_types=[i32])), SOURCES)
    assert rendered == 'error: wrong\n  %0 = "test.op"() : () -> i32'


def test_place_in_a_file_nobody_read() -> None:
    op = test.TestOp()
    op.location = FileLineColLoc(StringAttr("gone.py"), IntAttr(3), IntAttr(1))
    assert render(ProgramError("wrong", op), SOURCES).startswith("gone.py:3:1: error: wrong")


def test_error_without_op() -> None:
    assert render(VerifyException("wrong\n"), {}) == "error: wrong"


@pytest.mark.parametrize("column", [1, 60, 500, 999, 1000])
def test_long_lines_are_cut_around_the_caret(column: int) -> None:
    text = "".join(chr(ord("a") + i % 26) for i in range(1000))
    shown, carets = Place("a", 1, column, text).excerpt().splitlines()
    assert len(shown) <= WIDTH + 4
    assert shown[carets.index("^")] == text[column - 1]


def test_culprit_is_the_innermost() -> None:
    inner = test.TestOp()
    module = ModuleOp([ModuleOp([inner])])
    assert culprit(module) is None

    def wrong() -> None:
        raise VerifyException("no")

    inner.verify_ = wrong
    assert culprit(module) is inner


def test_did_you_mean() -> None:
    assert did_you_mean("unrol", ["cse", "unroll"]) == "; did you mean 'unroll'?"
    assert did_you_mean("zzz", ["cse", "unroll"]) == ""
