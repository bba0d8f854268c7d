"""Pass `call-inliner`: functions take the place of their calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from xneuron.analysis.call_graph import CallGraph, function_of
from xneuron.analysis.control_dependencies import is_ordered, orders_before
from xneuron.dialects.hlo.attributes import text_of
from xneuron.dialects.hlo.control_flow import AsyncStartOp, ConditionalOp, ControlDependencyOp, WhileOp
from xneuron.dialects.hlo.functions import is_private
from xneuron.fastir import Template, collector_off, splice
from xneuron.remarks import declare, remark
from xneuron.transforms.hlo_dce import drop_unused_functions, eliminate_dead_code
from xneuron.transforms.metadata import CalledFrom, StackFrames
from xneuron.transforms.replacement import erase

KEPT = declare("call-kept", "The call was not inlined.")


@dataclass(frozen=True)
class CallInliner(ModulePass):
    """Replaces calls by what they call, callees first, and drops what nothing uses afterwards.

        func.func private @f(%p) { %n = hlo.negate(%p); return %n }
        %r = func.call @f(%x)                                   -->   %r = hlo.negate(%x)

    Refuses: a `backend_config`, `frontend_attributes={inlineable="false"}` (or "xla_late"), the inside of an
    async pair, a function without a body or one that calls itself, and a call in a control dependency of a function
    that returns a parameter (no instruction would carry the order on).

    Control predecessors of the call become those of every inlined instruction, successors those of the root. The
    call's op_name and stack frame are put in front of the inlined ones', in loops and branches too.

    `single_call_site`: only functions with one call, unless `inlineable` is "true" or "xla_early".
    `composites_to_preserve`: names of composites whose calls stay. Rules: xla-semantics.md c.4.
    """

    name = "call-inliner"
    single_call_site: bool = False
    composites_to_preserve: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if inline_calls(op, self):
            eliminate_dead_code(op)


def inline_calls(module: ModuleOp, options: CallInliner | None = None) -> bool:
    """Inlines all calls that may be and drops functions without callers; true if there were any calls to inline.

    The last call of a private function takes its instructions instead of copies.
    """
    graph, frames, options = CallGraph(module), StackFrames(module), options or CallInliner()
    done: set[str] = set()
    changed = False
    with collector_off():
        for function in graph.callees_first():
            changed |= _inline_everywhere(function, graph, frames, done, options)
            done.add(function.sym_name.data)
    if changed:
        frames.store()
        drop_unused_functions(module)
    return changed


def _inline_everywhere(
    function: FuncOp, graph: CallGraph, frames: StackFrames, done: set[str], options: CallInliner
) -> bool:
    calls = graph.callers.get(function.sym_name.data, [])
    wanted = [call for call in calls if _may_inline(call, function, len(calls), done, options)]
    if not wanted:
        return False
    to_move = wanted[-1] if is_private(function) and len(wanted) == len(calls) else None
    copies = Template(function.body.block) if len(wanted) > 1 or to_move is None else None
    for call in wanted:
        if copies is not None and call is not to_move:
            _inline(call, copies.stamp(), frames)
    if to_move is not None:
        _inline(to_move, function.body.block, frames)
        erase(function)
    return True


def _may_inline(call: CallOp, function: FuncOp, calls: int, done: set[str], options: CallInliner) -> bool:
    if (reason := _refusal(call, function, done, options)) is not None:
        remark("missed", CallInliner.name, KEPT, call, reason)
        return False
    return calls == 1 or not options.single_call_site or _frontend(call, "inlineable") in ("true", "xla_early")


def _refusal(call: CallOp, function: FuncOp, done: set[str], options: CallInliner) -> str | None:
    if len(function.body.blocks) != 1:
        return "the function has no body of one block"
    if (caller := function_of(call)) == function.sym_name.data or caller in done:
        return "the function calls itself"
    if "backend_config" in call.attributes:
        return "the call has a backend_config"
    if isinstance(call.parent_op(), AsyncStartOp):
        return "the call is the inside of an async pair"
    if (wish := _frontend(call, "inlineable")) in ("false", "xla_late"):
        return f'the call says inlineable="{wish}"'
    if "is_composite" in call.attributes and _frontend(call, "composite.name") in options.composites_to_preserve:
        return "the call is a composite to preserve"
    if is_ordered(call) and any(isinstance(root, BlockArgument) for root in _roots(function.body.block)):
        return "the function returns a parameter, which cannot carry the call's control dependencies on"
    return None


def _frontend(call: CallOp, key: str) -> str:
    attributes = call.attributes.get("frontend_attributes")
    return text_of(attributes.data.get(key)) if isinstance(attributes, DictionaryAttr) else ""


def _roots(body: Block) -> list[SSAValue]:
    return list(body.last_op.operands) if body.last_op else []


def _inline(call: CallOp, body: Block, frames: StackFrames) -> None:
    """Puts the ops of `body`, which nothing else owns, in the place of the call."""
    for parameter, value in zip(body.args, call.operands, strict=True):
        parameter.replace_all_uses_with(value)
    roots, returned = _roots(body), body.last_op
    if returned is not None:
        erase(returned)
    _say_where_from(CalledFrom(call, frames), body)
    waiting = orders_before(call)
    inlined = list(body.ops) if waiting else []
    splice(body, call)
    for result, root in zip(call.results, roots, strict=True):
        result.replace_all_uses_with(root)
    for order in waiting:
        _hand_on(order, inlined)
    erase(call)


def _say_where_from(called: CalledFrom, body: Block) -> None:
    blocks = [] if called.says_nothing else [body]
    for block in blocks:  # grows while we go
        for op in block.ops:
            called.apply(op)
            if isinstance(op, WhileOp | ConditionalOp):
                blocks += [inner for region in op.regions for inner in region.blocks]


def _hand_on(order: ControlDependencyOp, inlined: Sequence[Operation]) -> None:
    """Lets all inlined ops wait for what the call waited for; the root does already, in the place of the call."""
    for op in inlined:
        if op.results and op.results[0] is not order.successor:
            added = ControlDependencyOp.create(operands=(order.predecessor, op.results[0]))
            Rewriter.insert_op(added, InsertPoint.before(order))
