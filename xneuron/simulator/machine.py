"""The machine that a function runs on: memory, registers, random numbers; and the errors of running it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from xneuron.dialects.bir.enums import Engine
from xneuron.dialects.bir.functions import FuncOp
from xneuron.dialects.bir.operands import MemoryAccess
from xneuron.dialects.bir.storage import MemoryLocationOp, RegisterOp
from xneuron.execution.errors import EvaluationError
from xneuron.interpreters.trace import Tracer
from xneuron.simulator.dtypes import Array
from xneuron.simulator.kernels.registry import Host
from xneuron.simulator.levels import Node
from xneuron.simulator.memory import Memory
from xneuron.simulator.sites import loop_name
from xneuron.simulator.trace import Recorder


class LoopError(EvaluationError):
    """A loop that runs too long; the message names it."""


@dataclass(frozen=True)
class Options:
    """How to run; what is off costs nothing."""

    max_iterations: int | None = None
    strict: bool = False
    profile: bool = False
    trace: Tracer | None = None


class Machine:
    """What the code of one function refers to."""

    def __init__(self, function: FuncOp, options: Options) -> None:
        self.function = function
        self.options = options
        self.memory = Memory(function.memory_locations, tracked=options.strict)
        self.host = Host()
        self.recorder = None if options.trace is None else Recorder(options.trace)
        self._numbers: dict[Node, int] = {}

    def reset(self) -> None:
        """As nothing had run: unwritten memory, the first random number."""
        self.memory.reset()
        self.host.reset()
        if self.recorder:
            self.recorder.reset()

    def variables(self) -> dict[SSAValue, str]:
        """The Python variable of each register that the function mentions.

        Registers of one engine with the same physical number are the same register. Raises EvaluationError where
        they overlap otherwise.
        """
        found: dict[SSAValue, str] = {}
        taken: dict[tuple[Engine, int], RegisterOp] = {}
        for number, op in enumerate(self.function.registers):
            if op.result.first_use is None:
                continue
            found[op.result] = f"r{number}"
            if (other := _same_register(op, taken)) is not None:
                found[op.result] = found[other.result]
        return found

    def number(self, node: Node) -> int:
        """A number for a block, or for another target of jumps."""
        return self._numbers.setdefault(node, len(self._numbers) + 1)

    def label(self, value: SSAValue) -> str:
        """The name of a register or of a memory location."""
        assert isinstance(value.owner, RegisterOp | MemoryLocationOp)
        return value.owner.label

    # Errors, raised by the function's code

    def exceeded(self, op: Operation, name: str) -> Callable[[], None]:
        """For a loop that wants to run longer than allowed."""
        message = f"loop '{name}' did not end after {self.options.max_iterations} iterations"
        return _raiser(message, op, LoopError)

    def too_many(self, op: Operation, most: int) -> Callable[[], None]:
        """For a loop with more trips than it declares."""
        return _raiser(f"loop '{loop_name(op)}' has more trips than its max_tripcount of {most}", op, LoopError)

    def exits(self, op: Operation) -> Callable[[], None]:
        """For `bir.exit`, which aborts the program (reference `bir.md`, section g)."""
        return _raiser("InstExit Instruction encountered, exiting...", op)

    def unset(self, op: Operation, register: RegisterOp) -> Callable[[], None]:
        """For a register that is read before it is written."""
        return _raiser(f"register '{register.label}' is read before it is written", op)

    def unwritten(self, op: Operation, access: MemoryAccess) -> Callable[[Array], None]:
        """For memory that is read before it is written; takes the flags of the access."""
        assert isinstance(access.memory, SSAValue)
        label = self.label(access.memory)

        def fail(flags: Array) -> None:
            first = ", ".join(str(int(indices[0])) for indices in (~flags).nonzero())
            missing = int(flags.size - flags.sum())
            raise EvaluationError(
                f"memory '{label}' is read before it is written: element [{first}] of the access, "
                f"{missing} of {flags.size} in all",
                op,
            )

        return fail


def _same_register(op: RegisterOp, taken: dict[tuple[Engine, int], RegisterOp]) -> RegisterOp | None:
    """The register that has the physical numbers of `op`, which takes them if there is none."""
    first, width = op.key("physical_id"), op.num_physical_regs.data
    numbers = [] if first is None else [(op.engine.data, first + half) for half in range(width)]
    others = [taken.get(number) for number in numbers]
    if not any(others):
        taken.update(dict.fromkeys(numbers, op))
        return None
    other = next(other for other in others if other is not None)
    if any(found is not other for found in others) or other.num_physical_regs.data != width:
        raise EvaluationError(f"registers '{other.label}' and '{op.label}' overlap in part", op)
    return other


def _raiser(message: str, op: Operation, kind: type[EvaluationError] = EvaluationError) -> Callable[[], None]:
    def fail() -> None:
        raise kind(message, op)

    return fail
