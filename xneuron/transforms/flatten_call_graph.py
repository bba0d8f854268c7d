"""Pass `flatten-call-graph`: every call gets a function of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.passes import ModulePass

from xneuron.analysis.call_graph import CallGraph, callee_name, function_of
from xneuron.dialects.hlo.functions import is_private
from xneuron.fastir import collector_off
from xneuron.transforms.names import Names


@dataclass(frozen=True)
class FlattenCallGraph(ModulePass):
    """Clones functions until each has one caller.

        %x = func.call @f(%a)                       %x = func.call @f(%a)
        %y = func.call @f(%b)                       %y = func.call @f.clone(%b)

    The first caller keeps the function; what a clone calls is cloned with it. Regions belong to one op already, so only
    functions can be shared. Leaves alone: functions without a body, functions that call themselves.
    Rules: xla-semantics.md c.5.
    """

    name = "flatten-call-graph"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        flatten_call_graph(op)


def flatten_call_graph(module: ModuleOp, wanted: Callable[[FuncOp], bool] = lambda function: True) -> bool:
    """Clones shared functions that are wanted; true if there were any.

    Callers first, so that the calls in a clone count too.
    """
    graph = CallGraph(module)
    functions = list(graph.callees_first())
    place = {function.sym_name.data: at for at, function in enumerate(functions)}
    calls = {name: list(found) for name, found in graph.callers.items()}
    names = Names(graph.functions)
    changed = False
    with collector_off():
        for function in reversed(functions):
            name = function.sym_name.data
            outer = [call for call in calls.get(name, ()) if place.get(function_of(call), -1) > place[name]]
            shared = outer[1:] if is_private(function) else outer
            for call in shared if function.body.blocks and wanted(function) else ():
                _clone_for(call, function, names, place, calls)
                changed = True
    return changed


def _clone_for(
    call: CallOp, function: FuncOp, names: Names, place: dict[str, int], calls: dict[str, list[CallOp]]
) -> None:
    original = function.sym_name.data
    name = names.fresh(f"{original}.clone")
    place[name] = place[original]
    clone = function.clone()
    clone.properties |= {"sym_name": StringAttr(name), "sym_visibility": StringAttr("private")}
    if (block := function.parent) is None:
        raise ValueError(f"expected {original} in a module")
    block.insert_op_after(clone, function)
    call.properties["callee"] = SymbolRefAttr(name)
    for op in clone.walk():
        if isinstance(op, CallOp):
            calls.setdefault(callee_name(op), []).append(op)
