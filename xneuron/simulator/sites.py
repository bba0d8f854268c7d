"""Where an instruction is: its name, the loops around it, and what those are at when it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Block, Operation

from xneuron.dialects.bir.instruction import Instruction
from xneuron.dialects.bir.loops import AxisLoop

SHOWN = 16
"""Registers that a message shows."""


@dataclass(frozen=True)
class Frame:
    """A loop around: its name, the Python variable that counts in it, the first value and the step of that."""

    name: str
    variable: str
    first: int = 0
    stride: int = 1
    is_axis: bool = False

    def iteration(self, value: int) -> int:
        """The number of the trip in which the variable has this value; an induction variable may have wrapped."""
        return ((value - self.first) & 0xFFFF_FFFF) // self.stride if self.is_axis else value


def name_of(op: Operation) -> str:
    """`bir.load 'ld'`, or the opcode alone; a loop by its axis."""
    label = op.label if isinstance(op, Instruction) else None
    if label is None and isinstance(op, AxisLoop):
        label = op.axis_name.data
    return op.name if label is None else f"{op.name} '{label}'"


def loop_name(op: Operation) -> str:
    """What messages and profiles call a loop."""
    if isinstance(op, AxisLoop):
        return op.axis_name.data
    return (op.label if isinstance(op, Instruction) else None) or op.name.removeprefix("bir.")


def block_name(block: Block) -> str:
    """A block's label, or its number."""
    number = block.parent.get_block_index(block) if block.parent else 0
    return block.name_hint or f"bb{number}"


def circumstances(frames: Sequence[Frame], values: Mapping[str, Any], registers: Mapping[str, int | None]) -> str:
    """`at i = 3, j = 0, with n = 5`: the iteration vector and the registers; empty where there is nothing to say."""
    at = [f"{frame.name} = {values[frame.variable]}" for frame in frames if frame.variable in values]
    shown = [f"{name} = {'unwritten' if value is None else value}" for name, value in registers.items()]
    if len(shown) > SHOWN:
        shown[SHOWN:] = [f"{len(shown) - SHOWN} more registers"]
    parts = [f"at {', '.join(at)}"] * bool(at) + [f"with {', '.join(shown)}"] * bool(shown)
    return ", ".join(parts)
