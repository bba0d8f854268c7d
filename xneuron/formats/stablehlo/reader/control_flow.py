"""Translations of control flow: loops, branches, calls, barriers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr, SymbolRefAttr, UnitAttr
from xdsl.dialects.func import CallOp
from xdsl.ir import Attribute, Region, SSAValue

from xneuron.dialects.hlo.attributes import ComputationAttr
from xneuron.dialects.hlo.control_flow import ConditionalOp, OptBarrierOp, WhileOp
from xneuron.dialects.hlo.marker_targets import COMPOSITE as MARKER
from xneuron.dialects.hlo.shape_rules import is_pred
from xneuron.formats.stablehlo.reader.builder import Builder
from xneuron.formats.stablehlo.reader.regions import argument_names, captured, single, translate, translate_block
from xneuron.formats.stablehlo.reader.table import translates
from xneuron.formats.stablehlo.reader.values import packed
from xneuron.formats.stablehlo.tree import Block, Raw

_NO_INFO = DictionaryAttr({})


def named_computations(*names: str) -> ArrayAttr[ComputationAttr]:
    """Names of an op's regions."""
    return ArrayAttr([ComputationAttr(StringAttr(name), _NO_INFO) for name in names])


@translates("stablehlo.while")
def while_(builder: Builder) -> None:
    """A loop on one tuple; what its regions use from around goes through the loop unchanged."""
    op = builder.op
    extra = captured(builder, op.regions)
    state = builder.tuple([*builder.operands, *(builder.value(number) for number in extra)])
    names = builder.source.names(op.place, len(op.results))
    regions = [_loop_region(builder, blocks, state.type, extra, number) for number, blocks in enumerate(op.regions)]
    properties: dict[str, Attribute] = {"computations": named_computations("condition", "body")}
    loop = builder.emit(WhileOp, [state], state.type, properties, regions)
    elements = builder.elements(loop, [*names, *[None] * len(extra)])
    builder.scope.values.update(zip(op.results, elements, strict=False))


def _loop_region(
    builder: Builder, blocks: Sequence[Block], state: Attribute, extra: Sequence[int], number: int
) -> Region:
    block = single(builder, blocks)
    names = [*argument_names(builder, block), *[None] * len(extra)]
    with builder.computation() as scope:
        elements = builder.elements(builder.parameter(state, "state"), names)
        scope.values.update(zip((*block.arguments, *extra), elements, strict=True))
        values = translate_block(builder, block)
        is_body = number == 1
        passed = [scope.values[value] for value in extra]
        return builder.returned(builder.tuple([*values, *passed]) if is_body else values[0])


@translates("stablehlo.if", "stablehlo.case")
def conditional(builder: Builder) -> None:
    """A conditional, whose branches get what they use from around as their operand: one value, or a tuple."""
    op = builder.op
    (index,) = builder.operands
    uses = [captured(builder, [blocks]) for blocks in op.regions]
    arguments = [builder.single([builder.value(number) for number in numbers]) for numbers in uses]
    branches = [
        _branch(builder, blocks, numbers, argument.type)
        for blocks, numbers, argument in zip(op.regions, uses, arguments, strict=True)
    ]
    names = ("on_true", "on_false") if is_pred(index.type) else tuple(f"branch_{at}" for at in range(len(branches)))
    properties: dict[str, Attribute] = {"computations": named_computations(*names)}
    builder.finish(builder.emit(ConditionalOp, [index, *arguments], properties=properties, regions=branches))


def _branch(builder: Builder, blocks: Sequence[Block], numbers: Sequence[int], type: Attribute) -> Region:
    block = single(builder, blocks)
    with builder.computation() as scope:
        parameter = builder.parameter(type)
        values = [parameter] if len(numbers) == 1 else builder.elements(parameter)
        scope.values.update(zip(numbers, values, strict=True))
        return builder.returned(builder.single(translate_block(builder, block)))


@translates("func.call")
def call(builder: Builder) -> None:
    """A call; of a function with several results, with a tuple as result."""
    builder.finish(call_of(builder, str(builder.op.attributes["callee"]), {}))


@translates("stablehlo.composite")
def composite(builder: Builder) -> None:
    """A call of the decomposition, with what it stands for in frontend attributes, as XLA says it."""
    op = builder.op
    if op.attributes["name"] == MARKER:
        translate(builder, op._replace(name=MARKER))
        return
    details = op.attributes.get("composite_attributes", Raw("{}"))
    fields: dict[str, Attribute] = {
        "composite.attributes": StringAttr(details.text if isinstance(details, Raw) else "{}"),
        "composite.name": StringAttr(str(op.attributes["name"])),
        "composite.version": StringAttr(str(op.attributes.get("version", 0))),
    }
    own: dict[str, Attribute] = {"is_composite": UnitAttr(), "frontend_attributes": DictionaryAttr(fields)}
    builder.finish(call_of(builder, str(op.attributes["decomposition"]), own))


def call_of(builder: Builder, callee: str, attributes: dict[str, Attribute]) -> SSAValue:
    """The call that stands for the op."""
    properties: dict[str, Attribute] = {"callee": SymbolRefAttr(callee)}
    return builder.emit(CallOp, builder.operands, packed(builder.types), properties, attributes=attributes)


@translates("stablehlo.optimization_barrier")
def barrier(builder: Builder) -> None:
    """A barrier; of several values, on their tuple."""
    operand = builder.single(builder.operands)
    builder.finish(builder.emit(OptBarrierOp, [operand], operand.type))
