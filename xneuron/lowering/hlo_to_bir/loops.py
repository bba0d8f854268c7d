"""While loops: buffers for the state, and the loop that the register machine has for them.

The state's leaves live in buffers of their own, which the body reads and, when it is done, has written anew. A leaf
that the body hands on as it got it needs none: it stays where it is.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from xneuron.dialects.bir.operands import access
from xneuron.dialects.bir.registers import RegisterMoveOp, TensorLoadOp
from xneuron.dialects.hlo.control_flow import WhileOp

from .aliases import name_in_body
from .computations import Lowering, moves
from .copies import assign
from .loop_control import LoopControl
from .rules import lowers
from .values import Buffer, Leaf, Path, Splat, Tree, at, map_leaves, tree_of


@lowers(WhileOp)
def loop(low: Lowering, op: WhileOp) -> Tree:
    """The loop, in the form that `loop_form` finds for it; the result is the state's buffers."""
    inits = low.value(op.inits[0])
    control = LoopControl(low, op, inits)
    state = tree_of(op.res[0].type, lambda path, _: _home_of(low, op, path, at(inits, path)))
    low.hold(state)
    assign(low, moves(state, inits))
    targets = map_leaves(state, lambda path, leaf: None if low.origins.is_invariant(op, 0, path) else leaf)
    control.repeat(
        body=lambda: low.block(op.body.block, [state], [targets]),
        test=lambda register: _test(low, op, state, register),
    )
    low.release([state])
    return state


def _home_of(low: Lowering, op: WhileOp, path: Path, init: Tree) -> Leaf:
    """Where a leaf of the state lives while the loop runs."""
    if not isinstance(init, Buffer | Splat) or not low.needs(op.res[0], path):
        return None
    if (target := low.target(op.results[0], path)) is not None:
        return target
    if low.origins.is_invariant(op, 0, path):
        return init
    if isinstance(init, Buffer) and low.is_dying(op.inits[0], init) and low.is_home(op.results[0], path, init):
        return init
    name = name_in_body(op, path) or op.res[0].name_hint or "state"
    return low.result(op.results[0], path, wanted=f"{name}.carried")


def _test(low: Lowering, op: WhileOp, state: Tree, register: SSAValue) -> None:
    """The condition of the present state in a register."""
    (goes_on,) = low.block(op.cond.block, [state])
    if isinstance(goes_on, Splat):
        low.builder.emit(RegisterMoveOp([register], [int(goes_on.value)]))
        return
    assert isinstance(goes_on, Buffer)
    low.hold(goes_on)
    low.builder.emit(TensorLoadOp([register], [access(goes_on.handle)]))
    low.drop(goes_on)
