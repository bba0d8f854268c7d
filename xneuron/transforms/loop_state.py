"""Adding elements to the state of a loop, and dropping those that it only carries around.

For loops in normal form: one operand, a tuple. The loop stays the same op, so what refers to it stays right. Whoever
uses the state as a whole gets a tuple of the old elements.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeVar, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, TupleType
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue, Use
from xdsl.rewriter import InsertPoint, Rewriter

from xneuron.analysis.boundary_markers import is_identity
from xneuron.dialects.hlo.attributes import int_of, integer, text_of
from xneuron.dialects.hlo.control_flow import ControlDependencyOp, GetTupleElementOp, TupleOp, WhileOp
from xneuron.dialects.hlo.types import elements_of, tuple_of
from xneuron.fastir import build, rename, retype
from xneuron.transforms.replacement import erase

T = TypeVar("T")


def unfit(loop: WhileOp) -> str | None:
    """Why the state of a loop cannot get another shape; None if it can."""
    if len(loop.inits) != 1 or not isinstance(loop.inits[0].type, TupleType):
        return "operand of the while loop is not a tuple"
    if any(text_of(said.get("sharding")).startswith("{{") for said in _said_of_state(loop)):
        return "its state has a sharding for each element"
    return None


def _said_of_state(loop: WhileOp) -> Iterator[Mapping[str, Attribute]]:
    """Attributes of everything that has the state's type: the loop, what it starts from, ends with, its parameters."""
    body = loop.body.block
    values = (loop.inits[0], _holder(body).operands[0])
    ops = [loop, *_markers_of_root(body), *(value.op for value in values if isinstance(value, OpResult))]
    yield from (op.attributes for op in ops)
    for entry in loop.computations or ():
        parameters = entry.info.data.get("parameters")
        yield from (each.data for each in cast("ArrayAttr[DictionaryAttr]", parameters or ArrayAttr([])))


def append_slot(loop: WhileOp, init: SSAValue) -> SSAValue:
    """Gives the state one more element, which the body hands on; returns it as the body sees it."""
    body, index = loop.body.block, len(elements_of(loop.inits[0].type))
    views = _views(loop)
    for view in views:
        _repack_whole_uses(view)
    _replace_tuple(loop, [*_elements(loop.inits[0], loop), init])
    for view in views:
        retype(view, tuple_of((*elements_of(view.type), init.type)))
    handed_on = take(body.args[0], index, init.type, InsertPoint.at_start(body))
    _replace_root(body, [*_root_elements(body), handed_on])
    return handed_on


def set_root(loop: WhileOp, slot: int, value: SSAValue) -> None:
    """Makes `value`, of the type of slot `slot`, what the body gives it."""
    elements = _root_elements(loop.body.block)
    elements[slot] = value
    _replace_root(loop.body.block, elements)


def take(packed: SSAValue, index: int, type: Attribute, where: InsertPoint, name: str | None = None) -> SSAValue:
    """Element `index` of a tuple."""
    element = build(GetTupleElementOp, [packed], type, {"index": integer(index)}, {}, name)
    Rewriter.insert_op(element, where)
    return element.results[0]


def initial(loop: WhileOp, slot: int) -> SSAValue:
    """The value that a slot begins with, taken out of the loop's operand if need be."""
    return _elements(loop.inits[0], loop, (slot,))[0]


def results_of(loop: WhileOp, slot: int) -> list[Operation]:
    """The instructions that take a slot of the loop's result; whole uses of the result become such, too."""
    _repack_whole_uses(loop.results[0])
    return takers(loop.results[0], slot)


def drop_unused_slots(loop: WhileOp, slots: Collection[int]) -> int:
    """Removes those of `slots` that the body only hands on and nobody reads; how many there were.

    None where something refers to slots by number (an annotation), or takes elements behind a marker of the root.
    """
    if "tuple_ind" in text_of(loop.attributes.get("backend_config")) or not _is_plain(loop):
        return 0
    root = _tuple_of_root(loop.body.block)
    unused = [slot for slot in slots if root is not None and _is_unused(loop, root, slot)]
    for slot in sorted(unused, reverse=True):
        _drop(loop, slot)
    return len(unused)


def _views(loop: WhileOp) -> tuple[SSAValue, SSAValue, SSAValue]:
    """The state as condition, body and what follows the loop see it."""
    return loop.cond.block.args[0], loop.body.block.args[0], loop.results[0]


def _is_plain(loop: WhileOp) -> bool:
    """True if the state is only taken apart, and markers at the root are only passed through."""
    markers = _markers_of_root(loop.body.block)
    return not any(map(whole_uses, _views(loop))) and all(_is_used_once(marker) for marker in markers)


def _is_used_once(op: Operation) -> bool:
    return len(list(op.results[0].uses)) == 1


def _tuple_of_root(block: Block) -> TupleOp | None:
    root = _holder(block).operands[0]
    return root.op if isinstance(root, OpResult) and isinstance(root.op, TupleOp) and _is_used_once(root.op) else None


def _is_unused(loop: WhileOp, root: TupleOp, slot: int) -> bool:
    condition, body, after = _views(loop)
    if takers(condition, slot) or takers(after, slot):
        return False
    uses = [use for taker in takers(body, slot) for use in taker.results[0].uses]
    return [(use.operation, use.index) for use in uses] == [(root, slot)]


def _drop(loop: WhileOp, slot: int) -> None:
    views, body = _views(loop), loop.body.block
    _replace_root(body, _without(_root_elements(body), slot))
    for taker in takers(views[1], slot):
        erase(taker)
    kept = _without(range(len(elements_of(loop.inits[0].type))), slot)
    _replace_tuple(loop, _elements(loop.inits[0], loop, kept))
    for view in views:
        retype(view, tuple_of(tuple(_without(elements_of(view.type), slot))))
        _close_gap(view, slot)


def _without(values: Sequence[T], at: int) -> list[T]:
    return [*values[:at], *values[at + 1 :]]


def _close_gap(value: SSAValue, slot: int) -> None:
    for use in value.uses:
        if isinstance(op := use.operation, GetTupleElementOp) and int_of(op.index) > slot:
            op.properties["index"] = integer(int_of(op.index) - 1)


def takers(packed: SSAValue, slot: int) -> list[Operation]:
    """The instructions that take element `slot` out of a tuple."""
    return [
        use.operation
        for use in packed.uses
        if isinstance(use.operation, GetTupleElementOp) and int_of(use.operation.index) == slot
    ]


def _elements(packed: SSAValue, before: Operation, wanted: Sequence[int] | None = None) -> list[SSAValue]:
    """Elements of a tuple (all by default): from where it got them, or taken out in front of `before`."""
    indices = range(len(elements_of(packed.type))) if wanted is None else wanted
    if isinstance(packed, OpResult) and isinstance(packed.op, TupleOp):
        return [packed.op.elements[index] for index in indices]
    types = elements_of(packed.type)
    return [take(packed, index, types[index], InsertPoint.before(before)) for index in indices]


def _replace_tuple(holder: Operation, elements: Sequence[SSAValue]) -> None:
    """Gives `holder` a new tuple as operand 0; the old one goes if nothing else uses it."""
    old = holder.operands[0]
    packed = _pack(elements, InsertPoint.before(holder))
    holder.operands[0] = packed
    if not (isinstance(old, OpResult) and isinstance(old.op, TupleOp)):
        return
    packed.op.attributes.update(old.op.attributes)
    if old.first_use is None:
        name = old.name_hint
        erase(old.op)
        rename(packed, name)


def _pack(elements: Sequence[SSAValue], where: InsertPoint) -> OpResult:
    packed = build(TupleOp, elements, tuple_of(tuple(value.type for value in elements)), {}, {})
    Rewriter.insert_op(packed, where)
    return packed.results[0]


def _end(block: Block) -> Operation:
    assert block.last_op is not None, "a computation ends by returning"
    return block.last_op


def _markers_of_root(block: Block) -> list[Operation]:
    """The markers that the root went through, last one first."""
    chain: list[Operation] = []
    value = _end(block).operands[0]
    while isinstance(value, OpResult) and is_identity(value.op):
        chain.append(value.op)
        value = value.op.operands[0]
    return chain


def _holder(block: Block) -> Operation:
    """What has the root's tuple as its operand 0: the first marker, or the end of the computation."""
    return (_markers_of_root(block) or [_end(block)])[-1]


def _root_elements(block: Block) -> list[SSAValue]:
    holder = _holder(block)
    return _elements(holder.operands[0], holder)


def _replace_root(block: Block, elements: Sequence[SSAValue]) -> None:
    markers = _markers_of_root(block)
    for marker in markers:
        _repack_whole_uses(marker.results[0], (*markers, _end(block)))
    _replace_tuple(_holder(block), elements)
    state = tuple_of(tuple(value.type for value in elements))
    for marker in markers:
        retype(marker.results[0], state)


def whole_uses(packed: SSAValue, passing: Collection[Operation] = ()) -> list[Use]:
    """Uses of a tuple, except those of `passing`, that do not take an element out of it."""
    spared = (GetTupleElementOp, ControlDependencyOp)
    return [use for use in packed.uses if not isinstance(use.operation, spared) and use.operation not in passing]


def _repack_whole_uses(packed: SSAValue, passing: Collection[Operation] = ()) -> None:
    """Gives uses of a whole tuple, except those of `passing`, a new one made of the elements it has now."""
    if not (uses := whole_uses(packed, passing)):
        return
    owner = packed.owner
    first = owner.first_op if isinstance(owner, Block) else owner.next_op
    assert first is not None, "a computation ends by returning"
    where = InsertPoint.before(first)
    elements = [take(packed, index, type, where) for index, type in enumerate(elements_of(packed.type))]
    whole = _pack(elements, where)
    for use in uses:
        use.operation.operands[use.index] = whole
