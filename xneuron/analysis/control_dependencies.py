"""Questions about `hlo.control_dependency`: which instructions an order is declared for."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Operation, SSAValue

from xneuron.dialects.hlo.control_flow import ControlDependencyOp

_PREDECESSOR, _SUCCESSOR = 0, 1


def orders_before(op: Operation) -> list[ControlDependencyOp]:
    """The dependencies that make `op` wait for another instruction."""
    return _orders(op, _SUCCESSOR)


def control_predecessors(op: Operation) -> list[SSAValue]:
    """What `op` is declared to come after."""
    return [order.predecessor for order in _orders(op, _SUCCESSOR)]


def control_successors(op: Operation) -> list[SSAValue]:
    """What is declared to come after `op`."""
    return [order.successor for order in _orders(op, _PREDECESSOR)]


def _orders(op: Operation, role: int) -> list[ControlDependencyOp]:
    return [
        use.operation
        for result in op.results
        for use in result.uses
        if use.index == role and isinstance(use.operation, ControlDependencyOp)
    ]


def is_ordered(op: Operation) -> bool:
    """True if a control dependency has `op` at either end."""
    return any(isinstance(use.operation, ControlDependencyOp) for result in op.results for use in result.uses)


def ordered_values(ops: Iterable[Operation]) -> set[SSAValue]:
    """All values that the control dependencies among `ops` order: one walk instead of a look at each one's uses."""
    return {value for op in ops if type(op) is ControlDependencyOp for value in op.operands}
