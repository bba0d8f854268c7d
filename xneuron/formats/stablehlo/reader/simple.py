"""Translations that are rows: one StableHLO op, one `hlo` op with the same operands."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute

from xneuron.dialects.hlo import HLO, contractions, control_flow, data_movement, elementwise, random
from xneuron.formats.stablehlo.reader.table import (
    Property,
    dims,
    flagged,
    integral,
    one_dim,
    real,
    rows,
    word,
)
from xneuron.formats.stablehlo.tree import Value

_SAME = (
    "abs add and atan2 cbrt ceil clamp complex cosine count_leading_zeros divide exponential exponential_minus_one "
    "floor imag is_finite log log_plus_one logistic maximum minimum multiply negate not or popcnt power real remainder "
    "round_nearest_afz round_nearest_even rsqrt select shift_left shift_right_arithmetic shift_right_logical sign sine "
    "sqrt subtract tan tanh xor bitcast_convert reshape dynamic_update_slice after_all partition_id replica_id tuple"
)
"""StableHLO ops that have their HLO name, and nothing but operands."""
_SAME_IN_MHLO = "acos acosh asin asinh atanh cosh erf mulhi sinh tan copy bitcast stochastic_convert add_dependency"
"""What HLO has and StableHLO has not. Other `mhlo` ops are read as those of StableHLO with their name."""

_CLASSES = {op.name.removeprefix("hlo."): op for op in HLO.operations}

for _name in _SAME.split():
    rows(_CLASSES[_name], (), f"stablehlo.{_name}")
for _name in _SAME_IN_MHLO.split():
    rows(_CLASSES[_name], (), f"mhlo.{_name}")

_ALGORITHMS = {"DEFAULT": "rng_default", "THREE_FRY": "rng_three_fry", "PHILOX": "rng_philox"}


def _algorithm(value: Value) -> Attribute:
    return StringAttr(_ALGORITHMS[str(value)])


_DIMENSION = (Property("dimensions", "dimension", one_dim),)
_BATCH_NORM = (Property("epsilon", "epsilon", real), Property("feature_index", "feature_index", integral))

rows(control_flow.AfterAllOp, (), "stablehlo.create_token")
rows(control_flow.GetTupleElementOp, (Property("index", "index", integral),), "stablehlo.get_tuple_element")
rows(data_movement.IotaOp, (Property("iota_dimension", "iota_dimension", integral),), "stablehlo.iota")
rows(data_movement.TransposeOp, (Property("dimensions", "permutation", dims),), "stablehlo.transpose")
rows(data_movement.ReverseOp, (Property("dimensions", "dimensions", dims),), "stablehlo.reverse")
rows(
    data_movement.SliceOp,
    (
        Property("starts", "start_indices", dims),
        Property("limits", "limit_indices", dims),
        Property("strides", "strides", dims),
    ),
    "stablehlo.slice",
)
rows(data_movement.DynamicSliceOp, (Property("slice_sizes", "slice_sizes", dims),), "stablehlo.dynamic_slice")
rows(
    data_movement.PadOp,
    tuple(Property(key, key, dims) for key in ("edge_padding_low", "edge_padding_high", "interior_padding")),
    "stablehlo.pad",
)
rows(data_movement.ConcatenateOp, _DIMENSION, "stablehlo.concatenate")
rows(data_movement.GetDimensionSizeOp, _DIMENSION, "stablehlo.get_dimension_size")
rows(data_movement.SetDimensionSizeOp, _DIMENSION, "stablehlo.set_dimension_size")
rows(
    elementwise.ReducePrecisionOp,
    (Property("exponent_bits", "exponent_bits", integral), Property("mantissa_bits", "mantissa_bits", integral)),
    "stablehlo.reduce_precision",
)
rows(contractions.CholeskyOp, (Property("lower", "lower", flagged),), "stablehlo.cholesky")
rows(
    contractions.TriangularSolveOp,
    (
        *(Property(key, key, flagged) for key in ("left_side", "lower", "unit_diagonal")),
        Property("transpose_a", "transpose_a", word),
    ),
    "stablehlo.triangular_solve",
)
rows(
    contractions.FftOp,
    (Property("fft_type", "fft_type", word), Property("fft_length", "fft_length", dims)),
    "stablehlo.fft",
)
rows(contractions.BatchNormInferenceOp, _BATCH_NORM, "stablehlo.batch_norm_inference")
rows(contractions.BatchNormTrainingOp, _BATCH_NORM, "stablehlo.batch_norm_training")
rows(contractions.BatchNormGradOp, _BATCH_NORM, "stablehlo.batch_norm_grad")
rows(random.RngBitGeneratorOp, (Property("algorithm", "rng_algorithm", _algorithm),), "stablehlo.rng_bit_generator")
rows(random.RngGetAndUpdateStateOp, (Property("delta", "delta", integral),), "mhlo.xla.rng_get_and_update_state")
