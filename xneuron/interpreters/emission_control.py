"""Control flow as Python control flow: loops, branches and calls of generated code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Sequence
from itertools import count
from typing import Any

import numpy as np
from xdsl.dialects.func import CallOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xneuron.dialects.hlo.attributes import int_of
from xneuron.dialects.hlo.control_flow import (
    AsyncStartOp,
    ConditionalOp,
    FusionOp,
    GetTupleElementOp,
    TupleOp,
    WhileOp,
)
from xneuron.dialects.hlo.types import PRED, elements_of, tensor, without_layout
from xneuron.execution.buffers import Buffers
from xneuron.execution.errors import EvaluationError
from xneuron.interpreters.emission import Emitter, LoopFrame, Scope, Sym, buffer_key, flat
from xneuron.interpreters.values import zeros

MAX_DEPTH = 12
"""Loops nested deeper are functions of their own: Python allows 20 nested blocks."""
SMALL = 64
"""Called computations up to this many instructions are written inline wherever they are called."""
MAX_LINES = 20_000
"""A function that is longer calls other computations instead of writing them inline."""


# Loops


def emit_while(emitter: Emitter, op: WhileOp) -> None:
    """Writes a loop inline, or a call of its function where nesting is too deep."""
    inits = [emitter.scope.env[operand] for operand in op.operands]
    if len(emitter.loops) >= MAX_DEPTH:
        _call_function(emitter, op, emitter.engine.loop(op).code, ["0", *map(emitter.whole, inits)])
        return
    inits = [emitter.unpacked(sym, operand.type) for sym, operand in zip(inits, op.operands, strict=True)]
    dying = emitter.consume(op)
    results = emit_loop(emitter, op, inits, "0", dying)
    for result, sym in zip(op.results, results, strict=True):
        emitter.bind(result, sym)
    used = emitter.scope.uses
    ended = {name for sym in results for name in flat(sym)}
    emitter.release(name for name in {**dict.fromkeys(dying), **dict.fromkeys(sorted(ended))} if not used[name])


def emit_loop(emitter: Emitter, op: WhileOp, inits: list[Sym], start: str, dying: Sequence[str]) -> list[Sym]:
    """Writes a loop; the state it ends with. `dying`: variables that only the loop still uses.

    A slot of the state is *kept* if each iteration leaves a buffer in it that nobody else holds. To find out, the
    body is first written as if all were, and again while that turns out wrong. The answer depends on the loop alone, so
    that it is found once, however deep the loops around are nested.
    """
    outer = emitter.scope
    state = _state(emitter, op, inits)
    pairs = [(name, init) for name, init in _pairs(state, inits) if name != init]
    emitter.looping(name for name, _ in pairs)
    kept_as_is = {name for sym in state for name in flat(sym)}
    moved = _moved(outer.buffers, [init for _, init in pairs], [name for name in dying if name not in kept_as_is])
    keys = {name: key for name, type in _leaf_types(op, state) if (key := buffer_key(type)) is not None}
    slots = [name for name, _ in pairs]
    kept = {slots[at] for at in emitter.kept.get(op, range(len(slots))) if slots[at] in keys}
    mark = emitter.source.mark()
    try:
        while True:
            loop = _Loop(emitter, op, state, start)
            still = loop.write(pairs, moved, {name: keys[name] for name in kept})
            if still == kept:
                break
            emitter.source.rewind(mark)
            kept &= still
    finally:
        emitter.scope = outer
    emitter.kept[op] = [at for at, name in enumerate(slots) if name in kept]
    loop.hand_over(outer.buffers)
    for name, init in pairs:
        if name in kept:
            outer.buffers.own(name, keys[name])
        else:
            outer.share([init])
    return state


def _state(emitter: Emitter, op: WhileOp, inits: list[Sym]) -> list[Sym]:
    """Variables for the state; a slot that the body returns as it got it needs none."""
    roots = op.body.block.last_op
    if roots is None:
        raise EvaluationError("expected a computation that ends by returning a value", op)
    return [
        init if root is parameter else _slots(emitter, parameter, root, init)
        for parameter, root, init in zip(op.body.block.args, roots.operands, inits, strict=True)
    ]


def _slots(emitter: Emitter, parameter: SSAValue, root: SSAValue, init: Sym) -> Sym:
    made = root.owner
    if not isinstance(made, TupleOp) or not isinstance(init, tuple):
        return emitter.leaves(parameter.type, "s")
    types = elements_of(parameter.type)
    return tuple(
        old if _is_slot(element, parameter, index) else emitter.leaves(type, "s")
        for index, (element, type, old) in enumerate(zip(made.operands, types, init, strict=True))
    )


def _is_slot(value: SSAValue, parameter: SSAValue, index: int) -> bool:
    op = value.owner
    return isinstance(op, GetTupleElementOp) and op.operand is parameter and int_of(op.index) == index


def _moved(buffers: Buffers, inits: list[str], dying: Sequence[str]) -> set[str]:
    """Initial values whose buffers the loop may have."""
    moved = {name for name in dying if buffers.key(name) is not None and inits.count(name) == 1}
    for name in moved:
        buffers.give(name)
    return moved


def _leaf_types(op: WhileOp, state: Sequence[Sym]) -> list[tuple[str, Attribute]]:
    pairs: list[tuple[str, Attribute]] = []
    stack: list[tuple[Sym, Attribute]] = [(sym, value.type) for sym, value in zip(state, op.operands, strict=True)]
    while stack:
        sym, type = stack.pop()
        if isinstance(sym, tuple):
            stack += zip(sym, elements_of(type), strict=True)
        else:
            pairs.append((sym, type))
    return pairs


class _Loop:
    """One attempt to write a loop."""

    def __init__(self, emitter: Emitter, op: WhileOp, state: list[Sym], start: str) -> None:
        self._emitter = emitter
        self._source = emitter.source
        self._op = op
        self._state = state
        self._start = start
        engine = emitter.engine
        self._counted = emitter.profiled or engine.limit is not None or engine.linker.communicating(op)
        self._index = self._source.fresh("n")

    def write(self, pairs: list[tuple[str, str]], moved: set[str], kept: dict[str, Hashable]) -> set[str]:
        """Writes it all; the slots among `kept` that really are. `pairs`: state variables and their initial values."""
        emitter = self._emitter
        for name, init in pairs:
            self._source.line(f"{name} = {init}{'.copy()' if name in kept and init not in moved else ''}")
        self._top = self._source.mark()
        emitter.scope = Scope(Buffers(lambda: self._source.fresh("b")), emitter.scope)
        for name, key in kept.items():
            emitter.scope.buffers.own(name, key)
        header = f"for {self._index} in {emitter.constant(count)}({self._start}):" if self._counted else "while True:"
        emitter.loops.append(LoopFrame(self._index, self._top))
        try:
            with self._source.indented(header):
                still = self._iteration(kept)
        finally:
            emitter.loops.pop()
        emitter.count(self._op.cond.block, f"{self._index} - {self._start} + 1")
        emitter.count(self._op.body.block, f"{self._index} - {self._start}")
        return still

    def _iteration(self, kept: Collection[str]) -> set[str]:
        emitter, cond, body = self._emitter, self._op.cond.block, self._op.body.block
        held = [name for sym in self._state for name in flat(sym)]
        uses = emitter.scope.uses
        uses.update(Counter(held))
        (flag,) = emitter.block(cond, self._state)
        self._source.origin = self._op
        self._source.line(f"if not {flag}: break")
        if emitter.engine.limit is not None:
            exceeded = f"{emitter.constant(emitter.engine.exceeded)}({emitter.constant(self._op)})"
            self._source.line(f"if {self._index} >= {emitter.engine.limit}: {exceeded}")
        emitter.enter(body, self._state)
        for name in held:
            uses[name] -= 1
        emitter.release(name for name in dict.fromkeys(held) if not uses[name])
        return self._advance(emitter.instructions(body), kept)

    def _advance(self, ends: Sequence[Sym], kept: Collection[str]) -> set[str]:
        """Writes the step from one iteration to the next; the slots whose new buffers are nobody else's."""
        emitter = self._emitter
        self._source.origin = self._op
        buffers = emitter.scope.buffers
        ends = [emitter.unpacked(sym, operand.type) for sym, operand in zip(ends, self._op.operands, strict=True)]
        pairs = _pairs(self._state, ends)
        names = Counter(end for _, end in pairs)
        still = {name for name, end in pairs if name in kept and end != name and buffers.key(end) and names[end] == 1}
        moves = [(name, end) for name, end in pairs if name != end]
        if emitter.scope.outer is not None:
            emitter.scope.outer.share([end for _, end in moves])
        restocked = buffers.restock()
        moves += [(spare, source) for spare, source in restocked.items() if source is not None and source != spare]
        self._assign(moves)
        for spare, source in restocked.items():
            if source is None:
                self._source.line(f"{spare} = {self._empty(buffers.spares[spare])}")
        for name in buffers.free:
            if name not in kept and name not in restocked:
                self._source.line(f"del {name}")
        self._spares = buffers.spares
        return still

    def _assign(self, moves: list[tuple[str, str]]) -> None:
        """Parallel assignment, one after the other where nothing is read after it was written."""
        written: set[str] = set()
        for name, source in moves:
            if source in written:
                targets, sources = zip(*moves, strict=True)
                self._source.line(f"{', '.join(targets)}, = {', '.join(sources)},")
                return
            written.add(name)
        for name, source in moves:
            self._source.line(f"{name} = {source}")

    def _empty(self, key: Any) -> str:
        dtype, shape = key
        return f"{self._emitter.constant(np.empty)}({shape}, {self._emitter.constant(dtype)})"

    def hand_over(self, outer: Buffers) -> None:
        """Gets the spares from the code around, and gives them back after the loop."""
        found = {spare: outer.take(key) for spare, key in self._spares.items()}
        for spare, key in self._spares.items():
            outer.own(spare, key)
            outer.release(spare)
        lines = [f"{spare} = {name or self._empty(self._spares[spare])}" for spare, name in found.items()]
        self._source.insert(self._top, lines)


def _pairs(targets: Sequence[Sym], sources: Sequence[Sym]) -> list[tuple[str, str]]:
    """Corresponding names; what is known to be None needs no variable."""
    names = [name for sym in targets for name in flat(sym)]
    given = [name for sym in sources for name in flat(sym)]
    return [(name, source) for name, source in zip(names, given, strict=True) if name != "None"]


# Branches


def emit_conditional(emitter: Emitter, op: ConditionalOp) -> None:
    """Writes a chain of `if`; an index out of range runs the last branch (xla-semantics.md d.6)."""
    source, result = emitter.source, emitter.leaves(op.result.type, "v")
    index = emitter.whole(emitter.scope.env[op.args[0]])
    by_pred = without_layout(op.args[0].type) == tensor(PRED)
    if not by_pred:
        chosen = source.fresh("i")
        source.line(f"{chosen} = int({index})")
        index = chosen
    buffers = emitter.scope.buffers
    emitter.branching += 1
    for at, region in enumerate(op.branches):
        if at == len(op.branches) - 1:
            header = "else:" if at else "if True:"
        else:
            header = f"{'el' if at else ''}if {index if by_pred else f'{index} == {at}'}:"
        emitter.scope.buffers = Buffers()
        with source.indented(header):
            _emit_branch(emitter, op, at, region.block, result)
    emitter.branching -= 1
    emitter.scope.buffers = buffers
    emitter.scope.share(emitter.scope.names(op))
    dying = emitter.consume(op)
    emitter.bind(op.result, result)
    emitter.release(dying)


def _emit_branch(emitter: Emitter, op: ConditionalOp, at: int, block: Block, result: Sym) -> None:
    arguments = [emitter.scope.env[op.args[at + 1]]] if block.args else []
    emitter.count(block)
    (root,) = emitter.block(block, arguments)
    emitter.source.origin = op
    root = emitter.unpacked(root, op.result.type)
    pairs = _pairs([result], [root])
    for name, end in pairs:
        emitter.source.line(f"{name} = {end}")
    if not pairs:
        emitter.source.line("pass")


# Calls


def emit_call(emitter: Emitter, op: CallOp) -> None:
    """Writes the callee inline if it is small or called nowhere else, a call otherwise."""
    linker = emitter.engine.linker
    block = linker.callee(op)
    small = linker.size(block) <= SMALL
    alone = linker.call_sites[op.callee.string_value()] == 1 and len(emitter.source) < MAX_LINES
    if small or alone:
        _inline(emitter, op, block)
        return
    operands = [emitter.whole(emitter.scope.env[operand]) for operand in op.operands]
    _call_function(emitter, op, emitter.engine.computation(block).code, operands)


def emit_fusion(emitter: Emitter, op: FusionOp) -> None:
    """Writes the fused computation inline."""
    _inline(emitter, op, op.calls.block)


def _inline(emitter: Emitter, op: Operation, block: Block) -> None:
    arguments = [emitter.scope.env[operand] for operand in op.operands]
    emitter.count(block)
    results = emitter.block(block, arguments, caller=op)
    for result, sym in zip(op.results, results, strict=True):
        emitter.bind(result, sym)
    if (last := block.last_op) is not None:
        emitter.release(emitter.consume(last))


def _call_function(emitter: Emitter, op: Operation, function: Callable[..., Any], operands: list[str]) -> None:
    """Writes a call of another compiled function, which answers with one value or a tuple of several."""
    talks = emitter.engine.linker.communicating(op)
    operands = [emitter.at, *operands] if talks else operands
    emitter.scope.share(emitter.scope.names(op))
    dying = emitter.consume(op)
    name = emitter.variable()
    keyword = "yield from " if talks else ""
    emitter.source.line(f"{name} = {keyword}{emitter.constant(function)}({', '.join(operands)})")
    for index, result in enumerate(op.results):
        emitter.bind(result, name if len(op.results) == 1 else _part(emitter, name, index))
    emitter.release(dying)


def _part(emitter: Emitter, name: str, index: int) -> str:
    part = emitter.variable()
    emitter.source.line(f"{part} = {name}[{index}]")
    return part


def emit_async_start(emitter: Emitter, op: AsyncStartOp) -> None:
    """Does the work at once: the result is ((operands), result, state…)."""
    block = op.calls.block
    operands = [emitter.scope.env[operand] for operand in op.operands]
    emitter.count(block)
    (root,) = emitter.block(block, operands)
    rest = [emitter.constant(zeros(type)) for type in elements_of(op.result.type)[2:]]
    emitter.bind(op.result, (tuple(operands), root, *rest))
    emitter.release(emitter.consume(op))
    if (last := block.last_op) is not None:
        emitter.release(emitter.consume(last))


EMIT: dict[type[Operation], Callable[[Emitter, Any], None]] = {
    WhileOp: emit_while,
    ConditionalOp: emit_conditional,
    CallOp: emit_call,
    FusionOp: emit_fusion,
    AsyncStartOp: emit_async_start,
}
