"""Counted loops made anew around a body that holds several iterations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.ir import Attribute, Block, Region, SSAValue

from xneuron.analysis.closed_form import Integers, integers_of
from xneuron.dialects.hlo.attributes import ComputationAttr, integer
from xneuron.dialects.hlo.control_flow import GetTupleElementOp, ReturnOp, WhileOp
from xneuron.dialects.hlo.data_movement import ConstantOp, ReshapeOp
from xneuron.dialects.hlo.elementwise import AddOp, CompareOp
from xneuron.dialects.hlo.literal import LiteralAttr
from xneuron.dialects.hlo.types import PRED, Tensor, shape_of, tensor
from xneuron.fastir import append, build
from xneuron.transforms.cloning import computation_info, computation_name


@dataclass(frozen=True)
class Counter:
    """A slot of a loop's state that starts at `init` and moves by `step`, as machine integers of `type` do."""

    slot: int
    type: Attribute
    init: int
    step: int

    def at(self, iteration: int) -> int:
        """The counter's value in an iteration (from 0)."""
        return self._machine(self.init + iteration * self.step)

    def constant(self, block: Block, iteration: int, name: str) -> SSAValue:
        """That value as an instruction at the end of `block`."""
        return _constant(block, self.type, self.at(iteration), name)

    def plus(self, block: Block, value: SSAValue, iterations: int, name: str) -> SSAValue:
        """The counter so many iterations after it was `value`."""
        if iterations == 0:
            return value
        distance = _constant(block, self.type, self._machine(iterations * self.step), f"{name}.distance")
        append(block, added := build(AddOp, [value, distance], self.type, {}, {}, name))
        return added.results[0]

    def condition(self, state: Attribute, trips: int, copies: int) -> Block:
        """The condition of a loop that takes `copies` steps at a time and shall run `trips` times.

        `<=` or `>=` the last value, which is XLA's condition for a loop that runs once; where the counter wraps on
        the way, `!=` the value behind it. That one comes up only at the end: had it come up before, the counter
        would go in circles, and the loop that we have counted would never end.
        """
        direction, bound = self._leaving(trips, copies)
        block = Block(arg_types=[state])
        append(block, i := build(GetTupleElementOp, [block.args[0]], self.type, {"index": integer(self.slot)}, {}))
        left, right = _scalar(block, i.results[0]), _scalar(block, _constant(block, self.type, bound))
        append(block, less := build(CompareOp, [left, right], tensor(PRED), {"direction": StringAttr(direction)}, {}))
        append(block, build(ReturnOp, [less.results[0]], None, {}, {}))
        return block

    def _leaving(self, trips: int, copies: int) -> tuple[str, int]:
        behind = self.init + trips * copies * self.step
        if self._machine(behind) != behind:
            return "NE", self._machine(behind)
        return ("LE" if self.step > 0 else "GE"), behind - copies * self.step

    def _machine(self, value: int) -> int:
        numbers = cast(Integers, integers_of(self.type))
        return (value - numbers.lowest) % numbers.modulus + numbers.lowest


def rolled(loop: WhileOp, condition: Block, body: Block, name: str | None = None) -> WhileOp:
    """A loop like `loop`, with its annotations, around another condition and body; `name` if not the loop's own."""
    infos = [
        ComputationAttr(
            StringAttr(f"{computation_name(loop, index, otherwise)}.unrolled"),
            info.info if (info := computation_info(loop, index)) else DictionaryAttr({}),
        )
        for index, otherwise in enumerate(("condition", "body"))
    ]
    properties: dict[str, Attribute] = {"computations": ArrayAttr(infos)}
    made = build(
        WhileOp,
        loop.inits,
        loop.results[0].type,
        properties,
        dict(loop.attributes),
        name or loop.results[0].name_hint,
        loop.location,
        (Region(condition), Region(body)),
    )
    return cast(WhileOp, made)


def _constant(block: Block, type: Attribute, value: int, name: str | None = None) -> SSAValue:
    literal = LiteralAttr.of(cast(Tensor, type), value)
    append(block, op := build(ConstantOp, [], type, {"value": literal}, {}, name))
    return op.results[0]


def _scalar(block: Block, value: SSAValue) -> SSAValue:
    if not shape_of(value.type):
        return value
    append(block, op := build(ReshapeOp, [value], tensor(cast(Tensor, value.type).element_type), {}, {}))
    return op.results[0]
