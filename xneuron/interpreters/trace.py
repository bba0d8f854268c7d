"""Traces: a record per executed instruction, to compare two runs or to see where a value went wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import IO, Any, TypeAlias

import numpy as np
from xdsl.ir import Operation

from xneuron.dialects.hlo.base import opcode_of
from xneuron.execution.errors import instruction
from xneuron.execution.plan import At
from xneuron.interpreters.linking import name_of

Record: TypeAlias = dict[str, Any]
Tracer: TypeAlias = Callable[[Record], None]
SCHEMA = 1


def record(at: At, op: Operation, value: Any) -> Record:
    """The record of one executed instruction.

    `at`: iterations of the loops around, outermost first; `values`: one entry per array of the result, with dtype,
    shape, a digest of the bytes (equal bytes, equal digest), and smallest and largest element (None if there is none or
    the elements are complex; "nan", "inf" as text).
    """
    block = op.parent_block()
    return {
        "schema": SCHEMA,
        "at": list(at),
        "computation": name_of(block) if block is not None else "",
        "name": instruction(op),
        "opcode": opcode_of(op.name),
        "values": [summary(leaf) for leaf in leaves(value)],
    }


def leaves(value: Any) -> Iterator[Any]:
    """The arrays of a value in order, tokens left out."""
    if isinstance(value, tuple):
        for inner in value:  # pyright: ignore[reportUnknownVariableType]
            yield from leaves(inner)
    elif value is not None:
        yield value


def summary(value: Any) -> Record:
    """What a record says of one array."""
    array = np.ascontiguousarray(value)
    digest = blake2b(array.tobytes(), digest_size=8).hexdigest()
    shape = list(np.shape(value))
    return {
        "dtype": str(array.dtype),
        "shape": shape,
        "digest": digest,
        "min": _end(array, "min"),
        "max": _end(array, "max"),
    }


def _end(array: Any, which: str) -> Any:
    if array.size == 0 or array.dtype.kind == "c":
        return None
    number = getattr(array if array.dtype.kind in "biuf" else array.astype(np.float64), which)().item()
    return number if number == number and abs(number) != float("inf") else str(number)


def json_lines(file: IO[str]) -> Tracer:
    """A tracer that writes JSON Lines to an open text file."""

    def write(line: Record) -> None:
        file.write(json.dumps(line) + "\n")

    return write
