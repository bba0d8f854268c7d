"""Pass `hlo-dce`: drops what nothing uses, functions included."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.traits import IsTerminator, SymbolOpInterface

from xneuron.analysis.call_graph import callee_name
from xneuron.analysis.computations import computations_outside_in
from xneuron.analysis.effects import Effects
from xneuron.dialects.hlo.base import HloOp
from xneuron.dialects.hlo.control_flow import ControlDependencyOp
from xneuron.dialects.hlo.functions import is_private
from xneuron.transforms.replacement import erase


@dataclass(frozen=True)
class HloDce(ModulePass):
    """Erases instructions without uses and private functions without callers.

        func.func private @unused(…)              (nothing)
        %a = hlo.add(%x, %y)        no use

    Beyond xDSL's `dce`: functions, and calls of functions that do nothing. Stays: what has an effect, collectives
    (every participant must arrive), loops (they may not end), both ends of a control dependency, parameters.
    """

    name = "hlo-dce"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        eliminate_dead_code(op)


def eliminate_dead_code(module: ModuleOp) -> bool:
    """Erases dead instructions, then functions that are no longer called; true if anything changed."""
    effects = Effects(module)
    changed = False
    for block in computations_outside_in(module):
        for op in reversed(block.ops):
            if _is_dead(op, effects):
                erase(op)
                changed = True
    return drop_unused_functions(module) or changed


def _is_dead(op: Operation, effects: Effects) -> bool:
    if any(result.first_use is not None for result in op.results):
        return False
    return not (_is_fixture(op) or effects.must_stay(op))


def _is_fixture(op: Operation) -> bool:
    return isinstance(op, ControlDependencyOp) or op.has_trait(IsTerminator) or op.has_trait(SymbolOpInterface)


def drop_unused_functions(module: ModuleOp) -> bool:
    """Erases the private functions that no other function reaches; true if there were any."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    roots = [op for op in module.ops if not (isinstance(op, FuncOp) and is_private(op))]
    reached: set[str] = set()
    while roots:
        for name in _names_used(roots.pop()) - reached:
            reached.add(name)
            if name in functions:
                roots.append(functions[name])
    unused = [op for name, op in functions.items() if is_private(op) and name not in reached]
    for op in unused:
        erase(op)
    return bool(unused)


def _names_used(root: Operation) -> set[str]:
    found: set[str] = set()
    for op in root.walk():
        if isinstance(op, CallOp):
            found.add(callee_name(op))
        elif not isinstance(op, HloOp):
            values = (*op.properties.values(), *op.attributes.values())
            found |= {value.root_reference.data for value in values if isinstance(value, SymbolRefAttr)}
    return found
