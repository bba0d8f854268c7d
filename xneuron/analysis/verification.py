"""What must hold of a whole module, beyond what each operation checks."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import VerifyException

from xneuron.analysis.call_graph import CallGraph, function_of
from xneuron.analysis.channels import verify_channels
from xneuron.analysis.dominance import verify_dominance
from xneuron.dialects.hlo.functions import entry_of
from xneuron.fastir import symbols_indexed


def verify_module(module: ModuleOp) -> None:
    """Verifies each operation, that values are defined before they are used, and, in an HLO module, how
    computations hang together.

    Raises VerifyException, with a message that says what was expected and found.
    """
    with symbols_indexed():
        module.verify()
    verify_dominance(module)
    if any(name.startswith("hlo.") for name in module.attributes):
        _verify_entry(module)
        verify_channels(module)
        _verify_no_recursion(module)


def _verify_entry(module: ModuleOp) -> None:
    """An HLO module has one entry computation: the one function that is not private."""
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    entry_of(module)
    for function in functions:
        if (results := len(function.function_type.outputs.data)) != 1:
            raise VerifyException(f"expected computation {function.sym_name.data} to return one value, found {results}")


def _verify_no_recursion(module: ModuleOp) -> None:
    callers = CallGraph(module).callers
    graph = {name: {function_of(call) for call in calls} for name, calls in callers.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        chain: list[str] = error.args[1]
        raise VerifyException(
            f"expected computations that do not call themselves, found {' -> '.join(chain)}"
        ) from None
