"""The table of opcodes: which attributes each takes, in the order in which they are printed (xla-semantics.md d.6).

Reader and printer both work from these rows; what is not here they know nothing about.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import CallOp
from xdsl.ir import Attribute, Operation
from xdsl.irdl import IRDLOperation, OperandDef

from xneuron.dialects.hlo import HLO
from xneuron.dialects.hlo.attributes import integer, ints
from xneuron.dialects.hlo.base import opcode_of
from xneuron.formats.hlo_text import common, kinds
from xneuron.formats.hlo_text.kinds import FLAG, INT, INTS, STRING, UNIT, Kind, enumeration


@dataclass(frozen=True)
class Spec:
    """One attribute of an opcode.

    `properties` are the op's names for it. `default` is dropped when read and `implied` assumed when nothing is said.
    `always`: printed also where the op has no such property. `regions`: the value names computations, not properties:
    "one", or "many" in braces. `ignored`: read and forgotten. `marks`: a flag the op has where this form was used.
    """

    text: str
    kind: Kind | None = None
    properties: tuple[str, ...] = ()
    required: bool = False
    default: Attribute | None = None
    implied: Attribute | None = None
    always: bool = False
    regions: str = ""
    ignored: bool = False
    marks: str = ""


def _spec(text: str, kind: Kind, property: str = "", **rest: object) -> Spec:
    return Spec(text, kind, (property or text.replace("-", "_"),), **rest)  # pyright: ignore


def _need(text: str, kind: Kind, property: str = "", **rest: object) -> Spec:
    return _spec(text, kind, property, required=True, **rest)


def _computation(text: str, required: bool = True, regions: str = "one", marks: str = "") -> Spec:
    return Spec(text, None, (), required, regions=regions, marks=marks)


_TO_APPLY = _computation("to_apply")
_DIMENSIONS = _need("dimensions", INTS)
_CHANNEL = _spec("channel_id", INT)
_GROUPS = [
    _CHANNEL,
    _spec("replica_groups", kinds.GROUPS, always=True),
]
_CONSTRAIN = _spec("constrain_layout", FLAG)
_GLOBAL_IDS = _spec("use_global_device_ids", FLAG)
_MODE = Spec("mode", kinds.WORD, ignored=True)
_ALL_REDUCE = [*_GROUPS, _CONSTRAIN, _GLOBAL_IDS, _TO_APPLY, _MODE]
_ALL_GATHER = [*_GROUPS, _CONSTRAIN, _DIMENSIONS, _GLOBAL_IDS]
_PERMUTE = [
    _CHANNEL,
    _need("source_target_pairs", kinds.SOURCE_TARGET),
    _spec("slice_sizes", kinds.PAIRS),
]
_TRANSFER = [_CHANNEL, _spec("is_host_transfer", FLAG)]
_WINDOW = _spec("window", kinds.WINDOW)
_PRECISION = _spec("operand_precision", kinds.PRECISION)
_ALGORITHM = _spec(
    "algorithm",
    enumeration(
        "unset",
        "dot_any_f8_any_f8_f32",
        "dot_any_f8_any_f8_f32_fast_accum",
        "dot_f16_f16_f16",
        "dot_f16_f16_f32",
        "dot_bf16_bf16_bf16",
        "dot_bf16_bf16_f32",
        "dot_bf16_bf16_f32_x3",
        "dot_bf16_bf16_f32_x6",
        "dot_bf16_bf16_f32_x9",
        "dot_tf32_tf32_f32",
        "dot_tf32_tf32_f32_x3",
        "dot_f32_f32_f32",
        "dot_f64_f64_f64",
    ),
    default=StringAttr("unset"),
)
_FEATURES = [
    _spec("feature_group_count", INT, default=integer(1)),
    _spec("batch_group_count", INT, default=integer(1)),
]
_DOT = [
    _spec(f"{side}_{role}_dims", INTS, default=ints(())) for side in ("lhs", "rhs") for role in ("batch", "contracting")
]
_BATCH_NORM = [_need("epsilon", kinds.FLOAT), _need("feature_index", INT)]
THREAD = _spec("async_execution_thread", STRING)
_ALIASING = _spec("output_to_operand_aliasing", kinds.ALIASING)

_FFT = enumeration("FFT", "IFFT", "RFFT", "IRFFT")
_TRANSPOSE_A = enumeration("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")
_KINDS = enumeration("kLoop", "kInput", "kOutput", "kCustom")
_DIRECTIONS = enumeration("EQ", "NE", "GE", "GT", "LE", "LT")
_COMPARISONS = enumeration("FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED")
_PADDINGS = enumeration("PADDING_INVALID", "PADDING_VALID", "PADDING_SAME")
_SCHEDULES = enumeration("SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST")
_API_VERSIONS = enumeration(
    "API_VERSION_ORIGINAL",
    "API_VERSION_STATUS_RETURNING",
    "API_VERSION_STATUS_RETURNING_UNIFIED",
    "API_VERSION_TYPED_FFI",
)

_ATTRIBUTES: dict[str, list[Spec]] = {
    "iota": [_need("iota_dimension", INT)],
    "compare": [_need("direction", _DIRECTIONS), _spec("type", _COMPARISONS, "compare_type")],
    "reduce-precision": [_need("exponent_bits", INT), _need("mantissa_bits", INT)],
    "map": [_spec("dimensions", INTS), _TO_APPLY],
    "get-tuple-element": [_need("index", INT)],
    "while": [_computation("condition"), _computation("body")],
    "conditional": [_computation("branch_computations", regions="many")],
    "conditional on pred": [_computation("true_computation"), _computation("false_computation")],
    "call": [_TO_APPLY, _spec("is_composite", FLAG)],
    "fusion": [_need("kind", _KINDS), _ALIASING, _computation("calls")],
    "async-start": [THREAD, _computation("calls")],
    "async-update": [THREAD, _computation("calls", required=False)],
    "async-done": [THREAD, _computation("calls", required=False)],
    "domain": [_need("domain", kinds.BRACES)],
    "copy-start": [_spec("cross_program_prefetch_index", INT)],
    "broadcast": [_need("dimensions", INTS, implied=ints(()))],
    "reshape": [_spec("inferred_dimension", INT)],
    "transpose": [_DIMENSIONS],
    "reverse": [_DIMENSIONS],
    "slice": [Spec("slice", kinds.SLICE, ("starts", "limits", "strides"), required=True)],
    "dynamic-slice": [_need("dynamic_slice_sizes", INTS, "slice_sizes")],
    "pad": [
        Spec(
            "padding",
            kinds.PADDING,
            ("edge_padding_low", "edge_padding_high", "interior_padding"),
            required=True,
        )
    ],
    "concatenate": [_DIMENSIONS],
    "gather": [
        _need("offset_dims", INTS),
        _need("collapsed_slice_dims", INTS),
        _need("start_index_map", INTS),
        _spec("operand_batching_dims", INTS, default=ints(())),
        _spec("start_indices_batching_dims", INTS, default=ints(())),
        _need("index_vector_dim", INT),
        _need("slice_sizes", INTS),
        _spec("indices_are_sorted", FLAG),
    ],
    "scatter": [
        _need("update_window_dims", INTS),
        _need("inserted_window_dims", INTS),
        _need("scatter_dims_to_operand_dims", INTS),
        _spec("input_batching_dims", INTS, default=ints(())),
        _spec("scatter_indices_batching_dims", INTS, default=ints(())),
        _need("index_vector_dim", INT),
        _spec("indices_are_sorted", FLAG),
        _spec("unique_indices", FLAG),
        _TO_APPLY,
    ],
    "get-dimension-size": [_DIMENSIONS],
    "set-dimension-size": [_DIMENSIONS],
    "reduce": [_DIMENSIONS, _TO_APPLY],
    "reduce-window": [_WINDOW, _TO_APPLY],
    "select-and-scatter": [_WINDOW, _computation("select"), _computation("scatter")],
    "scan": [
        _DIMENSIONS,
        _need("num_carries", INT),
        _spec("is_reverse", FLAG),
        _spec("is_associative", FLAG, always=True),
        _TO_APPLY,
    ],
    "sort": [_DIMENSIONS, _spec("is_stable", FLAG), _TO_APPLY],
    "topk": [
        _need("k", INT),
        _spec("largest", FLAG, implied=UNIT, always=True),
        _spec("is_stable", FLAG),
    ],
    "dot": [*_DOT, _PRECISION, _ALGORITHM],
    "ragged-dot": [
        *_DOT,
        _spec("lhs_ragged_dims", INTS),
        _spec("rhs_group_dims", INTS),
        _PRECISION,
        _ALGORITHM,
    ],
    "scaled-dot": [*_DOT, _PRECISION, _ALGORITHM],
    "convolution": [
        _WINDOW,
        _need("dim_labels", kinds.DIM_LABELS),
        *_FEATURES,
        _spec("convolution_kind", enumeration("fprop", "wgrad", "dgrad", "unset")),
        _PRECISION,
        _ALGORITHM,
        _spec("sparsity_config", kinds.BRACES),
    ],
    "cholesky": [_spec("lower", FLAG)],
    "triangular-solve": [
        _spec("left_side", FLAG),
        _spec("lower", FLAG),
        _spec("unit_diagonal", FLAG),
        _spec("transpose_a", _TRANSPOSE_A),
    ],
    "fft": [_need("fft_type", _FFT), _need("fft_length", INTS)],
    "batch-norm-inference": _BATCH_NORM,
    "batch-norm-training": _BATCH_NORM,
    "batch-norm-grad": _BATCH_NORM,
    "all-gather": _ALL_GATHER,
    "all-gather-start": _ALL_GATHER,
    "all-reduce": _ALL_REDUCE,
    "all-reduce-start": _ALL_REDUCE,
    "reduce-scatter": [
        *_GROUPS,
        _CONSTRAIN,
        _DIMENSIONS,
        _GLOBAL_IDS,
        _TO_APPLY,
        _MODE,
    ],
    "all-to-all": [*_GROUPS, _CONSTRAIN, _spec("dimensions", INTS)],
    "ragged-all-to-all": [*_GROUPS, _spec("dimensions", INTS)],
    "collective-broadcast": [*_GROUPS, _spec("has_dynamic_root", FLAG)],
    "collective-permute": _PERMUTE,
    "collective-permute-start": _PERMUTE,
    "send": _TRANSFER,
    "send-done": _TRANSFER,
    "recv": _TRANSFER,
    "recv-done": _TRANSFER,
    "infeed": [_spec("infeed_config", STRING)],
    "outfeed": [_spec("outfeed_shape", kinds.SHAPE), _spec("outfeed_config", STRING)],
    "rng": [_need("distribution", enumeration("rng_uniform", "rng_normal"))],
    "rng-bit-generator": [_need("algorithm", enumeration("rng_default", "rng_three_fry", "rng_philox"))],
    "rng-get-and-update-state": [_need("delta", INT)],
    "custom-call": [
        _WINDOW,
        _spec("dim_labels", kinds.DIM_LABELS),
        *_FEATURES,
        _PRECISION,
        _spec("padding_type", _PADDINGS),
        _need("custom_call_target", STRING),
        _spec("operand_layout_constraints", kinds.SHAPES),
        _spec("custom_call_has_side_effect", FLAG),
        _spec("literal", kinds.LITERAL),
        _ALIASING,
        _spec("schedule", _SCHEDULES, default=StringAttr("SCHEDULE_NONE")),
        _spec("api_version", _API_VERSIONS, default=StringAttr("API_VERSION_ORIGINAL")),
        _computation("to_apply", required=False, marks="single_computation"),
        _computation("called_computations", required=False, regions="many"),
    ],
}

_ACCURATE = frozenset(
    "acos acosh asin asinh atanh cbrt cosh cosine erf exponential exponential-minus-one log log-plus-one "
    "logistic rsqrt sine sinh sqrt tan tanh".split()
)
"""Opcodes that may say `result_accuracy`."""

SHAPE_REQUIRED = frozenset(
    "parameter constant iota convert bitcast bitcast-convert reshape dynamic-reshape slice dynamic-slice "
    "dynamic-update-slice fusion custom-call infeed outfeed rng rng-bit-generator rng-get-and-update-state "
    "reduce-precision stochastic-convert all-gather all-gather-start all-gather-done all-reduce all-reduce-start "
    "all-reduce-done reduce-scatter all-to-all ragged-all-to-all collective-broadcast collective-permute "
    "collective-permute-start collective-permute-done copy-start copy-done send send-done recv recv-done "
    "async-start async-update async-done".split()
)
"""Opcodes whose result shape the text must say (d.3)."""

PREDECESSORS = "control-predecessors"
_COMMON = [
    _spec("parameter_replication", common.REPLICATION),
    _spec("sharding", common.SHARDING),
    _spec("frontend_attributes", common.FRONTEND_ATTRIBUTES),
    # control-predecessors stand here
    _spec("statistics", common.STATISTICS),
    _spec("result_accuracy", common.ACCURACY),
    _spec("origin", kinds.BRACES),
    _spec("metadata", common.METADATA),
    _spec("backend_config", common.BACKEND_CONFIG),
]
COMMON = {spec.text: spec for spec in _COMMON}
"""Attributes that any instruction may have."""
PREDECESSORS_RANK = 2.5
COMMON_RANK = {spec.text: float(rank) for rank, spec in enumerate(_COMMON)}
"""Where each stands in a line."""


@dataclass(frozen=True)
class Row:
    """What is known of one opcode: its op, the number of operands, its attributes, names of all it may have."""

    opcode: str
    op: type[IRDLOperation]
    fewest: int
    most: int | None
    specs: tuple[Spec, ...]
    named: dict[str, Spec] = field(hash=False)
    allowed: frozenset[str]


def spelled_opcode(op: Operation) -> str:
    """The opcode of an instruction as HLO text spells it."""
    return "call" if isinstance(op, CallOp) else opcode_of(op.name)


NOT_INSTRUCTIONS = frozenset({"hlo.return", "hlo.control_dependency", "hlo.opaque"})


def _row(opcode: str, op: type[Operation]) -> Row:
    assert issubclass(op, IRDLOperation)
    fixed = [definition for _, definition in op.get_irdl_definition().operands if type(definition) is OperandDef]
    variadic = len(op.get_irdl_definition().operands) > len(fixed)
    specs = tuple(_ATTRIBUTES.get(opcode, ()))
    named = {spec.text: spec for spec in specs}
    unusual = {"result_accuracy"} if opcode not in _ACCURATE else set[str]()
    allowed = frozenset({*named, *COMMON, PREDECESSORS} - unusual)
    return Row(opcode.split()[0], op, len(fixed), None if variadic else len(fixed), specs, named, allowed)


@cache
def rows() -> dict[str, Row]:
    """The table, by opcode (a conditional on a pred has a row of its own)."""
    table = {
        opcode_of(op.name): _row(opcode_of(op.name), op) for op in HLO.operations if op.name not in NOT_INSTRUCTIONS
    }
    table["call"] = _row("call", CallOp)
    table["conditional on pred"] = _row("conditional on pred", table["conditional"].op)
    return table
