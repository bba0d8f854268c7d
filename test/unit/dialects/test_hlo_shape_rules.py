"""Shape rules as callers see them: before there is a result, with a message for every lack, once per likeness."""

import re
from pathlib import Path

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo import HLO
from xneuron.dialects.hlo.attributes import DimLabelsAttr, WindowAttr, integer, ints
from xneuron.dialects.hlo.base import HloOp
from xneuron.dialects.hlo.contractions import DotOp
from xneuron.dialects.hlo.control_flow import ControlDependencyOp, GetTupleElementOp, ReturnOp
from xneuron.dialects.hlo.custom import OpaqueOp
from xneuron.dialects.hlo.data_movement import BitcastOp, PadOp, ReshapeOp, SetDimensionSizeOp, TransposeOp
from xneuron.dialects.hlo.elementwise import AddOp, BitcastConvertOp, CompareOp, ConvertOp, NegateOp, SelectOp
from xneuron.dialects.hlo.types import BY_NAME, DYNAMIC, PRED, LayoutAttr, compatible, spelled, tensor, tuple_of
from xneuron.fastir import build

FILECHECK = Path(__file__).parents[2] / "filecheck" / "dialects" / "hlo"
F32, S32 = BY_NAME["f32"].type, BY_NAME["s32"].type
CONSTRAIN_NOTHING = {ControlDependencyOp, OpaqueOp, ReturnOp}
OPS = [op for op in HLO.operations if issubclass(op, HloOp)]


def value(type: Attribute) -> SSAValue:
    return test.TestOp(result_types=[type]).results[0]


def bare(cls: type[Operation], *types: Attribute, **properties: Attribute) -> HloOp:
    """An op that has no result yet, as a reader of text has it."""
    op = build(cls, [value(type) for type in types], None, properties, {})
    assert isinstance(op, HloOp)
    return op


def test_all_ops_are_hlo_ops() -> None:
    assert len(OPS) == len(list(HLO.operations))


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_every_op_has_a_valid_and_an_invalid_example(op: type[HloOp]) -> None:
    """In test/filecheck/dialects/hlo: printed and parsed in one file, refused with a message in another."""
    used = re.compile(rf"^(?!\s*//).*\b{re.escape(op.name)}\(", re.MULTILINE)
    valid = [path for path in FILECHECK.glob("*.mlir") if not path.name.startswith("invalid")]
    assert any(used.search(path.read_text()) for path in valid)
    opcode = op.name.removeprefix("hlo.").replace("_", "-")
    refused = re.compile(rf"CHECK: {re.escape(opcode)}: ")
    tested = any(refused.search(path.read_text()) for path in FILECHECK.glob("invalid_*.mlir"))
    assert tested == (op not in CONSTRAIN_NOTHING)


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (bare(AddOp, tensor(F32, (2,)), tensor(F32, (2,))), "f32[2]"),
        (bare(AddOp, tensor(F32, (2,)), tensor(F32, (DYNAMIC,))), "f32[?]"),
        (bare(CompareOp, tensor(F32), tensor(F32), direction=StringAttr("LT")), "pred[]"),
        (bare(SelectOp, tensor(PRED), tensor(F32, (2,)), tensor(F32, (2,))), "f32[2]"),
        (bare(GetTupleElementOp, tuple_of((tensor(F32), tensor(S32, (3,)))), index=integer(1)), "s32[3]"),
        (bare(TransposeOp, tensor(F32, (2, 3, 5)), dimensions=ints((2, 0, 1))), "f32[5,2,3]"),
        (
            bare(
                DotOp,
                tensor(F32, (2, 3)),
                tensor(F32, (3, 5)),
                lhs_contracting_dims=ints((1,)),
                rhs_contracting_dims=ints((0,)),
            ),
            "f32[2,5]",
        ),
        (
            bare(
                PadOp,
                tensor(F32, (4,)),
                tensor(F32),
                edge_padding_low=ints((1,)),
                edge_padding_high=ints((-2,)),
                interior_padding=ints((2,)),
            ),
            "f32[9]",
        ),
    ],
    ids=lambda x: x.name if isinstance(x, HloOp) else x,
)
def test_infers_without_a_result(op: HloOp, expected: str) -> None:
    inferred = op.infer()
    assert inferred is not None
    assert spelled(inferred) == expected


@pytest.mark.parametrize("op", [ConvertOp, BitcastConvertOp, BitcastOp, ReshapeOp], ids=lambda op: op.name)
@pytest.mark.parametrize("element", ["pred", "s32", "f32", "c64"])
def test_some_results_must_be_said(op: type[HloOp], element: str) -> None:
    assert bare(op, tensor(BY_NAME[element].type, (2,))).infer() is None


def test_layout_of_an_elementwise_operand_is_kept() -> None:
    """As XLA does; rules themselves do not look at layouts."""
    laid_out = tensor(F32, (2, 3), LayoutAttr("{0,1}"))
    assert bare(NegateOp, laid_out).infer() is laid_out
    assert compatible(laid_out, tensor(F32, (2, 3)))


def test_dynamic_size_keeps_the_bound() -> None:
    op = bare(SetDimensionSizeOp, tensor(F32, (8, 4)), tensor(S32), dimensions=ints((0,)))
    assert op.infer() == tensor(F32, (DYNAMIC, 4), LayoutAttr("bounds=[8,-1]"))


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (bare(AddOp, tensor(F32)), "add: Expected 2 operands, but got 1"),
        (bare(CompareOp, tensor(F32), tensor(F32)), "compare: property 'direction' is expected but not seen"),
        (bare(TransposeOp, tensor(F32), dimensions=StringAttr("0")), "transpose: .*array"),
    ],
    ids=lambda x: x.name if isinstance(x, HloOp) else x,
)
def test_refuses_what_is_not_as_declared(op: HloOp, message: str) -> None:
    with pytest.raises(VerifyException, match=message):
        op.infer()


@pytest.mark.parametrize(
    ("attribute", "text", "message"),
    [
        (WindowAttr, "size=3x", "expected a window like"),
        (WindowAttr, "pad=0_0 size=3", "expected a window like"),
        (WindowAttr, "size=3x3 pad=0_0", "expected as many entries in each part"),
        (DimLabelsAttr, "b0f_0io", "expected dimension labels like"),
        (DimLabelsAttr, "b0f_01io->b0f", "expected dimension labels that name each dimension once"),
        (DimLabelsAttr, "bbf_0io->b0f", "expected dimension labels that name each dimension once"),
    ],
)
def test_notations_are_checked(attribute: type[WindowAttr | DimLabelsAttr], text: str, message: str) -> None:
    with pytest.raises(VerifyException, match=message):
        attribute(text)


def verified(*ops: Operation) -> None:
    """Verifies ops in front of an op that ends their block."""
    block = Block(ops)
    block.add_op(ReturnOp.create())
    for op in ops:
        op.verify()


def test_a_property_set_after_verification_is_seen() -> None:
    """What is like a verified op is not verified again: the likeness must include everything a rule looks at."""
    type = tensor(F32, (2, 2))
    op = TransposeOp.create(operands=[value(type)], result_types=[type], properties={"dimensions": ints((1, 0))})
    verified(op)
    op.properties["dimensions"] = ints((1, 1))
    with pytest.raises(VerifyException, match="expected dimensions to be a permutation"):
        op.verify()


def test_same_properties_under_other_names_are_another_likeness() -> None:
    operand, low, high, none = tensor(F32, (4,)), ints((0,)), ints((2,)), ints((0, 0))
    for edge_low, edge_high in ((low, high), (none, high)):
        properties = {"edge_padding_low": edge_low, "edge_padding_high": edge_high, "interior_padding": low}
        op = PadOp.create(
            operands=[value(operand), value(tensor(F32))], result_types=[tensor(F32, (6,))], properties=properties
        )
        if edge_low is low:
            verified(op)
            continue
        with pytest.raises(VerifyException, match="expected 1 padded dimensions, found 2"):
            op.verify()


def test_a_like_op_at_the_end_of_a_block_is_still_no_terminator() -> None:
    type = tensor(F32)
    operand = value(type)
    verified(NegateOp.create(operands=[operand], result_types=[type]))
    last = NegateOp.create(operands=[operand], result_types=[type])
    test.TestOp(regions=[Region(Block([last]))])
    with pytest.raises(VerifyException, match="is not a terminator"):
        last.verify()


def test_a_use_of_an_erased_value_is_seen() -> None:
    type = tensor(F32)
    source = test.TestOp(result_types=[type])
    op = NegateOp.create(operands=source.results, result_types=[type])
    verified(op)
    source.results[0].erase(safe_erase=False)
    with pytest.raises(ValueError, match="Erased SSA value"):
        op.verify()
