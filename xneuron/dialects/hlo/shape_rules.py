"""What the shape rules of the dialect share: checks of types, dimension numbers, windows and computations.

Every function raises VerifyException saying what was expected and what was found; the op that asked puts its opcode
in front. Rules: XLA's shape_inference.cc and hlo_verifier.cc (xla-semantics.md d.3, d.6).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple

from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.attributes import WindowAttr, WindowDimension, int_list
from xneuron.dialects.hlo.base import body_of, opcode_of, returned_of, root_of
from xneuron.dialects.hlo.types import (
    BY_TYPE,
    DYNAMIC,
    PRED,
    Tensor,
    compatible,
    elements_of,
    is_tensor,
    shape_of,
    spelled,
    tensor,
    tuple_of,
)


class Kinds(NamedTuple):
    """A set of element kinds, and the words XLA has for it."""

    words: str
    members: frozenset[str]


FLOATING = Kinds("floating", frozenset({"float"}))
FLOATING_OR_COMPLEX = Kinds("floating or complex", frozenset({"float", "complex"}))
INTEGRAL = Kinds("integral", frozenset({"int", "uint"}))
UNSIGNED = Kinds("unsigned integral", frozenset({"uint"}))
PRED_OR_INTEGRAL = Kinds("pred or integral", frozenset({"pred", "int", "uint"}))
SIGNED_OR_COMPLEX = Kinds("signed, floating or complex", frozenset({"int", "float", "complex"}))
ARITHMETIC = Kinds("arithmetic", frozenset({"int", "uint", "float", "complex"}))
ANY = Kinds("any", frozenset({"pred", "int", "uint", "float", "complex"}))


def array(type: Attribute, what: str = "operand") -> Tensor:
    """The type, if it is an array of an HLO element type."""
    if is_tensor(type) and type.element_type in BY_TYPE:
        return type
    raise VerifyException(f"expected an array as {what}, found {spelled(type)}")


def array_of(kinds: Kinds, type: Attribute, what: str = "operand") -> Tensor:
    """The type, if it is an array whose elements are of these kinds."""
    found = array(type, what)
    if BY_TYPE[found.element_type].kind not in kinds.members:
        raise VerifyException(f"expected element type of {what} to be {kinds.words}, found {spelled(found)}")
    return found


def scalar_of(kinds: Kinds, type: Attribute, what: str) -> Tensor:
    """The type, if it is a scalar of these kinds."""
    found = array_of(kinds, type, what)
    if shape_of(found):
        raise VerifyException(f"expected a scalar as {what}, found {spelled(found)}")
    return found


def is_scalar(type: Attribute) -> bool:
    """True for an array of rank 0."""
    return is_tensor(type) and not type.shape.data


def is_pred(type: Attribute) -> bool:
    """True for `pred[]`."""
    return compatible(type, tensor(PRED))


def expect(expected: Attribute, actual: Attribute, what: str) -> None:
    """Fails unless the types agree up to layout."""
    if not compatible(expected, actual):
        raise VerifyException(f"expected {what} {spelled(expected)}, found {spelled(actual)}")


def expect_count(expected: int, values: Sequence[object], what: str) -> None:
    """Fails unless there are so many."""
    if len(values) != expected:
        raise VerifyException(f"expected {expected} {what}, found {len(values)}")


def packed(types: Iterable[Attribute]) -> Attribute:
    """One type itself, several (or none) as a tuple: the result of ops with n inputs."""
    types = tuple(types)
    return types[0] if len(types) == 1 else tuple_of(types)


def tuple_element(type: Attribute, index: int) -> Attribute:
    """An element of a tuple type."""
    elements = elements_of(type)
    if not 0 <= index < len(elements):
        raise VerifyException(f"expected an index within {spelled(type)}, found {index}")
    return elements[index]


def unpacked(type: Attribute, count: int, what: str) -> tuple[Attribute, ...]:
    """Elements of a tuple type with so many elements."""
    elements = elements_of(type)
    expect_count(count, elements, f"elements in {what}")
    return elements


def fits(a: int, b: int) -> bool:
    """Equal extents; a dynamic one fits any other."""
    return a == b or a == DYNAMIC or b == DYNAMIC


def same_array(types: Sequence[Attribute]) -> Tensor:
    """The common type of elementwise operands: the first one's, dynamic where one of them is."""
    first = array(types[0])
    for type in types[1:]:
        if type is first:
            continue
        if not compatible(first, array(type)):
            raise VerifyException(f"expected operands of one shape, found {', '.join(map(spelled, types))}")
        first = _more_dynamic(first, shape_of(type))
    return first


def _more_dynamic(type: Tensor, other: Sequence[int]) -> Tensor:
    if DYNAMIC not in other:
        return type
    shape = shape_of(type)
    merged = tuple(DYNAMIC if e == DYNAMIC else d for d, e in zip(shape, other, strict=True))
    return type if merged == shape else tensor(type.element_type, merged)


def same_dimensions(types: Sequence[Attribute], what: str) -> tuple[int, ...]:
    """The extents that arrays of any element types share. `what` they are, in the plural."""
    shapes = [shape_of(array(type)) for type in types]
    if not all(len(s) == len(shapes[0]) and all(map(fits, s, shapes[0])) for s in shapes[1:]):
        raise VerifyException(f"expected {what} of the same dimensions, found {', '.join(map(spelled, types))}")
    return shapes[0]


def expect_dimension(dimension: int, rank: int, what: str) -> int:
    """The dimension, if it is in bounds."""
    if not 0 <= dimension < rank:
        raise VerifyException(f"expected {what} in [0, {rank}), found {dimension}")
    return dimension


def expect_dimensions(dimensions: Sequence[int], rank: int, what: str, ascending: bool = False) -> Sequence[int]:
    """The dimension numbers, if they are in bounds, unique and (if asked) ascending."""
    for dimension in dimensions:
        expect_dimension(dimension, rank, what)
    if len(set(dimensions)) != len(dimensions):
        raise VerifyException(f"expected unique {what}, found {listed(dimensions)}")
    if ascending and list(dimensions) != sorted(dimensions):
        raise VerifyException(f"expected ascending {what}, found {listed(dimensions)}")
    return dimensions


def expect_one_of(value: str, allowed: Sequence[str], what: str) -> None:
    """Fails unless the value is in the closed list."""
    if value not in allowed:
        raise VerifyException(f"expected {what} to be one of {', '.join(allowed)}, found {value}")


def listed(numbers: Sequence[int]) -> str:
    """`{0,1}`, as HLO text has lists."""
    return f"{{{','.join(map(str, numbers))}}}"


def expect_computation(
    region: Region, parameters: Sequence[Attribute], result: Attribute | None, what: str
) -> Attribute:
    """The result type of a computation, if it takes these parameters and returns this result (None: any)."""
    _expect_parameters(region, parameters, what)
    root = root_of(region).type
    if result is not None:
        expect(result, root, f"{what} to return")
    return root


def expect_returned(region: Region, parameters: Sequence[Attribute], results: Sequence[Attribute], what: str) -> None:
    """Fails unless a computation takes these parameters and returns these values (one in HLO's normal form)."""
    _expect_parameters(region, parameters, what)
    returned = returned_of(region)
    expect_count(len(results), returned, f"values returned by {what}")
    for expected, value in zip(results, returned, strict=True):
        expect(expected, value.type, f"{what} to return")


def _expect_parameters(region: Region, parameters: Sequence[Attribute], what: str) -> None:
    found = body_of(region).arg_types
    if len(found) != len(parameters):
        raise VerifyException(f"expected {what} to take {len(parameters)} parameters, found {len(found)}")
    for index, (expected, actual) in enumerate(zip(parameters, found, strict=True)):
        expect(expected, actual, f"parameter {index} of {what} to be")


def expect_reducer(region: Region, elements: Sequence[Attribute], what: str = "to_apply") -> None:
    """Fails unless the computation folds scalars of these element types: n accumulators, then n new values."""
    scalars = [tensor(element) for element in elements]
    expect_computation(region, [*scalars, *scalars], packed(scalars), what)


def types_of(values: Iterable[SSAValue]) -> tuple[Attribute, ...]:
    """Types of values."""
    return tuple(value.type for value in values)


def expect_start_indices(indices: Sequence[SSAValue], rank: int) -> None:
    """Fails unless they are one integral scalar per dimension, all of a type, or one vector of them (d.6)."""
    if len(indices) == 1 and shape_of(vector := array_of(INTEGRAL, indices[0].type, "start indices")):
        if len(shape_of(vector)) != 1 or not fits(shape_of(vector)[0], rank):
            raise VerifyException(f"expected start indices for rank {rank}, found {spelled(vector)}")
        return
    expect_count(rank, indices, "start indices")
    for index in indices:
        scalar_of(INTEGRAL, index.type, "start index")
        expect(indices[0].type, index.type, "start indices of one type,")


def windowed(shape: Sequence[int], window: WindowAttr | None) -> tuple[int, ...]:
    """Number of window positions per dimension (XLA's InferWindowOutputShape)."""
    dimensions = window.dimensions if window is not None else ()
    expect_count(len(shape), dimensions, "window dimensions")
    return tuple(_positions(extent, dimension) for extent, dimension in zip(shape, dimensions, strict=True))


def _positions(extent: int, window: WindowDimension) -> int:
    for name in ("size", "stride", "base_dilation", "window_dilation"):
        if getattr(window, name) <= 0:
            raise VerifyException(f"expected a positive window {name}, found {getattr(window, name)}")
    if extent == DYNAMIC:
        return DYNAMIC
    base = window.padding_low + dilated(extent, window.base_dilation) + window.padding_high
    covered = dilated(window.size, window.window_dilation)
    return 0 if base <= 0 or covered > base else (base - covered) // window.stride + 1


def dilated(extent: int, dilation: int) -> int:
    """Extent with `dilation - 1` holes between elements."""
    return 0 if extent == 0 else (extent - 1) * dilation + 1


def expect_within(sizes: Sequence[int], shape: Sequence[int], what: str) -> None:
    """Fails unless there is one size per dimension and none is larger than its dimension."""
    if len(sizes) != len(shape) or any(
        not (0 <= s <= e or DYNAMIC in (s, e)) for s, e in zip(sizes, shape, strict=True)
    ):
        raise VerifyException(f"expected {what} within {listed(shape)}, found {listed(sizes)}")


def one_dimension(dimensions: Attribute, rank: int) -> int:
    """The only entry of `dimensions`, if it is in bounds."""
    numbers = int_list(dimensions)
    if len(numbers) != 1:
        raise VerifyException(f"expected dimensions to have one entry, found {listed(numbers)}")
    return expect_dimension(numbers[0], rank, "dimension")


def expect_same_elements(operand: Tensor, result: Tensor) -> None:
    """Fails unless the two have the same element type and number of elements (not known of dynamic ones)."""
    old, new = shape_of(operand), shape_of(result)
    counts_fit = DYNAMIC in old or DYNAMIC in new or prod(old) == prod(new)
    if operand.element_type != result.element_type or not counts_fit:
        raise VerifyException(f"expected a result of the elements of {spelled(operand)}, found {spelled(result)}")


def expect_started(value: SSAValue, *names: str) -> None:
    """Fails unless the value is the result of one of the ops that start what is continued or ended here."""
    owner = value.owner.name if isinstance(value.owner, Operation) else "parameter"
    if owner not in names:
        raise VerifyException(
            f"expected the operand to be {' or '.join(map(opcode_of, names))}, found {opcode_of(owner)}"
        )
