"""Command lines: errors with a suggestion, and the options that the tools share."""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

from xdsl.utils.arg_spec import parse_spec

from xneuron.tools.diagnostics import UsageError, did_you_mean

if TYPE_CHECKING:
    from xneuron.remarks import Remark

STDERR = "-"


def usage_error(parser: argparse.ArgumentParser, message: str) -> NoReturn:
    """What `parser.error` does here: raises UsageError, with the closest option if one was mistyped."""
    if unknown := re.search(r"unrecognized arguments: (--[\w-]+)", message):
        message += did_you_mean(unknown[1], re.findall(r"--[\w-]+", parser.format_help()))
    raise UsageError(f"{message}\ntry: {parser.prog} --help")


def check_options(flag: str, known: Mapping[str, Callable[..., Any]], spec: str | None) -> None:
    """Raises UsageError if there is no format of that name, or it does not take the options (`hlo{percent=false}`)."""
    if not spec:
        return
    parsed = parse_spec(spec)
    if (factory := known.get(parsed.name)) is None:
        raise UsageError(f"in {flag}: unknown format '{parsed.name}'{did_you_mean(parsed.name, known)}")
    if inspect.signature(factory).parameters:
        return  # xDSL's old style: a function that does the work itself, and takes no options
    try:
        factory().from_spec(parsed)
    except ValueError as error:
        raise UsageError(f"in {flag} {spec}: {error}") from error


def add_shared_arguments(parser: argparse.ArgumentParser) -> None:
    """`--remarks[=FILE]` and `--debug`."""
    parser.add_argument(
        "--remarks",
        nargs="?",
        const=STDERR,
        metavar="FILE",
        help="Say what happened to each loop and why not: text on stderr, or JSON Lines to =FILE",
    )
    parser.add_argument("--debug", action="store_true", help="Show where an internal error comes from")


def with_explicit_remarks(argv: Sequence[str]) -> list[str]:
    """The arguments with a bare `--remarks` made explicit, lest argparse take the program that follows as its FILE."""
    return [f"--remarks={STDERR}" if word == "--remarks" else word for word in argv]


@contextmanager
def recorded(destination: str | None) -> Generator[None]:
    """Delivers the remarks made inside, also if the work fails: `-` is stderr, else a file; None drops them."""
    if destination is None:
        yield
        return
    from xneuron.remarks import collect

    with collect(print_remark if destination == STDERR else None) as found:
        try:
            yield
        finally:
            if destination != STDERR:
                write_text(destination, "".join(f"{remark.as_json()}\n" for remark in found))


def print_remark(remark: Remark) -> None:
    """Shows a remark on stderr, as it is made."""
    print(remark.as_text(), file=sys.stderr)


def write_text(path: str, text: str) -> None:
    """Writes a file. Raises UsageError if that is impossible."""
    with writable(path) as file:
        file.write(text)


@contextmanager
def writable(path: str) -> Generator[IO[str]]:
    """A text file to write to. Raises UsageError if there cannot be one."""
    try:
        file = Path(path).open("w")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error
    with file:
        yield file
