"""What ran how often: computed from how often each computation ran, so that nothing is counted per instruction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Profile:
    """Counts over all runs of a program.

    `instructions`: executions per opcode, in computations that control flow runs (what a reduction applies to each
    element is part of the reduction). `iterations`: of each loop, by its name. `calls`: runs of each function, by its
    name. `collectives`: meetings of a group, per opcode. `bytes_moved`: between different participants, per opcode.
    """

    instructions: Mapping[str, int]
    iterations: Mapping[str, int]
    calls: Mapping[str, int]
    collectives: Mapping[str, int] = field(default_factory=dict[str, int])
    bytes_moved: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def executed(self) -> int:
        """Executed instructions in all."""
        return sum(self.instructions.values())

    def as_dict(self) -> dict[str, Any]:
        """For JSON: `{"executed": n, "instructions": {…}, "iterations": {…}, "calls": {…}, …}`, a field each."""
        return {"executed": self.executed, **asdict(self)}
