"""Running BIR functions: the simulator's front door."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from traceback import walk_tb
from types import TracebackType
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from xneuron.dialects.bir.enums import TensorKind
from xneuron.dialects.bir.functions import FuncOp
from xneuron.dialects.bir.instruction import Instruction
from xneuron.dialects.bir.storage import MemoryLocationOp, RegisterOp
from xneuron.execution.errors import EvaluationError
from xneuron.execution.profile import Profile
from xneuron.execution.source import Listings
from xneuron.interpreters.trace import Tracer
from xneuron.simulator.dtypes import Array, numpy_of
from xneuron.simulator.emission import Emitter
from xneuron.simulator.machine import LoopError, Machine, Options
from xneuron.simulator.numbers import UNWRITTEN, signed
from xneuron.simulator.sites import circumstances, name_of


@dataclass(frozen=True)
class Result:
    """What a run left: output memory by name, registers by name (signed; -1 where never written)."""

    outputs: dict[str, Array]
    registers: dict[str, int]


class Program:
    """A function ready to run, as often as one likes; compiled once.

    `symbol`: the function, by default the only one, or `main`. `max_iterations`: a loop that wants to run longer is an
    error. `strict`: reading a register or an element before it is written is one, and so are more trips than a
    loop's `max_tripcount`. `profile`: count what runs (`.profile`). `trace`: called with a record per executed
    instruction (`trace.py`). The function must verify, and not change while it is used.
    """

    def __init__(
        self,
        module: ModuleOp | FuncOp,
        symbol: str | None = None,
        *,
        max_iterations: int | None = None,
        strict: bool = False,
        profile: bool = False,
        trace: Tracer | None = None,
    ) -> None:
        self.function = function_of(module, symbol)
        self.machine = Machine(self.function, Options(max_iterations, strict, profile, trace))
        self._listings: Listings[Operation] = Listings()
        self._emitter = Emitter(self.machine)
        self._code = self._emitter.function(self.function, self._listings)

    @property
    def inputs(self) -> list[MemoryLocationOp]:
        """The locations that the caller fills: external inputs, and constants that do not say what they hold."""
        return [
            op
            for op in self.function.memory_locations
            if op.is_input or (op.kind.data is TensorKind.Const and op.data is None)
        ]

    @property
    def outputs(self) -> list[MemoryLocationOp]:
        """The locations that the caller is given."""
        return [op for op in self.function.memory_locations if op.is_output]

    @property
    def text(self) -> str:
        """The Python function that runs."""
        return next(iter(self._listings)).text

    def run(self, inputs: Mapping[str, Any] | None = None, registers: Mapping[str, int] | None = None) -> Result:
        """Runs the function on memory that holds the inputs, and nothing else, and registers set as given.

        An input that is missing stays unwritten. A register value is in [-2**31, 2**32) (64 bits for a pair).
        Raises EvaluationError, which says at which iteration and with which registers.
        """
        self.machine.reset()
        for name, values in (inputs or {}).items():
            self._write(name, values)
        variables = dict(zip(self._names().values(), self._entry_values(registers or {}), strict=True))
        with np.errstate(all="ignore"):
            try:
                final = self._code([variables[name] for name in dict.fromkeys(self._emitter.registers.values())])
            except Exception as exception:
                raise self._failed(exception) from exception
        return Result(self._read_outputs(), self._final(final, variables))

    @property
    def profile(self) -> Profile:
        """What ran so far, if the program was made with `profile=True`."""
        instructions: Counter[str] = Counter()
        iterations: Counter[str] = Counter()
        for ops, runs in zip(self._emitter.segments, self._emitter.segment_runs, strict=True):
            for op in ops:
                instructions[op.name.removeprefix("bir.")] += runs
        for name, runs in zip(self._emitter.loops, self._emitter.loop_runs, strict=True):
            iterations[name] += runs
        calls = {self.function.sym_name.data: self._emitter.segment_runs[0]} if self._emitter.segment_runs else {}
        return Profile({k: n for k, n in instructions.items() if n}, {k: n for k, n in iterations.items() if n}, calls)

    # Inputs and results

    def _write(self, name: str, values: Any) -> None:
        location = next((op for op in self.function.memory_locations if op.label == name), None)
        if location is None:
            known = ", ".join(op.label for op in self.function.memory_locations)
            raise EvaluationError(f"expected a memory location ({known}), found '{name}'", self.function)
        geometry, array = location.geometry, np.asarray(values)
        dtype = numpy_of(geometry.dtype)
        if array.shape != geometry.shape or array.dtype != dtype:
            wanted, found = f"{dtype}{list(geometry.shape)}", f"{array.dtype}{list(array.shape)}"
            raise EvaluationError(f"input '{name}': expected {wanted}, found {found}", location)
        self.machine.memory.write(name, array)

    def _names(self) -> dict[str, str]:
        """The variable of each register; what nothing mentions has a name that is no variable."""
        return {op.label: self._emitter.registers.get(op.result, f"%{op.label}") for op in self.function.registers}

    def _entry_values(self, given: Mapping[str, int]) -> list[int | None]:
        known = {op.label: op for op in self.function.registers}
        for name, value in given.items():
            if name not in known:
                raise EvaluationError(f"expected a register ({', '.join(known)}), found '{name}'", self.function)
            bits = _bits(known[name])
            if not -(1 << (bits - 1)) <= value < 1 << bits:
                raise EvaluationError(f"register '{name}': expected a value of {bits} bits, found {value}", known[name])
        unwritten = None if self.machine.options.strict else UNWRITTEN
        return [
            signed(given[op.label], _bits(op)) if op.label in given else unwritten for op in self.function.registers
        ]

    def _read_outputs(self) -> dict[str, Array]:
        return {op.label: self.machine.memory.array(op.label).copy() for op in self.outputs}

    def _final(self, final: Mapping[str, Any], before: Mapping[str, int | None]) -> dict[str, int]:
        values = {label: final.get(name, before[name]) for label, name in self._names().items()}
        return {name: UNWRITTEN if value is None else value for name, value in values.items()}

    # Errors

    def _failed(self, exception: Exception) -> EvaluationError:
        """The error with its instruction, and where the program was."""
        trace = exception.__traceback__
        op = exception.op if isinstance(exception, EvaluationError) else None
        op = op if op is not None else self._listings.origin(trace)
        said = getattr(exception, "message", f"{type(exception).__name__}: {exception}")
        if op is None:
            return EvaluationError(said, self.function)
        block = op.parent_block()
        frames = self._emitter.frames_of.get(block, ()) if block is not None else ()
        values = _variables(trace)
        registers = {label: values[name] for label, name in self._names().items() if name in values}
        where = circumstances(frames, values, registers)
        named = f"{name_of(op)}: " if isinstance(op, Instruction) and not isinstance(exception, LoopError) else ""
        return EvaluationError(f"{named}{said}{f' ({where})' if where else ''}", op)


def _variables(trace: TracebackType | None) -> dict[str, Any]:
    """The variables of all generated code that was running."""
    found: dict[str, Any] = {}
    for frame, _ in walk_tb(trace):
        if frame.f_code.co_filename.startswith("<simulate #"):
            found.update(frame.f_locals)
    return found


def _bits(register: RegisterOp) -> int:
    return 32 * register.num_physical_regs.data


def functions_of(module: ModuleOp) -> Sequence[FuncOp]:
    """The BIR functions of a module."""
    return [op for op in module.body.block.ops if isinstance(op, FuncOp)]


def function_of(module: ModuleOp | FuncOp, symbol: str | None) -> FuncOp:
    """The function to run. Raises EvaluationError if there is none, or no telling which."""
    if isinstance(module, FuncOp):
        return module
    functions = {op.sym_name.data: op for op in functions_of(module)}
    wanted = symbol or (next(iter(functions)) if len(functions) == 1 else "main")
    if wanted not in functions:
        known = ", ".join(functions) or "none"
        raise EvaluationError(f"expected a function '{wanted}', found {known}", module)
    return functions[wanted]
