"""Translations of dots and convolutions."""

from __future__ import annotations

import re

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute

from xneuron.dialects.hlo.attributes import DimLabelsAttr, ints
from xneuron.dialects.hlo.contractions import ConvolutionOp, DotOp, RaggedDotOp
from xneuron.dialects.hlo.data_movement import TransposeOp
from xneuron.dialects.hlo.shape_rules import array
from xneuron.dialects.hlo.types import shape_of, with_shape
from xneuron.formats.stablehlo.reader.builder import Builder
from xneuron.formats.stablehlo.reader.data_movement import of_struct
from xneuron.formats.stablehlo.reader.reductions import window_of
from xneuron.formats.stablehlo.reader.table import Property, converted, number, numbers, several, some_dims, translates
from xneuron.formats.stablehlo.tree import Struct, Type, Value, of_kind, spelled


def _dims() -> tuple[Property, ...]:
    return tuple(
        Property(f"{side}_{ours}_dims", f"{side}_{theirs}_dimensions", some_dims)
        for side in ("lhs", "rhs")
        for ours, theirs in (("batch", "batching"), ("contracting", "contracting"))
    )


_DOT = _dims()
# JAX's bindings have no class for this attribute of `mhlo`.
_LISTS = re.compile(r"(\w+) = \[([\d, ]+)\]")
_RAGGED = (
    *_DOT,
    Property("lhs_ragged_dims", "lhs_ragged_dimensions", some_dims),
    Property("rhs_group_dims", "rhs_group_dimensions", some_dims),
)


@translates("stablehlo.dot_general")
def dot_general(builder: Builder) -> None:
    """A dot."""
    properties = {**of_struct(builder.op, "dot_dimension_numbers", _DOT), **accuracy_of(builder)}
    builder.finish(builder.emit(DotOp, builder.operands, properties=properties))


@translates("stablehlo.dot")
def dot(builder: Builder) -> None:
    """A dot that contracts the last dimension with the first."""
    lhs, rhs = builder.operands
    dims: dict[str, Attribute] = {
        "lhs_contracting_dims": ints((len(shape_of(lhs.type)) - 1,)),
        "rhs_contracting_dims": ints((0,)),
    }
    builder.finish(builder.emit(DotOp, [lhs, rhs], properties={**dims, **accuracy_of(builder)}))


@translates("mhlo.ragged_dot")
def ragged_dot(builder: Builder) -> None:
    """A dot of rows in groups."""
    text = str(spelled(builder.op.attributes["ragged_dot_dimension_numbers"]))
    fields: dict[str, Value] = {key: [*map(int, listed.split(","))] for key, listed in _LISTS.findall(text)}
    properties = {**converted(builder.op._replace(attributes=fields), _RAGGED), **accuracy_of(builder)}
    builder.finish(builder.emit(RaggedDotOp, builder.operands, properties=properties))


@translates("stablehlo.einsum")
def einsum(builder: Builder) -> None:
    """A dot, then a transpose to the order that the text asks for."""
    config = str(builder.op.attributes["einsum_config"]).replace(" ", "")
    inputs, output = config.split("->")
    left, right = inputs.split(",")
    operands = builder.operands
    batch = [letter for letter in left if letter in right and letter in output]
    summed = [letter for letter in left if letter in right and letter not in output]
    free = [letter for letter in left + right if (letter in left) != (letter in right)]
    if any(letter not in output for letter in free) or any(len(set(text)) < len(text) for text in (left, right)):
        raise builder.untranslatable(f"expected an einsum that one dot can do, found {config}")
    extents = dict(zip(left + right, (*shape_of(operands[0].type), *shape_of(operands[1].type)), strict=True))
    sides = (("lhs", left), ("rhs", right))
    roles = (("batch", batch), ("contracting", summed))
    properties: dict[str, Attribute] = {
        f"{side}_{role}_dims": ints([text.index(letter) for letter in letters])
        for side, text in sides
        for role, letters in roles
        if letters
    }
    order = [*batch, *free]
    type = with_shape(array(builder.types[0]), [extents[letter] for letter in order])
    made = builder.helper(DotOp, operands, type, {**properties, **accuracy_of(builder)})
    builder.finish(builder.emit(TransposeOp, [made], properties={"dimensions": ints([order.index(x) for x in output])}))


def accuracy_of(builder: Builder) -> dict[str, Attribute]:
    """Precision and algorithm of a dot or convolution, left out where they are the default."""
    found: dict[str, Attribute] = {}
    config = builder.op.attributes.get("precision_config", ())
    words = [str(precision).lower() for precision in config] if isinstance(config, list) else []
    if any(precision != "default" for precision in words):
        found["operand_precision"] = ArrayAttr([StringAttr(precision) for precision in words])
    if isinstance(algorithm := builder.op.attributes.get("algorithm"), Struct):
        found["algorithm"] = StringAttr(_algorithm(builder, algorithm))
    return found


_SPLITS = {1: "", 3: "_x3", 6: "_x6", 9: "_x9"}


def _algorithm(builder: Builder, algorithm: Struct) -> str:
    """XLA's name of an algorithm: its types, and how many products stand for one."""
    fields = algorithm.fields
    lhs, rhs, accumulated = (
        _element(fields[key]) for key in ("lhs_precision_type", "rhs_precision_type", "accumulation_type")
    )
    if lhs.startswith("f8") and rhs.startswith("f8") and accumulated == "f32":
        return f"dot_any_f8_any_f8_f32{'_fast_accum' if fields['allow_imprecise_accumulation'] else ''}"
    products = number(fields["num_primitive_operations"])
    if lhs != rhs or products not in _SPLITS:
        raise builder.untranslatable(f"expected an algorithm that XLA has, found {algorithm.text}")
    return f"dot_{lhs}_{rhs}_{accumulated}{_SPLITS[products]}"


def _element(value: Value) -> str:
    return of_kind(Type, value, "an element type").element.lower()


@translates("stablehlo.convolution")
def convolution(builder: Builder) -> None:
    """A convolution."""
    op = builder.op
    labels = of_kind(Struct, op.attributes["dimension_numbers"], "dimension numbers")
    kernel = shape_of(builder.operands[1].type)
    sizes = [kernel[at] for at in numbers(labels.fields["kernel_spatial_dimensions"])]
    groups = tuple(Property(key, key, several) for key in ("feature_group_count", "batch_group_count"))
    properties = {"dim_labels": DimLabelsAttr(_labels(labels)), **converted(op, groups), **accuracy_of(builder)}
    if window := window_of(op, sizes, dilations=("lhs_dilation", "rhs_dilation")):
        properties["window"] = window
    builder.finish(builder.emit(ConvolutionOp, builder.operands, properties=properties))


def _labels(struct: Struct) -> str:
    """`b01f_01io->b01f`."""
    lhs = _one_side(struct, "input", ("batch", "b"), ("feature", "f"))
    kernel = _one_side(struct, "kernel", ("input_feature", "i"), ("output_feature", "o"))
    return f"{lhs}_{kernel}->{_one_side(struct, 'output', ('batch', 'b'), ('feature', 'f'))}"


def _one_side(struct: Struct, side: str, *roles: tuple[str, str]) -> str:
    places = {number(struct.fields[f"{side}_{role}_dimension"]): letter for role, letter in roles}
    places |= {at: str(index) for index, at in enumerate(numbers(struct.fields[f"{side}_spatial_dimensions"]))}
    return "".join(places[at] for at in range(len(places)))


@translates(
    "stablehlo.dynamic_conv", "stablehlo.dynamic_gather", "stablehlo.dynamic_pad", "stablehlo.real_dynamic_slice"
)
def dynamic(builder: Builder) -> None:
    """What is known at run time only; where it is static in fact, a pass of JAX's MLIR has said so before."""
    raise builder.untranslatable("expected sizes that are constants; HLO cannot say others")
