"""Which function a call means and who calls a function: found by one walk over the module, then looked up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation

from xneuron.dialects.hlo.functions import is_private


class CallGraph:
    """Functions and call sites of a module, as they were when first asked for."""

    def __init__(self, module: Operation | None) -> None:
        self.module = module

    @cached_property
    def functions(self) -> dict[str, FuncOp]:
        """The module's functions by name."""
        if not isinstance(self.module, ModuleOp):
            return {}
        return {op.sym_name.data: op for op in self.module.ops if isinstance(op, FuncOp)}

    @cached_property
    def callers(self) -> dict[str, list[CallOp]]:
        """Call sites by name of the callee."""
        found: defaultdict[str, list[CallOp]] = defaultdict(list)
        for op in self.module.walk() if self.module else ():
            if isinstance(op, CallOp):
                found[callee_name(op)].append(op)
        return dict(found)

    def callee(self, call: CallOp) -> FuncOp | None:
        """The function with a body that the call means, None if the module has none of that name."""
        function = self.functions.get(callee_name(call))
        return None if function is None or not function.body.blocks else function

    def only_call(self, function: FuncOp) -> CallOp | None:
        """The one call of a private function, None for any other function."""
        if not is_private(function):
            return None
        calls = self.callers.get(function.sym_name.data, [])
        return calls[0] if len(calls) == 1 else None

    def callees_first(self) -> Iterator[FuncOp]:
        """All functions in module order, each after the functions that it calls."""
        seen: set[str] = set()
        for name in self.functions:
            stack = [iter((name,))]
            path: list[str] = []
            while stack:
                if (inner := next((c for c in stack[-1] if c not in seen and c in self.functions), None)) is not None:
                    seen.add(inner)
                    path.append(inner)
                    stack.append(iter(self._called.get(inner, ())))
                    continue
                stack.pop()
                if path:
                    yield self.functions[path.pop()]

    @cached_property
    def _called(self) -> dict[str, list[str]]:
        called: defaultdict[str, list[str]] = defaultdict(list)
        for name, calls in self.callers.items():
            for call in calls:
                called[function_of(call)].append(name)
        return dict(called)


def callee_name(call: CallOp) -> str:
    """The name of the function that a call means."""
    return call.callee.root_reference.data


def function_of(op: Operation) -> str:
    """The name of the function that an op stands in, empty outside of all."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, FuncOp):
        parent = parent.parent_op()
    return parent.sym_name.data if parent else ""


def module_of(op: Operation) -> ModuleOp | None:
    """The module that an op stands in."""
    parent: Operation | None = op
    while parent is not None and not isinstance(parent, ModuleOp):
        parent = parent.parent_op()
    return parent
