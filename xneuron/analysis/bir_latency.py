"""How long one instruction takes: the static hardware model.

`latency = read_init + exec + write_drain`, in nanoseconds, from the largest number of elements per partition of its
accesses (NEP). Formulas and frequencies: reference `bir.md`, section h. Where it gives none, ours: the
50 cycles that it gives Memset as fixed cost are every engine instruction's, SP has the clock of the other
sequencers, an instruction that no engine was chosen for runs on the first that has it, and the trn3 DMA
moves data like the trn2 one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from xdsl.ir import Operation

from xneuron.dialects.bir.compute import MatmultOp
from xneuron.dialects.bir.enums import Engine
from xneuron.dialects.bir.instruction import DataInstruction, Instruction
from xneuron.dialects.bir.movement import DMA_ISSUERS
from xneuron.dialects.bir.operands import MemoryAccess

OVERHEAD_CYCLES = 50
MATMULT_CYCLES = 200
DMA_READ_INIT_NS = 1300


@dataclass(frozen=True)
class Hwm:
    """One hardware: clocks in 10 MHz, so that cycles * 100 / clock are nanoseconds."""

    name: str
    clocks: Mapping[Engine, int]
    dma_divisor: int

    def get_latency(self, op: Instruction) -> int:
        """Nanoseconds from start to end; loops have none of their own."""
        data = _implemented("getLatency", op)
        if data.ENGINES is DMA_ISSUERS:
            return DMA_READ_INIT_NS + self._dma_ns(data)
        return self._ns(data, _fixed_cycles(data) + _element_cycles(data))

    def get_latency_exec(self, op: Instruction) -> int:
        """Nanoseconds for the elements."""
        data = _implemented("getLatencyExec", op)
        return self._dma_ns(data) if data.ENGINES is DMA_ISSUERS else self._ns(data, _element_cycles(data))

    def get_latency_read_init(self, op: Instruction) -> int:
        """Nanoseconds before the first element: what `get_latency` has beyond the elements."""
        _implemented("getLatencyReadInit", op)
        return self.get_latency(op) - self.get_latency_exec(op)

    def get_latency_write_drain(self, op: Instruction) -> int:
        """Nanoseconds after the last element: none."""
        _implemented("getLatencyWriteDrain", op)
        return 0

    def _dma_ns(self, op: DataInstruction) -> int:
        accesses = memory_accesses(op)
        partitions = max((access.nums[0] for access in accesses), default=1)
        nbytes = max((access.dtype.nbytes for access in accesses), default=1)
        return -(-partitions // 16) * nbytes * elements_per_partition(op) // self.dma_divisor

    def _ns(self, op: DataInstruction, cycles: int) -> int:
        return cycles * 100 // self.clocks[self.engine_of(op)]

    def engine_of(self, op: DataInstruction) -> Engine:
        """The engine whose clock counts."""
        if op.engine.data in self.clocks:
            return op.engine.data
        return next(engine for engine in self.clocks if engine in op.ENGINES)


def _fixed_cycles(op: DataInstruction) -> int:
    return MATMULT_CYCLES if isinstance(op, MatmultOp) else OVERHEAD_CYCLES


def _element_cycles(op: DataInstruction) -> int:
    elements = elements_per_partition(op)
    return elements // 2 if isinstance(op, MatmultOp) else elements


def _implemented(method: str, op: Operation) -> DataInstruction:
    if not isinstance(op, DataInstruction):
        name = op.OPCODE.name if isinstance(op, Instruction) else op.name
        raise NotImplementedError(f"{method}( const Inst{name} & ) not implemented")
    return op


def memory_accesses(op: DataInstruction) -> list[MemoryAccess]:
    """All memory that an instruction reads or writes."""
    return [operand for operand in (*op.inputs, *op.outputs) if isinstance(operand, MemoryAccess)]


def elements_per_partition(op: DataInstruction) -> int:
    """NEP: the largest number of elements in one partition of an access; 0 without memory."""
    return max((prod(access.nums[1:]) for access in memory_accesses(op)), default=0)


def _hwm(name: str, clock: int, dve: int, dma_divisor: int) -> Hwm:
    # Ordinals 1..3 (Pool, Activation, PE) share a clock, DVE (5) has its own; SP follows the first three.
    shared = dict.fromkeys((Engine.Pool, Engine.Activation, Engine.PE), clock)
    return Hwm(name, {Engine.DVE: dve, **shared, Engine.SP: clock}, dma_divisor)


HARDWARE = {
    "trn1": _hwm("TrainiumHwm", 140, 112, 17),
    "trn2": _hwm("Gen3Hwm", 120, 96, 23),
    "trn3": _hwm("CoreV4Hwm", 120, 120, 23),
}
