"""Pass `bir-check-registers`: whether each engine has registers enough for what is live at once."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from xneuron.analysis.flow import Step
from xneuron.analysis.register_liveness import RegisterPressureError, check_registers
from xneuron.dialects.bir.enums import Engine
from xneuron.dialects.bir.functions import FuncOp
from xneuron.dialects.bir.storage import MAX_REGISTERS_PER_ENGINE
from xneuron.remarks import declare, remark

PRESSURE = declare("register-pressure", "How many registers of an engine are live at once, at most.")


@dataclass(frozen=True)
class BirCheckRegisters(ModulePass):
    """Fails where more registers of an engine are live at once than it has, and names them; else says how many are.

        bir.func @main { %a = bir.register "a" … }   -->   remark: @main needs 3 of 62 registers of DVE, …: a, b, i

    `limit`: how many an engine has for a program, 62 of 64 (reference bir.md, section b). Loops may be structured or
    branches; a structured loop takes a register for its counter and, if it is dynamic, one for its limit.
    The program stays as it is.
    """

    name = "bir-check-registers"
    limit: int = MAX_REGISTERS_PER_ENGINE

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.walk():
            if isinstance(func, FuncOp):
                self._check(func)

    def _check(self, func: FuncOp) -> None:
        try:
            peaks = check_registers(func, self.limit)
        except RegisterPressureError as error:
            raise PassFailedException(str(error)) from error
        alike: dict[tuple[int, Step | None, tuple[str, ...]], list[Engine]] = {}
        for peak in peaks.values():
            alike.setdefault((peak.count, peak.step, peak.live), []).append(peak.engine)
        for (count, step, live), engines in alike.items():
            names = ", ".join(map(str, engines))
            where = f", at {step.op.name}: {', '.join(live)}" if step else ""
            text = f"@{func.sym_name.data} needs {count} of {self.limit} registers of {names}{where}"
            remark("analysis", self.name, PRESSURE, func, text, engines=names, live=count, limit=self.limit)
