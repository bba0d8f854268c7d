"""StableHLO for `xdsl-opt`: the frontend `stablehlo` (and the extension `.stablehlo`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.frontend import Frontend

from xneuron.formats.stablehlo.parser import parse_stablehlo


@dataclass(frozen=True)
class StablehloFrontend(Frontend):
    """Reads StableHLO: text in any form that JAX prints, MLIR bytecode, portable artifacts."""

    name = "stablehlo"

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        return parse_stablehlo(input.read(), input_name)
