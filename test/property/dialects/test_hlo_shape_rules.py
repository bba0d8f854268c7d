"""Whatever operands, properties and regions an op is given, its shape rule answers or refuses: it never breaks."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xdsl.dialects import test
from xdsl.dialects.builtin import (
    ArrayAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    StringAttr,
    TensorType,
    UnitAttr,
    f32,
    f64,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import VarOperandDef, VarRegionDef
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo import HLO
from xneuron.dialects.hlo.attributes import (
    DimLabelsAttr,
    ReplicaGroupsAttr,
    WindowAttr,
    integer,
    ints,
    pairs,
)
from xneuron.dialects.hlo.base import HloOp
from xneuron.dialects.hlo.control_flow import ReturnOp
from xneuron.dialects.hlo.literal import LiteralAttr
from xneuron.dialects.hlo.types import BY_NAME, DYNAMIC, TOKEN, OpaqueType, element_of, tensor, tuple_of

ELEMENTS = [BY_NAME[name].type for name in ("pred", "s32", "u32", "u64", "f32", "bf16", "c64", "f8e4m3fn", "s4")]
SHAPES = [(), (0,), (1,), (2,), (3,), (4,), (DYNAMIC,), (2, 3), (3, 3), (4, 4), (2, DYNAMIC), (2, 3, 4), (1, 2, 2, 1)]
ARRAYS = [tensor(element, shape) for element in ELEMENTS for shape in SHAPES]
ODD = [TOKEN, OpaqueType(), i32, f32, TensorType(IndexType(), [2]), TensorType(f32, []), tuple_of(())]

types: st.SearchStrategy[Attribute] = st.recursive(
    st.sampled_from([*ARRAYS, *ODD]), lambda inner: st.lists(inner, max_size=4).map(tuple).map(tuple_of), max_leaves=5
)
numbers = st.integers(-2, 6)
int_lists = st.lists(numbers, max_size=5).map(ints)
WORDS = [
    "EQ",
    "LT",
    "GT",
    "kLoop",
    "FFT",
    "RFFT",
    "IRFFT",
    "TRANSPOSE",
    "rng_uniform",
    "rng_normal",
    "rng_default",
    "?",
]
NOTATIONS: list[Attribute] = [
    WindowAttr("size=2"),
    WindowAttr("size=2x2 pad=1_-3x0_0"),
    WindowAttr("size=0x1"),
    WindowAttr("size=3x3 stride=0x1 rhs_dilate=2x-1"),
    DimLabelsAttr("bf_io->bf"),
    DimLabelsAttr("b0f_0io->b0f"),
    DimLabelsAttr("b01f_01io->f01b"),
    DimLabelsAttr("b?f_?io->bf?"),
    ReplicaGroupsAttr("{}"),
    ReplicaGroupsAttr("{{0,1},{2}}"),
    ReplicaGroupsAttr("{{0,0}}"),
    ReplicaGroupsAttr("{{},{1}}"),
    ReplicaGroupsAttr("[2,2]<=[4]"),
    LiteralAttr.of(tensor(BY_NAME["f32"].type), 1.0),
]
attributes: st.SearchStrategy[Attribute] = st.one_of(
    int_lists,
    numbers.map(integer),
    st.sampled_from(WORDS).map(StringAttr),
    st.just(UnitAttr()),
    st.sampled_from(NOTATIONS),
    st.lists(st.lists(numbers, max_size=3), max_size=3).map(pairs),
    st.lists(st.sampled_from(WORDS).map(StringAttr), max_size=2).map(ArrayAttr),
    st.just(FloatAttr(0.5, f64)),
    st.just(IntegerAttr(3, IndexType())),
)


def fitting(name: str) -> st.SearchStrategy[Attribute]:
    """Attributes that a property of this name often has, so that rules are reached and not only declarations."""
    if "window" in name and "dims" not in name:
        return st.sampled_from(NOTATIONS[:4])
    if name == "dim_labels":
        return st.sampled_from(NOTATIONS[4:8])
    if name == "replica_groups":
        return st.sampled_from(NOTATIONS[8:13])
    if name in ("source_target_pairs",):
        return st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=2), max_size=3).map(pairs)
    if name.endswith(("dims", "dimensions", "sizes", "starts", "limits", "strides", "map", "padding", "low", "high")):
        return st.lists(st.integers(0, 3), max_size=3).map(ints)
    if name in ("direction", "kind", "fft_type", "transpose_a", "distribution", "algorithm"):
        return st.sampled_from(WORDS).map(StringAttr)
    if name == "epsilon":
        return st.just(FloatAttr(0.5, f64))
    return st.integers(0, 3).map(integer)


@st.composite
def regions(draw: Callable[..., Any]) -> Region:
    """A computation with any parameters and any number of roots, or no terminator, or several blocks, or none."""
    parameters = draw(st.lists(types, max_size=4))
    block = Block(arg_types=parameters)
    roots: list[SSAValue] = [*block.args, *draw_values(draw, 2)]
    match draw(st.sampled_from(["one", "one", "one", "many", "none", "open", "blocks", "empty"])):
        case "one":
            block.add_op(ReturnOp.create(operands=[draw(st.sampled_from(roots))] if roots else []))
        case "many":
            block.add_op(ReturnOp.create(operands=roots))
        case "none":
            block.add_op(ReturnOp.create())
        case "open":
            block.add_op(test.TestOp())
        case "blocks":
            return Region([block, Block()])
        case _:
            return Region()
    return Region(block)


def draw_values(draw: Callable[..., Any], most: int) -> list[SSAValue]:
    """Results of some op of any types."""
    return list(test.TestOp(result_types=draw(st.lists(types, max_size=most))).results)


@st.composite
def ops(draw: Callable[..., Any], cls: type[HloOp]) -> HloOp:
    """An op of the class, declared right more often than not."""
    declared = cls.get_irdl_definition()
    variadic = any(isinstance(operand, VarOperandDef) for _, operand in declared.operands)
    count = len(declared.operands) + draw(st.sampled_from([0, 0, 0, 1, -1, 2]) if not variadic else st.integers(-1, 4))
    pool = draw(st.lists(types, min_size=1, max_size=2))
    operands = test.TestOp(result_types=[draw(st.sampled_from(pool)) for _ in range(max(count, 0))]).results
    properties: dict[str, Attribute] = {}
    for name in declared.properties:
        if draw(st.integers(0, 7)):
            properties[name] = draw(attributes if draw(st.integers(0, 5)) == 0 else fitting(name))
    some = any(isinstance(region, VarRegionDef) for _, region in declared.regions)
    inner = [draw(regions()) for _ in range(draw(st.integers(0, 3)) if some else len(declared.regions))]
    return cls.create(operands=operands, result_types=[draw(types)], properties=properties, regions=inner)


@pytest.mark.parametrize("cls", [c for c in HLO.operations if issubclass(c, HloOp)], ids=lambda c: c.name)
@given(data=st.data())
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), database=None)
def test_rules_answer_or_refuse(cls: type[HloOp], data: st.DataObject) -> None:
    """`infer` and the verifier raise VerifyException or nothing; an inferred type is one the verifier accepts."""
    op: Operation = data.draw(ops(cls))
    assert isinstance(op, HloOp)
    inferred = refusal = None
    try:
        inferred = op.infer()
    except VerifyException as error:
        refusal = str(error)
    if refusal is not None:
        assert refusal.startswith(op.opcode + ": ")
        return
    if inferred is not None and op.regions == ():
        again = cls.create(operands=op.operands, result_types=[inferred], properties=op.properties)
        again.verify()
    with suppress(VerifyException):
        op.verify(verify_nested_ops=False)


def test_pool_is_of_element_types() -> None:
    """The arrays above are arrays to the dialect."""
    assert all(element_of(type) for type in ARRAYS)
