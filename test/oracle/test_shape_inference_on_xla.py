"""Shapes left out of HLO text: XLA's reader and ours infer the same, or both refuse.

XLA's reader infers only; its verifier, which refuses more, runs when a module is compiled. What our rules refuse
already, as that verifier does, is listed apart. Left out is what aborts XLA's reader: an index outside a tuple,
or into what is none.
"""

from __future__ import annotations

import re
from functools import cache

import pytest
from oracle.xla_text import reprinted
from xdsl.utils.exceptions import ParseError, VerifyException

from xneuron.dialects.hlo.types import spelled
from xneuron.formats.hlo_text import parse_hlo

COMPUTATIONS = """
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=LT }
both { a = f32[] parameter(0)  i = s32[] parameter(1)  b = f32[] parameter(2)  j = s32[] parameter(3)
       ROOT t = (f32[], s32[]) tuple(a, j) }
add_s32 { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT c = s32[] add(a, b) }
negate { a = f32[4] parameter(0)  ROOT b = f32[4] negate(a) }
same { ROOT a = f32[4] parameter(0) }
three { a = f32[3] parameter(0)  ROOT b = f32[3] negate(a) }
positive { a = f32[4] parameter(0)  ROOT p = pred[] constant(true) }
scalar { a = f32[] parameter(0)  ROOT b = s32[] convert(a) }
"""

UNARY = (
    "abs acos acosh asin asinh atanh cbrt ceil copy cosh cosine count-leading-zeros erf exponential "
    "exponential-minus-one floor imag is-finite log log-plus-one logistic negate not popcnt real round-nearest-afz "
    "round-nearest-even rsqrt sign sine sinh sqrt tan tanh"
).split()
BINARY = "add and atan2 complex divide maximum minimum multiply or power remainder subtract xor".split()
ELEMENTS = ("pred", "s8", "s32", "u32", "bf16", "f32", "f64", "c64", "c128", "f8e4m3fn")

Case = tuple[str, tuple[str, ...]]
"""An instruction without its shape, and the shapes of its operands p0, p1, …"""

GATHER = "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1"
SCATTER = "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1"
DOT = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
BATCH = "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}"
WHILE = "while(p0), condition=positive, body="
CONDITIONAL = "conditional(p0, p1, p2), true_computation=negate, false_computation="
SWITCH = "conditional(p0, p1, p1), branch_computations={negate, same}"
CONV = "dim_labels=b01f_01io->b01f"

SAME: list[Case] = [
    *[(f"{opcode}(p0)", (f"{element}[2,3]",)) for opcode in UNARY for element in ELEMENTS],
    *[(f"{opcode}(p0, p1)", (f"{e}[2]", f"{e}[2]")) for opcode in BINARY for e in ELEMENTS],
    *[("compare(p0, p1), direction=EQ", (f"{e}[2]", f"{e}[2]")) for e in ELEMENTS],
    ("add(p0, p1)", ("f32[2]", "f32[3]")),
    ("add(p0, p1)", ("f32[2]", "s32[2]")),
    ("add(p0, p1)", ("f32[2,2]", "f32[2]")),
    ("negate(p0)", ("(f32[2], f32[2])",)),
    ("copy(p0)", ("(f32[2], s32[])",)),
    ("select(p0, p1, p1)", ("pred[4]", "f32[4]")),
    ("select(p0, p1, p1)", ("pred[]", "f32[4]")),
    ("select(p0, p1, p1)", ("pred[3]", "f32[4]")),
    ("select(p0, p1, p1)", ("s32[4]", "f32[4]")),
    ("clamp(p0, p1, p0)", ("f32[4]", "f32[4]")),
    ("clamp(p0, p1, p0)", ("f32[]", "f32[4]")),
    ("clamp(p0, p1, p0)", ("f32[3]", "f32[4]")),
    ("clamp(p0, p1, p0)", ("s32[]", "f32[4]")),
    ("tuple(p0, p1)", ("f32[4]", "(s32[], token[])")),
    ("tuple()", ()),
    ("get-tuple-element(p0), index=1", ("(f32[4], s32[])",)),
    ("transpose(p0), dimensions={2,0,1}", ("f32[2,3,5]",)),
    ("transpose(p0), dimensions={0,0}", ("f32[2,3]",)),
    ("transpose(p0), dimensions={0}", ("f32[2,3]",)),
    ("reverse(p0), dimensions={1}", ("f32[2,3]",)),
    ("reverse(p0), dimensions={2}", ("f32[2,3]",)),
    ("reverse(p0), dimensions={1,1}", ("f32[2,3]",)),
    ("broadcast(p0), dimensions={}", ("f32[]",)),
    ("concatenate(p0, p1), dimensions={1}", ("f32[2,3]", "f32[2,4]")),
    ("concatenate(p0, p1), dimensions={0}", ("f32[2,3]", "f32[2,4]")),
    ("concatenate(p0, p1), dimensions={2}", ("f32[2,3]", "f32[2,3]")),
    ("concatenate(p0, p1), dimensions={0}", ("f32[2]", "s32[2]")),
    ("concatenate(p0, p1), dimensions={0}", ("f32[2]", "f32[2,2]")),
    ("pad(p0, p1), padding=1_-2_2x0_3", ("f32[4,2]", "f32[]")),
    ("pad(p0, p1), padding=-3_-3", ("f32[4]", "f32[]")),
    ("pad(p0, p1), padding=0_0_-1", ("f32[4]", "f32[]")),
    ("pad(p0, p1), padding=0_0", ("f32[4,2]", "f32[]")),
    ("pad(p0, p1), padding=0_0", ("f32[4]", "s32[]")),
    ("pad(p0, p1), padding=0_0", ("f32[4]", "f32[1]")),
    ("get-dimension-size(p0), dimensions={1}", ("f32[2,3]",)),
    ("get-dimension-size(p0), dimensions={2}", ("f32[2,3]",)),
    (f"gather(p0, p1), {GATHER}, slice_sizes={{1,4}}", ("f32[3,4]", "s32[2]")),
    (f"gather(p0, p1), {GATHER}, slice_sizes={{1,4}}", ("f32[3,4]", "s32[2,1]")),
    (f"gather(p0, p1), {GATHER}, slice_sizes={{1,2}}", ("f32[3,4]", "u8[2]")),
    (f"gather(p0, p1), {GATHER}, slice_sizes={{1,4}}", ("f32[3,4]", "f32[2]")),
    (f"gather(p0, p1), {GATHER}, slice_sizes={{1,5}}", ("f32[3,4]", "s32[2]")),
    (f"gather(p0, p1), {GATHER}, slice_sizes={{2,4}}", ("f32[3,4]", "s32[2]")),
    (f"gather(p0, p1), {GATHER}, slice_sizes={{1}}", ("f32[3,4]", "s32[2]")),
    (f"gather(p0, p1), {GATHER}, slice_sizes={{1,4}}", ("f32[3,4]", "s32[2,2]")),
    (f"gather(p0, p1), {GATHER}, slice_sizes={{1,4}}", ("f32[3,4]", "s32[]")),
    (
        "gather(p0, p1), offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, "
        "start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1,4}",
        ("f32[2,3,4]", "s32[2,5]"),
    ),
    (f"scatter(p0, p1, p2), {SCATTER}, to_apply=add", ("f32[3,4]", "s32[2]", "f32[2,4]")),
    (f"scatter(p0, p1, p2), {SCATTER}, to_apply=add", ("f32[3,4]", "s32[2]", "f32[2,3]")),
    (f"scatter(p0, p1, p2), {SCATTER}, to_apply=add", ("f32[3,4]", "s32[2]", "f32[2,5]")),
    (f"scatter(p0, p1, p2), {SCATTER}, to_apply=add", ("f32[3,4]", "s32[2]", "f32[3,4]")),
    (f"scatter(p0, p1, p2), {SCATTER}, to_apply=add", ("f32[3,4]", "f32[2]", "f32[2,4]")),
    (f"scatter(p0, p1, p2), {SCATTER}, to_apply=add", ("f32[3,4]", "s32[2]", "f32[4]")),
    (f"scatter(p0, p1, p2), {SCATTER}, to_apply=add_s32", ("f32[3,4]", "s32[2]", "f32[2,4]")),
    ("reduce(p0, p1), dimensions={0}, to_apply=add", ("f32[2,3]", "f32[]")),
    ("reduce(p0, p1), dimensions={1,0}, to_apply=add", ("f32[2,3]", "f32[]")),
    ("reduce(p0, p1), dimensions={}, to_apply=add", ("f32[2,3]", "f32[]")),
    ("reduce(p0, p1), dimensions={2}, to_apply=add", ("f32[2,3]", "f32[]")),
    ("reduce(p0, p1), dimensions={0,0}, to_apply=add", ("f32[2,3]", "f32[]")),
    ("reduce(p0, p1), dimensions={0}, to_apply=add", ("f32[2,3]", "f32[1]")),
    ("reduce(p0, p1), dimensions={0}, to_apply=less", ("f32[2,3]", "f32[]")),
    ("reduce(p0, p1), dimensions={0}, to_apply=add_s32", ("f32[2,3]", "f32[]")),
    ("reduce(p0, p1, p2, p3), dimensions={0}, to_apply=both", ("f32[2,3]", "s32[2,3]", "f32[]", "s32[]")),
    ("reduce(p0, p1, p2, p3), dimensions={0}, to_apply=both", ("f32[2,3]", "s32[3,2]", "f32[]", "s32[]")),
    ("reduce-window(p0, p1), window={size=2x3 stride=2x1 pad=0_0x1_1}, to_apply=add", ("f32[4,4]", "f32[]")),
    ("reduce-window(p0, p1), window={size=2x2 lhs_dilate=2x1 rhs_dilate=1x3}, to_apply=add", ("f32[3,5]", "f32[]")),
    ("reduce-window(p0, p1), window={size=9}, to_apply=add", ("f32[4]", "f32[]")),
    ("reduce-window(p0, p1), window={size=2}, to_apply=add", ("f32[4,4]", "f32[]")),
    ("reduce-window(p0, p1), window={size=0}, to_apply=add", ("f32[4]", "f32[]")),
    (
        "select-and-scatter(p0, p1, p2), window={size=2 stride=2}, select=less, scatter=add",
        ("f32[4]", "f32[2]", "f32[]"),
    ),
    (
        "select-and-scatter(p0, p1, p2), window={size=2 stride=2}, select=add, scatter=add",
        ("f32[4]", "f32[2]", "f32[]"),
    ),
    (
        "select-and-scatter(p0, p1, p2), window={size=2 stride=2}, select=less, scatter=add",
        ("f32[4]", "f32[3]", "f32[]"),
    ),
    ("sort(p0), dimensions={0}, to_apply=less", ("f32[4]",)),
    ("topk(p0), k=2", ("f32[3,4]",)),
    ("map(p0), dimensions={0,1}, to_apply=scalar", ("f32[2,3]",)),
    ("map(p0), dimensions={0}, to_apply=scalar", ("f32[2,3]",)),
    ("map(p0), dimensions={0}, to_apply=scalar", ("s32[2]",)),
    ("map(p0, p0), dimensions={0}, to_apply=scalar", ("f32[2]",)),
    (f"dot(p0, p1), {DOT}", ("f32[2,3]", "f32[3,4]")),
    (f"dot(p0, p1), {DOT}", ("f32[2,3]", "f32[2,3]")),
    (f"dot(p0, p1), {DOT}", ("f32[2,3]", "f32[3]")),
    (f"dot(p0, p1), {DOT}", ("bf16[2,3]", "f32[3,4]")),
    (f"dot(p0, p1), {BATCH}", ("f32[5,2,3]", "f32[5,3,4]")),
    (f"dot(p0, p1), {BATCH}", ("f32[5,2,3]", "f32[6,3,4]")),
    ("dot(p0, p1), lhs_contracting_dims={2}, rhs_contracting_dims={0}", ("f32[2,3]", "f32[3,4]")),
    ("dot(p0, p1), lhs_contracting_dims={0,0}, rhs_contracting_dims={0,0}", ("f32[2]", "f32[2]")),
    ("dot(p0, p1)", ("f32[2]", "f32[3]")),
    (f"convolution(p0, p1), window={{size=2x2}}, {CONV}", ("f32[1,4,4,2]", "f32[2,2,2,3]")),
    (f"convolution(p0, p1), window={{size=2x2 stride=2x1 pad=1_0x0_1}}, {CONV}", ("f32[1,4,4,2]", "f32[2,2,2,3]")),
    (f"convolution(p0, p1), window={{size=2x2}}, {CONV}, feature_group_count=2", ("f32[1,4,4,2]", "f32[2,2,1,4]")),
    (f"convolution(p0, p1), window={{size=2x2}}, {CONV}, feature_group_count=2", ("f32[1,4,4,2]", "f32[2,2,1,3]")),
    (f"convolution(p0, p1), window={{size=2x2}}, {CONV}, batch_group_count=2", ("f32[2,4,4,2]", "f32[2,2,2,4]")),
    (f"convolution(p0, p1), window={{size=2x2}}, {CONV}, batch_group_count=2", ("f32[3,4,4,2]", "f32[2,2,2,4]")),
    (f"convolution(p0, p1), window={{size=3x2}}, {CONV}", ("f32[1,4,4,2]", "f32[2,2,2,3]")),
    (f"convolution(p0, p1), window={{size=2x2}}, {CONV}", ("f32[1,4,4,2]", "f32[2,2,3,3]")),
    (f"convolution(p0, p1), window={{size=2x2}}, {CONV}", ("f32[4,4,2]", "f32[2,2,3,3]")),
    ("cholesky(p0)", ("f32[5,3,3]",)),
    ("cholesky(p0)", ("f32[3,4]",)),
    ("cholesky(p0)", ("s32[3,3]",)),
    ("triangular-solve(p0, p1), left_side=true, transpose_a=NO_TRANSPOSE", ("f32[3,3]", "f32[3,4]")),
    ("triangular-solve(p0, p1), left_side=false, transpose_a=NO_TRANSPOSE", ("f32[3,3]", "f32[3,4]")),
    ("triangular-solve(p0, p1), left_side=true, transpose_a=NO_TRANSPOSE", ("f32[2,3,3]", "f32[5,3,4]")),
    ("fft(p0), fft_type=FFT, fft_length={4}", ("c64[2,4]",)),
    ("fft(p0), fft_type=RFFT, fft_length={4}", ("f32[2,4]",)),
    ("fft(p0), fft_type=IRFFT, fft_length={4}", ("c64[2,3]",)),
    ("fft(p0), fft_type=IRFFT, fft_length={4}", ("c64[2,4]",)),
    ("fft(p0), fft_type=RFFT, fft_length={4}", ("c64[2,4]",)),
    ("fft(p0), fft_type=RFFT, fft_length={2,5}", ("f32[2,4]",)),
    ("batch-norm-inference(p0, p1, p1, p1, p1), epsilon=1, feature_index=1", ("f32[2,3]", "f32[3]")),
    ("batch-norm-inference(p0, p1, p1, p1, p1), epsilon=1, feature_index=0", ("f32[2,3]", "f32[3]")),
    ("batch-norm-training(p0, p1, p1), epsilon=1, feature_index=1", ("f32[2,3]", "f32[3]")),
    ("batch-norm-training(p0, p1, p1), epsilon=1, feature_index=2", ("f32[2,3]", "f32[3]")),
    ("batch-norm-grad(p0, p1, p1, p1, p0), epsilon=1, feature_index=1", ("f32[2,3]", "f32[3]")),
    (f"{WHILE}negate", ("f32[4]",)),
    (f"{WHILE}three", ("f32[4]",)),
    ("while(p0), condition=negate, body=negate", ("f32[4]",)),
    (f"{CONDITIONAL}same", ("pred[]", "f32[4]", "f32[4]")),
    (f"{CONDITIONAL}three", ("pred[]", "f32[4]", "f32[3]")),
    (f"{CONDITIONAL}same", ("pred[]", "f32[4]", "f32[3]")),
    (SWITCH, ("s32[]", "f32[4]")),
    ("call(p0), to_apply=scalar", ("f32[]",)),
    ("call(p0), to_apply=scalar", ("s32[]",)),
    ("after-all(p0)", ("token[]",)),
    ("after-all()", ()),
    ("add-dependency(p0, p1)", ("f32[4]", "token[]")),
    ("partition-id()", ()),
    ("replica-id()", ()),
]

STRICTER: list[Case] = [
    # HloVerifier: "mixed precision is disallowed", "Implicit broadcast is not allowed in HLO".
    ("add(p0, p1)", ("f32[2]", "bf16[2]")),
    ("add(p0, p1)", ("f32[2]", "f32[1]")),
    ("concatenate(p0, p1), dimensions={0}", ("f32[2]", "bf16[2]")),
    ("pad(p0, p1), padding=0_0", ("f32[2]", "bf16[]")),
    ("reduce(p0, p1), dimensions={0}, to_apply=add", ("bf16[2]", "f32[]")),
    # Bits of numbers that have no bits to shift.
    *[(f"{name}(p0, p1)", ("f32[2]", "f32[2]")) for name in ("shift-left", "shift-right-logical", "mulhi")],
    # What the comparison, or its order, has no meaning for.
    ("compare(p0, p1), direction=LT", ("c64[2]", "c64[2]")),
    ("compare(p0, p1), direction=LT, type=TOTALORDER", ("s32[2]", "s32[2]")),
    # HloVerifier: "Expected the sort_dimension", "does not lead to a scalar predicate shape".
    ("sort(p0), dimensions={1}, to_apply=less", ("f32[4]",)),
    ("sort(p0), dimensions={0}, to_apply=add", ("f32[4]",)),
    # Tokens only; a broadcast without a shape takes its dimensions for extents.
    ("after-all(p0)", ("f32[]",)),
    ("broadcast(p0), dimensions={0}", ("f32[3]",)),
    # Batches of the operand and of the indices go together.
    (
        "gather(p0, p1), offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, "
        "start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1,4}",
        ("f32[2,3,4]", "s32[3,5]"),
    ),
    # The length is that of the operand, not another one.
    ("fft(p0), fft_type=FFT, fft_length={3}", ("c64[2,4]",)),
]


def text_of(case: Case) -> str:
    body, operands = case
    parameters = "".join(f"  p{number} = {shape} parameter({number})\n" for number, shape in enumerate(operands))
    return f"HloModule m\n{COMPUTATIONS}\nENTRY main {{\n{parameters}  ROOT subject = {body}\n}}\n"


@cache
def inferred_by_xla() -> dict[Case, str]:
    """The shape of the subject without layout, or `refused`, per case."""
    cases = [*dict.fromkeys([*SAME, *STRICTER])]
    return dict(zip(cases, map(_subject, reprinted([text_of(case) for case in cases])), strict=True))


def _subject(text: str) -> str:
    found = re.search(r"^  ROOT %?subject = (.*?) [a-z-]+\d?\(", text, re.MULTILINE)
    return re.sub(r"\{[^}]*\}|/\*.*?\*/", "", found[1]) if found else "refused"


def inferred_by_us(case: Case) -> str:
    try:
        module = parse_hlo(text_of(case))
        module.verify()
    except (ParseError, VerifyException):
        return "refused"
    subject = next(op for op in module.walk() if op.results and op.results[0].name_hint == "subject")
    return spelled(subject.results[0].type)


def label(case: Case) -> str:
    return f"{case[0]} of {', '.join(case[1])}"


@pytest.mark.parametrize("case", SAME, ids=label)
def test_same_shape_or_both_refuse(case: Case) -> None:
    assert inferred_by_us(case) == inferred_by_xla()[case]


@pytest.mark.parametrize("case", STRICTER, ids=label)
def test_refused_before_the_verifier_does(case: Case) -> None:
    assert inferred_by_us(case) == "refused"
    assert inferred_by_xla()[case] != "refused"
