"""Types and constants: from the plain data of `tree.py` to those of the `hlo` dialect."""

from __future__ import annotations

import re
from functools import lru_cache
from math import prod

from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.literal import LiteralAttr
from xneuron.dialects.hlo.numbers import pack
from xneuron.dialects.hlo.types import (
    BY_NAME,
    DYNAMIC,
    ELEMENTS,
    TOKEN,
    Element,
    LayoutAttr,
    Tensor,
    tensor,
    tuple_of,
)
from xneuron.formats.stablehlo.tree import Dense, Type

_BY_SPELLING: dict[str, Element] = {str(row.type): row for row in ELEMENTS}
"""Element types by MLIR's spelling."""


@lru_cache(maxsize=65536)
def type_of(type: Type) -> Attribute:
    """The type of the `hlo` dialect. Raises VerifyException for one that HLO does not have."""
    if type.kind == "tensor":
        return tensor_of(type)
    if type.kind == "tuple":
        return tuple_of(tuple(type_of(part) for part in type.parts))
    if type.kind == "token":
        return TOKEN
    raise VerifyException(f"expected a type that HLO has, found {type.element}")


def tensor_of(type: Type) -> Tensor:
    """The tensor type; bounds of dynamic extents are in its encoding."""
    row = _BY_SPELLING.get(type.element)
    if row is None:
        raise VerifyException(f"expected elements of a type that HLO has, found {type.element}")
    shape = tuple(DYNAMIC if extent < 0 else extent for extent in type.shape)
    bounds = f"bounds=[{','.join(map(str, type.bounds))}]"
    return tensor(row.type, shape, LayoutAttr(bounds) if any(bound >= 0 for bound in type.bounds) else None)


def packed(types: list[Attribute]) -> Attribute:
    """What an op with these results gives in HLO: the only one, else a tuple."""
    return types[0] if len(types) == 1 else tuple_of(tuple(types))


def literal_of(dense: Dense) -> LiteralAttr:
    """The constant, to the bit."""
    type = tensor_of(dense.type)
    row = _BY_SPELLING[dense.type.element]
    if dense.data is not None:
        return LiteralAttr.from_bytes(type, dense.data)
    if dense.text.startswith('"0x'):
        return LiteralAttr.from_bytes(type, _stored(row, bytes.fromhex(dense.text[3:-1])))
    known: dict[str, bytes] = {}
    raw: list[bytes] = []
    for text in _NUMBER.findall(dense.text):
        if text not in known:
            known[text] = _number(row, text)
        raw.append(known[text])
    return LiteralAttr.from_bytes(type, b"".join(raw))


def numbers_of(dense: Dense) -> tuple[tuple[int, ...], ...]:
    """Rows of a table of integers (a vector is one row)."""
    raw, count = dense.data or b"", prod(dense.type.shape)
    size = len(raw) // (1 if dense.splat else max(count, 1))
    flat = [int.from_bytes(raw[at : at + size], "little", signed=True) for at in range(0, len(raw), size or 1)]
    flat = flat * count if dense.splat else flat
    *rows, columns = (1, *dense.type.shape)
    return tuple(tuple(flat[row * columns : (row + 1) * columns]) for row in range(prod(rows)))


_NUMBER = re.compile(r"\([^()]*\)|[^\s,\[\]()]+")
_COMPLEX_PARTS = {"c64": "f32", "c128": "f64"}


def _number(row: Element, text: str) -> bytes:
    """Bytes of a number as MLIR prints it: decimal, or the bits in hexadecimal where decimal cannot say it."""
    if row.kind == "complex":
        part = BY_NAME[_COMPLEX_PARTS[row.name]]
        return b"".join(_number(part, half.strip()) for half in text[1:-1].split(","))
    if row.kind == "float":
        return int(text, 16).to_bytes(row.bytes, "little") if text.startswith("0x") else pack(row, float(text))
    if row.kind == "pred":
        return pack(row, text == "true")
    return pack(row, int(text))


def _stored(row: Element, raw: bytes) -> bytes:
    """MLIR's bytes of integers narrower than a byte, with the sign extended as HLO stores it."""
    if row.kind not in ("int", "uint") or row.bits >= 8:
        return raw
    return b"".join(pack(row, byte) for byte in raw)
