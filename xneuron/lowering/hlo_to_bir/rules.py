"""The table of instructions that BIR can express: a rule per op class.

    @lowers(TransposeOp)
    def transpose(low: Lowering, op: TransposeOp) -> Tree: ...

A rule emits instructions and returns the result. It is asked only for what `check` lets through, so that
a program that cannot be lowered is refused as a whole, before anything is emitted.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import PassFailedException

from xneuron.dialects.hlo.channels import ChannelOp
from xneuron.dialects.hlo.collectives import PartitionIdOp, ReplicaIdOp
from xneuron.dialects.hlo.control_flow import ControlDependencyOp, ReturnOp
from xneuron.dialects.hlo.types import TokenType, is_tensor, shape_of, spelled
from xneuron.remarks import name_of

from .empty import makes_nothing, problem_without_elements
from .layout import dtype_of
from .values import Tree

if TYPE_CHECKING:
    from .computations import Lowering

CHAPTERS = (
    "plumbing",
    "branches",
    "loops",
    "elementwise",
    "elementwise_choices",
    "elementwise_integers",
    "elementwise_division",
    "elementwise_rounding",
    "elementwise_functions",
    "elementwise_angles",
    "conversions",
    "bits",
    "movement",
    "bitcasts",
    "dynamic",
    "lifted",
    "reductions",
    "contractions",
    "gathers",
    "windows",
    "window_scatters",
    "convolutions",
    "sorts",
)
"""Modules whose rules register themselves when they are imported."""

Rule: TypeAlias = "Callable[[Lowering, Any], Tree]"
Check: TypeAlias = Callable[[Any], str | None]
_R = TypeVar("_R", bound=Callable[..., Tree])

RULES: dict[type[Operation], Rule] = {}
CHECKS: dict[type[Operation], Check] = {}
IN_PLACE: dict[type[Operation], frozenset[int] | None] = {}
"""Operands whose memory the result may take: it is read before or while the result is written. None: all of them."""


class NotLowerable(PassFailedException):
    """BIR cannot express an instruction, or `what` else is there. `op` is the place to show."""

    def __init__(self, op: Operation, reason: str, what: str | None = None) -> None:
        self.op = op
        what = what or f"{op.name.removeprefix('hlo.')} '{name_of(op)}'"
        super().__init__(f"cannot lower {what} to BIR: {reason}")


def lowers(
    *ops: type[Operation], check: Check | None = None, in_place: tuple[int, ...] | None = ()
) -> Callable[[_R], _R]:
    """Registers the decorated rule; `check` says what is wrong with an op, None if nothing."""

    def register(rule: _R) -> _R:
        for op in ops:
            RULES[op] = rule
            IN_PLACE[op] = None if in_place is None else frozenset(in_place)
            if check is not None:
                CHECKS[op] = check
        return rule

    return register


def load_rules() -> None:
    """Imports all chapters."""
    for chapter in CHAPTERS:
        import_module(f"{__package__}.{chapter}")


def check(op: Operation) -> None:
    """Raises NotLowerable for an instruction that has no rule, or no rule for what it is here."""
    if reason := problem(op):
        raise NotLowerable(op, reason)


def problem(op: Operation) -> str | None:
    """Why BIR cannot express an instruction, None if it can."""
    if isinstance(op, ReturnOp | ControlDependencyOp):
        return None
    for result in op.results:  # operands are results, too, or parameters
        if reason := type_problem(result.type):
            return reason
    if isinstance(op, ChannelOp | PartitionIdOp | ReplicaIdOp):
        return "a bir.func is the program of one core, which meets no other"
    if makes_nothing(op):
        return None
    if type(op) not in RULES:
        return "no instruction of BIR does this"
    found = CHECKS.get(type(op))
    return problem_without_elements(op) or (found(op) if found else None)


def type_problem(type: Attribute) -> str | None:
    """What BIR cannot have in a type, None if it can have all of it."""
    if isinstance(type, TupleType):
        return next(filter(None, map(type_problem, type.types.data)), None)
    if isinstance(type, TokenType):
        return None
    if not is_tensor(type) or dtype_of(type) is None:
        return f"BIR has no elements like those of {spelled(type)}"
    if any(extent < 0 for extent in shape_of(type)):
        return f"a memory location has a static shape, which {spelled(type)} does not give it"
    return None
