"""What values may be: registers and induction variables where they are used, integers within 32 bits."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from ..axes import is_induction_variable
from ..expressions import AffineIV, Leaf, Ref
from ..storage import RegisterOp
from .diagnostics import BirError

INT32 = range(-(2**31), 2**31)


def check_32_bits(what: str, value: int) -> None:
    if value not in INT32:
        raise BirError("bound-range", f"expected {what} to fit in 32 bits but got {value}")


def check_register(op: Operation, ref: Ref) -> RegisterOp:
    """The definition of a register that `op` uses."""
    if not isinstance(ref, SSAValue):
        raise BirError("register", "expected a register but got none")
    if not isinstance(ref.owner, RegisterOp):
        raise BirError("register", f"expected a register of this function but got a value of type {ref.type}")
    return ref.owner


def check_leaf(op: Operation, leaf: Leaf) -> None:
    """A register must be one of 32 bits; an induction variable must be of a loop around `op`."""
    if isinstance(leaf, AffineIV):
        if not isinstance(leaf.value, SSAValue) or not is_induction_variable(op, leaf.value):
            raise BirError("induction-variable", "an induction variable is used outside its loop")
        return
    register = check_register(op, leaf.value)
    if (width := register.num_physical_regs.data) != 1:
        raise BirError(
            "register-width",
            f"expected a 32-bit register in an expression but {register.label!r} has {32 * width} bits",
        )
