"""Loop axes: the one induction variable of a loop, and how often it steps.

A static axis counts by ceiling division; a dynamic axis answers 0 and says that its count is a runtime
value, so nobody may size anything by `get_tripcount` without asking `has_runtime_value` first
(reference: seed, "Static vs Dynamic Axis").
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue

from .expressions import Expr


def calculate_tripcount(lb: int, ub: int, stride: int) -> int:
    """`max(0, ceil((ub - lb) / stride))`; raises ValueError "Division by zero" for stride 0."""
    if stride == 0:
        raise ValueError("Division by zero")
    return max(0, -((lb - ub) // stride))


@dataclass(frozen=True)
class LoopAxis:
    """The axis of a static loop: integer bounds, known count."""

    name: str
    value: SSAValue
    lb: int
    ub: int
    stride: int

    def get_tripcount(self) -> int:
        """Iterations, by ceiling division; symmetric for a negative stride."""
        return calculate_tripcount(self.lb, self.ub, self.stride)

    def has_runtime_value(self) -> bool:
        return False

    def get_max_tripcount(self) -> int | None:
        """The same as `get_tripcount`."""
        return self.get_tripcount()


@dataclass(frozen=True)
class DynamicForLoopAxis:
    """The axis of a dynamic loop: expression bounds, the count known only when it runs."""

    name: str
    value: SSAValue
    lb: Expr
    ub: Expr
    stride: Expr
    max_tripcount: int | None = None

    def get_tripcount(self) -> int:
        """Always 0: there is no static count."""
        return 0

    def has_runtime_value(self) -> bool:
        return True

    def get_max_tripcount(self) -> int | None:
        """The declared bound on iterations, None when the program declares none."""
        return self.max_tripcount


Axis = LoopAxis | DynamicForLoopAxis


def enclosing_axes(op: Operation) -> list[Axis]:
    """The axes an operation may use, innermost first; a loop's own axis comes first."""
    from .loops import DynamicForLoopOp, LoopOp

    found: list[Axis] = []
    current: Operation | None = op
    while current is not None:
        if isinstance(current, LoopOp | DynamicForLoopOp):
            found.append(current.axis)
        current = current.parent_op()
    return found


def find_axis(name: str, op: Operation) -> Axis | None:
    """The innermost axis called `name` that is visible at `op`."""
    return next((axis for axis in enclosing_axes(op) if axis.name == name), None)


def is_induction_variable(op: Operation, value: SSAValue) -> bool:
    """Whether `value` belongs to a loop around `op` (the loop's own bounds are not inside it)."""
    from .loops import AxisLoop

    loop = value.owner.parent_op() if isinstance(value.owner, Block) else None
    return isinstance(loop, AxisLoop) and loop is not op and loop.is_ancestor(op)
