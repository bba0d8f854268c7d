"""From a function to one Python function: registers are local integers, loops are Python loops, no look-ups by name.

A register is a variable that holds the signed value of its bits (None in strict mode until written), an induction
variable is the variable of its loop. A region's blocks are nested loops and guards (`levels.py`); `b` is the block
that is meant, where there is more than one possibility. Leaving the function is `return`, wherever it happens.

Strict mode, traces and profiles are lines of their own, written only when asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, nullcontext
from itertools import count
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, SSAValue

from xneuron.dialects.bir.compute import MatmultOp
from xneuron.dialects.bir.expressions import AffineIV, Expr, Leaf, constant_value, leaves
from xneuron.dialects.bir.functions import FuncOp
from xneuron.dialects.bir.instruction import DataInstruction, Instruction
from xneuron.dialects.bir.operands import MemoryAccess, Pattern, RegisterAccess
from xneuron.dialects.bir.storage import RegisterOp
from xneuron.execution.errors import EvaluationError
from xneuron.execution.source import Listings, Source
from xneuron.simulator import numbers
from xneuron.simulator.dtypes import Numpy
from xneuron.simulator.emission_blocks import emit_region
from xneuron.simulator.emission_registers import EMIT
from xneuron.simulator.expression_code import text_of
from xneuron.simulator.kernels.registry import Slot, meaning_of
from xneuron.simulator.sites import Frame
from xneuron.simulator.trace import Site

if TYPE_CHECKING:
    from xneuron.simulator.program import Machine

MAX_NESTING = 16
"""Loops nested deeper are written into functions of their own: Python allows 20."""
HELPERS = {
    "power": numbers.power,
    "reciprocal_root": numbers.reciprocal_root,
    "bits_float": numbers.bits_float,
    "float_bits": numbers.float_bits,
    "counter": numbers.counter,
    "count": count,
}
"""Functions that generated code calls by name."""


class Emitter:
    """Writes one function. `frames_of` tells later which loops are around each block."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.options = machine.options
        self.source: Source[Operation] = Source()
        self.registers: dict[SSAValue, str] = {}
        self.frames: list[Frame] = []
        self.frames_of: dict[Block, tuple[Frame, ...]] = {}
        self.functions = 0
        """Number of functions around what is written, other than the outermost."""
        self.segments: list[list[Operation]] = []
        """In a profile, instructions that run equally often; `segment_runs` is how often."""
        self.segment_runs: list[int] = []
        self.loops: list[str] = []
        """In a profile, the loops; `loop_runs` is the number of their trips."""
        self.loop_runs: list[int] = []
        self._axes: dict[SSAValue, str] = {}
        self._loops_inside = 0
        self._windows: dict[tuple[SSAValue, Pattern, Pattern, Numpy | None, bool], str] = {}
        self._given: dict[tuple[str, str], str] = {}

    def function(self, func: FuncOp, listings: Listings[Operation]) -> Callable[[Sequence[int | None]], dict[str, int]]:
        """The compiled function: takes the values of `registers`, returns its final variables."""
        self.registers = self.machine.variables()
        names = list(dict.fromkeys(self.registers.values()))
        self.source.line("b = 0")
        helpers = [self.source.constant(helper) for helper in HELPERS.values()]
        self.source.line(f"{', '.join(HELPERS)} = {', '.join(helpers)}")
        if names:
            self.source.line(f"{', '.join(names)}, = registers")
        try:
            emit_region(self, func.body)
            return self.source.function("simulate", ["registers"], listings)
        except (SyntaxError, RecursionError) as error:
            raise EvaluationError("the loops are nested too deeply to run") from error

    @property
    def leave(self) -> str:
        """Ends the function, from anywhere in it."""
        return "return True" if self.functions else "return locals()"

    # Instructions

    def instruction(self, op: DataInstruction) -> None:
        """Writes one instruction that is no terminator; one without a meaning raises when it is reached."""
        self.source.origin = op
        self._given = {}
        mark = self.source.mark()
        try:
            if self.options.strict:
                self.check_reads(op)
            if emit := EMIT.get(type(op)):
                emit(self, op)
            else:
                self._kernel(op)
            if self.options.strict:
                self._mark_written(op)
            if self.options.trace is not None:
                self.record(op)
        except EvaluationError as error:
            self.source.rewind(mark)
            self.source.line(f"{self.source.constant(_raising(error.message, op))}()")

    def _kernel(self, op: DataInstruction) -> None:
        meaning = meaning_of(op, self.machine.host)
        windows = [self.window(view.access, view.pattern) for view in meaning.views]
        for call in meaning.calls:
            arguments = [windows[a] if isinstance(a, Slot) else self.source.constant(a) for a in call.arguments]
            arguments += [] if call.out is None else [f"out={windows[call.out]}"]
            self.source.line(f"{self._function(call.function)}({', '.join(arguments)})")

    def _function(self, function: Callable[..., object]) -> str:
        """A name for a function, its own with a number where it has one."""
        own = getattr(function, "__name__", "")
        return self.source.constant(function, own if own.isidentifier() else "k")

    # Operands

    def window(self, access: MemoryAccess, pattern: Pattern | None = None, dtype: Numpy | None = None) -> str:
        """An expression for the elements of an access, now; made once per instruction."""
        return self._window(access, access.pattern if pattern is None else pattern, dtype, written=False)

    def _window(self, access: MemoryAccess, pattern: Pattern, dtype: Numpy | None, written: bool) -> str:
        memory = self.machine.memory
        windows = memory.written(access) if written else memory.windows(access, pattern, dtype)
        offset = constant_value(access.offset)
        if offset is not None:
            return self.source.constant(windows[offset], "w")
        assert isinstance(access.memory, SSAValue)
        key = (access.memory, access.pattern, pattern, dtype, written)
        if key not in self._windows:
            self._windows[key] = self.source.constant(windows, "w")
        name, at = self._windows[key], self.expression(access.offset)
        if (name, at) not in self._given:
            self._given[name, at] = self.source.fresh("v")
            self.source.line(f"{self._given[name, at]} = {name}[{at}]")
        return self._given[name, at]

    def expression(self, expr: Expr) -> str:
        """The value of an index expression."""
        return text_of(expr, self.variable)

    def variable(self, leaf: Leaf) -> str:
        """The variable of an induction variable or of a register."""
        assert isinstance(leaf.value, SSAValue)
        return (self._axes if isinstance(leaf, AffineIV) else self.registers)[leaf.value]

    # Strict mode, traces

    def check_reads(self, op: DataInstruction) -> None:
        """Writes the tests that what the instruction reads has been written."""
        read = [o.register for o in op.inputs if isinstance(o, RegisterAccess)]
        for operand in (*op.inputs, *op.outputs):
            if isinstance(operand, MemoryAccess):
                read += [leaf.value for leaf in leaves(operand.offset) if not isinstance(leaf, AffineIV)]
        self.check_registers(op, [value for value in read if isinstance(value, SSAValue)])
        if "can_read_uninit" in op.key_definitions() and op.key("can_read_uninit"):
            return
        accumulates = isinstance(op, MatmultOp) and not op.key("start_tensor_calc")
        for operand in (*op.inputs, *(op.outputs if accumulates else ())):
            if isinstance(operand, MemoryAccess):
                flags = self._window(operand, operand.pattern, None, written=True)
                complain = self.source.constant(self.machine.unwritten(op, operand))
                self.source.line(f"if not {flags}.all(): {complain}({flags})")

    def check_registers(self, op: Operation, values: Iterable[SSAValue]) -> None:
        """Writes the tests that registers have been written."""
        for value in dict.fromkeys(values):
            assert isinstance(value.owner, RegisterOp)
            complain = self.source.constant(self.machine.unset(op, value.owner))
            self.source.line(f"if {self.registers[value]} is None: {complain}()")

    def _mark_written(self, op: DataInstruction) -> None:
        for operand in op.outputs:
            if isinstance(operand, MemoryAccess):
                self.source.line(f"{self._window(operand, operand.pattern, None, written=True)}.fill(True)")

    def record(self, op: DataInstruction) -> None:
        """Writes the call that records an executed instruction."""
        assert self.machine.recorder is not None
        touched = [value for value in op.operands if value in self.registers]
        outputs = [operand for operand in op.outputs if isinstance(operand, MemoryAccess)]
        names = [self.machine.label(value) for value in touched]
        memories = [self.machine.label(o.memory) for o in outputs if isinstance(o.memory, SSAValue)]
        site = Site(op, op.label, tuple(self.frames), tuple(names), tuple(memories))
        windows = [self.window(output) for output in outputs]
        values = [self.registers[value] for value in touched]
        record = self.source.constant(self.machine.recorder.instruction)
        self.source.line(f"{record}({self.source.constant(site)}, {self.at}, {tuple_of(values)}, {tuple_of(windows)})")

    @property
    def at(self) -> str:
        """The variables of the loops around, as a tuple."""
        return tuple_of([frame.variable for frame in self.frames])

    # Loops

    def bind(self, value: SSAValue, variable: str) -> None:
        """An induction variable is that Python variable."""
        assert isinstance(value.type, IndexType)
        self._axes[value] = variable

    @property
    def trip_numbers(self) -> str:
        """The values of a loop that only a break leaves: 0, 1, 2, …, as many as allowed."""
        limit = self.options.max_iterations
        return "count()" if limit is None else f"range({limit})"

    @contextmanager
    def loop(self, frame: Frame, values: str, overrun: Sequence[str] = ()) -> Generator[None]:
        """Lines written inside are a loop over `values`; `overrun`: what to do if it ends without a break."""
        with self._own_function() if self._loops_inside >= MAX_NESTING else nullcontext():
            self._loops_inside += 1
            self.frames.append(frame)
            with self.source.indented(f"for {frame.variable} in {values}:"):
                length = len(self.source)
                yield
                if len(self.source) == length:
                    self.source.line("pass")
            self.frames.pop()
            self._loops_inside -= 1
            if overrun:
                with self.source.indented("else:"):
                    for line in overrun:
                        self.source.line(line)

    @contextmanager
    def _own_function(self) -> Generator[None]:
        name, around = self.source.fresh("f"), self._loops_inside
        self._loops_inside = 0
        self.functions += 1
        with self.source.indented(f"def {name}():"):
            self.source.line(f"nonlocal {', '.join(['b', *dict.fromkeys(self.registers.values())])}")
            yield
        self.functions -= 1
        self._loops_inside = around
        self.source.line(f"if {name}(): {self.leave}")

    # Profiles, and trips in traces

    def start_segment(self) -> None:
        """In a profile, what is counted from now on runs as often as this point."""
        if self.options.profile:
            self.source.line(f"{self.source.constant(self.segment_runs)}[{len(self.segments)}] += 1")
            self.segments.append([])
            self.segment_runs.append(0)

    def count(self, op: Operation) -> None:
        """In a profile, the instruction runs as often as its segment."""
        if self.options.profile and isinstance(op, Instruction):
            self.segments[-1].append(op)

    def count_trip(self, name: str) -> None:
        """In a profile, counts a trip of a loop, at its top."""
        if self.options.profile:
            self.source.line(f"{self.source.constant(self.loop_runs)}[{len(self.loops)}] += 1")
            self.loops.append(name)
            self.loop_runs.append(0)

    def recorded_trips(self, op: Operation, frame: Frame, values: str, clears: bool) -> str:
        """The values of a loop; in a trace, with a record after each trip."""
        if self.machine.recorder is None:
            return values
        known = [op, (*self.frames, frame)]
        arguments = ", ".join([values, *map(self.source.constant, known), self.at, str(clears)])
        return f"{self.source.constant(self.machine.recorder.trips)}({arguments})"

    def record_trip(self, op: Operation) -> None:
        """In a trace, the record of a trip that ends here."""
        if self.machine.recorder is not None:
            arguments = ", ".join([*map(self.source.constant, [op, tuple(self.frames)]), self.at, "True"])
            self.source.line(f"{self.source.constant(self.machine.recorder.trip)}({arguments})")


def tuple_of(texts: Sequence[str]) -> str:
    """A Python tuple."""
    return f"({''.join(f'{text}, ' for text in texts)})"


def _raising(message: str, op: Operation) -> Callable[[], None]:
    def fail() -> None:
        raise EvaluationError(message, op)

    return fail
