"""TensorTensor, TensorScalar, TensorScalarPtr, Select, Reciprocal: one or two ALU stages per element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xneuron.dialects.bir.compute import ReciprocalOp, SelectOp, TensorScalarOp, TensorScalarPtrOp, TensorTensorOp
from xneuron.dialects.bir.enums import AccumulateFlag, AluOpType
from xneuron.dialects.bir.instruction import DataInstruction
from xneuron.simulator.alu import function_of, is_unary, takes_out, word_of
from xneuron.simulator.dtypes import SINGLE, Numpy, converted, into, scalar
from xneuron.simulator.kernels.registry import (
    Call,
    Host,
    Meaning,
    Slot,
    View,
    accesses,
    align,
    kernel,
    reshaping,
    same_shape,
    slots,
    unsupported,
)
from xneuron.simulator.patterns import elements, repeated


@dataclass(frozen=True)
class Stage:
    """`op(value so far, operand)`, swapped if `reverse`; the operand is a slot or a number."""

    op: AluOpType
    operand: Slot | int | float
    reverse: bool = False

    @property
    def number(self) -> int | float | None:
        """The number it computes with; None for a slot, and where the operation ignores it."""
        return None if is_unary(self.op) or isinstance(self.operand, Slot) else self.operand


@kernel(TensorTensorOp)
def tensor_tensor(op: TensorTensorOp, host: Host) -> Meaning:
    """`out = op(in0, in1)`."""
    refuse_accumulation(op)
    return staged(align([*op.inputs, *op.outputs]), [Stage(op.key("op"), Slot(1))])


@kernel(TensorScalarOp)
def tensor_scalar(op: TensorScalarOp, host: Host) -> Meaning:
    """`out = op1(op0(x, const0), const1)`."""
    stages = [Stage(op.key(f"op{i}"), op.key(f"const{i}"), op.key(f"reverse{i}")) for i in (0, 1)]
    return staged(align([*op.inputs, *op.outputs]), stages)


@kernel(TensorScalarPtrOp)
def tensor_scalar_ptr(op: TensorScalarPtrOp, host: Host) -> Meaning:
    """As TensorScalar, with a scalar per partition from memory; without a second one, op1 must need none."""
    count = len(op.inputs)
    if count == 2 and not is_unary(op.key("op1")):
        raise unsupported(f"op1 = {op.key('op1')} without a third input")
    stages = [Stage(op.key(f"op{i}"), Slot(min(i + 1, count - 1)), op.key(f"reverse{i}")) for i in (0, 1)]
    return staged(with_scalars(op), stages)


def with_scalars(op: DataInstruction) -> tuple[View, ...]:
    """Views where each further input, one value per partition, is read again by all elements of its partition."""
    first, *scalars = accesses(op.inputs)
    times = elements(first.pattern[1:])
    (out,) = accesses(op.outputs)
    patterns = [first.pattern, *(repeated(access.pattern, times) for access in scalars), out.pattern]
    return align([first, *scalars, out], patterns)


def staged(views: tuple[View, ...], stages: Sequence[Stage]) -> Meaning:
    """The stages applied to slot 0, into the last slot."""
    stages = [stage for stage in stages if stage.op is not AluOpType.bypass]
    numbers = [stage.number for stage in stages if stage.number is not None]
    word = word_of([stage.op for stage in stages], _types(views, numbers))
    if calls := _direct(views, stages, word):
        return Meaning(views, calls)
    function = into(_composed(stages, word))
    if not same_shape(views):
        function = reshaping(function, views[-1].shape)
    return Meaning(views, (Call(function, slots(len(views))),))


def _types(views: Sequence[View], numbers: Sequence[int | float]) -> list[Numpy]:
    """The types that decide in what the ALU computes: an integer constant goes with any."""
    return [view.dtype for view in views] + [SINGLE for number in numbers if isinstance(number, float)]


def _direct(views: tuple[View, ...], stages: Sequence[Stage], word: Numpy) -> tuple[Call, ...]:
    """A numpy call per stage, each writing into the output; empty where that will not do."""
    functions = [function_of(stage.op, word) for stage in stages]
    if not same_shape(views) or any(view.dtype != word for view in views) or not stages:
        return ()
    if not all(map(takes_out, functions)):
        return ()
    out = Slot(len(views) - 1)
    # A later stage must not find its operand overwritten by an earlier one.
    if len(stages) > 1 and any(view.access.memory is views[out].access.memory for view in views[1:-1]):
        return ()
    calls: list[Call] = []
    value = Slot(0)
    for stage, function in zip(stages, functions, strict=True):
        calls.append(Call(function, tuple(_arguments(stage, value, word)), out))
        value = out
    return tuple(calls)


def _arguments(stage: Stage, value: Any, word: Numpy) -> list[Any]:
    if is_unary(stage.op):
        return [value]
    operand = stage.operand if isinstance(stage.operand, Slot) else scalar(stage.operand, word)
    return [operand, value] if stage.reverse else [value, operand]


def _composed(stages: Sequence[Stage], word: Numpy) -> Callable[..., Any]:
    """The stages as one function of all inputs."""
    steps = [(function_of(stage.op, word), stage) for stage in stages]

    def run(*inputs: Any) -> Any:
        value = inputs[0]
        for function, stage in steps:
            arguments = _arguments(stage, value, word)
            arrays = [inputs[a] if isinstance(a, Slot) else a for a in arguments]
            value = function(*[converted(array, word) for array in arrays])
        return value

    return run


@kernel(SelectOp)
def select(op: SelectOp, host: Host) -> Meaning:
    """`out = on_true where mask != 0, else on_false`."""
    views = align([*op.inputs, *op.outputs])
    out = views[-1].dtype

    def choose(mask: Any, on_true: Any, on_false: Any) -> Any:
        return np.where(mask != 0, converted(on_true, out), converted(on_false, out))

    function = into(choose)
    if not same_shape(views):
        function = reshaping(function, views[-1].shape)
    return Meaning(views, (Call(function, slots(4)),))


@kernel(ReciprocalOp)
def reciprocal(op: ReciprocalOp, host: Host) -> Meaning:
    """`out = 1 / x`: a float constant makes it float32, whatever the types."""
    return staged(align([*op.inputs, *op.outputs]), [Stage(AluOpType.divide, 1.0, reverse=True)])


def refuse_accumulation(op: DataInstruction) -> None:
    """The accumulator registers behind `acc` are not public, and no instruction of the dialect reads them."""
    if (acc := op.key("acc")) is not AccumulateFlag.Idle:
        raise unsupported(f"acc = {acc}")
