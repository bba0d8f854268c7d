"""Programs through our StableHLO give on XLA what their HLO text gives there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from collective_programs import CASES, Case
from oracle.agreement import distance, evaluate
from oracle.programs import DTYPES, operation, program
from oracle.test_corpus import NAMES, assert_close, inputs_of, module_of, text_of
from oracle.xla import Program, run_on_xla
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xneuron.formats.hlo_text import parse_hlo, print_hlo
from xneuron.formats.stablehlo.parser import parse_stablehlo
from xneuron.formats.stablehlo.writer import print_stablehlo
from xneuron.transforms.unroll_while_loop import UnrollWhileLoop
from xneuron.transforms.while_loop_unroller import WhileLoopUnroller


def through_stablehlo(given: Program) -> Program:
    return replace(given, text=print_stablehlo(parse_hlo(given.text)), stablehlo=True)


def and_back(given: Program) -> Program:
    return replace(given, text=print_stablehlo(parse_stablehlo(given.text)))


# ---------------------------------------------------------------- the corpus

ALWAYS = (
    "bubble_sort called_twice cond_in_loop conv_grad embedding_grad mandelbrot matmul_f8 max_pool_grad scan_bf16 "
    "shapes sort_pairs top_k transformer_grad"
).split()
"""Programs of every run: loops of all kinds, layouts, calls, all that is special. The others come with `make fuzz`."""
BATCHES = [ALWAYS, *(sorted(set(NAMES) - set(ALWAYS))[at::3] for at in range(3))]


def _again(name: str) -> ModuleOp:
    return parse_stablehlo(print_stablehlo(module_of(name)), name)


def _unrolled(by: Any, name: str) -> ModuleOp:
    module = module_of(name)
    by.apply(Context(), module)
    module.verify()
    return module


STAGES: dict[str, Callable[[str], Program]] = {
    "out": lambda name: Program(print_stablehlo(module_of(f"{name}.before")), stablehlo=True),
    "optimised": lambda name: Program(print_stablehlo(module_of(f"{name}.after")), stablehlo=True),
    "unroll-while-loop": lambda name: Program(
        print_stablehlo(_unrolled(UnrollWhileLoop(), f"{name}.before")), stablehlo=True
    ),
    "while_loop_unroller": lambda name: Program(
        print_stablehlo(_unrolled(WhileLoopUnroller(), f"{name}.before")), stablehlo=True
    ),
    "in and out": lambda name: Program(print_stablehlo(_again(f"{name}.before")), stablehlo=True),
    "in, as HLO": lambda name: Program(print_hlo(_again(f"{name}.before"))),
    "optimised, in, as HLO": lambda name: Program(print_hlo(_again(f"{name}.after"))),
}
LOOPS = {"unroll-while-loop", "while_loop_unroller"}
ALWAYS_STAGES = {"out", "while_loop_unroller", "in, as HLO"}
"""Stages of every run; the others come with `make fuzz`."""


def _cases() -> list[Any]:
    found: list[Any] = []
    for batch, names in enumerate(BATCHES):
        for stage in STAGES:
            is_long = bool(batch) or stage not in ALWAYS_STAGES
            marks = [pytest.mark.xdist_group(f"stablehlo{batch}"), *([pytest.mark.fuzz] if is_long else [])]
            named = [name for name in names if stage not in LOOPS or " while(" in text_of(f"{name}.before")]
            found += [pytest.param(batch, name, stage, marks=marks, id=f"{name}-{stage}") for name in named]
    return found


@cache
def _outcomes(batch: int, stage: str) -> dict[str, list[np.ndarray]]:
    """XLA's outputs of the programs of a batch; of their HLO texts where no stage is named."""
    names = BATCHES[batch]
    programs = [STAGES[stage](name) if stage else Program(text_of(f"{name}.before")) for name in names]
    given = [replace(each, replicas=[inputs_of(name)]) for each, name in zip(programs, names, strict=True)]
    return {name: outcome.outputs for name, outcome in zip(names, run_on_xla(given), strict=True)}


@pytest.mark.parametrize(("batch", "name", "stage"), _cases())
def test_corpus(batch: int, name: str, stage: str) -> None:
    assert_close(_outcomes(batch, stage)[name], _outcomes(batch, "")[name])


# ---------------------------------------------------------------- collectives


def there(case: Case) -> str:
    """The case as StableHLO, which is the same once more after it was read."""
    text = print_stablehlo(parse_hlo(case.text()))
    assert print_stablehlo(parse_stablehlo(text)) == text
    return text


def test_collectives_on_four_devices() -> None:
    """Each kind in each group mode, at once and started, against its definition."""
    # XLA's CPU back end has no collective-broadcast.
    cases = [case for case in CASES if case.kind.name != "collective-broadcast"]
    inputs = {case.name: case.inputs(seed) for seed, case in enumerate(cases)}
    programs = [Program(there(case), inputs[case.name], False, case.mode.partitions, True) for case in cases]
    for case, outcome in zip(cases, run_on_xla(programs), strict=True):
        assert outcome.replicas is not None, f"{case.name}: {outcome.error}"
        for mine, theirs in zip(outcome.replicas, case.expected(inputs[case.name]), strict=True):
            for one, other in zip(mine, theirs, strict=True):
                np.testing.assert_array_equal(one, other, case.name)


# ---------------------------------------------------------------- instructions

ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }"
GE = "ge { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = pred[] compare(a, b), direction=GE }"
BEST = """best { v = f32[] parameter(0)
 i = s32[] parameter(1)
 w = f32[] parameter(2)
 j = s32[] parameter(3)
 c = pred[] compare(v, w), direction=GE
 x = f32[] select(c, v, w)
 y = s32[] select(c, i, j)
 ROOT t = (f32[], s32[]) tuple(x, y) }"""
LESS = """less { a = f32[] parameter(0)
 b = f32[] parameter(1)
 c = s32[] parameter(2)
 d = s32[] parameter(3)
 ROOT s = pred[] compare(a, b), direction=LT }"""
KEEP = "keep { a = f32[] parameter(0)\n ROOT b = f32[] parameter(1) }"
SWAP = """swap { p = (f32[2,3], (s32[2,3])) parameter(0)
 a = f32[2,3] get-tuple-element(p), index=0
 q = (s32[2,3]) get-tuple-element(p), index=1
 ROOT t = ((s32[2,3]), f32[2,3]) tuple(q, a) }
same { p = (f32[2,3], (s32[2,3])) parameter(0)
 a = f32[2,3] get-tuple-element(p), index=0
 q = (s32[2,3]) get-tuple-element(p), index=1
 b = f32[2,3] negate(a)
 ROOT t = ((s32[2,3]), f32[2,3]) tuple(q, b) }"""
CALLEE = """callee { p = (f32[2,3], (s32[2,3])) parameter(0)
 c = f32[2,3] parameter(1)
 a = f32[2,3] get-tuple-element(p), index=0
 q = (s32[2,3]) get-tuple-element(p), index=1
 b = f32[2,3] multiply(a, c)
 ROOT t = ((s32[2,3]), f32[2,3]) tuple(q, b) }"""
RUNNING = """running { x = f32[4] parameter(0)
 c = f32[4] parameter(1)
 s = f32[4] add(x, c)
 ROOT t = (f32[4], f32[4]) tuple(s, s) }"""

_rng = np.random.default_rng(0)


def f32(*shape: int) -> np.ndarray:
    return _rng.standard_normal(shape).astype(np.float32)


def s32(*shape: int, below: int = 100) -> np.ndarray:
    return _rng.integers(0, below, shape).astype(np.int32)


def as_type(name: str, array: np.ndarray) -> np.ndarray:
    return array.astype(DTYPES[name])


X, Y, Z = f32(2, 3), s32(2, 3), f32(4, 5, 6)
SPD = np.array([[4, 1, 0], [1, 3, 1], [0, 1, 2]], np.float32)
UNARY = (
    "abs acos acosh asin asinh atanh cbrt ceil cosh cosine erf exponential exponential-minus-one floor is-finite log "
    "log-plus-one logistic negate round-nearest-afz round-nearest-even rsqrt sign sine sinh sqrt tan tanh"
).split()
BINARY = "add atan2 divide maximum minimum multiply power remainder subtract".split()
INTEGER = "and divide maximum multiply or remainder shift-left shift-right-arithmetic shift-right-logical xor".split()
PRED = "add and maximum minimum multiply or xor".split()
BITS = np.array([True, True, False, False]), np.array([True, False, True, False])


def _instructions() -> dict[str, Program]:
    one = partial(program, computations="\n".join([ADD, GE, BEST, LESS, KEEP, SWAP, CALLEE, RUNNING]))
    found: dict[str, Program] = {}
    for opcode in UNARY:
        found[opcode] = operation(
            opcode, np.abs(Z) + 1.25 if opcode == "acosh" else Z, result="pred" * (opcode[:2] == "is")
        )
    found |= {opcode: operation(opcode, Z, Z[::-1].copy()) for opcode in BINARY}
    found |= {f"{opcode}.s32": operation(opcode, Y, Y[::-1].copy() + 1) for opcode in INTEGER}
    found |= {f"{opcode}.pred": operation(opcode, *BITS) for opcode in PRED}
    for opcode in ("count-leading-zeros", "popcnt", "not"):
        found[opcode] = operation(opcode, Y)
    for target in ("pred", "s4", "s8", "u8", "u32", "s64", "f16", "bf16", "f64", "f8e5m2", "f8e4m3fn", "c64"):
        found[f"convert.{target}"] = operation("convert", Z, result=target)
    found["convert.nan.pred"] = operation("convert", np.array([0, -0.0, np.nan, 1], np.float32), result="pred")
    found["compare.total"] = operation("compare", Z, Z, result="pred", attributes="direction=LT, type=TOTALORDER")
    found["compare.u32"] = operation(
        "compare", Y.view(np.uint32), Y.view(np.uint32), result="pred", attributes="direction=GE"
    )
    found["complex"] = one("f32[2,3] imag(complex(p0, p1))", X, f32(2, 3))
    found["select"] = one("f32[2,3] select(pred[] constant(false), p0, p1)", X, f32(2, 3))
    found["clamp"] = one("f32[2,3] clamp(f32[] constant(-1), p0, f32[] constant(nan))", X)
    found["reduce-precision"] = operation("reduce-precision", Z, attributes="exponent_bits=5, mantissa_bits=3")
    found["map"] = one("f32[2,3] map(p0, p1), dimensions={0,1}, to_apply=add", X, f32(2, 3))
    found["constants"] = one(
        "(pred[3], s4[3], c64[2], bf16[2,2], f8e4m3fn[2], u64[], f32[0], f32[2,2]) tuple(pred[3] constant({1,0,1}), "
        "s4[3] constant({1,-8,7}), c64[2] constant({(1,nan), (-inf,-0.0)}), bf16[2,2] constant({{1,2},{-inf,nan}}), "
        "f8e4m3fn[2] constant({448,-0.5}), u64[] constant(18446744073709551615), f32[0] constant({}), "
        "f32[2,2] constant({{-0.0,-0.0},{-0.0,-0.0}}))"
    )
    for name, target in {"same": "s32[4,6]", "narrow": "u16[4,6,2]", "wide": "f64[4,3]"}.items():
        found[f"bitcast-convert.{name}"] = one(
            f"{target} bitcast-convert({'f32[4,3,2] reshape(p0)' if name == 'wide' else 'p0'})", f32(4, 6)
        )
    found["bitcast"] = one("f32[4,3]{0,1} bitcast(f32[2,6]{0,1} copy(p0))", f32(2, 6))
    found["bitcast.narrow"] = one("u8[3,8] bitcast(f32[2,3]{0,1} copy(p0))", X)
    found["bitcast.wide"] = one("u32[3,2]{0,1} bitcast(u8[2,12]{1,0} copy(p0))", as_type("u8", s32(2, 12)))
    found["broadcast"] = one("f32[2,4,3] broadcast(p0), dimensions={0,2}", X)
    found["transpose"] = one("f32[6,4,5] transpose(p0), dimensions={2,0,1}", Z)
    found["reverse"] = one("f32[4,5,6] reverse(p0), dimensions={0,2}", Z)
    found["slice"] = one("f32[2,5,3] slice(p0), slice={[0:4:2], [0:5], [1:6:2]}", Z)
    found["pad"] = one("f32[5,1,14] pad(p0, f32[] constant(7)), padding=0_1x-2_-2x1_2_1", Z)
    found["iota"] = one("u8[3,2] iota(), iota_dimension=0")
    found["dynamic-slice"] = one(
        "f32[2,5,1] dynamic-slice(p0, p1, p2, p1), dynamic_slice_sizes={2,5,1}", Z, s32(), s32()
    )
    found["dynamic-slice.vector"] = one(
        "f32[2,5,1] dynamic-slice(p0, p1), dynamic_slice_sizes={2,5,1}", Z, s32(3, below=6)
    )
    found["dynamic-update-slice"] = one("f32[4,5,6] dynamic-update-slice(p0, p1, p2, p2, p2)", Z, f32(2, 1, 3), s32())
    found["concatenate"] = one("f32[2,6] concatenate(p0, p1), dimensions={1}", X, f32(2, 3))
    found["gather"] = one(
        "f32[2,3,6] gather(p0, p1), offset_dims={2}, collapsed_slice_dims={0,1}, start_index_map={1,0}, "
        "index_vector_dim=1, slice_sizes={1,1,6}", Z, s32(2, 2, 3, below=5),
    )  # fmt: skip
    found["gather.batched"] = one(
        "f32[4,2,6] gather(p0, p1), offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1}, "
        "operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1,6}, "
        "indices_are_sorted=true", Z, np.sort(s32(4, 2, below=5)),
    )  # fmt: skip
    found["scatter"] = one(
        "f32[4,5,6] scatter(p0, p1, p2), update_window_dims={1}, inserted_window_dims={0,1}, "
        "scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=add", Z, s32(3, 2, below=4), f32(3, 6),
    )  # fmt: skip
    found["reduce"] = one("f32[4,6] reduce(p0, f32[] constant(0)), dimensions={1}, to_apply=add", Z)
    found["reduce.two"] = one(
        "(f32[4,6], s32[4,6]) reduce(p0, p1, f32[] constant(-inf), s32[] constant(-1)), dimensions={1}, to_apply=best",
        Z, s32(4, 5, 6),
    )  # fmt: skip
    found["reduce-window"] = one(
        "f32[5,6] reduce-window(p0, f32[] constant(0)), window={size=2x2 stride=1x2 pad=1_0x1_2 lhs_dilate=1x2 "
        "rhs_dilate=1x2}, to_apply=add", f32(5, 6),
    )  # fmt: skip
    found["reduce-window.two"] = one(
        "(f32[4,4], s32[4,4]) reduce-window(p0, p1, f32[] constant(-inf), s32[] constant(0)), window={size=2x3}, "
        "to_apply=best", f32(5, 6), s32(5, 6),
    )  # fmt: skip
    found["select-and-scatter"] = one(
        "f32[4,6] select-and-scatter(p0, p1, f32[] constant(0)), window={size=2x3 stride=2x3}, select=ge, scatter=add",
        f32(4, 6), f32(2, 2),
    )  # fmt: skip
    found["sort.two"] = one(
        "(f32[4,6], s32[4,6]) sort(p0, p1), dimensions={1}, is_stable=true, to_apply=less", f32(4, 6), s32(4, 6)
    )
    found["topk"] = one("(f32[4,2], s32[4,2]) topk(p0), k=2, largest=true", f32(4, 6))
    found["topk.smallest"] = one("(f32[4,2], s32[4,2]) topk(p0), k=2, largest=false", f32(4, 6))
    found["dot"] = one(
        "f32[3,2,4] dot(p0, p1), lhs_batch_dims={1}, rhs_batch_dims={2}, lhs_contracting_dims={2}, "
        "rhs_contracting_dims={0}, operand_precision={highest,default}", f32(2, 3, 5), f32(5, 4, 3),
    )  # fmt: skip
    found["dot.algorithm"] = one(
        "f32[2,4] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}, algorithm=dot_f32_f32_f32",
        f32(2, 3), f32(3, 4),
    )  # fmt: skip
    found["dot.s8"] = one(
        "s32[2,4] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        as_type("s8", s32(2, 3)),
        as_type("s8", s32(3, 4)),
    )
    found["convolution"] = one(
        "f32[4,7,3] convolution(p0, p1), window={size=3 stride=2 pad=1_3 lhs_dilate=2 rhs_dilate=1 rhs_reversal=1}, "
        "dim_labels=0bf_io0->f0b, feature_group_count=2", f32(6, 3, 2), f32(1, 4, 3),
    )  # fmt: skip
    found["convolution.mixed"] = one(
        "f32[1,3,4] convolution(p0, p1), window={size=2}, dim_labels=b0f_0io->b0f",
        f32(1, 4, 3),
        as_type("f16", f32(2, 3, 4)),
    )
    found["cholesky"] = one("f32[3,3] cholesky(p0), lower=true", SPD)
    found["triangular-solve"] = one(
        "f32[3,2] triangular-solve(p0, p1), left_side=true, lower=true, transpose_a=TRANSPOSE", SPD, f32(3, 2)
    )
    found["fft"] = one("c64[2,3] fft(p0), fft_type=RFFT, fft_length={4}", f32(2, 4))
    per_feature = [f32(3) for _ in range(3)]
    found["batch-norm-inference"] = one(
        "f32[2,3] batch-norm-inference(p0, p1, p2, p3, p4), epsilon=0.001, feature_index=1",
        X,
        *per_feature,
        np.abs(f32(3)),
    )
    found["batch-norm-training"] = one(
        "(f32[2,3], f32[3], f32[3]) batch-norm-training(p0, p1, p2), epsilon=0.001, feature_index=1",
        X,
        *per_feature[:2],
    )
    found["batch-norm-grad"] = one(
        "(f32[2,3], f32[3], f32[3]) batch-norm-grad(p0, p1, p2, p3, p4), epsilon=0.001, feature_index=1",
        X, *per_feature[:2], np.abs(f32(3)), f32(2, 3),
    )  # fmt: skip
    found["rng-bit-generator"] = one(
        "(u64[2], u32[2,3]) rng-bit-generator(p0), algorithm=rng_three_fry", np.array([1, 2], np.uint64)
    )
    found["scan"] = one(
        "(f32[4,3], f32[4]) scan(p0, p1), dimensions={1}, num_carries=1, is_reverse=true, is_associative=true, "
        "to_apply=running",
        f32(4, 3), f32(4),
    )  # fmt: skip
    tuple_of_both = "(f32[2,3], (s32[2,3])) tuple(p0, (s32[2,3]) tuple(p1))"
    found["conditional"] = one(
        f"((s32[2,3]), f32[2,3]) conditional(p2, {tuple_of_both}, {tuple_of_both}, {tuple_of_both}), "
        "branch_computations={swap,same,swap}", X, Y, np.int32(1),
    )  # fmt: skip
    found["conditional.pred"] = one(
        f"((s32[2,3]), f32[2,3]) conditional(p2, {tuple_of_both}, {tuple_of_both}), true_computation=swap, "
        "false_computation=same", X, Y, np.bool_(False),
    )  # fmt: skip
    found["call"] = one(f"((s32[2,3]), f32[2,3]) call({tuple_of_both}, p0), to_apply=callee", X, Y)
    found["fusion"] = one(f"((s32[2,3]), f32[2,3]) fusion({tuple_of_both}, p0), kind=kLoop, calls=callee", X, Y)
    found["opt-barrier"] = one(f"(f32[2,3], (s32[2,3])) opt-barrier({tuple_of_both})", X, Y)
    found["tokens"] = one("f32[2,3] add-dependency(p0, token[] after-all(token[] after-all()))", X)
    found["control"] = one("f32[2,3] add(f32[2,3] negate(p0), p0), control-predecessors={p0}", X)
    found["ids"] = one("u32[] add(u32[] replica-id(), u32[] partition-id())")
    return found


INSTRUCTIONS = _instructions()
NOT_AS_HLO = set(
    "acos acosh asin asinh atanh cosh sinh bitcast bitcast.narrow bitcast.wide dynamic-slice.vector fusion".split()
)
"""What XLA's CPU back end takes as StableHLO alone: its own translation of HLO keeps what it then cannot compile."""

IN_MEMORY: dict[str, Callable[..., np.ndarray]] = {
    "bitcast.narrow": lambda x: np.frombuffer(x.T.tobytes(), np.uint8).reshape(3, 8),
    "bitcast.wide": lambda x: np.frombuffer(x.tobytes(), np.uint32).reshape(2, 3).T,
}
"""Bitcasts to elements of another width, which the evaluator has no meaning for: what lies where."""


@cache
def _both() -> dict[str, tuple[Any, Any, Any]]:
    """Outcomes of each program as HLO text (where XLA takes that), as our StableHLO, and as that read and written."""
    names = [name for name in INSTRUCTIONS if name not in NOT_AS_HLO]
    direct = dict(zip(names, run_on_xla([INSTRUCTIONS[name] for name in names]), strict=True))
    there = [through_stablehlo(given) for given in INSTRUCTIONS.values()]
    outcomes = zip(INSTRUCTIONS, run_on_xla(there), run_on_xla([and_back(given) for given in there]), strict=True)
    return {name: (direct.get(name), ours, again) for name, ours, again in outcomes}


@pytest.mark.xdist_group("stablehlo instructions")
@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_instruction(name: str) -> None:
    direct, ours, again = _both()[name]
    assert_equal(again.outputs, ours.outputs)
    if name in IN_MEMORY:
        assert_equal(ours.outputs, [IN_MEMORY[name](*INSTRUCTIONS[name].replicas[0])])
    elif direct is None:
        assert_close(ours.outputs, evaluate(INSTRUCTIONS[name]))
    else:
        assert_equal(ours.outputs, direct.outputs)


def assert_equal(found: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> None:
    assert [(a.dtype, a.shape) for a in found] == [(a.dtype, a.shape) for a in expected]
    for mine, theirs in zip(found, expected, strict=True):
        assert (distance(mine, theirs) == 0).all(), f"{mine} where HLO gives {theirs}"
