"""Functions as HLO's computations: a module's entry is its one public function (docs/architecture.md)."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.attributes import text_of


def is_private(function: FuncOp) -> bool:
    """True for a function that only its module can call."""
    return text_of(function.sym_visibility) == "private"


def public_functions(module: ModuleOp) -> list[FuncOp]:
    """The functions that can be called from outside, in order."""
    return [op for op in module.ops if isinstance(op, FuncOp) and not is_private(op)]


def entry_of(module: ModuleOp) -> FuncOp:
    """The entry computation. Raises VerifyException unless there is exactly one public function."""
    public = public_functions(module)
    if len(public) != 1:
        names = ", ".join(function.sym_name.data for function in public) or "none"
        raise VerifyException(f"expected one public function as entry computation, found {names}")
    return public[0]
