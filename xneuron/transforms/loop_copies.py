"""Copies of a loop's body, one behind the other, in one block.

A body is made ready once (`Iterations`): elements of its state become values of their own, so that copies hand each
other values instead of tuples, and so does the counter, so that each copy can be given its own. Where a body uses its
state as a whole, or ends in something else than a tuple, tuples stay.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from xneuron.analysis.boundary_markers import behind_markers
from xneuron.analysis.control_dependencies import is_ordered
from xneuron.dialects.hlo.attributes import int_of, integer
from xneuron.dialects.hlo.base import root_of
from xneuron.dialects.hlo.control_flow import ControlDependencyOp, GetTupleElementOp, TupleOp, WhileOp
from xneuron.dialects.hlo.types import elements_of
from xneuron.fastir import append, build
from xneuron.remarks import name_of
from xneuron.transforms.cloning import Cloner, Copy, computation_name, in_layout
from xneuron.transforms.replacement import erase


class State:
    """A loop's state between two iterations: by element, as a whole, or both. Makes what it lacks in `block`."""

    def __init__(
        self, block: Block, type: Attribute, whole: SSAValue | None = None, elements: Sequence[SSAValue] = ()
    ) -> None:
        self.block = block
        self.type = type
        self._whole = whole
        self._elements = dict(enumerate(elements))

    def element(self, index: int, name: str | None = None) -> SSAValue:
        """Element `index`, in the type that the state has there; `name` is for an instruction that must be made."""
        type = elements_of(self.type)[index]
        if index not in self._elements:
            taken = build(GetTupleElementOp, [self.whole()], type, {"index": integer(index)}, {}, name)
            self._elements[index] = self._add(taken)
        return self._typed(self._elements[index], type)

    def whole(self, name: str | None = None) -> SSAValue:
        """The state as one tuple."""
        if self._whole is None:
            elements = [self.element(index) for index in range(len(self._elements))]
            self._whole = self._add(build(TupleOp, elements, self.type, {}, {}, name))
        return self._typed(self._whole, self.type)

    def _typed(self, value: SSAValue, type: Attribute) -> SSAValue:
        return value if value.type == type else self._add(in_layout(value, type))

    def _add(self, op: Operation) -> SSAValue:
        append(self.block, op)
        return op.results[0]


class Iterations:
    """A loop's body made ready to be copied. The loop itself is of no use afterwards.

    `counter`: the slot of the state that counts. Each copy takes its counter from outside, everywhere but where the
    next counter is made of it (neuron-hlo-passes.md W7), so the slot goes on holding the counter.
    """

    def __init__(self, loop: WhileOp, counter: int, cloner: Cloner) -> None:
        block = loop.body.block
        self.state_type = block.args[0].type
        self.counter_type = elements_of(self.state_type)[counter]
        self.name = computation_name(loop, 1, f"{name_of(loop)}.body")
        self.counter_name = self._separate_counter(block, counter)
        self._read = _separate_elements(block)
        if counter in self._read:
            self._read[counter] += ".carried"
        self._by_element = _unpack_root(block)
        whole, counter_of_copy = block.args[:2]
        self._takes_whole, self.takes_counter = _is_used(whole), _is_used(counter_of_copy)
        for argument in (whole, counter_of_copy):
            if not _is_used(argument):
                block.erase_arg(argument)
        self._template = cloner.template(block)

    def add(self, state: State, counter: SSAValue | None, number: int, copy: Copy) -> State:
        """Appends one iteration to the state's block; the state behind it. `number` goes into the names.

        `counter` is needed where `takes_counter` says so.
        """
        prefix = f"{self.name}.{number}."
        arguments = [state.whole(f"{prefix}state")] if self._takes_whole else []
        arguments += [counter] if counter is not None else []
        arguments += [state.element(index, prefix + name) for index, name in self._read.items()]
        values = self._template.stamp_into(state.block, arguments, copy.dictionaries, prefix)
        if self._by_element:
            return State(state.block, self.state_type, elements=values)
        return State(state.block, self.state_type, whole=values[0])

    def _separate_counter(self, block: Block, slot: int) -> str:
        """Makes the counter a parameter; its name in the body."""
        counter, updating = block.insert_arg(self.counter_type, 1), _makers(_next(block, slot))
        name = "counter"
        for element in _elements(block):
            if int_of(element.index) == slot and element.results[0].type == self.counter_type:
                element.results[0].replace_uses_with_if(
                    counter,
                    lambda use: use.operation not in updating and type(use.operation) is not ControlDependencyOp,
                )
                name = element.results[0].name_hint or name
        return name


def _is_used(value: SSAValue) -> bool:
    return value.first_use is not None


def _elements(block: Block) -> list[GetTupleElementOp]:
    return [op for use in block.args[0].uses if isinstance(op := use.operation, GetTupleElementOp)]


def _next(block: Block, slot: int) -> SSAValue:
    """What holds the counter for the next iteration."""
    root = behind_markers(_root(block))
    if isinstance(root, OpResult) and isinstance(root.op, TupleOp):
        return root.op.operands[slot]
    return root


def _root(block: Block) -> SSAValue:
    region = block.parent
    assert region is not None, "a loop's body is a region"
    return root_of(region)


def _makers(value: SSAValue) -> set[Operation]:
    """All instructions that a value is made of."""
    found: set[Operation] = set()
    values = [value]
    while values:
        value = values.pop()
        if isinstance(value, OpResult) and value.op not in found:
            found.add(value.op)
            values += value.op.operands
    return found


def _separate_elements(block: Block) -> dict[int, str]:
    """Makes the elements that the body takes out of its state parameters; which ones, in order, with their names."""
    types = elements_of(block.args[0].type)
    values: dict[int, SSAValue] = {}
    names: dict[int, str] = {}
    for element in reversed(_elements(block)):
        index = int_of(element.index)
        if element.results[0].type != types[index] or _says_more(element):
            continue
        if index not in values:
            values[index] = block.insert_arg(types[index], len(block.args))
            names[index] = element.results[0].name_hint or f"element.{index}"
        element.results[0].replace_all_uses_with(values[index])
        erase(element)
    return names


def _unpack_root(block: Block) -> bool:
    """Lets the body return its elements instead of a tuple of them; false if it must stay a tuple."""
    root, terminator = _root(block), block.last_op
    assert terminator is not None, "a computation ends by returning"
    if not (isinstance(root, OpResult) and isinstance(root.op, TupleOp)) or _says_more(root.op):
        return False
    terminator.operands = root.op.operands
    if root.first_use is None:
        erase(root.op)
    return True


def _says_more(op: Operation) -> bool:
    """True for an instruction that packs or unpacks and is needed beyond that: its sharding, its place in an order."""
    return "sharding" in op.attributes or is_ordered(op)
