"""Types of HLO values: builtin tensors and tuples, plus token, opaque, buffer and the layout encoding.

| HLO | here |
|---|---|
| `pred` | `i1` |
| `s8` | `i8` (signless: HLO integers are machine integers; the sign is the operation's business) |
| `u8` | `ui8` |
| `s1` | `si1` (since `i1` is `pred`) |
| `f8e4m3fn` | `f8E4M3FN` |
| `f32[2,3]{0,1}` | `tensor<2x3xf32, #hlo.layout<"{0,1}">>` (a descending layout is left out) |
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple, TypeAlias, cast

from typing_extensions import TypeIs
from xdsl.dialects import builtin
from xdsl.dialects.builtin import (
    ComplexType,
    IntegerType,
    NoneAttr,
    Signedness,
    TensorType,
    TupleType,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.text_attribute import TextAttribute

Tensor: TypeAlias = TensorType[Any]


class Element(NamedTuple):
    """One row of the element-type table.

    `kind` is one of pred, int, uint, float, complex; `bits` is the logical width; `bytes` the storage of one
    element (narrow types take one whole byte each); `numpy` the dtype name (numpy's or ml_dtypes').
    """

    name: str
    kind: str
    bits: int
    bytes: int
    numpy: str
    type: Attribute


def _integers() -> list[Element]:
    rows: list[Element] = []
    for bits in (1, 2, 4, 8, 16, 32, 64):
        signed = IntegerType(bits) if bits > 1 else IntegerType(1, Signedness.SIGNED)
        size = max(1, bits // 8)
        rows.append(Element(f"s{bits}", "int", bits, size, f"int{bits}", signed))
        unsigned = IntegerType(bits, Signedness.UNSIGNED)
        rows.append(Element(f"u{bits}", "uint", bits, size, f"uint{bits}", unsigned))
    return rows


ELEMENTS: tuple[Element, ...] = (
    Element("pred", "pred", 1, 1, "bool", IntegerType(1)),
    *_integers(),
    Element("f16", "float", 16, 2, "float16", builtin.f16),
    Element("bf16", "float", 16, 2, "bfloat16", builtin.bf16),
    Element("f32", "float", 32, 4, "float32", builtin.f32),
    Element("f64", "float", 64, 8, "float64", builtin.f64),
    Element("f8e5m2", "float", 8, 1, "float8_e5m2", builtin.Float8E5M2Type()),
    Element("f8e4m3", "float", 8, 1, "float8_e4m3", builtin.Float8E4M3Type()),
    Element("f8e4m3fn", "float", 8, 1, "float8_e4m3fn", builtin.Float8E4M3FNType()),
    Element("f8e4m3b11fnuz", "float", 8, 1, "float8_e4m3b11fnuz", builtin.Float8E4M3B11FNUZType()),
    Element("f8e5m2fnuz", "float", 8, 1, "float8_e5m2fnuz", builtin.Float8E5M2FNUZType()),
    Element("f8e4m3fnuz", "float", 8, 1, "float8_e4m3fnuz", builtin.Float8E4M3FNUZType()),
    Element("f8e3m4", "float", 8, 1, "float8_e3m4", builtin.Float8E3M4Type()),
    Element("f8e8m0fnu", "float", 8, 1, "float8_e8m0fnu", builtin.Float8E8M0FNUType()),
    Element("f4e2m1fn", "float", 4, 1, "float4_e2m1fn", builtin.Float4E2M1FNType()),
    Element("f6e2m3fn", "float", 6, 1, "float6_e2m3fn", builtin.Float6E2M3FNType()),
    Element("f6e3m2fn", "float", 6, 1, "float6_e3m2fn", builtin.Float6E3M2FNType()),
    Element("c64", "complex", 64, 8, "complex64", ComplexType(builtin.f32)),
    Element("c128", "complex", 128, 16, "complex128", ComplexType(builtin.f64)),
)
BY_NAME: dict[str, Element] = {row.name: row for row in ELEMENTS}
BY_TYPE: dict[Attribute, Element] = {row.type: row for row in ELEMENTS}

PRED = BY_NAME["pred"].type
S32 = BY_NAME["s32"].type
U32 = BY_NAME["u32"].type
DYNAMIC = builtin.DYNAMIC_INDEX


@irdl_attr_definition
class TokenType(ParametrizedAttribute, TypeAttribute):
    """`token[]`: orders side effects, carries no data."""

    name = "hlo.token"


TOKEN = TokenType()


@irdl_attr_definition
class OpaqueType(ParametrizedAttribute, TypeAttribute):
    """`opaque[]`: a value only custom calls understand."""

    name = "hlo.opaque_value"


@irdl_attr_definition
class BufferType(ParametrizedAttribute, TypeAttribute):
    """`b(f32[4])`: a mutable buffer of the inner type."""

    name = "hlo.buffer"
    inner: TypeAttribute


@irdl_attr_definition
class LayoutAttr(TextAttribute):
    """What a shape says beyond its extents: HLO's layout braces, verbatim in canonical spelling.

    `data` is the braces with everything in them (`{0,1:T(8,128)}`), and for bounded dynamic dimensions the
    bounds in front (`<=4,` ...): `bounds=[4,-1] {1,0}`. Absent when the layout is descending and no more is
    said (xla-semantics.md d.3).
    """

    name = "hlo.layout"

    @property
    def bounds(self) -> tuple[int, ...]:
        """Upper bound per dimension, -1 where there is none; empty for static shapes."""
        if not self.data.startswith("bounds=["):
            return ()
        return tuple(int(x) for x in self.data[len("bounds=[") : self.data.index("]")].split(","))

    @property
    def braces(self) -> str:
        """The `{…}` part, empty where the layout is the default one."""
        return self.data[self.data.index("{") :] if "{" in self.data else ""

    @property
    def minor_to_major(self) -> tuple[int, ...]:
        """Dimensions from the fastest in memory to the slowest, empty where the layout is the default one."""
        order = self.braces.strip("{}").partition(":")[0]
        return tuple(int(dimension) for dimension in order.split(",")) if order else ()

    @property
    def is_order_only(self) -> bool:
        """True unless more is said than an order: tiles, packing, memory space."""
        return ":" not in self.braces


_NO_ENCODING = NoneAttr()


@lru_cache(maxsize=65536)
def tensor(element: Attribute, shape: tuple[int, ...] = (), encoding: Attribute | None = None) -> Tensor:
    """The tensor type, the same object each time, so that equal types compare fast."""
    return TensorType(element, shape, encoding or _NO_ENCODING)


@lru_cache(maxsize=65536)
def tuple_of(types: tuple[Attribute, ...]) -> TupleType:
    """The tuple type, the same object each time. (`TupleType` given a list would be unhashable.)"""
    return TupleType(cast("tuple[TypeAttribute, ...]", types))


def is_tensor(type: Attribute) -> TypeIs[Tensor]:
    """True for a tensor type, whatever its elements."""
    return isinstance(type, TensorType)


def element_of(type: Attribute) -> Element:
    """The table row of a tensor's element type. Raises VerifyException for anything else."""
    if is_tensor(type) and (row := BY_TYPE.get(type.element_type)):
        return row
    raise VerifyException(f"expected an array of an HLO element type, found {spelled(type)}")


@lru_cache(maxsize=65536)
def shape_of(type: Attribute) -> tuple[int, ...]:
    """Extents of a tensor type, DYNAMIC where they are not static."""
    if not is_tensor(type):
        raise VerifyException(f"expected an array, found {spelled(type)}")
    return type.get_shape()


@lru_cache(maxsize=65536)
def elements_of(type: Attribute) -> tuple[Attribute, ...]:
    """Element types of a tuple type."""
    if not isinstance(type, TupleType):
        raise VerifyException(f"expected a tuple, found {spelled(type)}")
    return tuple(type.types.data)


def memory_order(type: Attribute) -> tuple[int, ...]:
    """Dimensions of a tensor from the slowest in memory to the fastest. Tiles within the layout do not count."""
    rank = len(shape_of(type))
    layout = type.encoding if is_tensor(type) else None
    order = layout.minor_to_major[::-1] if isinstance(layout, LayoutAttr) else ()
    return order or tuple(range(rank))


def element_count(type: Attribute) -> int:
    """Number of elements of a static tensor."""
    return prod(shape_of(type))


def with_shape(type: Tensor, shape: Sequence[int]) -> Tensor:
    """Same element type, other extents, default layout."""
    return tensor(type.element_type, tuple(shape))


def with_element(type: Tensor, element: Attribute) -> Tensor:
    """Same extents and layout, other element type."""
    return tensor(element, shape_of(type), type.encoding)


def with_dynamic(type: Tensor, dimension: int) -> Tensor:
    """Same type with one dimension made dynamic, bounded by what its extent was."""
    shape, layout = list(shape_of(type)), type.encoding if isinstance(type.encoding, LayoutAttr) else LayoutAttr("")
    bounds = list(layout.bounds) or [-1] * len(shape)
    if shape[dimension] != DYNAMIC:
        bounds[dimension], shape[dimension] = shape[dimension], DYNAMIC
    text = f"bounds=[{','.join(map(str, bounds))}] {layout.braces}"
    return tensor(type.element_type, tuple(shape), LayoutAttr(text.strip()))


@lru_cache(maxsize=65536)
def without_layout(type: Attribute) -> Attribute:
    """The type with default layouts: what two values must agree on to be interchangeable."""
    if isinstance(type, TupleType):
        return tuple_of(tuple(without_layout(inner) for inner in elements_of(type)))
    if is_tensor(type):
        return tensor(type.element_type, shape_of(type))
    return type


def compatible(a: Attribute, b: Attribute) -> bool:
    """Equal up to layout; a dynamic extent fits any other."""
    if a is b:
        return True
    a, b = without_layout(a), without_layout(b)
    if a == b:
        return True
    if isinstance(a, TupleType) and isinstance(b, TupleType):
        left, right = elements_of(a), elements_of(b)
        return len(left) == len(right) and all(map(compatible, left, right))
    if not (is_tensor(a) and is_tensor(b)):
        return False
    return a.element_type == b.element_type and same_extents(shape_of(a), shape_of(b))


def same_extents(left: Sequence[int], right: Sequence[int]) -> bool:
    """Equal ranks and extents; a dynamic extent fits any other."""
    return len(left) == len(right) and all(x == y or DYNAMIC in (x, y) for x, y in zip(left, right, strict=True))


@lru_cache(maxsize=65536)
def spelled(type: Attribute) -> str:
    """The type as HLO text spells it, without layouts: what error messages show."""
    if isinstance(type, TupleType):
        return f"({', '.join(map(spelled, elements_of(type)))})"
    if isinstance(type, TokenType):
        return "token[]"
    if isinstance(type, OpaqueType):
        return "opaque[]"
    if isinstance(type, BufferType):
        return f"b({spelled(type.inner)})"
    if is_tensor(type) and type.element_type in BY_TYPE:
        extents = ",".join("?" if d == DYNAMIC else str(d) for d in shape_of(type))
        return f"{element_of(type).name}[{extents}]"
    return str(type)


ATTRIBUTES = [TokenType, OpaqueType, BufferType, LayoutAttr]
